//! Every component in every state, on one page: `#/gallery`. It shows how a change of the look
//! affects all of them. The components are real; only their data is made up. What belongs to one
//! view is in that view's folder, in `gallery.rs`.

pub(super) mod made_up;
pub(super) mod set;
mod shell;

use std::sync::Arc;

use engram_model::{Engram, FoundIn, Kind, MediaKind};
use leptos::{context::Provider, html, prelude::*};
use wasm_bindgen::JsCast;
use web_sys::{HtmlDialogElement, HtmlElement};

use self::made_up::{engrams, media, refusal};
use super::{
    components::{icons::Icon, prose},
    engine::{backend::Backend, connection::Link},
    first_run::FirstRun,
    frame::{Over, rail::Rail, states, status_line::StatusLine},
    overlay::{
        self, menu,
        palette::{Palette, keycaps},
        settings::SettingsSheet,
    },
    reading::{Closing, Panel, detail::Detail},
    repositories::pick::Repositories,
    source::{
        code::{Code, Shape},
        document::Document,
        long_line::LongLine,
        media::{AlsoIs, FoundElsewhere, NoLines, UnreadableSource},
        sides::Sides,
    },
    state::{App, Phase},
    views::{VIEWS, brief, conflicts, feed, knowledge, requests, today},
    write::Adding,
};
use crate::words::{self, State};

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

#[component]
pub(crate) fn Gallery() -> impl IntoView {
    shell::stand_in();
    view! {
        <main class="gallery" data-testid="gallery">
            <h1>"Gallery"</h1>
            <Part title="Color">{ROLES.iter().map(|role| swatch(role)).collect_view()}</Part>
            <Part title="Type"><Type /></Part>
            <Part title="Controls"><Controls /></Part>
            <Part title="Icons">{icons()}</Part>
            <Part title="Words of state"><States /></Part>
            <Part title="Claims"><Claims /></Part>
            <Part title="Source"><Sources /></Part>
            <Part title="Rail">
                <Frame title="the feed" set=|app| set::status(app, 0)><Strip><Rail /></Strip></Frame>
                <Frame title="claims in doubt" set=|app| set::status(app, 3)><Strip><Rail /></Strip></Frame>
                <Frame title="drift" set=set::no_drift><Strip><Rail /></Strip></Frame>
                <Frame title="several repositories" set=set::several><Strip><Rail /></Strip></Frame>
            </Part>
            <feed::gallery::Exhibits />
            <knowledge::gallery::Exhibits />
            <Details />
            <feed::gallery::ChosenExhibits />
            <conflicts::gallery::Exhibits />
            <requests::gallery::Exhibits />
            <brief::gallery::Exhibits />
            <today::gallery::Exhibits />
            <Part title="Menu">
                <Frame title="of a claim that holds" set=|app| set::chosen(app, 0)><div class="menu"><menu::Items /></div></Frame>
                <Frame title="of one whose evidence changed" set=|app| set::chosen(app, 2)><div class="menu"><menu::Items /></div></Frame>
            </Part>
            <Sheets />
            <Part title="Whole pages">
                <Frame title="loading" set=|_| ()><states::Loading /></Frame>
                <Frame title="failure" set=|_| ()><overlay::Failure refusal=refusal() /></Frame>
                <Frame title="first run" set=set::empty><FirstRun /></Frame>
            </Part>
            <Notices />
        </main>
    }
}

#[component]
fn Details() -> impl IntoView {
    view! {
        <Part title="Detail">
            <Frame title="nothing chosen" set=feed::gallery::full><Detail /></Frame>
            <Frame title="a claim that holds" set=|app| set::chosen(app, 0)><Detail /></Frame>
            <Frame title="a claim that is corrected" set=set::correcting><Detail /></Frame>
            <Frame title="edited" set=|app| set::chosen(app, 2)><Detail /></Frame>
            <Frame title="who wrote the lines" set=|app| set::reading(app, Panel::Blame)><Detail /></Frame>
            <Frame title="its history, and who else said it" set=set::history><Detail /></Frame>
            <Frame title="forgotten" set=|app| set::read(app, State::Forgotten)><Detail /></Frame>
            <Frame title="erased" set=|app| set::read(app, State::Redacted)><Detail /></Frame>
            <Frame title="expired" set=|app| set::read(app, State::Expired)><Detail /></Frame>
            <Frame title="replaced" set=|app| set::read(app, State::Replaced)><Detail /></Frame>
            <Frame title="gone, to be forgotten" set=|app| set::closing(app, Closing::Forget)><Detail /></Frame>
            <Frame title="gone, to be erased" set=|app| set::closing(app, Closing::Redact)><Detail /></Frame>
        </Part>
    }
}

#[component]
fn Sheets() -> impl IntoView {
    view! {
        <Part title="Over the window">
            <Frame title="palette" set=feed::gallery::full is_wide=true><Sheet over=Over::Palette><Palette /></Sheet></Frame>
            <Frame title="shortcuts" set=feed::gallery::full is_wide=true><Sheet over=Over::Sheet><overlay::Shortcuts /></Sheet></Frame>
            <Frame title="settings" set=|app| set::status(app, 0) is_wide=true><Sheet over=Over::Settings><SettingsSheet /></Sheet></Frame>
            <Frame title="repositories" set=set::several is_wide=true><Sheet over=Over::Repositories><Repositories /></Sheet></Frame>
            <Frame title="a claim by hand" set=feed::gallery::full is_wide=true><Sheet over=Over::Add><Adding /></Sheet></Frame>
        </Part>
    }
}

#[component]
fn Notices() -> impl IntoView {
    view! {
        <Part title="Notices and the status line">
            <Frame title="done" set=|app| set::say(app, false)><overlay::Notice /></Frame>
            <Frame title="refused" set=|app| set::say(app, true)><overlay::Notice /></Frame>
            <Frame title="connecting" set=|_| ()><StatusLine /></Frame>
            <Frame title="live" set=|app| app.connection.link.set(Link::Live)><StatusLine /></Frame>
            <Frame title="paused" set=feed::gallery::paused><StatusLine /></Frame>
            <Frame title="an agent reads" set=|app| set::spending(app, 2)><StatusLine /></Frame>
            <Frame title="an agent has spent its turn" set=|app| set::spending(app, 3)><StatusLine /></Frame>
            <Frame title="disconnected" set=set::lost><StatusLine /></Frame>
        </Part>
    }
}

#[component]
pub(crate) fn Part(title: &'static str, children: Children) -> impl IntoView {
    view! { <section><h2>{title}</h2><div class="exhibits">{children()}</div></section> }
}

/// A component with an app of its own, in one state.
#[component]
pub(crate) fn Frame(
    title: &'static str,
    set: fn(App),
    #[prop(optional)] is_wide: bool,
    children: Children,
) -> impl IntoView {
    let app = App::new(Backend::here());
    app.phase.set(Phase::Ready);
    set(app);
    view! {
        <Provider value=app>
            <figure class:whole-width=is_wide><figcaption>{title}</figcaption><div class="exhibit">{children()}</div></figure>
        </Provider>
    }
}

/// A strip as wide as the rail in the window.
#[component]
fn Strip(children: Children) -> impl IntoView {
    view! { <div style:width="64px">{children()}</div> }
}

/// A dialog in its place on the page. It is already open, so that the browser does not show it over
/// the page.
#[component]
fn Sheet(over: Over, children: Children) -> impl IntoView {
    let app = App::here();
    let node = NodeRef::<html::Div>::new();
    node.on_load(move |element| {
        let dialog = element.query_selector("dialog").ok().flatten();
        if let Some(dialog) = dialog.and_then(|it| it.dyn_into::<HtmlDialogElement>().ok()) {
            dialog.set_open(true);
            for (name, value) in [
                ("position", "static"),
                ("margin", "0 auto"),
                ("max-width", "100%"),
            ] {
                // If the style cannot be set, the dialog lies over its neighbours.
                let _ = HtmlElement::style(&dialog).set_property(name, value);
            }
        }
        app.frame.over.set(Some(over));
    });
    view! { <div node_ref=node>{children()}</div> }
}

fn swatch(role: &'static str) -> impl IntoView + use<> {
    let color = format!("var(--{role})");
    view! { <span class="swatch"><i style:background=color></i><code>{role}</code></span> }
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
        (Icon::Pin, "pinned"),
    ];
    let views = VIEWS.iter().map(|it| (it.icon, it.id));
    let kinds = Kind::ALL.iter().map(|it| (Icon::Of(*it), words::kind(*it)));
    let all = views.chain(named).chain(kinds);
    all.map(|(icon, name)| view! { <span class="named">{icon.draw()}{name}</span> })
        .collect_view()
}

#[component]
fn States() -> impl IntoView {
    let word = |engram: &Arc<Engram>| {
        let (word, class) = words::evidence(engram, false);
        view! { <span class=class>{word}</span> }
    };
    view! {
        {engrams().iter().map(word).collect_view()}
        <span class="word gone">{words::say::state::FORGOTTEN}</span>
        <span class="word quiet">{words::say::state::NO_DIGEST}</span>
    }
}

/// Claims with code, and claims that run right to left.
#[component]
fn Claims() -> impl IntoView {
    let texts = [
        "`retry(3)` -> waits at most 30 s, then `Error::Timeout`",
        "הקובץ src/retry.rs קורא ל-`delay(attempt)` לפני כל ניסיון",
        "يعيد `retry` المحاولة ثلاث مرات -> ثم يتوقف",
    ];
    let claim = |text: &str| {
        let claim = prose::claim(text, &[]);
        view! { <p class="claim" dir=claim.direction>{claim.text}</p> }
    };
    texts.into_iter().map(claim).collect_view()
}

#[component]
fn Sources() -> impl IntoView {
    let (plain, edited, gone) = (made_up::plain(), made_up::edited(), made_up::gone());
    let compared = edited.clone();
    view! {
        <Exhibit title="marked"><Code lines=plain shape=Shape::Source label="marked".to_owned() testid="gallery-source" /></Exhibit>
        <Exhibit title="a long span"><Code lines=made_up::long() shape=Shape::Source label="a long span".to_owned() testid="gallery-long" /></Exhibit>
        <Exhibit title="compared"><Code lines=compared shape=Shape::Compared label="compared".to_owned() testid="gallery-compared" /></Exhibit>
        <Exhibit title="then and now"><Sides lines=edited then="Pinned · 4d7a4d7".to_owned() now=words::say::source::NOW.to_owned() /></Exhibit>
        <Exhibit title="far from a change"><Sides lines=made_up::far() then="Pinned · 4d7a4d7".to_owned() now=words::say::source::NOW.to_owned() /></Exhibit>
        <Exhibit title="nothing is left"><Sides lines=gone then="Pinned · 4d7a4d7".to_owned() now=words::say::source::NOW.to_owned() /></Exhibit>
        <Exhibit title="a document"><Document blocks=made_up::document() label="a document".to_owned() /></Exhibit>
        <Frame title="a part of a long line" set=|_| () is_wide=true>{long_line()}</Frame>
        <Exhibit title="a picture"><NoLines media=media(MediaKind::Picture, Some("PNG")) /></Exhibit>
        <Exhibit title="a binary"><NoLines media=media(MediaKind::Binary, None) /></Exhibit>
        <Exhibit title="a text that stands for a file"><AlsoIs media=media(MediaKind::StandIn, None) /></Exhibit>
        <Exhibit title="a picture that is written as text"><AlsoIs media=media(MediaKind::Drawing, Some("SVG")) /></Exhibit>
        <Exhibit title="found elsewhere than pinned"><FoundElsewhere found=FoundIn { because: "the commit is gone".to_owned(), commit: None } /></Exhibit>
        <Exhibit title="refused, and what is known">{known()}</Exhibit>
    }
}

fn long_line() -> Option<impl IntoView> {
    let pointer = engrams().first()?.pointers.first()?.clone();
    Some(view! { <LongLine pointer number=9 close=|| () /> })
}

fn known() -> impl IntoView {
    let known = engrams().into_iter().nth(2);
    let known = known.and_then(|engram| {
        let pointer = engram.pointers.first().cloned()?;
        let digest = "4d7a".repeat(16);
        Some((engram, pointer.with_digest(Some(digest)).ok()?))
    });
    view! { <UnreadableSource refusal=refusal() known retry=|| () /> }
}

#[component]
fn Exhibit(title: &'static str, children: Children) -> impl IntoView {
    view! { <figure class="whole-width"><figcaption>{title}</figcaption><div class="exhibit source">{children()}</div></figure> }
}
