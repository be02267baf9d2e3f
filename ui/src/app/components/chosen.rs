//! The bar of selected rows, below the panes of a list in which several can be selected.

use leptos::prelude::*;

use crate::{
    app::{batch::Progress, dom, state::App},
    words::{self, say},
};

/// How many rows are selected.
pub(crate) fn count_in_words(count: usize) -> String {
    say::many::selected_count(&words::thousands(count as u64))
}

/// The actions on selected rows; during a long run, its progress. A screen reader announces the
/// count.
#[component]
pub(crate) fn ChosenBar(
    count: Memo<usize>,
    class: &'static str,
    label: &'static str,
    #[prop(into)] actions: ViewFn,
) -> impl IntoView {
    let app = App::here();
    Effect::new(move |before: Option<usize>| {
        let count = count.get();
        if before.is_some_and(|before| before != count) {
            app.frame.announcement.set(count_in_words(count));
        }
        count
    });
    let progress = Memo::new(move |_| app.batch.progress.get().filter(|it| it.is_long()));
    let is_long = Memo::new(move |_| progress.with(Option::is_some));
    let is_shown = Memo::new(move |_| count.get() > 0 || is_long.get());
    move || {
        let actions = actions.clone();
        is_shown.get().then(|| {
            view! {
                <div class=class role="group" aria-label=label data-testid="chosen-bar">
                    {move || if is_long.get() { view_progress(app, progress).into_any() } else { actions.run() }}
                </div>
            }
        })
    }
}

/// The progress, and a way to stop.
fn view_progress(app: App, progress: Memo<Option<Progress>>) -> impl IntoView {
    let of = move |what: fn(&Progress) -> usize| progress.with(|it| it.as_ref().map_or(0, what));
    let told = move || {
        let verb = progress.with(|it| it.map_or("", |it| it.verb));
        let number = |it: usize| words::thousands(it as u64);
        say::many::progress(verb, &number(of(|it| it.done)), &number(of(|it| it.of)))
    };
    let stop = move |_| {
        app.batch.stop();
        dom::focus(dom::LIST);
    };
    view! {
        <span data-testid="chosen-progress">{told}</span>
        <progress max=move || of(|it| it.of).to_string() value=move || of(|it| it.done).to_string() aria-label=say::many::PROGRESS></progress>
        <button data-testid="chosen-stop" on:click=stop>{say::many::STOP}" "<kbd>"Esc"</kbd></button>
    }
}
