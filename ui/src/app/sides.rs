//! Two texts side by side: what was pinned and what is there now, the change marked in the lines.

use std::{ops::Range, sync::Arc};

use engram_model::{Side, SourceLine};
use leptos::prelude::*;

use super::code::pieces;
use crate::{
    compare::{Pair, differing, pairs},
    words::{self, say},
};

/// Rows that are drawn before one asks for more: each is as high as its longest line wraps.
const ROWS: usize = 150;

#[component]
pub(crate) fn Sides(lines: Arc<[SourceLine]>) -> impl IntoView {
    let digits = |number: fn(&SourceLine) -> u32| {
        let most = lines.iter().map(number).max().unwrap_or(0);
        most.to_string().len().max(2).to_string()
    };
    let is_gone = !lines.is_empty() && lines.iter().all(|it| it.side == Side::Removed);
    let (then, now) = (digits(|it| it.before), digits(|it| it.number));
    let total = pairs(&lines).len();
    let most = RwSignal::new(ROWS);
    let row = |pair: Pair<'_>| {
        let marks = match (pair.then, pair.now) {
            (Some(then), Some(now)) if then.side == Side::Removed => {
                differing(&then.text, &now.text)
            }
            _ => None,
        };
        let (then_mark, now_mark) = marks.map_or((None, None), |(a, b)| (Some(a), Some(b)));
        view! {
            <tr>
                {cell(pair.then, |it| it.before, then_mark)}
                {cell(pair.now, |it| it.number, now_mark)}
            </tr>
        }
    };
    let rows = move || {
        let pairs = pairs(&lines).into_iter().take(most.get());
        pairs.map(row).collect_view()
    };
    let more = move || {
        let left = total.saturating_sub(most.get());
        (left > 0).then(|| view! {
            <button class="plain more-rows" data-testid="more-rows" on:click=move |_| most.update(|it| *it += ROWS)>
                {say::source::show_more(left.min(ROWS), &words::count(left as u64, say::LINES))}
            </button>
        })
    };
    view! {
        <div class="sides" class:gone=is_gone tabindex="0" role="region" aria-label=say::source::SIDES data-testid="sides"
            style=("--then", then) style=("--now", now)>
            <table>
                <colgroup><col class="then" /><col /><col class="now" /><col /></colgroup>
                <thead class="offscreen"><tr>
                    <th scope="col">{say::source::PINNED_LINE}</th><th scope="col">{say::source::PINNED}</th>
                    <th scope="col">{say::source::NOW_LINE}</th><th scope="col">{say::source::NOW}</th>
                </tr></thead>
                <tbody>{rows}</tbody>
            </table>
            {more}
            {is_gone.then(|| view! { <p class="nothing-now">{say::source::NOTHING_LEFT}</p> })}
        </div>
    }
}

fn cell(
    line: Option<&SourceLine>,
    number: fn(&SourceLine) -> u32,
    mark: Option<Range<usize>>,
) -> AnyView {
    let Some(line) = line else {
        return view! { <td class="number blank"></td><td class="blank"></td> }.into_any();
    };
    if line.side == Side::Hunk {
        return view! { <td class="number hunk"></td><td class="hunk">"⋯"</td> }.into_any();
    }
    let (class, said) = match line.side {
        Side::Removed => ("removed", say::source::REMOVED),
        Side::Added => ("added", say::source::ADDED),
        Side::Both | Side::Hunk => ("", ""),
    };
    let number = Some(number(line))
        .filter(|it| *it > 0)
        .map(|it| it.to_string());
    view! {
        <td class=format!("number {class}") class:marked=line.marked>{number}</td>
        <td class=class><span class="offscreen">{said}</span><code>{pieces(&line.text, &line.pieces, mark)}</code></td>
    }
    .into_any()
}
