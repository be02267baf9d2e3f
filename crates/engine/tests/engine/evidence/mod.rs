//! Evidence: which pointers are accepted, and what becomes of what they address.

mod accepted_pointers;
mod disclosure;
mod health;
mod kept_content;
