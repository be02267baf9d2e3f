//! The rows by repository: who did what, how often, and when.

use engram_model::{NewsKind, NewsRow};
use leptos::{ev, prelude::*};

use super::{
    VIEW,
    state::{self, Ending, Row, RowKey, Since, key_of},
};
use crate::{
    app::{
        components::{
            inbox::{Instead, ListBox, ListPane},
            prose::prose,
        },
        dom::{self, LIST},
        frame::room,
        repositories,
        state::App,
    },
    words::{self, say},
};

/// The id of the control for how far back news is shown; the filter key focuses it.
pub(super) const SINCE: &str = "today-since";

pub(super) fn today_row_id(key: &RowKey) -> String {
    match key {
        RowKey::Ending => "ends-soon".to_owned(),
        RowKey::News((project, what, by)) => format!("news-{project}-{what}-{by}"),
    }
}

#[component]
pub(super) fn List() -> impl IntoView {
    let app = App::here();
    let today = app.views.today;
    let cut = move || {
        let is_cut = today
            .known
            .with(|it| it.as_ref().is_some_and(|it| it.is_cut));
        is_cut.then(|| view! { <p class="quiet more" data-testid="news-cut">{say::today::CUT}</p> })
    };
    view! {
        <ListPane view=&VIEW beside=|| () limits=|| view! { <Choice /> } refused=today.inbox.refused again=state::read>
            <Rows />
            {cut}
        </ListPane>
    }
}

/// The control for how far back news is shown.
#[component]
fn Choice() -> impl IntoView {
    let app = App::here();
    let today = app.views.today;
    let name = move |since: Since| match (since, today.looked.get()) {
        (Since::Look, Some(looked)) => say::today::since(&app.clock.get().moment(looked.at)),
        (Since::Look, None) => say::today::SINCE_LOOK.to_owned(),
        (Since::Day, _) => say::today::SINCE_DAY.to_owned(),
        (Since::Week, _) => say::today::SINCE_WEEK.to_owned(),
    };
    let option = move |(at, since): (usize, Since)| {
        view! { <option value=at.to_string() selected=move || today.since.get() == since>{move || name(since)}</option> }
    };
    let choose = move |event| {
        let at: usize = event_target_value(&event).parse().unwrap_or_default();
        today
            .since
            .set(Since::ALL.get(at).copied().unwrap_or_default());
    };
    let leave = move |event: ev::KeyboardEvent| {
        if event.key() == "Escape" {
            dom::focus(LIST);
        }
    };
    view! {
        <div class="filter choices" role="group" aria-label=say::today::SINCE on:keydown=leave>
            <label for=SINCE class="offscreen">{say::today::SINCE}</label>
            <select id=SINCE data-testid="today-since" on:change=choose>
                {Since::ALL.into_iter().enumerate().map(option).collect_view()}
            </select>
            <kbd aria-hidden="true">"F"</kbd>
        </div>
    }
}

#[component]
fn Rows() -> impl IntoView {
    let app = App::here();
    let today = app.views.today;
    let rows = Memo::new(move |_| today.news());
    let ending = Memo::new(move |_| state::ending(app));
    let is_none = Memo::new(move |_| rows.with(Vec::is_empty) && ending.with(Option::is_none));
    let repositories = Memo::new(move |_| {
        let name = |it: &NewsRow| (it.project.to_string(), repository_name(it));
        let mut all: Vec<(String, String)> = rows.with(|all| all.iter().map(name).collect());
        all.dedup();
        all
    });
    let active = Signal::derive(move || today.inbox.open.with(|it| it.as_ref().map(today_row_id)));
    view! {
        <Instead is_none is_read=Signal::derive(move || today.known.with(Option::is_some)) refused=today.inbox.refused
            reading=say::today::READING nothing />
        <ListBox class="conflicts today" label=say::today::LABEL testid="today-list" is_none active>
            {move || ending.get().map(|ending| view! { <EndingRow ending /> })}
            <For each=move || repositories.get() key=Clone::clone let((project, name))><OfRepository project name rows /></For>
        </ListBox>
    }
}

/// The name of a row's repository.
pub(super) fn repository_name(row: &NewsRow) -> String {
    match row.path {
        Some(_) => words::visible(&row.repository),
        None => say::today::OUTSIDE.to_owned(),
    }
}

#[component]
fn OfRepository(project: String, name: String, rows: Memo<Vec<NewsRow>>) -> impl IntoView {
    let own = Memo::new(move |_| {
        rows.with(|all| {
            let own = all.iter().filter(|it| it.project.to_string() == project);
            own.cloned().collect::<Vec<_>>()
        })
    });
    let label = name.clone();
    view! {
        <div class="topic" role="group" aria-label=label data-testid="today-repository">
            <div class="topic-name" aria-hidden="true"><b>{name}</b></div>
            <For each=move || own.get() key=|it| (key_of(it), it.seq, it.count) let:row><News row /></For>
        </div>
    }
}

/// A row that can be opened: `what` names its sort for tests.
#[component]
fn TodayRow(row: Row, what: &'static str, children: Children) -> impl IntoView {
    let app = App::here();
    let key = StoredValue::new(row.key());
    let is_open = Memo::new(move |_| {
        let open = app.views.today.inbox.open;
        key.with_value(|key| open.with(|it| it.as_ref() == Some(key)))
    });
    let open = move |_| {
        state::select_row(app, key.get_value());
        room::bring_forward(app);
    };
    view! {
        <div class="news-row" class:selected=is_open id=key.with_value(today_row_id) role="option" aria-selected=move || is_open.get().to_string()
            data-testid="news" data-what=what
            on:mousedown=dom::prevent_text_selection on:click=open on:dblclick=move |_| state::go_to(app, &row)>
            {children()}
        </div>
    }
}

/// Claims of the repository in front that are about to end.
#[component]
fn EndingRow(ending: Ending) -> impl IntoView {
    let app = App::here();
    let clock = app.clock.get_untracked();
    let claim = words::claim(&ending.first);
    let when = say::state::expires_in(&clock.until(ending.end));
    let at = ending.end;
    let count = words::format_count(ending.count, say::ending::ENDING);
    view! {
        <div class="topic" role="group" aria-label=say::today::HERE data-testid="today-ending">
            <div class="topic-name" aria-hidden="true"><b>{say::today::HERE}</b></div>
            <TodayRow row=Row::Ending(ending) what="ending">
                <span class="who">
                    <span class="warn">{count}</span>
                    <span class="space"></span>
                    <time datetime=at.to_string() title=clock.moment(at)>{when}</time>
                </span>
                <p dir="auto">{prose(&claim)}</p>
            </TodayRow>
        </div>
    }
}

#[component]
fn News(row: NewsRow) -> impl IntoView {
    let app = App::here();
    let clock = app.clock.get_untracked();
    let at = row.at;
    view! {
        <TodayRow row=Row::News(row.clone()) what=row.what.as_str()>
            <span class="who">
                {(!row.by.is_empty()).then(|| view! { <b>{words::visible(&row.by)}</b>" " })}
                <span class:warn={row.what != NewsKind::Learned}>{what_happened(&row)}</span>
                <span class="space"></span>
                <time datetime=at.to_string() title=clock.moment(at)>{clock.ago(at)}</time>
            </span>
            {newest_text(&row).map(|it| view! { <p dir="auto">{prose(&it)}</p> })}
        </TodayRow>
    }
}

/// Returns the newest claim; for a request its reason and pointer, or the pointer alone once the
/// reason is erased.
pub(super) fn newest_text(row: &NewsRow) -> Option<String> {
    let text = match row.what {
        NewsKind::Asked => words::wanted_source(&row.text),
        _ => words::visible(&row.text),
    };
    (!row.text.is_empty()).then_some(text)
}

/// Returns what happened, with the count.
pub(super) fn what_happened(row: &NewsRow) -> String {
    let (verb, noun) = match row.what {
        NewsKind::Learned => (say::today::LEARNED, say::CLAIMS),
        NewsKind::Contradicted => (say::today::CONTRADICTED, say::CONFLICTS),
        NewsKind::Settled => (say::today::SETTLED, say::CONFLICTS),
        NewsKind::Asked => (say::today::ASKED, say::REQUESTS),
        NewsKind::Drifted => (say::today::DRIFTED, say::CLAIMS),
    };
    format!("{verb} {}", words::format_count(row.count, noun))
        .trim()
        .to_owned()
}

fn nothing() -> impl IntoView {
    let app = App::here();
    let waiting = Memo::new(move |_| repositories::count_waiting(app));
    let still = move || match waiting.get() {
        0 => say::today::NONE_MEANS.to_owned(),
        waiting => say::today::still_waiting(waiting),
    };
    view! {
        <div class="none" data-testid="no-news">
            <span class="sign">{VIEW.icon.draw()}</span>
            <h2>{say::today::NONE}</h2>
            <p data-testid="still-waiting">{still}</p>
        </div>
    }
}
