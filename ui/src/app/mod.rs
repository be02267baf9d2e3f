//! The part that runs in a web view. This file starts it and reports a panic; the window itself is
//! `frame/window.rs`.

mod act;
mod batch;
mod components;
mod dom;
mod engine;
mod first_run;
mod frame;
#[cfg(feature = "gallery")]
mod gallery;
mod outside;
mod overlay;
mod part;
mod reading;
mod repositories;
mod source;
pub(crate) mod state;
pub(crate) mod views;
mod write;

use leptos::prelude::*;
use wasm_bindgen::prelude::wasm_bindgen;

/// Called by the page once this module is loaded.
#[wasm_bindgen(start)]
pub fn start() {
    std::panic::set_hook(Box::new(|panic| show_fault(&panic.to_string())));
    #[cfg(feature = "gallery")]
    if dom::hash() == "#/gallery" {
        return mount_to_body(gallery::Gallery);
    }
    mount_to_body(frame::window::Window);
}

/// Shows the page's notice of a fault and its reload button. After a panic, nothing in this module
/// can run.
fn show_fault(what: &str) {
    dom::log(what);
    if let Some(text) = document().get_element_by_id("fault-text") {
        text.set_text_content(Some(what));
    }
    if let Some(page) = document().get_element_by_id("fault") {
        // If even this fails, the console has the message.
        let _ = page.remove_attribute("hidden");
    }
}
