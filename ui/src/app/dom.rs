//! Small wrappers around the browser's features: clock, console, clipboard, timers.

use std::time::Duration;

use engram_model::{Density, Motion, Settings, Theme};
use leptos::prelude::*;
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{Element, HtmlElement, HtmlTextAreaElement};

use crate::words::Clock;

/// The id of the list on the screen, which takes the focus when nothing else has it.
pub(crate) const LIST: &str = "feed";

/// Returns the page; none on the host, where the logic of views is tested.
fn page() -> Option<web_sys::Document> {
    cfg!(target_arch = "wasm32").then(document)
}

/// Runs a function once the page has been drawn; without a page, at once.
pub(crate) fn next_frame(run: impl FnOnce() + 'static) {
    if page().is_some() {
        request_animation_frame(run);
    } else {
        run();
    }
}

/// Runs a function after a pause; without a page, never.
pub(crate) fn run_later(run: impl FnOnce() + 'static, pause: Duration) {
    if page().is_some() {
        set_timeout(run, pause);
    }
}

/// Writes to the console.
pub(crate) fn log(text: &str) {
    if page().is_some() {
        web_sys::console::error_1(&JsValue::from_str(text));
    }
}

/// Returns the time now and the local offset.
pub(crate) fn clock() -> Clock {
    if page().is_none() {
        return Clock::new(0.0, 0.0);
    }
    let now = js_sys::Date::new_0();
    Clock::new(now.get_time(), -now.get_timezone_offset())
}

/// Whether the page is visible.
pub(crate) fn is_visible() -> bool {
    page().is_none_or(|it| !it.hidden())
}

/// Returns the fragment of the address, with its `#`.
pub(crate) fn hash() -> String {
    window().location().hash().unwrap_or_default()
}

/// Returns the query of the address.
pub(crate) fn query() -> String {
    let search = page().and_then(|_| window().location().search().ok());
    search.unwrap_or_default()
}

/// Writes the query of the address within the repository `root`. If `adds_history`, *back* returns from
/// it.
pub(crate) fn set_query(query: &str, adds_history: bool, root: Option<&str>) {
    let Some(history) = page().and_then(|_| window().history().ok()) else {
        return;
    };
    let within = root.map_or(JsValue::NULL, JsValue::from_str);
    if query == self::query() && history.state().is_ok_and(|it| it == within) {
        return;
    }
    let path = window().location().pathname().unwrap_or_default();
    let address = Some(format!("{path}{query}"));
    let done = if adds_history {
        history.push_state_with_url(&within, "", address.as_deref())
    } else {
        history.replace_state_with_url(&within, "", address.as_deref())
    };
    if let Err(error) = done {
        log(&format!("{error:?}"));
    }
}

/// Goes back or forward among the addresses of this page.
pub(crate) fn go_in_history(steps: i32) {
    let gone = window().history().and_then(|it| it.go_with_delta(steps));
    if let Err(error) = gone {
        log(&format!("{error:?}"));
    }
}

/// The element with this id.
fn element(id: &str) -> Option<Element> {
    page()?.get_element_by_id(id)
}

/// Focuses the element with this id.
pub(crate) fn focus(id: &str) {
    focus_on(element(id));
}

/// Focuses a field and selects its text.
pub(crate) fn select_text(id: &str) {
    focus(id);
    let Some(field) = element(id) else {
        return;
    };
    if let Some(field) = field.dyn_ref::<web_sys::HtmlInputElement>() {
        field.select();
    } else if let Some(field) = field.dyn_ref::<web_sys::HtmlTextAreaElement>() {
        field.select();
    }
}

/// Focuses a field, with the caret before this UTF-16 unit of its text.
pub(crate) fn focus_at(id: &str, at: u32) {
    focus(id);
    let field = element(id);
    if let Some(field) = field.and_then(|it| it.dyn_into::<web_sys::HtmlInputElement>().ok())
        && let Err(error) = field.set_selection_range(at, at)
    {
        log(&format!("the caret stays where it is: {error:?}"));
    }
}

/// Whether nothing has the focus.
pub(crate) fn is_nowhere() -> bool {
    let active = page().and_then(|it| it.active_element());
    active.is_none_or(|it| it.tag_name() == "BODY")
}

/// Focuses an element, if there is one.
pub(crate) fn focus_on(element: Option<Element>) {
    if let Some(element) = element.and_then(|it| it.dyn_into::<HtmlElement>().ok()) {
        // If the browser refuses, the focus stays where it was.
        let _ = element.focus();
    }
}

/// Focuses the element before the pressed one, which is about to disappear.
pub(crate) fn focus_before(event: &web_sys::Event) {
    let pressed = event.current_target();
    let pressed = pressed.and_then(|it| it.dyn_into::<Element>().ok());
    focus_on(pressed.and_then(|it| it.previous_element_sibling()));
}

/// Returns the element that an event came from.
pub(crate) fn target<T: JsCast>(event: &web_sys::Event) -> Option<T> {
    event.target().and_then(|it| it.dyn_into().ok())
}

/// Returns the id of the focused element, if it is within the element with this id.
pub(crate) fn focused_in(id: &str) -> Option<String> {
    let active = page()?.active_element()?;
    let within = element(id)?;
    within.contains(Some(&active)).then(|| active.id())
}

/// Whether the event came from a field in which the person types; keys then belong to the field.
pub(crate) fn is_typing(event: &web_sys::Event) -> bool {
    target::<HtmlElement>(event).is_some_and(|it| {
        it.is_content_editable()
            || matches!(it.tag_name().as_str(), "INPUT" | "TEXTAREA" | "SELECT")
    })
}

/// Whether an event comes from a field that has text.
pub(crate) fn is_writing(event: &web_sys::Event) -> bool {
    target::<HtmlElement>(event).is_some_and(|it| {
        it.is_content_editable() || matches!(it.tag_name().as_str(), "INPUT" | "TEXTAREA")
    })
}

/// Whether text is selected.
pub(crate) fn has_selection() -> bool {
    let selection = window().get_selection().ok().flatten();
    selection.is_some_and(|it| !it.is_collapsed())
}

/// Whether a modifier key that makes a press select is held.
pub(crate) fn is_choosing(event: &web_sys::MouseEvent) -> bool {
    event.shift_key() || event.ctrl_key() || event.meta_key()
}

/// Keeps a press that selects rows from selecting text; the list still gets the focus.
pub(crate) fn prevent_text_selection(event: web_sys::MouseEvent) {
    if event.shift_key() {
        event.prevent_default();
        focus(LIST);
    }
}

/// Whether the event came from a control that has its own use for Enter and Space.
pub(crate) fn is_control(event: &web_sys::KeyboardEvent) -> bool {
    let element = target::<Element>(event);
    element.is_some_and(|it| matches!(it.tag_name().as_str(), "BUTTON" | "A" | "SUMMARY"))
}

/// Puts text on the clipboard; returns whether that worked.
pub(crate) async fn write_clipboard(text: &str) -> bool {
    let clipboard = window().navigator().clipboard();
    if !clipboard.is_undefined() && JsFuture::from(clipboard.write_text(text)).await.is_ok() {
        return true;
    }
    copy_by_selection(text).unwrap_or(false)
}

/// Copies by selecting the text, for a web view that does not let pages write to the clipboard.
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

/// Waits until the fonts are loaded, so that text can be measured.
pub(crate) async fn fonts_ready() {
    let fonts = document().fonts();
    let faces = ["500 13px Inter", "12px \"JetBrains Mono\""];
    for face in faces {
        // If a font cannot be loaded, a system font takes its place.
        let _ = JsFuture::from(fonts.load(face)).await;
    }
}

/// Applies the person's settings to the page.
pub(crate) fn apply_settings(settings: &Settings) {
    let Some(root) = document().document_element() else {
        return;
    };
    let word = |name: &str, value: Option<&str>| {
        // An attribute that cannot be set leaves the page as it is.
        let _ = match value {
            Some(value) => root.set_attribute(name, value),
            None => root.remove_attribute(name),
        };
    };
    let theme = match settings.theme {
        Theme::System => None,
        Theme::Light => Some("light"),
        Theme::Dark => Some("dark"),
        Theme::Contrast => Some("contrast"),
    };
    word("data-theme", theme);
    let is_compact = settings.density == Density::Compact;
    word("data-density", is_compact.then_some("compact"));
    let is_reduced = settings.motion == Motion::Reduced;
    word("data-motion", is_reduced.then_some("reduced"));
}

/// Reads a value that the browser keeps between visits.
pub(crate) fn read_stored(name: &str) -> Option<String> {
    page()?;
    let store = window().local_storage().ok().flatten()?;
    store.get_item(name).ok().flatten()
}

/// Keeps a value between visits; returns whether that worked.
pub(crate) fn write_stored(name: &str, text: &str) -> bool {
    let store = page().and_then(|_| window().local_storage().ok().flatten());
    store.is_some_and(|it| it.set_item(name, text).is_ok())
}

/// Reads a value that this tab or window keeps until it is closed.
pub(crate) fn read_session(name: &str) -> Option<String> {
    page()?;
    let store = window().session_storage().ok().flatten()?;
    store.get_item(name).ok().flatten()
}

/// Keeps a value until this tab or window is closed; without a text, removes it. If it cannot be
/// kept, it is lost with the page.
pub(crate) fn write_session(name: &str, text: Option<&str>) {
    let store = page().and_then(|_| window().session_storage().ok().flatten());
    let _ = store.map(|it| match text {
        Some(text) => it.set_item(name, text),
        None => it.remove_item(name),
    });
}

/// Whether the keyboard is a Mac's.
pub(crate) fn is_mac() -> bool {
    let agent = window().navigator().user_agent().unwrap_or_default();
    agent.contains("Mac OS")
}

/// Whether the event came from the edge between panes, which uses the arrow keys itself.
pub(crate) fn is_separator(event: &web_sys::KeyboardEvent) -> bool {
    let element = target::<Element>(event);
    element.is_some_and(|it| it.get_attribute("role").as_deref() == Some("separator"))
}

/// Scrolls the element with this id into view, once it is drawn.
pub(crate) fn reveal(id: &str) {
    let id = id.to_owned();
    next_frame(move || {
        if let Some(element) = element(&id) {
            let options = web_sys::ScrollIntoViewOptions::new();
            options.set_block(web_sys::ScrollLogicalPosition::Nearest);
            element.scroll_into_view_with_scroll_into_view_options(&options);
        }
    });
}

/// The height, in pixels, that an element with this id needs to show all its content.
pub(crate) fn height_within(id: &str) -> Option<u32> {
    let last = document().get_element_by_id(id)?.last_element_child()?;
    let row = document().get_element_by_id(id)?.get_bounding_client_rect();
    let end = last.get_bounding_client_rect().bottom() - row.top();
    Some((end.max(0.0) as u32).saturating_add(12))
}

/// Moves the focus through the buttons of a list by arrow keys; returns whether the key was one.
pub(crate) fn step_focus(event: &web_sys::KeyboardEvent, list: &str) -> bool {
    let by = match event.key().as_str() {
        "ArrowDown" => 1,
        "ArrowUp" => -1,
        "ArrowRight" if !is_typing(event) => 1,
        "ArrowLeft" if !is_typing(event) => -1,
        _ => return false,
    };
    let buttons = document()
        .get_element_by_id(list)
        .and_then(|it| it.query_selector_all("button:not(.aside)").ok());
    let Some(buttons) = buttons else { return false };
    let active = document().active_element().map(web_sys::Node::from);
    let at = (0..buttons.length()).find(|&it| buttons.item(it) == active);
    let to = match at {
        Some(at) => at.checked_add_signed(by),
        None => Some(0),
    };
    let to = to.and_then(|it| buttons.item(it));
    focus_on(to.and_then(|it| it.dyn_into().ok()));
    true
}

/// Makes a change that may remove the focused button of an element. The focus then moves to the
/// button in its place or, without one, to the last; if no button is left, to `otherwise`.
pub(crate) fn keep_focus(within: &'static str, otherwise: &'static str, change: impl FnOnce()) {
    let at = shown_buttons(within).iter().position(is_focused);
    change();
    let Some(at) = at else { return };
    request_animation_frame(move || {
        let buttons = shown_buttons(within);
        if buttons.iter().any(is_focused) {
            return;
        }
        match buttons.get(at).or(buttons.last()) {
            Some(button) => focus_on(Some(button.clone().into())),
            None => focus(otherwise),
        }
    });
}

/// Returns the visible buttons of an element.
fn shown_buttons(within: &str) -> Vec<HtmlElement> {
    let element = document().get_element_by_id(within);
    let Some(all) = element.and_then(|it| it.query_selector_all("button").ok()) else {
        return Vec::new();
    };
    let all = (0..all.length()).filter_map(|it| all.item(it)?.dyn_into().ok());
    all.filter(|it: &HtmlElement| it.offset_parent().is_some())
        .collect()
}

fn is_focused(button: &HtmlElement) -> bool {
    document().active_element().as_ref() == Some(button)
}

/// Returns a canvas context that measures text.
pub(crate) fn measuring_canvas() -> Option<web_sys::CanvasRenderingContext2d> {
    let canvas = document().create_element("canvas").ok()?;
    let canvas: web_sys::HtmlCanvasElement = canvas.dyn_into().ok()?;
    let context = canvas.get_context("2d").ok()??;
    context.dyn_into::<web_sys::CanvasRenderingContext2d>().ok()
}
