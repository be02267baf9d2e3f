//! Renders texts that contain code: the window's own, and claims.

use std::ops::Range;

use leptos::prelude::*;

use crate::{
    prose::{Face, Span, marked_bytes, runs_right_to_left, spans},
    words,
};

/// Renders a text, with backticked parts as code.
pub(crate) fn prose(text: &str) -> Vec<AnyView> {
    spans(text, &[]).into_iter().map(view_span).collect()
}

/// The text of a claim, and its direction if that is not the page's.
pub(crate) struct Claim {
    pub(crate) direction: Option<&'static str>,
    pub(crate) text: Vec<AnyView>,
}

/// Renders a claim with what a search found in it marked.
pub(crate) fn claim(text: &str, marks: &[Range<usize>]) -> Claim {
    let is_marked = if marks.is_empty() {
        Vec::new()
    } else {
        marked_bytes(text, marks)
    };
    marked_claim(text, &is_marked)
}

/// Renders a claim; `marked` says for each byte whether it is marked.
pub(crate) fn marked_claim(text: &str, marked: &[bool]) -> Claim {
    let spans = spans(text, marked);
    Claim {
        direction: runs_right_to_left(&spans).then_some("rtl"),
        text: spans.into_iter().map(view_span).collect(),
    }
}

fn view_span(span: Span) -> AnyView {
    let pieces: Vec<AnyView> = span.pieces.into_iter().map(view_piece).collect();
    match span.face {
        Face::Words => pieces.into_any(),
        Face::Code => view! { <code dir="ltr">{pieces}</code> }.into_any(),
        Face::Name => view! { <bdi dir="ltr">{pieces}</bdi> }.into_any(),
    }
}

fn view_piece((text, is_marked): (String, bool)) -> AnyView {
    let text = words::visible(&text);
    if is_marked {
        view! { <mark>{text}</mark> }.into_any()
    } else {
        text.into_any()
    }
}
