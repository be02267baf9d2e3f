//! The settings: a choice takes effect at once and is kept in the home.

use std::sync::Arc;

use engram_model::{
    Density, ListedModel, Motion, Refusal, Settings, Surroundings, Theme, Zoom, ask,
};
use leptos::{prelude::*, task::spawn_local};

use crate::{
    app::{
        act,
        components::{icons::Icon, prose::prose, refused::Refused},
        dom,
        frame::Over,
        outside,
        overlay::{Heading, Modal},
        state::App,
    },
    commands::{self, Act, Zooming},
    words::say,
};

/// Reads the settings; if they cannot be read, those of the system stay in effect.
pub(crate) async fn read_settings(app: App) {
    match app.backend().settings().await {
        Ok(settings) => {
            dom::apply_settings(&settings);
            app.frame.list_width.set(settings.list_width);
            app.frame.settings.set(settings);
        }
        Err(refusal) => dom::log(&refusal.to_string()),
    }
}

/// Changes the settings, on the screen and in the home.
pub(crate) fn change_settings(app: App, change: impl FnOnce(&mut Settings)) {
    let before = app.frame.settings.get_untracked();
    app.frame.settings.update(change);
    let settings = app.frame.settings.get_untracked();
    if settings == before {
        return;
    }
    dom::apply_settings(&settings);
    // One at a time: an earlier save must not overwrite a later one.
    if app.frame.is_keeping.get_value() {
        return;
    }
    app.frame.is_keeping.set_value(true);
    spawn_local(async move {
        loop {
            let settings = app.frame.settings.get_untracked();
            match app.backend().keep_settings(&settings).await {
                Ok(()) => app.frame.settings_refused.set(None),
                Err(refusal) => refuse_settings(app, refusal),
            }
            if app.frame.settings.get_untracked() == settings {
                break;
            }
        }
        app.frame.is_keeping.set_value(false);
    });
}

/// Zooms the window.
pub(crate) fn zoom_to(app: App, to: Zooming) {
    change_settings(app, |it| {
        it.zoom = match to {
            Zooming::In => it.zoom.larger(),
            Zooming::Out => it.zoom.smaller(),
            Zooming::Reset => Zoom::default(),
        }
    });
    let percent = app.frame.settings.with_untracked(|it| it.zoom.percent());
    let told = say::settings::percent(percent);
    app.frame.announcement.set(told);
}

/// Shows why the settings were refused: in the settings sheet if that is open, else in a notice.
fn refuse_settings(app: App, refusal: Refusal) {
    match app.frame.over.get_untracked() {
        Some(Over::Settings) => {
            dom::log(&refusal.to_string());
            app.frame.settings_refused.set(Some(refusal));
        }
        _ => app.frame.complain(refusal),
    }
}

const THEMES: &[(Theme, &str)] = &[
    (Theme::System, say::settings::SYSTEM),
    (Theme::Light, say::settings::LIGHT),
    (Theme::Dark, say::settings::DARK),
    (Theme::Contrast, say::settings::CONTRAST),
];
const DENSITIES: &[(Density, &str)] = &[
    (Density::Normal, say::settings::NORMAL),
    (Density::Compact, say::settings::COMPACT),
];
const MOTIONS: &[(Motion, &str)] = &[
    (Motion::System, say::settings::SYSTEM),
    (Motion::Reduced, say::settings::REDUCED),
];

/// A value of a setting, which the palette offers.
#[derive(Clone)]
pub(super) struct SettingValue {
    /// The setting and the value.
    pub(super) text: String,
    set: Arc<dyn Fn(&mut Settings) + Send + Sync>,
}

impl SettingValue {
    /// Whether the setting has this value.
    pub(super) fn is_chosen(&self, app: App) -> bool {
        let settings = app.frame.settings.get_untracked();
        let mut with_it = settings.clone();
        (self.set)(&mut with_it);
        with_it == settings
    }
}

/// Returns every value of the settings with few values.
pub(super) fn setting_values() -> Vec<SettingValue> {
    fn values<T: Copy + Send + Sync>(
        name: &str,
        all: &'static [(T, &'static str)],
        set: fn(&mut Settings, T),
    ) -> impl Iterator<Item = SettingValue> {
        all.iter().map(move |(value, word)| SettingValue {
            text: format!("{name}: {word}"),
            set: Arc::new(move |settings| set(settings, *value)),
        })
    }
    let themes = values(say::settings::THEME, THEMES, |it, to| it.theme = to);
    let densities = values(say::settings::DENSITY, DENSITIES, |it, to| it.density = to);
    let motions = values(say::settings::MOTION, MOTIONS, |it, to| it.motion = to);
    themes.chain(densities).chain(motions).collect()
}

/// Gives a setting this value.
pub(super) fn choose_value(app: App, value: &SettingValue) {
    change_settings(app, |it| (value.set)(it));
    app.frame.announcement.set(value.text.clone());
}

#[component]
pub(crate) fn SettingsSheet() -> impl IntoView {
    view! {
        <Modal over=Over::Settings label=say::rail::SETTINGS class="settings">
            <Heading title=say::rail::SETTINGS />
            <SettingsForm />
        </Modal>
    }
}

/// A row of choices, one of which is selected.
fn view_choices<T: Copy + PartialEq + Send + Sync + 'static>(
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
                on:click=move |_| change_settings(app, |it| set(it, *value))>{*word}</button>
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
fn SettingsForm() -> impl IntoView {
    let app = App::here();
    const NOTIFY: &[(bool, &str)] = &[(false, say::settings::QUIET), (true, say::settings::NOTIFY)];
    app.frame.settings_refused.set(None);
    let around = RwSignal::new(None::<Surroundings>);
    spawn_local(async move {
        match app.backend().surroundings().await {
            Ok(surroundings) => around.set(surroundings),
            Err(refusal) => refuse_settings(app, refusal),
        }
    });
    let version = move || app.status.get().map(|it| it.version).unwrap_or_default();
    let home = move || app.status.get().and_then(|it| it.home);
    view! {
        <Refused refusal=app.frame.settings_refused />
        {view_choices(app, say::settings::THEME, THEMES, |it| it.theme, |it, to| it.theme = to)}
        {view_choices(app, say::settings::DENSITY, DENSITIES, |it| it.density, |it, to| it.density = to)}
        {view_choices(app, say::settings::MOTION, MOTIONS, |it| it.motion, |it, to| it.motion = to)}
    {app.backend().zooms().then(|| view! { <Zoomed /> })}
    <Agents />
    <Models />
    {move || around.get().is_some_and(|it| it.notifies).then(|| view_choices(app, say::settings::REQUESTS, NOTIFY, |it| it.notify, |it, to| it.notify = to))}
    {move || around.get().map(|it| view! { <Editor around=it.clone() /> <Log path=it.log.clone() /> {it.has_links.map(|it| view! { <Links is_here=it /> })} })}
        <p class="about" data-testid="about">
            <b>{say::settings::PRODUCT}{version}</b>
            {move || home().map(|it| view! { <span>{say::settings::DATA_IN}<code>{it}</code></span> })}
        </p>
    }
}

/// The zoom, with buttons for one step each way.
#[component]
fn Zoomed() -> impl IntoView {
    let app = App::here();
    let zoom = move || app.frame.settings.with(|it| it.zoom);
    let percent = move || say::settings::percent(zoom().percent());
    let tip =
        |to| commands::command_of(Act::Zoom(to)).map(|it| commands::tooltip(it, dom::is_mac()));
    view! {
        <div class="choice" role="group" aria-label=say::settings::ZOOM>
            <span class="name">{say::settings::ZOOM}</span>
            <div class="segments">
                <button data-testid="zoom-out" title=tip(Zooming::Out) aria-label=tip(Zooming::Out) aria-disabled=move || (zoom().smaller() == zoom()).to_string()
                    on:click=move |_| zoom_to(app, Zooming::Out)>"−"</button>
                <button data-testid="zoom-reset" title=tip(Zooming::Reset) on:click=move |_| zoom_to(app, Zooming::Reset)>{percent}</button>
                <button data-testid="zoom-in" title=tip(Zooming::In) aria-label=tip(Zooming::In) aria-disabled=move || (zoom().larger() == zoom()).to_string()
                    on:click=move |_| zoom_to(app, Zooming::In)>"+"</button>
            </div>
        </div>
    }
}

/// The choice of the editor that opens files: an installed one, or a command line.
#[component]
fn Editor(around: Surroundings) -> impl IntoView {
    let app = App::here();
    let chosen = move || {
        app.frame
            .settings
            .with(|it| it.editor.clone().unwrap_or_default())
    };
    let refused = RwSignal::new(None::<String>);
    let choose = move |line: String| {
        let line = line.trim().to_owned();
        refused.set(unknown_placeholder(&line).map(say::settings::unknown_placeholder));
        if refused.with_untracked(Option::is_some) {
            return;
        }
        change_settings(app, |it| it.editor = (!line.is_empty()).then_some(line));
    };
    let automatic = say::settings::automatic(around.editor.as_deref());
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
        view! { <p class="hint" role="note">{Icon::Alert.draw()}<span>{prose(&say::settings::overruled(&it))}</span></p> }
    });
    view! {
        <div class="choice" role="group" aria-label=say::settings::EDITOR>
            <span class="name">{say::settings::EDITOR}</span>
            <div class="segments">{one(say::settings::AUTOMATIC.to_owned(), String::new())}{found}</div>
        </div>
        <div class="choice">
            <label class="name" for="editor-line">{say::settings::COMMAND_LINE}</label>
            <div class="entry">
                <input id="editor-line" data-testid="editor-line" placeholder=say::settings::COMMAND_LINE_HINT autocomplete="off" spellcheck="false" maxlength="400"
                    aria-invalid=move || refused.with(Option::is_some).to_string() prop:value=chosen on:change=move |event| choose(event_target_value(&event)) />
                {move || refused.get().map(|it| view! { <p class="hint" role="alert" data-testid="editor-refused">{Icon::Alert.draw()}<span>{prose(&it)}</span></p> })}
                <p class="hint"><span>{prose(&automatic)}</span></p>
                {over}
            </div>
        </div>
    }
}

/// The first placeholder of a command line that stands for nothing. `${NAME}` is not one.
fn unknown_placeholder(line: &str) -> Option<&str> {
    let opening = line.match_indices('{').map(|(at, _)| at);
    let mut found = opening.filter_map(|at| {
        let end = at + line.get(at..)?.find('}')?;
        let name = line.get(at + 1..end)?;
        let is_name = !name.is_empty() && name.chars().all(|it| it.is_ascii_alphanumeric());
        let is_variable = line.get(..at)?.ends_with('$');
        (is_name && !is_variable).then(|| line.get(at..=end))?
    });
    found.find(|it| !say::settings::PLACEHOLDERS.contains(it))
}

/// The choice of what opens `engram://` links in other programs.
#[component]
fn Links(is_here: bool) -> impl IntoView {
    let app = App::here();
    let is_here = RwSignal::new(is_here);
    let bring = move |_| {
        spawn_local(async move {
            match app.backend().bring_links().await {
                Ok(()) => is_here.set(true),
                Err(refusal) => refuse_settings(app, refusal),
            }
        });
    };
    view! {
        <div class="choice">
            <span class="name">{say::settings::LINKS}</span>
            <div class="entry log">
                <p class="hint" role="status" data-testid="links"><span>{move || prose(if is_here.get() { say::settings::LINKS_HERE } else { say::settings::LINKS_ELSEWHERE })}</span></p>
                <button data-testid="bring-links" hidden=is_here on:click=bring>{say::settings::LINKS_BRING}</button>
            </div>
        </div>
    }
}

/// A button that opens the agents' connections.
#[component]
fn Agents() -> impl IntoView {
    let app = App::here();
    let hint = if app.backend().connects() {
        say::connect::MEANS
    } else {
        say::connect::SHOWS_COMMANDS
    };
    view! {
        <div class="choice">
            <span class="name">{say::settings::AGENTS}</span>
            <div class="entry log">
                <p class="hint">{hint}</p>
                <button data-testid="connect-agents" on:click=move |_| act::perform(app, Act::Connect)>{say::connect::OPEN}</button>
            </div>
        </div>
    }
}

/// Which models judge possible conflicts, what they send elsewhere, and the commands that change this.
#[component]
fn Models() -> impl IntoView {
    let app = App::here();
    let models = RwSignal::new(Vec::<ListedModel>::new());
    spawn_local(async move {
        match app.ask(ask::Models).await {
            Ok(reply) => models.set(reply.models),
            Err(refusal) => refuse_settings(app, refusal),
        }
    });
    let row = |model: ListedModel| {
        let line = say::settings::model(model.task, model.name.as_deref(), model.state);
        view! {
            <li data-testid="model" data-state=model.state.as_str()>
                <p>{line}</p>
                {model.why.map(|it| view! { <p class="hint">{it}</p> })}
                <p class="hint">{say::settings::model_command(model.state)}<code>{model.how}</code></p>
            </li>
        }
    };
    view! {
        <div class="choice">
            <span class="name">{say::settings::MODELS}</span>
            <div class="entry">
                <p class="hint">{say::settings::MODELS_MEAN}</p>
                <ul class="models">{move || models.get().into_iter().map(row).collect_view()}</ul>
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
            <span class="name">{say::settings::LOG}</span>
            <div class="entry log">
                <code>{path}</code>
                <button data-testid="open-log" on:click=move |_| outside::open_log(app)>{say::settings::OPEN}</button>
                <button aria-label=say::settings::COPY_LOG on:click=move |_| outside::copy_text(app, copied.clone(), say::notice::PATH_COPIED)>{Icon::Copy.draw()}</button>
            </div>
        </div>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_a_file_and_a_line_are_filled_in() {
        for (line, want) in [
            ("", None),
            ("code --goto {file}:{line}", None),
            ("vi +{lin} {file}", Some("{lin}")),
            ("vi {file} {File}", Some("{File}")),
            ("sh -c 'x ${HOME} {}' {file}", None),
            ("x {", None),
        ] {
            assert_eq!(unknown_placeholder(line), want, "{line}");
        }
    }
}
