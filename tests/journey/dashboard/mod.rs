//! The window in a browser, over `engram serve`: every view by keys and by mouse, what programs for
//! the blind are told of it, how it looks, and what becomes of it when its server dies.

mod access;
mod browser;
mod filter;
mod looks;
mod server;
mod shop;
pub(crate) mod viewer;
mod ways;
