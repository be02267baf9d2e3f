//! The window's front end: it shows what the engine answers and sends what the person asks.
//!
//! All of it is compiled for the host too, where it is tested: a page is reached through `app/dom.rs`, and
//! what acts on one does nothing there.
//!
//! **Never:** decides nothing that the engine decides, knows no crate but the model, reads no file,
//! and reaches the engine through one [`app::Backend`](crate) alone.

pub mod align;
pub mod commands;
pub mod compare;
pub mod drafts;
pub mod feed;
pub mod fuzzy;
pub mod history;
pub mod layout;
pub mod marking;
pub mod outcome;
pub mod prose;
pub mod route;
pub mod selection;
pub mod tags;
pub mod wording;
pub mod words;

mod app;
