//! Two texts side by side: pinned and current, with changes marked. They are one table, so that
//! both scroll together and wrapped lines stay beside each other.

use std::{collections::HashSet, ops::Range, sync::Arc};

use engram_model::{DiffSide, SourceLine};
use leptos::{html, prelude::*};

use super::code::view_pieces;
use crate::{
    compare::{ComparisonRow, Pair, differing_ranges, drawn_count, unfolded_rows},
    indent::split_indent,
    words::{self, say},
};

/// Rows that are drawn before the person asks for more: each is as high as its longest line wraps.
const ROWS: usize = 150;

/// Rows, each with its number among all rows.
type NumberedRows<'a> = Vec<(usize, ComparisonRow<'a>)>;

#[component]
pub(crate) fn Sides(
    lines: Arc<[SourceLine]>,
    /// The column heads.
    then: String,
    now: String,
) -> impl IntoView {
    let digits = |number: fn(&SourceLine) -> u32| {
        let most = lines.iter().map(number).max().unwrap_or(0);
        most.to_string().len().max(2).to_string()
    };
    let is_gone = !lines.is_empty() && lines.iter().all(|it| it.side == DiffSide::Removed);
    let (then_digits, now_digits) = (digits(|it| it.before), digits(|it| it.number));
    let most = RwSignal::new(ROWS);
    let unfolded = RwSignal::new(HashSet::<usize>::new());
    let node = NodeRef::<html::Div>::new();
    let unfold = move |index: usize| {
        unfolded.update(|unfolded| {
            unfolded.insert(index);
        });
        // The button is gone: keep the arrow keys scrolling.
        if let Some(element) = node.get_untracked() {
            let _ = element.focus();
        }
    };
    let kept = StoredValue::new(lines);
    let laid = move |lay: &dyn Fn(NumberedRows<'_>) -> AnyView| {
        kept.with_value(|lines| {
            lay(unfolded_rows(lines, |it| {
                unfolded.with(|all| all.contains(&it))
            }))
        })
    };
    let row = move |(fold, row): (usize, ComparisonRow<'_>)| match row {
        ComparisonRow::Pair(pair) => view_pair(pair),
        folded => view_fold(folded, move || unfold(fold)),
    };
    let shown = move || {
        laid(&|mut all| {
            all.truncate(drawn_count(&all, most.get()));
            all.into_iter().map(row).collect_view().into_any()
        })
    };
    let more = move || {
        laid(&|all| {
            let left = all.len() - drawn_count(&all, most.get());
            let more = (left > 0).then(|| view! {
                <button class="plain more-rows" data-testid="more-rows" on:click=move |_| most.update(|it| *it += ROWS)>
                    {say::source::show_more(left.min(ROWS), &words::format_count(left as u64, say::LINES))}
                </button>
            });
            more.into_any()
        })
    };
    view! {
        <div class="sides" class:gone=is_gone tabindex="0" role="region" node_ref=node aria-label=say::source::SIDES data-testid="sides"
            style=("--then", then_digits) style=("--now", now_digits)>
            <table>
                <colgroup><col class="then" /><col /><col class="now" /><col /></colgroup>
                <thead><tr>
                    <th scope="colgroup" colspan="2" data-testid="then-head">{then}</th>
                    <th scope="colgroup" colspan="2" data-testid="now-head">{now}</th>
                </tr></thead>
                <tbody>{shown}</tbody>
            </table>
            {more}
            {is_gone.then(|| view! { <p class="nothing-now">{say::source::NOTHING_LEFT}</p> })}
        </div>
    }
}

/// What is shown in place of unchanged lines: how many, and a button to show those that were sent.
fn view_fold(row: ComparisonRow<'_>, unfold: impl Fn() + Send + 'static) -> AnyView {
    let said = |count: u64| words::format_count(count, say::source::UNCHANGED_LINES);
    let inside = match row {
        ComparisonRow::Fold(pairs) => view! {
            <button class="plain" data-testid="unfold" on:click=move |_| unfold()>{said(pairs.len() as u64)}</button>
        }
        .into_any(),
        ComparisonRow::Gap(count) if count > 0 => said(count.into()).into_any(),
        _ => "⋯".into_any(),
    };
    view! { <tr class="between"><td colspan="4">{inside}</td></tr> }.into_any()
}

fn view_pair(pair: Pair<'_>) -> AnyView {
    let marks = match (pair.then, pair.now) {
        (Some(then), Some(now)) if then.side == DiffSide::Removed => {
            differing_ranges(&then.text, &now.text)
        }
        _ => None,
    };
    let (then_marks, now_marks) = marks.unwrap_or_default();
    view! {
        <tr>
            {view_cell(pair.then, |it| it.before, &then_marks)}
            {view_cell(pair.now, |it| it.number, &now_marks)}
        </tr>
    }
    .into_any()
}

fn view_cell(
    line: Option<&SourceLine>,
    number: fn(&SourceLine) -> u32,
    marks: &[Range<usize>],
) -> AnyView {
    let Some(line) = line else {
        return view! { <td class="number blank"></td><td class="blank"></td> }.into_any();
    };
    let (class, said) = match line.side {
        DiffSide::Removed => ("removed", say::source::REMOVED),
        DiffSide::Added => ("added", say::source::ADDED),
        DiffSide::Both | DiffSide::Hunk => ("", ""),
    };
    let number = Some(number(line))
        .filter(|it| *it > 0)
        .map(|it| it.to_string());
    // Wrapped lines begin where the first one does.
    let (indent, columns, line) = split_indent(line, marks);
    let shift = |it: &Range<usize>| it.start - indent.len()..it.end - indent.len();
    let marks: Vec<Range<usize>> = marks.iter().map(shift).collect();
    view! {
        <td class=format!("number {class}") class:marked=line.marked>{number}</td>
        <td class=class class:marked=line.marked><span class="offscreen">{said}</span><code style=("--indent", columns.to_string())><span class="indent">{indent.to_owned()}</span>{view_pieces(&line.text, &line.pieces, &marks)}</code></td>
    }
    .into_any()
}
