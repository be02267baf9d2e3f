//! Renders a Markdown document from the parts that the engine made of it: only text reaches the
//! page.

use std::{cell::Cell, sync::Arc};

use engram_model::{Block, Inline, SourceLine};
use leptos::prelude::*;

use super::code::{Code, Shape};
use crate::words::{say, visible};

#[component]
pub(crate) fn Document(blocks: Vec<Block>, label: String) -> impl IntoView {
    let outline = Outline::default();
    view! {
        <div class="document" role="document" tabindex="0" aria-label=label data-testid="document">
            {blocks.into_iter().map(|it| view_block(&outline, it)).collect_view()}
        </div>
    }
}

/// Fits the headings into the page's own outline, whose second level is the claim and its evidence.
/// A part of a document may begin at any level; no level is skipped on the way down.
#[derive(Default)]
struct Outline {
    /// The level that the document begins at.
    first: Cell<Option<u8>>,
    before: Cell<u8>,
}

impl Outline {
    const OF_PAGE: u8 = 2;

    fn level(&self, own: u8) -> u8 {
        let first = self.first.get().unwrap_or(own);
        self.first.set(Some(first));
        let within = own.saturating_sub(first) + 1;
        let level = Self::OF_PAGE + within.min(self.before.get() + 1);
        self.before.set(level - Self::OF_PAGE);
        level.min(6)
    }
}

fn view_block(outline: &Outline, block: Block) -> AnyView {
    match block {
        Block::Heading { level, text } => {
            let (class, words) = (class_of(level), view_words(text));
            match outline.level(level) {
                3 => view! { <h3 class=class>{words}</h3> }.into_any(),
                4 => view! { <h4 class=class>{words}</h4> }.into_any(),
                5 => view! { <h5 class=class>{words}</h5> }.into_any(),
                _ => view! { <h6 class=class>{words}</h6> }.into_any(),
            }
        }
        Block::Paragraph { text } => view! { <p>{view_words(text)}</p> }.into_any(),
        Block::Code { lines } => {
            let lines: Arc<[SourceLine]> = lines.into();
            view! { <Code lines shape=Shape::Plain label=say::source::CODE.to_owned() testid="document-code" /> }.into_any()
        }
        Block::List { first, items } => {
            let items = items.into_iter().map(|blocks| {
                view! { <li>{blocks.into_iter().map(|it| view_block(outline, it)).collect_view()}</li> }
            });
            let items = items.collect_view();
            match first {
                Some(first) => view! { <ol start=first.to_string()>{items}</ol> }.into_any(),
                None => view! { <ul>{items}</ul> }.into_any(),
            }
        }
        Block::Quote { blocks } => {
            let blocks = blocks.into_iter().map(|it| view_block(outline, it));
            view! { <blockquote>{blocks.collect_view()}</blockquote> }.into_any()
        }
        Block::Table { rows } => view_table(rows),
        Block::Rule => view! { <hr /> }.into_any(),
    }
}

/// The CSS class that makes a heading as large as the document means it.
fn class_of(level: u8) -> &'static str {
    match level {
        1 => "heading first",
        2 => "heading second",
        _ => "heading",
    }
}

fn view_table(rows: Vec<Vec<Vec<Inline>>>) -> AnyView {
    let mut rows = rows.into_iter();
    let head = rows.next().unwrap_or_default().into_iter();
    let head = head
        .map(|cell| view! { <th scope="col">{view_words(cell)}</th> })
        .collect_view();
    let body = rows.map(|row| {
        let cells = row
            .into_iter()
            .map(|cell| view! { <td>{view_words(cell)}</td> });
        view! { <tr>{cells.collect_view()}</tr> }
    });
    view! {
        <div class="table" tabindex="0" role="region" aria-label=say::source::TABLE><table>
            <thead><tr>{head}</tr></thead>
            <tbody>{body.collect_view()}</tbody>
        </table></div>
    }
    .into_any()
}

fn view_words(all: Vec<Inline>) -> AnyView {
    all.into_iter().map(view_word).collect_view().into_any()
}

fn view_word(inline: Inline) -> AnyView {
    match inline {
        Inline::Text { text } => visible(&text).into_any(),
        Inline::Code { text } => view! { <code>{visible(&text)}</code> }.into_any(),
        Inline::Strong { text } => view! { <strong>{view_words(text)}</strong> }.into_any(),
        Inline::Emphasis { text } => view! { <em>{view_words(text)}</em> }.into_any(),
        Inline::Struck { text } => view! { <s>{view_words(text)}</s> }.into_any(),
        // Only the address is shown: nothing here leads out of the window.
        Inline::Link { text, to } => {
            view! { <span class="address" title=visible(&to)>{view_words(text)}</span> }.into_any()
        }
        Inline::Picture { text, to } => view! {
            <span class="address picture" title=visible(&to)>{say::source::PICTURE}{view_words(text)}</span>
        }
        .into_any(),
        Inline::Break => view! { <br /> }.into_any(),
    }
}
