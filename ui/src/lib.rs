//! The window's front end: it shows what the engine answers and sends what the person asks.
//!
//! What needs no browser (rows, geometry, words) is plain code that is tested on the
//! host; `app` is the part that is compiled for wasm only.
//!
//! **Never:** decides nothing that the engine decides, knows no crate but the model, reads no file,
//! and reaches the engine through one [`app::Backend`](crate) alone.

pub mod acts;
pub mod align;
pub mod chosen;
pub mod commands;
pub mod compare;
pub mod drafts;
pub mod feed;
pub mod fuzzy;
pub mod layout;
pub mod marking;
pub mod prose;
pub mod route;
pub mod tags;
pub mod wording;
pub mod words;

mod app;
