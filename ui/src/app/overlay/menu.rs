//! The menu of an engram, at the pointer or at its row: the commands that apply to it.

use leptos::{ev, html, leptos_dom::helpers::window_event_listener, prelude::*};
use wasm_bindgen::JsCast;
use web_sys::{Element, HtmlElement};

use super::palette::keycaps;
use crate::{
    app::{act, dom, engine::backend::Backend, frame::room, reading, state::App, views::feed},
    commands,
    words::say,
};

const ID: &str = "menu";
/// Distance from the menu to the edges of the window, in pixels.
const MARGIN: f64 = 8.0;

/// Where the menu was requested, in pixels of the window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MenuPosition {
    x: f64,
    y: f64,
}

/// Opens the menu of the selected engram at its row or, if the row is not drawn, at the claim
/// itself.
pub(crate) fn open_menu(app: App) {
    let selected = app.reading.selected.get_untracked();
    let selected = selected.filter(|_| !untrack(|| room::covers_list(app)));
    let row = selected.and_then(|id| document().get_element_by_id(&feed::engram_row_id(id)));
    let Some(element) = row.or_else(|| document().get_element_by_id("engram")) else {
        return;
    };
    let element = element.get_bounding_client_rect();
    app.frame.menu.set(Some(MenuPosition {
        x: element.left() + 40.0,
        y: element.top() + element.height().min(80.0) - 2.0,
    }));
}

/// Opens the menu at the element that was pressed.
pub(crate) fn open_menu_at(app: App, event: &web_sys::Event) {
    let pressed = event.current_target();
    if let Some(element) = pressed.and_then(|it| it.dyn_into::<Element>().ok()) {
        let edges = element.get_bounding_client_rect();
        app.frame.menu.set(Some(MenuPosition {
            x: edges.left(),
            y: edges.top(),
        }));
    }
}

/// Closes the menu. If the focus is still in it, the focus returns to where it was.
pub(crate) fn close_menu(app: App) {
    if app.frame.menu.get_untracked().is_none() {
        return;
    }
    app.frame.menu.set(None);
    if let Some(menu) = menu_element() {
        let from = app.frame.menu_from.try_update_value(Option::take).flatten();
        if menu.contains(document().active_element().as_deref()) {
            dom::focus_on(from);
        }
        // A menu that is closed already stays closed.
        let _ = menu.hide_popover();
    }
}

/// Opens an engram's menu on a right-click. Fields and selected text keep the system's menu, which
/// can copy; elsewhere, the menu of a web page has no place in a window.
pub(crate) fn follow_pointer(app: App) {
    let asked = window_event_listener(ev::contextmenu, move |event| {
        if dom::is_typing(&event) || dom::has_selection() {
            return;
        }
        let target = dom::target::<Element>(&event);
        let within = target.and_then(|it| it.closest(".row[data-id], #engram").ok()?);
        let id = within.and_then(|it| it.get_attribute("data-id")?.parse().ok());
        if let Some(id) = id {
            event.prevent_default();
            feed::leave_choice_of(app, id);
            reading::select_engram(app, id);
            app.frame.menu.set(Some(MenuPosition {
                x: event.client_x().into(),
                y: event.client_y().into(),
            }));
        } else if matches!(app.backend(), Backend::Tauri) {
            event.prevent_default();
        }
    });
    on_cleanup(move || asked.remove());
}

#[component]
pub(crate) fn Menu() -> impl IntoView {
    let app = App::here();
    let node = NodeRef::<html::Div>::new();
    Effect::new(move |_| {
        if let (Some(element), Some(place)) = (node.get(), app.frame.menu.get()) {
            let from = document().active_element();
            if !element.contains(from.as_deref()) {
                app.frame.menu_from.set_value(from);
            }
            show_at(&element, place);
        }
    });
    // After a resize, the menu may no longer be within the window.
    let resized = window_event_listener(ev::resize, move |_| {
        let open = (node.get_untracked(), app.frame.menu.get_untracked());
        if let (Some(element), Some(place)) = open {
            place_within_window(&element, place);
        }
    });
    on_cleanup(move || resized.remove());
    // Not the browser closes the menu, but a press outside it: a browser would take the release of
    // the button that opened the menu for a press outside.
    let pressed = window_event_listener(ev::pointerdown, move |event| {
        let at = dom::target::<Element>(&event);
        if !menu_element().is_some_and(|it| it.contains(at.as_deref())) {
            close_menu(app);
        }
    });
    on_cleanup(move || pressed.remove());
    let keys = move |event: ev::KeyboardEvent| {
        if event.key() == "Tab" {
            close_menu(app);
        } else if !dom::step_focus(&event, ID) {
            return;
        }
        event.prevent_default();
    };
    // Closes the menu when the focus leaves it, even for another window.
    let left = move |event: ev::FocusEvent| {
        let to = event
            .related_target()
            .and_then(|it| it.dyn_into::<Element>().ok());
        if !menu_element().is_some_and(|it| it.contains(to.as_deref())) {
            close_menu(app);
        }
    };
    let is_open = Memo::new(move |_| app.frame.menu.get().is_some());
    move || {
        is_open.get().then(|| {
            view! {
                <div node_ref=node id=ID class="menu" popover="manual" role="menu" tabindex="-1" aria-label=say::engram::MENU
                    data-testid="menu" on:keydown=keys on:focusout=left>
                    <Items />
                </div>
            }
        })
    }
}

/// The actions on the open engram, in groups.
#[component]
pub(crate) fn Items() -> impl IntoView {
    let app = App::here();
    let held = |group: &&[commands::Act]| -> Vec<_> {
        let all = group
            .iter()
            .filter(|&&act| feed::is_for_all_chosen(app, act));
        let all = all.filter_map(|&act| commands::command_of(act));
        all.filter(|it| act::can_run(app, it)).collect()
    };
    let groups = commands::MENU.iter().map(held);
    let groups = groups.filter(|it| !it.is_empty()).enumerate();
    groups
        .map(|(index, group)| {
            let items = group.into_iter().map(|it| {
                view! {
                    <button role="menuitem" tabindex="-1" data-testid="menu-item" data-command=it.id
                        on:mousemove=|event| focus_pointed(&event) on:click=move |_| act::run(app, it)>
                        <span>{it.title}</span>
                        {it.keys.first().map(|chord| keycaps(chord))}
                    </button>
                }
            });
            view! {
                {(index > 0).then(|| view! { <hr /> })}
                {items.collect_view()}
            }
        })
        .collect_view()
}

/// Shows the menu within the window and focuses its first item.
fn show_at(menu: &HtmlElement, place: MenuPosition) {
    // This fails if the menu is shown already and only moves.
    let _ = menu.show_popover();
    place_within_window(menu, place);
    dom::focus_on(menu.query_selector("button").ok().flatten());
}

/// Places the menu so that all of it is within the window.
fn place_within_window(menu: &HtmlElement, place: MenuPosition) {
    let room = |size: Result<_, _>| size.ok().and_then(|it: wasm_bindgen::JsValue| it.as_f64());
    let width = room(window().inner_width()).unwrap_or_default();
    let height = room(window().inner_height()).unwrap_or_default();
    let size = menu.get_bounding_client_rect();
    let (right, bottom) = (
        width - size.width() - MARGIN,
        height - size.height() - MARGIN,
    );
    let left = place.x.min(right).max(MARGIN);
    // If there is no room below, the menu goes above.
    let top = if place.y <= bottom {
        place.y
    } else {
        (place.y - size.height()).min(bottom).max(MARGIN)
    };
    let style = menu.style();
    for (name, value) in [("left", left), ("top", top)] {
        // If the style cannot be set, the menu stays in the corner.
        let _ = style.set_property(name, &format!("{value}px"));
    }
}

/// Focuses the item under the pointer, so that keys and mouse share one selection.
fn focus_pointed(event: &ev::MouseEvent) {
    let button = dom::target::<Element>(event).and_then(|it| it.closest("button").ok()?);
    if button.is_some() && button != document().active_element() {
        dom::focus_on(button);
    }
}

fn menu_element() -> Option<HtmlElement> {
    document().get_element_by_id(ID)?.dyn_into().ok()
}
