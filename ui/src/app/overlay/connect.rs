//! Connects agents: shows the state of each, the change to its configuration, and undo. In a
//! browser, where the page may not write, shows the command lines.

use engram_model::{
    ChangeShown, ChangedLine, Client, ConnectHint, ConnectReply, Connected, Connection, FileChange,
    FileLeft, FileShown, LineChange, Refusal,
};
use leptos::{ev, leptos_dom::helpers::window_event_listener, prelude::*, task::spawn_local};

use crate::{
    app::{
        components::{icons::Icon, prose::prose, refused::view_refusal},
        dom,
        frame::Over,
        outside,
        overlay::{Heading, Modal},
        state::App,
    },
    words::{self, say},
};

/// What a row shows below its agent's name.
#[derive(Clone, Debug, PartialEq)]
enum ConnectStage {
    Rest,
    /// A change that waits for confirmation.
    Shown {
        change: ChangeShown,
        undo: bool,
        /// Whether the file changed after the change was shown.
        is_other: bool,
    },
    Done {
        undo: bool,
    },
    Failed(Refusal),
}

type Connections = RwSignal<Option<Result<Vec<Connection>, Refusal>>>;

/// The row of one agent.
#[derive(Clone, Copy)]
struct ClientRow {
    app: App,
    client: Client,
    within: Option<Over>,
    stage: RwSignal<ConnectStage>,
    is_busy: RwSignal<bool>,
    all: Connections,
}

#[component]
pub(crate) fn ConnectSheet() -> impl IntoView {
    view! {
        <Modal over=Over::Connect label=say::connect::TITLE class="connect">
            <Heading title=say::connect::TITLE />
            <p class="quiet">{explanation()}</p>
            <Agents within=Some(Over::Connect) />
        </Modal>
    }
}

/// Returns a sentence on what connecting does.
pub(crate) fn explanation() -> &'static str {
    if App::here().backend().connects() {
        say::connect::MEANS
    } else {
        say::connect::MEANS_COMMANDS
    }
}

/// The agents, on the page or in a sheet; in a browser, the command lines that connect them.
#[component]
pub(crate) fn Agents(within: Option<Over>) -> impl IntoView {
    let app = App::here();
    if !app.backend().connects() {
        return view! { <Commands /> }.into_any();
    }
    view! {
        <Rows within />
        <details class="terminal">
            <summary>{say::connect::IN_TERMINAL}</summary>
            <Commands />
        </details>
    }
    .into_any()
}

#[component]
fn Commands() -> impl IntoView {
    let app = App::here();
    let hints = LocalResource::new(move || async move { app.backend().connect_hint().await });
    let commands = move || match hints.get() {
        None => ().into_any(),
        Some(Ok(hints)) => hints
            .into_iter()
            .map(|hint| view! { <Command hint /> })
            .collect_view()
            .into_any(),
        Some(Err(refusal)) => view! { <p class="quiet">{refusal.hint}</p> }.into_any(),
    };
    view! { <div class="commands">{commands}</div> }
}

#[component]
fn Command(hint: ConnectHint) -> impl IntoView {
    let app = App::here();
    let command = StoredValue::new(hint.command.clone());
    view! {
        <div class="command" data-testid="connect-command">
            <span class="agent">{hint.agent.clone()}</span>
            <code>{hint.command}</code>
            <button aria-label=say::first::copy_command(&hint.agent)
                on:click=move |_| outside::copy_text(app, command.get_value(), say::first::COMMAND_COPIED)>
                {Icon::Copy.draw()}{say::COPY}
            </button>
        </div>
    }
}

#[component]
fn Rows(within: Option<Over>) -> impl IntoView {
    let app = App::here();
    let all = Connections::new(None);
    let row = |client: &Client| ClientRow {
        app,
        client: *client,
        within,
        stage: RwSignal::new(ConnectStage::Rest),
        is_busy: RwSignal::new(false),
        all,
    };
    let rows: Vec<ClientRow> = Client::ALL.iter().map(row).collect();
    // Reads again after a sheet closes or an agent calls, since it may have been connected elsewhere.
    let caller = Memo::new(move |_| {
        let life = app.status.with(|it| it.as_ref()?.sign_of_life.clone());
        life.map(|it| it.agent)
    });
    Effect::new(move |_| {
        caller.track();
        if app.frame.over.get() == within {
            spawn_local(read_connections(app, all));
        }
    });
    // The file may have been fixed elsewhere, so its refusal is cleared.
    let seen = rows.clone();
    let focus = window_event_listener(ev::focus, move |_| {
        let failed = |it: &&ClientRow| matches!(it.stage.get_untracked(), ConnectStage::Failed(_));
        for row in seen.iter().filter(failed) {
            row.stage.set(ConnectStage::Rest);
        }
        spawn_local(read_connections(app, all));
    });
    on_cleanup(move || focus.remove());
    let refused = move || match all.get() {
        Some(Err(why)) => Some(view_refusal(&why, ().into_any())),
        _ => None,
    };
    view! {
        {refused}
        <ul class="agents-to-connect">{rows.into_iter().map(ClientRow::view).collect_view()}</ul>
    }
}

async fn read_connections(app: App, all: Connections) {
    let backend = app.backend();
    let read = app
        .repositories
        .for_front(async move { backend.connections().await });
    all.set(Some(read.await));
}

impl ClientRow {
    fn state(self) -> Option<Connected> {
        let of = |it: &&Connection| it.client == self.client;
        self.all.with(|all| {
            let all = all.as_ref()?.as_ref().ok()?;
            all.iter().find(of).map(|it| it.state.clone())
        })
    }

    /// Shows a change, or writes it as shown.
    fn ask(self, undo: bool, shown: Option<String>) {
        if self.is_busy.get_untracked() {
            return;
        }
        self.is_busy.set(true);
        let backend = self.app.backend();
        let writes = shown.is_some();
        spawn_local(async move {
            let asked = async move { backend.connect(self.client, undo, shown).await };
            let next = match self.app.repositories.for_front(asked).await {
                Ok(ConnectReply::Written) => ConnectStage::Done { undo },
                Ok(ConnectReply::Shown(change)) if change.is_any => ConnectStage::Shown {
                    change: *change,
                    undo,
                    is_other: writes,
                },
                Ok(ConnectReply::Shown(_)) => ConnectStage::Rest,
                Err(refusal) => ConnectStage::Failed(refusal),
            };
            if !matches!(next, ConnectStage::Shown { .. }) {
                read_connections(self.app, self.all).await;
            }
            self.stage.set(next);
            self.is_busy.set(false);
            self.focus();
        });
    }

    /// Moves the focus to the change, or back to the button.
    fn focus(self) {
        let is_shown = matches!(
            self.stage.try_get_untracked(),
            Some(ConnectStage::Shown { .. })
        );
        let ids = if is_shown {
            [self.id("change"), self.id("change")]
        } else {
            [self.id("disconnect"), self.id("connect")]
        };
        // A hidden button takes no focus: use the visible one.
        dom::next_frame(move || ids.iter().for_each(|it| dom::focus(it)));
    }

    fn cancel(self) {
        self.stage.set(ConnectStage::Rest);
        self.focus();
    }

    fn id(self, of: &str) -> String {
        let within = self.within.map_or("", |_| "sheet-");
        format!("{within}{of}-{}", self.client.name())
    }

    fn view(self) -> impl IntoView {
        let is_shown = Memo::new(move |_| {
            self.stage
                .with(|it| matches!(it, ConnectStage::Shown { .. }))
        });
        let state = Memo::new(move |_| self.state());
        let can_undo = move || {
            use Connected::{Elsewhere, Here, Unadvised};
            matches!(state.get(), Some(Here | Unadvised | Elsewhere))
        };
        let can_connect = move || !matches!(state.get(), None | Some(Connected::Here));
        let word = move || {
            state.get().map(|state| {
                let (class, word) = state_word(&state);
                view! { <span class=class data-testid="connection">{word}</span> }
            })
        };
        let below = move || match (self.stage.get(), state.get()) {
            (
                ConnectStage::Shown {
                    change,
                    undo,
                    is_other,
                },
                _,
            ) => Some(self.change(change, undo, is_other)),
            (ConnectStage::Failed(why), _) | (_, Some(Connected::Refused(why))) => {
                Some(view_refusal(&why, ().into_any()))
            }
            _ => None,
        };
        let next = move || match self.stage.get() {
            ConnectStage::Done { undo: false } => {
                say::connect::next(self.client.title(), self.client.approval())
            }
            ConnectStage::Done { undo: true } => say::connect::undone(self.client.title()),
            _ => String::new(),
        };
        let keys = move |event: ev::KeyboardEvent| {
            if event.key() == "Escape" && is_shown.get_untracked() {
                // Closes this row only: a dialog around it stays open.
                event.prevent_default();
                event.stop_propagation();
                self.cancel();
            }
        };
        let name = self.client.title();
        view! {
            <li data-testid="agent" data-client=self.client.name() aria-busy=move || self.is_busy.get().to_string() on:keydown=keys>
                <div class="head">
                    <b>{name}</b>{word}<span class="space"></span>
                    <button id=self.id("connect") data-testid="connect-agent" aria-label=say::connect::connect(name)
                        hidden=move || is_shown.get() || !can_connect() on:click=move |_| self.ask(false, None)>{say::connect::CONNECT}</button>
                    <button id=self.id("disconnect") data-testid="disconnect-agent" aria-label=say::connect::undo(name)
                        hidden=move || is_shown.get() || !can_undo() on:click=move |_| self.ask(true, None)>{say::connect::UNDO}</button>
                </div>
                {below}
                <p class="next" role="status" data-testid="next">{next}</p>
            </li>
        }
    }

    fn change(self, change: ChangeShown, undo: bool, is_other: bool) -> AnyView {
        let note = |it: &'static str| {
            view! { <p class="note" role="note">{Icon::Alert.draw()}<span>{prose(it)}</span></p> }
        };
        let said = |it: &FileShown| format!("{}{}", verb_for(it), words::visible(&it.path));
        let label: Vec<String> = change.files.iter().map(said).collect();
        let label = label.join(", ");
        let digest = change.digest;
        let mut files = change.files.into_iter();
        let first = files.next().map(view_file);
        let others = files.map(|it| {
            view! { <div class="advice" data-testid="advice">{view_file(it)}</div> }
        });
        let others = others.collect_view();
        let left = change.left.iter().map(view_file_left).collect_view();
        view! {
            <div class="to-write" id=self.id("change") tabindex="-1" role="group" aria-label=label data-testid="change">
                {is_other.then(|| note(say::connect::OTHER))}
                {change.replaces.then(|| note(say::connect::REPLACES))}
                {first}
                {others}
                {left}
                <div class="actions">
                    <button class="primary" data-testid="write" on:click=move |_| self.ask(undo, Some(digest.clone()))>{if undo { say::connect::REMOVE } else { say::connect::WRITE }}</button>
                    <button data-testid="cancel" on:click=move |_| self.cancel()>{say::connect::CANCEL}" "<kbd>"Esc"</kbd></button>
                </div>
            </div>
        }
        .into_any()
    }
}

fn verb_for(file: &FileShown) -> &'static str {
    match file.kind {
        FileChange::Created => say::connect::CREATES,
        FileChange::Edited => say::connect::EDITS,
        FileChange::Removed => say::connect::REMOVES,
    }
}

/// A file that should change but is left as it is.
fn view_file_left(left: &FileLeft) -> impl IntoView {
    let (path, why) = (
        words::visible(&left.path),
        words::visible(&left.why.message),
    );
    view! {
        <p class="note" role="note" data-testid="advice-left">
            {Icon::Alert.draw()}<span>{say::connect::file_left(&path, &why)}</span>
        </p>
    }
}

/// One file of a change.
fn view_file(file: FileShown) -> impl IntoView {
    let path = words::visible(&file.path);
    let link = file.link.as_deref().map(words::visible);
    let link = link.map(|it| view! { <p>{say::connect::LINKED}<code>{it}</code></p> });
    let more = (file.more > 0).then(|| {
        let lines = words::format_count(file.more, say::LINES);
        view! { <p class="quiet">{say::connect::not_shown(&lines)}</p> }
    });
    view! {
        <p>{verb_for(&file)}<code data-testid="change-path">{path}</code></p>
        {link}
        <div class="lines">{file.lines.into_iter().map(view_line).collect_view()}</div>
        {more}
    }
}

/// A line of a change, with a sign and a word for those who see no color.
fn view_line(line: ChangedLine) -> impl IntoView {
    let (class, sign, word) = match line.change {
        LineChange::Same => ("", "", ""),
        LineChange::Added => ("added", "+", say::source::ADDED),
        LineChange::Removed => ("removed", "−", say::source::REMOVED),
    };
    let more = (line.more > 0).then(|| {
        let left = say::source::more_characters(&line.more.to_string());
        view! { <span class="quiet">{left}</span> }
    });
    view! {
        <div class=class class:apart=line.is_apart data-change=class>
            <i aria-hidden="true">{sign}</i>
            <code><span class="offscreen">{word}</span><span class="text">{words::visible(&line.text)}</span>{more}</code>
        </div>
    }
}

/// The word for a state, and its CSS class.
fn state_word(state: &Connected) -> (&'static str, &'static str) {
    match state {
        Connected::Here => ("word ok", say::connect::HERE),
        Connected::Unadvised => ("word warn", say::connect::UNADVISED),
        Connected::Elsewhere => ("word warn", say::connect::ELSEWHERE),
        Connected::Stranger => ("word warn", say::connect::STRANGER),
        Connected::No => ("word quiet", say::connect::NO),
        Connected::Refused(_) => ("word warn", say::connect::REFUSED),
    }
}
