//! Notes about files that are not read line by line, about evidence that cannot be read at all, and
//! about lines that were found elsewhere than where they were pinned.

use std::sync::Arc;

use engram_model::{Engram, FoundIn, Media, MediaKind, Pointer, Refusal};
use leptos::prelude::*;

use crate::{
    app::components::{icons::Icon, prose::prose},
    words::{self, say, sentence},
};

/// What the file is, in place of lines.
#[component]
pub(crate) fn NoLines(media: Media) -> impl IntoView {
    let (icon, why) = match media.kind {
        MediaKind::Picture => (Icon::Picture, say::source::WHOLE_PICTURE),
        _ => (Icon::Binary, say::source::WHOLE_FILE),
    };
    view! {
        <div class="no-lines" data-testid="media" data-kind=format!("{:?}", media.kind).to_lowercase()>
            <span class="figure">{icon.draw()}</span>
            <div>
                <p><b>{words::media(&media)}</b>" "<span class="facts-of">{words::measures(&media)}</span></p>
                <p>{why}</p>
            </div>
        </div>
    }
}

/// A note above the lines of a text that stands for something else.
#[component]
pub(crate) fn AlsoIs(media: Media) -> impl IntoView {
    let says = match media.kind {
        MediaKind::StandIn => {
            let mut file = words::size(media.size);
            if let Some(digest) = &media.digest {
                file.push_str(&format!(", {}", words::short_digest(digest)));
            }
            say::source::stand_in(&file)
        }
        _ => say::source::as_text(&words::media(&media)),
    };
    let icon = match media.kind {
        MediaKind::StandIn => Icon::Binary,
        _ => Icon::Picture,
    };
    view! {
        <p class="remark" data-testid="media" data-kind=format!("{:?}", media.kind).to_lowercase()
            title=media.digest>{icon.draw()}<span>{says}</span></p>
    }
}

/// A note above lines that could not be read where they were pinned.
#[component]
pub(crate) fn FoundElsewhere(found: FoundIn) -> impl IntoView {
    let place = match &found.commit {
        None => say::source::ON_DISK.to_owned(),
        Some(commit) => say::source::in_head(commit.get(..7).unwrap_or(commit)),
    };
    let says = say::source::found_elsewhere(&sentence(&found.because), &place);
    view! {
        <p class="remark doubt" data-testid="found-in" title=found.commit>
            {Icon::Alert.draw()}
            <span>{says}</span>
        </p>
    }
}

/// Why the source cannot be shown, what to do, and what is known about it anyway.
#[component]
pub(crate) fn UnreadableSource(
    refusal: Refusal,
    retry: impl Fn() + 'static,
    #[prop(optional_no_strip)] known: Option<(Arc<Engram>, Pointer)>,
) -> impl IntoView {
    let facts = known.map(|(engram, pointer)| {
        let code = |text: String| view! { <code>{text}</code> }.into_any();
        let mut facts = vec![(
            say::source::KNOWN_PIN,
            code(pointer.short_pin()),
            pointer.to_string(),
        )];
        if let Some(digest) = &pointer.digest {
            let short = words::short_digest(digest);
            facts.push((say::source::KNOWN_DIGEST, code(short), digest.clone()));
        }
        if let Some(seen) = words::last_seen(&engram, &pointer) {
            let seen = words::visible(&seen);
            facts.push((say::source::KNOWN_STATE, seen.clone().into_any(), seen));
        }
        facts
    });
    let fact = |(name, value, whole): (&'static str, AnyView, String)| {
        view! { <div><dt>{name}</dt><dd title=words::visible(&whole)>{value}</dd></div> }
    };
    view! {
        <div class="refused" role="alert" data-testid="source-refused" data-code=refusal.code.as_str()>
            {Icon::Alert.draw()}
            <p><b>{prose(&sentence(&refusal.message))}"."</b>" "<span>{prose(&refusal.hint)}</span></p>
            <button on:click=move |_| retry()>{say::TRY_AGAIN}</button>
        </div>
        {facts.map(|all| view! {
            <div class="known" data-testid="known">
                <h3>{say::source::KNOWN}</h3>
                <dl>{all.into_iter().map(fact).collect_view()}</dl>
            </div>
        })}
    }
}
