//! What lies over the panes: the sheet of shortcuts, a passing notice, and the page for a failure.

use engram_model::Refusal;
use leptos::{html, prelude::*};

use super::{
    dom,
    icons::Icon,
    state::{App, Phase, sentence},
};

const KEYS: &[(&str, &[(&[&str], &str)])] = &[
    (
        "Feed",
        &[
            (&["J", "↓"], "Next engram"),
            (&["K", "↑"], "Previous engram"),
            (&["Home"], "Newest engram"),
            (&["N"], "Show what is new"),
            (&["/"], "Search"),
            (&["F"], "Filter by kind, agent, topic, …"),
            (&["Esc"], "Back to the list"),
        ],
    ),
    (
        "Engram",
        &[
            (&["↵"], "To its first source"),
            (&["1", "9"], "To a source by number"),
            (&["O"], "Open in editor"),
            (&["C"], "Copy pointer"),
            (&["B"], "Who wrote the lines"),
            (&["D"], "What changed since"),
            (&["H"], "Its versions, and who said it"),
            (&["Y"], "Still true: point at its evidence as it is now"),
            (&["X"], "No longer true: forget, after a question"),
            (&["A"], "Unsure: ask an agent"),
            (&["Del"], "Forget, after a question"),
            (&["⇧", "Del"], "Redact, after a question"),
            (&["?"], "This sheet"),
        ],
    ),
];

#[component]
pub(crate) fn Shortcuts() -> impl IntoView {
    let app = App::here();
    let dialog = NodeRef::<html::Dialog>::new();
    Effect::new(move |_| {
        let (Some(dialog), is_open) = (dialog.get(), app.shortcuts.get()) else {
            return;
        };
        if is_open && !dialog.open() {
            if let Err(error) = dialog.show_modal() {
                dom::log(&format!("{error:?}"));
            }
        } else if !is_open && dialog.open() {
            dialog.close();
        }
    });
    let group = |(title, keys): &(
        &'static str,
        &'static [(&'static [&'static str], &'static str)],
    )| {
        let rows = keys.iter().map(|(keys, what)| {
            let keys = keys
                .iter()
                .map(|key| view! { <kbd>{*key}</kbd> })
                .collect_view();
            view! { <div><dt>{keys}</dt><dd>{*what}</dd></div> }
        });
        view! { <section><h3>{*title}</h3><dl>{rows.collect_view()}</dl></section> }
    };
    view! {
        <dialog node_ref=dialog aria-labelledby="sheet-title" data-testid="shortcuts" on:close=move |_| app.shortcuts.set(false)>
            <header>
                <h2 id="sheet-title">"Shortcuts"</h2>
                <span class="space"></span>
                <button class="plain" aria-label="Close" on:click=move |_| app.shortcuts.set(false)>{Icon::Close.draw()}</button>
            </header>
            <div class="keys">{KEYS.iter().map(group).collect_view()}</div>
            <Theme />
        </dialog>
    }
}

#[component]
fn Theme() -> impl IntoView {
    let theme = RwSignal::new(dom::theme());
    let choose = move |name: Option<&'static str>| {
        dom::set_theme(name);
        theme.set(name.map(str::to_owned));
    };
    let choice = move |name: Option<&'static str>, word: &'static str| {
        view! {
            <button aria-pressed=move || (theme.get().as_deref() == name).to_string() on:click=move |_| choose(name)>{word}</button>
        }
    };
    view! {
        <div class="themes" role="group" aria-label="Theme">
            <span>"Theme"</span>
            <span class="space"></span>
            {choice(None, "System")}{choice(Some("light"), "Light")}{choice(Some("dark"), "Dark")}
        </div>
    }
}

#[component]
pub(crate) fn Notice() -> impl IntoView {
    let app = App::here();
    move || {
        app.toast.get().map(|it| {
            let role = if it.is_error { "alert" } else { "status" };
            view! {
                <div class="notice" class:error=it.is_error role=role data-testid="notice">
                    {if it.is_error { Icon::Alert } else { Icon::Check }.draw()}
                    <p><b>{it.text}</b>" "{it.hint}</p>
                    <button class="plain" aria-label="Dismiss" on:click=move |_| app.toast.set(None)>{Icon::Close.draw()}</button>
                </div>
            }
        })
    }
}

/// Nothing can be shown: what is wrong, what to do, and a way to try again.
#[component]
pub(crate) fn Failure(refusal: Refusal) -> impl IntoView {
    let app = App::here();
    let again = move |_| {
        app.phase.set(Phase::Loading);
        app.start();
    };
    view! {
        <main class="whole" data-testid="failure" data-code=refusal.code.as_str()>
            <div class="failure" role="alert">
                <span class="sign">{Icon::Alert.draw()}</span>
                <h1>{sentence(&refusal.message)}</h1>
                <p>{refusal.hint}</p>
                <div class="bar"><button class="primary" on:click=again>"Try again"</button><code>{refusal.code.as_str()}</code></div>
            </div>
        </main>
    }
}
