//! A line that is too long to read across: shown one part at a time, wrapped.

use engram_model::{LineReply, LineView, Pointer, PointerInput, ask};
use leptos::prelude::*;

use super::media::UnreadableSource;
use crate::{
    app::{components::icons::Icon, dom, source::panel_node, state::App},
    words::{self, say},
};

/// Length of the parts that the engine sends, in characters.
const PART: u64 = 10_000;

#[component]
pub(crate) fn LongLine(
    pointer: Pointer,
    number: u32,
    close: impl Fn() + Copy + Send + 'static,
) -> impl IntoView {
    let app = App::here();
    let from = RwSignal::new(0u64);
    let part = LocalResource::new(move || {
        let view = LineView {
            pointer: PointerInput::from(pointer.clone()),
            number,
            from: from.get(),
        };
        app.ask(ask::Line(view))
    });
    let total = Memo::new(move |before: Option<&u64>| match part.get() {
        Some(Ok(LineReply { total, .. })) => total,
        _ => before.copied().unwrap_or(0),
    });
    let where_ = move || {
        let (from, total) = (from.get(), total.get());
        say::source::line_part(
            &words::thousands(number.into()),
            &words::thousands((from + 1).min(total)),
            &words::thousands((from + PART).min(total)),
            &words::thousands(total),
        )
    };
    let body = move || match part.get() {
        None => {
            view! { <p class="wait" aria-busy="true">{say::source::READING_LINE}</p> }.into_any()
        }
        Some(Ok(part)) => {
            let text = words::visible(&part.text);
            view! { <pre class="long-line" tabindex="0" aria-label=say::source::LINE_PART data-testid="long-line-text">{text}</pre> }
                .into_any()
        }
        Some(Err(refusal)) => {
            view! { <UnreadableSource refusal retry=move || part.refetch() /> }.into_any()
        }
    };
    dom::next_frame(|| dom::focus("long-line-close"));
    view! {
        <div class="panel reading" role="group" aria-label=say::source::LONG_LINE data-testid="long-line" node_ref=panel_node()>
            <div class="panel-head">
                <h3 aria-live="polite">{where_}</h3>
                <span class="space"></span>
                <button class="plain" data-testid="earlier-part" disabled=move || { from.get() == 0 }
                    on:click=move |_| from.update(|it| *it = it.saturating_sub(PART))>{say::source::EARLIER}</button>
                <button class="plain" data-testid="later-part" disabled=move || { from.get() + PART >= total.get() }
                    on:click=move |_| from.update(|it| *it += PART)>{say::source::LATER}</button>
                <button class="plain" id="long-line-close" data-testid="long-line-close" aria-label=say::source::CLOSE_LINE on:click=move |_| close()>{Icon::Close.draw()}</button>
            </div>
            {body}
        </div>
    }
}
