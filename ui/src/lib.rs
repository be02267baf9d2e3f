//! The window's front end: it shows what the engine answers and sends what the person asks.
//!
//! All of it also compiles for the host, where it is tested: a page is reached through
//! `app/dom.rs`, and functions that act on a page do nothing on the host.
//!
//! **Never:** decides what the engine decides, knows a crate other than the model, reads a file, or
//! reaches the engine other than through `app/engine/`.

pub mod align;
pub mod chips;
pub mod commands;
pub mod compare;
pub mod days;
pub mod drafts;
pub mod feed;
pub mod fuzzy;
pub mod history;
pub mod indent;
pub mod layout;
pub mod marking;
pub mod outcome;
pub mod prose;
pub mod route;
pub mod selection;
pub mod steps;
pub mod suggestion;
pub mod tags;
pub mod timeline;
pub mod wording;
pub mod words;

mod app;
