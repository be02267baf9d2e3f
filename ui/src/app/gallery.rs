//! Every component in every state, on one page: `#/gallery`. Whoever changes the look sees here what it
//! does everywhere. What is shown is the components themselves; only what they show is made up.

use std::sync::Arc;

use engram_model::{
    Code as RefusalCode, Engram, Entry, Evidence, Facets, FeedPage, Filter, FoundIn, Kind, Media,
    MediaKind, Refusal, Side, SourceLine,
};
use leptos::{context::Provider, prelude::*};
use serde_json::json;

use super::{
    backend::Backend,
    code::{Code, Shape},
    detail::Detail,
    dom,
    drift::drifted,
    icons::Icon,
    list::List,
    media::{AlsoIs, FoundElsewhere, NoLines, Refused},
    menu, overlay,
    palette::keycaps,
    sides::Sides,
    state::{App, Closing, Link, Phase, Toast},
    states,
};
use crate::words;

const ROLES: &[&str] = &[
    "ground",
    "pane",
    "raise",
    "hover",
    "line",
    "edge",
    "ink",
    "ink-2",
    "ink-3",
    "accent",
    "accent-soft",
    "mark",
    "mark-edge",
    "ok",
    "warn",
    "bad",
    "add",
    "del",
];
const KINDS: &[Kind] = &[
    Kind::Fact,
    Kind::Decision,
    Kind::Risk,
    Kind::Todo,
    Kind::Constraint,
    Kind::Diff,
    Kind::Test,
    Kind::Perf,
    Kind::Policy,
];

#[component]
pub(crate) fn Gallery() -> impl IntoView {
    view! {
        <main class="gallery" data-testid="gallery">
            <h1>"Gallery"</h1>
            <Part title="Colour">{ROLES.iter().map(|role| swatch(role)).collect_view()}</Part>
            <Part title="Type"><Type /></Part>
            <Part title="Controls"><Controls /></Part>
            <Part title="Icons">{icons()}</Part>
            <Part title="Words of state"><States /></Part>
            <Part title="Source"><Sources /></Part>
            <Part title="Feed">
                <Frame title="each kind, each standing" set=full><List /></Frame>
                <Frame title="paused, with news" set=paused><List /></Frame>
                <Frame title="filtered to nothing" set=no_match><List /></Frame>
                <Frame title="no claim in doubt" set=no_drift><List /></Frame>
                <Frame title="what it can be limited to" set=panel><List /></Frame>
                <Frame title="disconnected" set=lost><List /></Frame>
                <Frame title="started again, with another token" set=stale><List /></Frame>
            </Part>
            <Part title="Detail">
                <Frame title="nothing chosen" set=full><Detail /></Frame>
                <Frame title="edited" set=|app| chosen(app, 2)><Detail /></Frame>
                <Frame title="gone, to be forgotten" set=|app| closing(app, Closing::Forget)><Detail /></Frame>
                <Frame title="gone, to be erased" set=|app| closing(app, Closing::Redact)><Detail /></Frame>
            </Part>
            <Part title="Menu">
                <Frame title="of a claim that holds" set=|app| chosen(app, 0)><div class="menu"><menu::Items /></div></Frame>
                <Frame title="of one whose evidence changed" set=|app| chosen(app, 2)><div class="menu"><menu::Items /></div></Frame>
            </Part>
            <Part title="Whole pages">
                <Frame title="loading" set=|_| ()><states::Loading /></Frame>
                <Frame title="failure" set=|_| ()><overlay::Failure refusal=refusal() /></Frame>
            </Part>
            <Part title="Notices and the status line">
                <Frame title="done" set=|app| say(app, false)><overlay::Notice /></Frame>
                <Frame title="refused" set=|app| say(app, true)><overlay::Notice /></Frame>
                <Frame title="connecting" set=|_| ()><super::StatusLine /></Frame>
                <Frame title="live" set=|app| app.link.set(Link::Live)><super::StatusLine /></Frame>
                <Frame title="paused" set=paused><super::StatusLine /></Frame>
                <Frame title="an agent reads" set=|app| spending(app, 2)><super::StatusLine /></Frame>
                <Frame title="an agent has spent its turn" set=|app| spending(app, 3)><super::StatusLine /></Frame>
                <Frame title="disconnected" set=lost><super::StatusLine /></Frame>
            </Part>
        </main>
    }
}

#[component]
fn Part(title: &'static str, children: Children) -> impl IntoView {
    view! { <section><h2>{title}</h2><div class="exhibits">{children()}</div></section> }
}

/// A component with an app of its own, in one state.
#[component]
fn Frame(title: &'static str, set: fn(App), children: Children) -> impl IntoView {
    let app = App::new(Backend::here());
    app.phase.set(Phase::Ready);
    set(app);
    view! {
        <Provider value=app>
            <figure><figcaption>{title}</figcaption><div class="exhibit">{children()}</div></figure>
        </Provider>
    }
}

fn swatch(role: &'static str) -> impl IntoView + use<> {
    let colour = format!("var(--{role})");
    view! { <span class="swatch"><i style:background=colour></i><code>{role}</code></span> }
}

#[component]
fn Type() -> impl IntoView {
    view! {
        <div class="column">
            <p class="claim">"A claim: what an agent learned, in one sentence."</p>
            <h2>"A heading"</h2>
            <p>"Text, at 13 pixels, as it is read everywhere."</p>
            <p class="quiet">"Quiet text: what stands beside."</p>
            <code>"repo:src/retry.rs#L9-L15@d873713"</code>
        </div>
    }
}

#[component]
fn Controls() -> impl IntoView {
    view! {
        <button>"Button"</button>
        <button class="primary">"Primary"</button>
        <button class="danger">"Danger"</button>
        <button class="plain">"Plain"</button>
        <button disabled>"Disabled"</button>
        <button class="primary" disabled>"Primary, disabled"</button>
        <button>"With a key " {keycaps("Mod+k")}</button>
        <button class="pill">"3 new " <kbd>"N"</kbd></button>
        <div class="segments"><button aria-pressed="true">"Chosen"</button><button aria-pressed="false">"Not chosen"</button></div>
        <span class="chip">"chip"</span>
        <span class="chip">{Icon::Of(Kind::Fact).draw()}"with an icon"</span>
        <span class="chip gone">"past"</span>
        <button class="chip value" aria-pressed="false"><span>"value"</span><i>"12"</i></button>
        <button class="chip value" aria-pressed="true"><span>"value that is on"</span><i>"3"</i></button>
        <span class="tag">"#tag"</span>
    }
}

fn icons() -> impl IntoView {
    let named = [
        (Icon::Feed, "feed"),
        (Icon::Drift, "drift"),
        (Icon::Settings, "settings"),
        (Icon::Repository, "repository"),
        (Icon::Search, "search"),
        (Icon::Copy, "copy"),
        (Icon::Check, "done"),
        (Icon::Chevron, "opens"),
        (Icon::Alert, "alert"),
        (Icon::Close, "close"),
        (Icon::Erased, "erased"),
        (Icon::Picture, "picture"),
        (Icon::Binary, "binary"),
    ];
    let kinds = KINDS.iter().map(|it| (Icon::Of(*it), words::kind(*it)));
    let all = named.into_iter().chain(kinds);
    all.map(|(icon, name)| view! { <span class="named">{icon.draw()}{name}</span> })
        .collect_view()
}

#[component]
fn States() -> impl IntoView {
    let word = |it: &Arc<Engram>| {
        let (word, class) = words::evidence(it);
        view! { <span class=class>{word}</span> }
    };
    view! {
        {engrams().iter().map(word).collect_view()}
        <span class="word gone">"forgotten"</span>
        <span class="word quiet">"no digest was recorded"</span>
    }
}

#[component]
fn Sources() -> impl IntoView {
    let line = |number, before, text: &str, marked, side| SourceLine {
        number,
        before,
        text: text.to_owned(),
        cut: 0,
        marked,
        side,
        pieces: Vec::new(),
    };
    let plain: Arc<[SourceLine]> = Arc::new([
        line(8, 0, "", false, Side::Both),
        line(
            9,
            0,
            "pub fn delay(attempt: u32) -> Duration {",
            true,
            Side::Both,
        ),
        line(
            10,
            0,
            "    ceiling(attempt).mul_f64(jitter())",
            true,
            Side::Both,
        ),
        line(11, 0, "}", true, Side::Both),
    ]);
    let edited: Arc<[SourceLine]> = Arc::new([
        line(
            9,
            9,
            "pub fn delay(attempt: u32) -> Duration {",
            true,
            Side::Both,
        ),
        line(
            0,
            10,
            "    ceiling(attempt).mul_f64(jitter())",
            true,
            Side::Removed,
        ),
        line(
            10,
            0,
            "    ceiling(attempt).mul_f64(half_jitter())",
            true,
            Side::Added,
        ),
        line(11, 11, "}", true, Side::Both),
    ]);
    let compared = edited.clone();
    let gone: Arc<[SourceLine]> = Arc::new([
        line(
            0,
            9,
            "pub fn delay(attempt: u32) -> Duration {",
            true,
            Side::Removed,
        ),
        line(0, 10, "}", true, Side::Removed),
    ]);
    view! {
        <Exhibit title="marked"><Code lines=plain shape=Shape::Source label="marked".to_owned() testid="gallery-source" /></Exhibit>
        <Exhibit title="compared"><Code lines=compared shape=Shape::Compared label="compared".to_owned() testid="gallery-compared" /></Exhibit>
        <Exhibit title="then and now"><Sides lines=edited /></Exhibit>
        <Exhibit title="nothing is left"><Sides lines=gone /></Exhibit>
        <Exhibit title="a picture"><NoLines media=media(MediaKind::Picture, Some("PNG")) /></Exhibit>
        <Exhibit title="a binary"><NoLines media=media(MediaKind::Binary, None) /></Exhibit>
        <Exhibit title="a text that stands for a file"><AlsoIs media=media(MediaKind::StandIn, None) /></Exhibit>
        <Exhibit title="a picture that is written as text"><AlsoIs media=media(MediaKind::Drawing, Some("SVG")) /></Exhibit>
        <Exhibit title="found elsewhere than pinned"><FoundElsewhere found=FoundIn { because: "the commit is gone".to_owned(), commit: None } /></Exhibit>
        <Exhibit title="refused, and what is known">{known()}</Exhibit>
    }
}

fn media(kind: MediaKind, format: Option<&str>) -> Media {
    Media {
        kind,
        format: format.map(str::to_owned),
        size: 12_345,
        pixels: (kind == MediaKind::Picture).then_some((640, 480)),
        digest: (kind == MediaKind::StandIn).then(|| format!("sha256:{}", "4d7a".repeat(16))),
    }
}

fn known() -> impl IntoView {
    let known = engrams().into_iter().nth(2);
    let known = known.and_then(|it| {
        let pointer = it.pointers.first().cloned()?;
        let digest = "4d7a".repeat(16);
        Some((it, pointer.with_digest(Some(digest)).ok()?))
    });
    view! { <Refused refusal=refusal() known retry=|| () /> }
}

#[component]
fn Exhibit(title: &'static str, children: Children) -> impl IntoView {
    view! { <figure class="whole-width"><figcaption>{title}</figcaption><div class="exhibit source">{children()}</div></figure> }
}

/// One engram of each kind, each with another standing.
fn engrams() -> Vec<Arc<Engram>> {
    const HOW: &[(&str, &str)] = &[
        ("holds", "unchanged"),
        ("holds", "moved"),
        ("needs_reverification", "edited"),
        ("evidence_gone", "deleted"),
        ("holds", "renamed"),
        ("unknown", "unchanged"),
        ("holds", "edited"),
    ];
    let made = KINDS.iter().enumerate().map(|(index, kind)| {
        let id = format!("{index:026}");
        let now = dom::clock().now;
        serde_json::from_value(json!({
            "id": id, "seq": index + 1, "lineage_id": id, "project": id, "kind": kind,
            "claim": format!("A claim of the kind “{}”, as long as claims are: it takes two lines in the list.", words::kind(*kind)),
            "fact_type": "observation", "scope": "project", "topic": "payments/retries",
            "pointers": [{"type": "repo", "ref": "src/retry.rs@HEAD", "span": "L9-L15"}],
            "confidence": 0.9, "durability": "durable", "tags": ["example"], "hash_keys": [], "entities": [],
            "provenance": {"created_at": now, "created_by": "architect", "source": "agent"},
            "content_hash": "sha256:0", "valid_from": now, "recorded_at": now, "memory_op": "add",
            "verified": index != 8,
            "health": HOW.get(index).map(|(standing, state)| json!({"standing": standing, "pointers": [{"pointer": "repo:src/retry.rs#L9-L15@HEAD", "state": state}]})),
        }))
    });
    let made = made.filter_map(Result::ok);
    made.map(|it: Engram| Arc::new(it)).collect()
}

fn load(app: App, all: &[Arc<Engram>], filter: Filter) {
    let entry = |it: &Arc<Engram>| Entry {
        seq: it.seq,
        at: it.recorded_at,
        by: String::new(),
        change: engram_model::Change::Stored(Box::new(Engram::clone(it))),
    };
    let page = FeedPage {
        entries: all.iter().rev().map(entry).collect(),
        head: all.len() as u64,
        engrams: all.len() as u64,
        next: None,
    };
    app.filter.set(filter.clone());
    app.feed.update(|feed| feed.load(page, filter));
}

fn full(app: App) {
    load(app, &engrams(), Filter::default());
}

fn paused(app: App) {
    let all = engrams();
    load(app, &all[..3], Filter::default());
    let news = all[3..].iter().map(|it| Entry {
        seq: it.seq,
        at: it.recorded_at,
        by: String::new(),
        change: engram_model::Change::Stored(Box::new(Engram::clone(it))),
    });
    app.feed.update(|feed| {
        feed.live(news.collect(), true);
    });
    app.at_top.set(false);
    app.link.set(Link::Live);
}

fn no_match(app: App) {
    let filter = Filter {
        text: "no such words".to_owned(),
        kinds: vec![Kind::Fact],
        ..Filter::default()
    };
    load(app, &[], filter);
}

fn panel(app: App) {
    let all = engrams();
    let day = dom::clock().now;
    let filter = Filter {
        kinds: vec![Kind::Fact, Kind::Risk],
        until: Some(day),
        ..Filter::default()
    };
    load(app, &all[..2], filter);
    app.facets.set(Some(Facets {
        total: 2,
        kinds: KINDS.iter().map(|it| (*it, 1)).collect(),
        roles: vec![("programmer".to_owned(), 2)],
        authors: vec![("architect".to_owned(), 1), (String::new(), 1)],
        verified: vec![(true, 2)],
        health: vec![(Evidence::EvidenceGone, 1)],
        topics: vec![("payments/retries".to_owned(), 1_204)],
        ..Facets::default()
    }));
    app.facets_open.set(true);
}

fn no_drift(app: App) {
    load(app, &[], drifted());
}

/// An agent that has read so many spans.
fn spending(app: App, spans: u32) {
    let status = serde_json::from_value(json!({
        "status": "ready", "next": "", "engrams": 8, "head": 8, "indexed": 8, "agents": 4, "version": "",
        "project": {"name": "shop", "branch": "main"},
        "spending": {"agent": "programmer-2", "until": "2100-01-01T00:00:00Z", "budget": {
            "turn": "1", "repo_spans": {"used": spans, "limit": 3}, "artifact_sections": {"used": 0, "limit": 2},
            "sam_items": {"used": 1, "limit": 2}, "tokens": {"used": 206 * spans, "limit": 1_200}}},
    }));
    app.status.set(status.ok());
    app.link.set(Link::Live);
}

fn lost(app: App) {
    load(app, &engrams()[..2], Filter::default());
    app.link.set(Link::Lost);
    app.lost_at.set(Some(dom::clock().now));
}

fn stale(app: App) {
    lost(app);
    app.is_stale.set(true);
}

fn chosen(app: App, index: usize) {
    let all = engrams();
    load(app, &all, Filter::default());
    app.selected.set(all.get(index).map(|it| it.id));
}

fn closing(app: App, closing: Closing) {
    chosen(app, 3);
    app.closing
        .set(app.selected.get_untracked().map(|it| (it, closing)));
}

fn say(app: App, is_error: bool) {
    app.toast.set(Some(Toast {
        text: "What happened".to_owned(),
        hint: "And what to do next.".to_owned(),
        is_error,
    }));
}

fn refusal() -> Refusal {
    Refusal::new(
        RefusalCode::StoreNewer,
        "this home was written by a newer Engram",
        "Update Engram, or name another home with --home.",
    )
}
