//! Small functions over the browser: clock, console, clipboard, timers.

use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{HtmlElement, HtmlTextAreaElement};

use crate::words::Clock;

/// Writes to the console.
pub(crate) fn log(text: &str) {
    web_sys::console::error_1(&JsValue::from_str(text));
}

/// The clock on the wall.
pub(crate) fn clock() -> Clock {
    let now = js_sys::Date::new_0();
    Clock::new(now.get_time(), -now.get_timezone_offset())
}

/// Whether the page can be seen.
pub(crate) fn is_visible() -> bool {
    !document().hidden()
}

/// The query of the address.
pub(crate) fn query() -> String {
    window().location().search().unwrap_or_default()
}

/// Writes the query of the address; a step is one that can be gone back.
pub(crate) fn set_query(query: &str, is_step: bool) {
    if query == self::query() {
        return;
    }
    let Ok(history) = window().history() else {
        return;
    };
    let path = window().location().pathname().unwrap_or_default();
    let address = Some(format!("{path}{query}"));
    let done = match is_step {
        true => history.push_state_with_url(&JsValue::NULL, "", address.as_deref()),
        false => history.replace_state_with_url(&JsValue::NULL, "", address.as_deref()),
    };
    if let Err(error) = done {
        log(&format!("{error:?}"));
    }
}

/// Focuses the element with this id.
pub(crate) fn focus(id: &str) {
    let element = document().get_element_by_id(id);
    if let Some(element) = element.and_then(|it| it.dyn_into::<HtmlElement>().ok()) {
        // A browser that refuses the focus leaves it where it was.
        let _ = element.focus();
    }
}

/// Whether keys belong to what the event came from, because a person types there.
pub(crate) fn is_typing(event: &web_sys::KeyboardEvent) -> bool {
    let element = event
        .target()
        .and_then(|it| it.dyn_into::<HtmlElement>().ok());
    element.is_some_and(|it| {
        it.is_content_editable()
            || matches!(it.tag_name().as_str(), "INPUT" | "TEXTAREA" | "SELECT")
    })
}

/// Whether the event came from a control that has its own use for Enter and Space.
pub(crate) fn is_control(event: &web_sys::KeyboardEvent) -> bool {
    let element = event
        .target()
        .and_then(|it| it.dyn_into::<HtmlElement>().ok());
    element.is_some_and(|it| matches!(it.tag_name().as_str(), "BUTTON" | "A" | "SUMMARY"))
}

/// Puts text on the clipboard; says whether it went.
pub(crate) async fn copy(text: &str) -> bool {
    let clipboard = window().navigator().clipboard();
    if !clipboard.is_undefined() && JsFuture::from(clipboard.write_text(text)).await.is_ok() {
        return true;
    }
    copy_by_selection(text).unwrap_or(false)
}

/// The old way, for a web view that guards its clipboard.
fn copy_by_selection(text: &str) -> Result<bool, JsValue> {
    let area: HtmlTextAreaElement = document().create_element("textarea")?.dyn_into()?;
    area.set_value(text);
    area.set_class_name("offscreen");
    let body = document().body().ok_or(JsValue::NULL)?;
    body.append_child(&area)?;
    area.select();
    let document: web_sys::HtmlDocument = document().dyn_into()?;
    let done = document.exec_command("copy");
    area.remove();
    done
}

/// Waits until the fonts are there, so that text can be measured.
pub(crate) async fn fonts_ready() {
    let fonts = document().fonts();
    let faces = ["500 13px Inter", "12px \"JetBrains Mono\""];
    for face in faces {
        // A face that cannot be had falls back to one of the system.
        let _ = JsFuture::from(fonts.load(face)).await;
    }
}

/// The theme that the person chose over that of the system.
pub(crate) fn theme() -> Option<String> {
    let store = window().local_storage().ok().flatten()?;
    store
        .get_item("theme")
        .ok()
        .flatten()
        .filter(|it| it == "light" || it == "dark")
}

/// Sets or clears that choice.
pub(crate) fn set_theme(theme: Option<&str>) {
    let store = window().local_storage().ok().flatten();
    let root = document().document_element();
    // Where nothing can be stored the choice lasts as long as the page.
    let _ = match theme {
        Some(theme) => {
            let _ = root.map(|it| it.set_attribute("data-theme", theme));
            store.map(|it| it.set_item("theme", theme))
        }
        None => {
            let _ = root.map(|it| it.remove_attribute("data-theme"));
            store.map(|it| it.remove_item("theme"))
        }
    };
}

/// Measures text in the face of a claim.
pub(crate) fn measure() -> Option<web_sys::CanvasRenderingContext2d> {
    let canvas = document().create_element("canvas").ok()?;
    let canvas: web_sys::HtmlCanvasElement = canvas.dyn_into().ok()?;
    let context = canvas.get_context("2d").ok()??;
    let context: web_sys::CanvasRenderingContext2d = context.dyn_into().ok()?;
    context.set_font("500 13px Inter, system-ui, sans-serif");
    Some(context)
}
