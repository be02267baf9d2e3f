//! Dialogs and notices over the panes: the sheet of shortcuts, a passing notice, and the failure
//! page.

pub(super) mod connect;
pub(super) mod menu;
pub(super) mod palette;
pub(super) mod settings;
pub(super) mod steps;

use engram_model::Refusal;
use leptos::{ev, html, prelude::*};
use wasm_bindgen::JsValue;

use self::palette::keycaps;
use super::{
    components::{icons::Icon, prose::prose},
    dom,
    frame::{self, Over},
    outside,
    state::{App, Phase},
    views::conflicts,
};
use crate::{
    app::{act, engine::connection},
    commands::{self, Act, Command},
    words::{self, say, sentence},
};

/// A dialog over the window while `over` is open; its content exists only while it is open.
#[component]
pub(crate) fn Modal(
    over: Over,
    label: &'static str,
    class: &'static str,
    children: ChildrenFn,
) -> impl IntoView {
    let app = App::here();
    let dialog = NodeRef::<html::Dialog>::new();
    let is_open = Memo::new(move |_| app.frame.over.get() == Some(over));
    Effect::new(move |_| {
        let (Some(dialog), is_open) = (dialog.get(), is_open.get()) else {
            return;
        };
        if is_open && !dialog.open() {
            app.frame.drop_warning();
            if let Err(error) = dialog.show_modal() {
                dom::log(&format!("{error:?}"));
            }
        } else if !is_open && dialog.open() {
            dialog.close();
        }
    });
    // On Escape, the state changes first and the dialog follows.
    let cancelled = move |event: ev::Event| {
        event.prevent_default();
        app.frame.over.set(None);
    };
    let closed = move |_| {
        // The event comes late: by now, the dialog may be open again.
        let is_open = dialog.get_untracked().is_some_and(|it| it.open());
        if !is_open && app.frame.over.get_untracked() == Some(over) {
            app.frame.over.set(None);
        }
    };
    // A click outside the dialog closes it.
    let beside = move |event: ev::MouseEvent| {
        if event.target().map(JsValue::from) == dialog.get_untracked().map(JsValue::from) {
            app.frame.over.set(None);
        }
    };
    view! {
        <dialog node_ref=dialog class=class aria-label=label data-testid=class on:cancel=cancelled on:close=closed on:click=beside>
            {move || is_open.get().then(|| view! {
                // Takes the focus at first, so that nothing looks selected and the arrow keys
                // scroll.
                <div class="inside" tabindex="-1" autofocus>{children()}</div><Notice />
            })}
        </dialog>
    }
}

/// The heading of a dialog.
#[component]
pub(crate) fn Heading(title: &'static str) -> impl IntoView {
    let app = App::here();
    view! {
        <header>
            <h2>{title}</h2>
            <span class="space"></span>
            <button class="plain" aria-label=say::CLOSE on:click=move |_| app.frame.over.set(None)>{Icon::Close.draw()}</button>
        </header>
    }
}

#[component]
pub(crate) fn Shortcuts() -> impl IntoView {
    view! {
        <Modal over=Over::Sheet label=say::sheet::SHORTCUTS class="shortcuts">
            <Heading title=say::sheet::SHORTCUTS />
            <Keys />
        </Modal>
    }
}

/// The commands that have keys, and a field that searches them.
#[component]
fn Keys() -> impl IntoView {
    // A browser has its own keys for these.
    let backend = App::here().backend();
    let (zooms, switches) = (backend.zooms(), backend.switches_repositories());
    let query = RwSignal::new(String::new());
    let is_ours = move |it: &&Command| match it.act() {
        Some(Act::Zoom(_)) => zooms,
        Some(Act::Repository) => switches,
        _ => true,
    };
    let group = move |(title, all): (&'static str, Vec<&'static Command>)| {
        let rows = all.into_iter().filter(is_ours).map(|command| {
            let keys = command.keys.iter().map(|chord| keycaps(chord));
            view! { <div data-testid="shortcut"><dt>{keys.collect_view()}</dt><dd>{command.title}</dd></div> }
        });
        view! { <section><h3>{title}</h3><dl>{rows.collect_view()}</dl></section> }
    };
    let groups = Memo::new_with_compare(
        move |_| commands::shortcuts_like(&query.get(), dom::is_mac()),
        |_, _| true,
    );
    let field = NodeRef::<html::Input>::new();
    field.on_load(|input| {
        // If the browser refuses, the person clicks the field.
        let _ = input.focus();
    });
    view! {
        <div class="ask">
            {Icon::Search.draw()}
            <input node_ref=field type="text" data-testid="shortcuts-input" placeholder=say::sheet::FIND_SHORTCUT aria-label=say::sheet::FIND_SHORTCUT
                autocomplete="off" spellcheck="false" on:input=move |event| query.set(event_target_value(&event)) />
        </div>
        <div class="keys">{move || groups.get().into_iter().map(group).collect_view()}</div>
        {move || groups.with(Vec::is_empty).then(|| view! { <p class="none quiet" role="status">{say::sheet::NOTHING}</p> })}
    }
}

#[component]
pub(crate) fn Notice() -> impl IntoView {
    let app = App::here();
    move || {
        app.frame.toast.get().map(|toast| {
            let role = if toast.is_error { "alert" } else { "status" };
            view! {
                <div class="notice" class:error=toast.is_error role=role data-testid="notice">
                    {if toast.is_error { Icon::Alert } else { Icon::Check }.draw()}
                    <p><b>{prose(&toast.title())}</b>" "{prose(&toast.hint)}</p>
                    {toast.undoes.then(|| view! {
                        <button data-testid="undo" on:click=move |_| frame::undo_last(app)>{say::UNDO}" "<kbd>"Z"</kbd></button>
                        <button class="plain" data-testid="all-steps" on:click=move |_| act::perform(app, Act::Steps)>{say::steps::ALL}</button>
                    })}
                    {toast.conflict.map(|_| view! {
                        <button data-testid="to-conflict" on:click=move |_| conflicts::show_confirmed(app)>{say::conflicts::OPEN_IT}" "<kbd>"G"</kbd></button>
                    })}
                    <button class="plain" aria-label=say::sheet::DISMISS on:click=move |_| app.frame.toast.set(None)>{Icon::Close.draw()}</button>
                </div>
            }
        })
    }
}

/// The page for a failure: what is wrong, what to do, and a button to retry. The window also
/// retries by itself.
#[component]
pub(crate) fn Failure(refusal: Refusal) -> impl IntoView {
    let app = App::here();
    let again = move |_| {
        app.phase.set(Phase::Loading);
        connection::start(app);
    };
    let hint = words::visible(&refusal.hint);
    let command = |text: String| {
        let copied = text.clone();
        view! {
            <div class="command" data-testid="remedy">
                <span class="agent">{say::sheet::REMEDY}</span>
                <code>{text}</code>
                <button aria-label=say::sheet::COPY_REMEDY on:click=move |_| outside::copy_text(app, copied.clone(), say::first::COMMAND_COPIED)>
                    {Icon::Copy.draw()}{say::COPY}
                </button>
            </div>
        }
    };
    let commands: Vec<_> = words::commands(&hint).into_iter().map(command).collect();
    view! {
        <main class="whole" data-testid="failure" data-code=refusal.code.as_str()>
            <div class="failure" role="alert">
                <span class="sign">{Icon::Alert.draw()}</span>
                <h1>{prose(&sentence(&refusal.message))}</h1>
                <p>{prose(&hint)}</p>
                {(!commands.is_empty()).then(|| view! { <div class="commands">{commands}</div> })}
                <div class="bar"><button class="primary" on:click=again>{say::TRY_AGAIN}</button>
                    <button hidden=!app.backend().opens_editors() on:click=move |_| outside::open_log(app)>{say::sheet::OPEN_LOG}</button><code>{refusal.code.as_str()}</code></div>
            </div>
        </main>
    }
}
