//! The settings: what is chosen holds at once, and is kept in the home.

use engram_model::{Density, Motion, Settings, Surroundings, Theme};
use leptos::{prelude::*, task::spawn_local};

use super::{
    dom,
    frame::Over,
    icons::Icon,
    overlay::{Heading, Modal},
    state::App,
};

impl App {
    /// Reads what was chosen before; what cannot be read leaves the system's.
    pub(crate) async fn read_settings(self) {
        match self.backend().settings().await {
            Ok(settings) => {
                dom::apply(&settings);
                self.frame.list_width.set(settings.list_width);
                self.frame.settings.set(settings);
            }
            Err(refusal) => dom::log(&refusal.to_string()),
        }
    }

    /// Changes what was chosen, on the screen and in the home.
    pub(crate) fn change_settings(self, change: impl FnOnce(&mut Settings)) {
        let before = self.frame.settings.get_untracked();
        self.frame.settings.update(change);
        let settings = self.frame.settings.get_untracked();
        if settings == before {
            return;
        }
        dom::apply(&settings);
        spawn_local(async move {
            if let Err(refusal) = self.backend().keep_settings(&settings).await {
                self.complain(refusal);
            }
        });
    }
}

#[component]
pub(crate) fn SettingsSheet() -> impl IntoView {
    view! {
        <Modal over=Over::Settings label="Settings" class="settings">
            <Heading title="Settings" />
            <Chosen />
        </Modal>
    }
}

/// A row of choices of which one holds.
fn choices<T: Copy + PartialEq + Send + Sync + 'static>(
    app: App,
    name: &'static str,
    all: &'static [(T, &'static str)],
    get: fn(&Settings) -> T,
    set: fn(&mut Settings, T),
) -> impl IntoView {
    let choice = move |(value, word): &'static (T, &'static str)| {
        let is_on = move || app.frame.settings.with(|it| get(it) == *value);
        view! {
            <button aria-pressed=move || is_on().to_string() data-testid=format!("{}-{}", name.to_lowercase(), word.to_lowercase().replace(' ', "-"))
                on:click=move |_| app.change_settings(|it| set(it, *value))>{*word}</button>
        }
    };
    view! {
        <div class="choice" role="group" aria-label=name>
            <span class="name">{name}</span>
            <div class="segments">{all.iter().map(choice).collect_view()}</div>
        </div>
    }
}

#[component]
fn Chosen() -> impl IntoView {
    let app = App::here();
    const THEMES: &[(Theme, &str)] = &[
        (Theme::System, "System"),
        (Theme::Light, "Light"),
        (Theme::Dark, "Dark"),
        (Theme::Contrast, "High contrast"),
    ];
    const DENSITIES: &[(Density, &str)] =
        &[(Density::Normal, "Normal"), (Density::Compact, "Compact")];
    const MOTIONS: &[(Motion, &str)] = &[(Motion::System, "System"), (Motion::Reduced, "Reduced")];
    let around = RwSignal::new(None::<Surroundings>);
    spawn_local(async move {
        match app.backend().surroundings().await {
            Ok(it) => around.set(it),
            Err(refusal) => app.complain(refusal),
        }
    });
    let version = move || app.status.get().map(|it| it.version).unwrap_or_default();
    let home = move || app.status.get().and_then(|it| it.home);
    view! {
        {choices(app, "Theme", THEMES, |it| it.theme, |it, to| it.theme = to)}
        {choices(app, "Density", DENSITIES, |it| it.density, |it, to| it.density = to)}
        {choices(app, "Motion", MOTIONS, |it| it.motion, |it, to| it.motion = to)}
        {move || around.get().map(|it| view! { <Editor around=it.clone() /> <Log path=it.log.clone() /> {it.has_links.map(|it| view! { <Links is_here=it /> })} })}
        <p class="about" data-testid="about">
            <b>"Engram "{version}</b>
            {move || home().map(|it| view! { <span>"Data in "<code>{it}</code></span> })}
        </p>
    }
}

/// Which editor opens files: one that is installed, or a command line of the person's.
#[component]
fn Editor(around: Surroundings) -> impl IntoView {
    let app = App::here();
    let chosen = move || {
        app.frame
            .settings
            .with(|it| it.editor.clone().unwrap_or_default())
    };
    let choose = move |line: String| {
        let line = line.trim().to_owned();
        app.change_settings(|it| it.editor = (!line.is_empty()).then_some(line));
    };
    let automatic = around
        .editor
        .clone()
        .map_or_else(|| "none found".to_owned(), |it| format!("now {it}"));
    let one = move |name: String, value: String| {
        let (is_on, choice) = (value.clone(), value.clone());
        view! {
            <button aria-pressed=move || (chosen() == is_on).to_string() data-testid="editor" data-program=value
                on:click=move |_| choose(choice.clone())>{name}</button>
        }
    };
    let found = around.editors.into_iter();
    let found = found.map(|it| one(it.name, it.program)).collect_view();
    let over = around.overruled_by.map(|it| {
        view! { <p class="hint" role="note">{Icon::Alert.draw()}<span><code>{it}</code>" is set and decides before this choice does."</span></p> }
    });
    view! {
        <div class="choice" role="group" aria-label="Editor">
            <span class="name">"Editor"</span>
            <div class="segments">{one("Automatic".to_owned(), String::new())}{found}</div>
        </div>
        <div class="choice">
            <label class="name" for="editor-line">"Command line"</label>
            <div class="entry">
                <input id="editor-line" data-testid="editor-line" placeholder="code --goto {file}:{line}" autocomplete="off" spellcheck="false" maxlength="400"
                    prop:value=chosen on:change=move |event| choose(event_target_value(&event)) />
                <p class="hint">{format!("Started as words, never by a shell. Automatic: {automatic}.")}</p>
                {over}
            </div>
        </div>
    }
}

/// Links of ours in other programs, and what opens them.
#[component]
fn Links(is_here: bool) -> impl IntoView {
    let app = App::here();
    let is_here = RwSignal::new(is_here);
    let bring = move |_| {
        spawn_local(async move {
            match app.backend().bring_links().await {
                Ok(()) => is_here.set(true),
                Err(refusal) => app.complain(refusal),
            }
        });
    };
    view! {
        <div class="choice">
            <span class="name">"Links"</span>
            <div class="entry log">
                <p class="hint" role="status" data-testid="links"><span><code>"engram://"</code>{move || match is_here.get() {
                    true => " in other programs leads to this window.",
                    false => " in other programs does not lead here yet.",
                }}</span></p>
                <button data-testid="bring-links" hidden=is_here on:click=bring>"Open them here"</button>
            </div>
        </div>
    }
}

#[component]
fn Log(path: String) -> impl IntoView {
    let app = App::here();
    let copied = path.clone();
    view! {
        <div class="choice">
            <span class="name">"Log"</span>
            <div class="entry log">
                <code>{path}</code>
                <button data-testid="open-log" on:click=move |_| app.open_log()>"Open"</button>
                <button aria-label="Copy the path of the log" on:click=move |_| app.copy(copied.clone(), "Path copied")>{Icon::Copy.draw()}</button>
            </div>
        </div>
    }
}
