//! Texts with code in them, on the page: our own, and claims.

use leptos::prelude::*;

use crate::{
    prose::{Face, Span, found, runs_right_to_left, spans},
    words,
};

/// A text in which what stands between backticks is code.
pub(crate) fn prose(text: &str) -> Vec<AnyView> {
    spans(text, &[]).into_iter().map(span).collect()
}

/// The text of a claim, and the direction of whatever holds it where that is not the page's own.
pub(crate) struct Claim {
    pub(crate) direction: Option<&'static str>,
    pub(crate) text: Vec<AnyView>,
}

/// A claim with the words that are searched for marked.
pub(crate) fn claim(text: &str, searched: &[String]) -> Claim {
    let is_found = match searched.is_empty() {
        true => Vec::new(),
        false => found(text, searched),
    };
    marked_claim(text, &is_found)
}

/// A claim with these of its bytes marked.
pub(crate) fn marked_claim(text: &str, marked: &[bool]) -> Claim {
    let spans = spans(text, marked);
    Claim {
        direction: runs_right_to_left(&spans).then_some("rtl"),
        text: spans.into_iter().map(span).collect(),
    }
}

fn span(it: Span) -> AnyView {
    let pieces: Vec<AnyView> = it.pieces.into_iter().map(piece).collect();
    match it.face {
        Face::Words => pieces.into_any(),
        Face::Code => view! { <code dir="ltr">{pieces}</code> }.into_any(),
        Face::Name => view! { <bdi dir="ltr">{pieces}</bdi> }.into_any(),
    }
}

fn piece((text, is_marked): (String, bool)) -> AnyView {
    let text = words::visible(&text);
    match is_marked {
        true => view! { <mark>{text}</mark> }.into_any(),
        false => text.into_any(),
    }
}
