//! The settings.

use engram_model::{ModelState, ModelTask};

pub const COMMAND: &str = "Settings: theme, text size, editor";
pub const REQUESTS: &str = "Requests";
pub const QUIET: &str = "In the window";
pub const NOTIFY: &str = "Notify me";
pub const CHOSEN: &str = "current";
pub const THEME: &str = "Theme";
pub const SYSTEM: &str = "System";
pub const LIGHT: &str = "Light";
pub const DARK: &str = "Dark";
pub const CONTRAST: &str = "High contrast";
pub const DENSITY: &str = "Density";
pub const NORMAL: &str = "Normal";
pub const COMPACT: &str = "Compact";
pub const MOTION: &str = "Motion";
pub const REDUCED: &str = "Reduced";
pub const ZOOM: &str = "Zoom";
pub const ZOOM_RESET: &str = "Reset zoom";
pub const PRODUCT: &str = "Engram ";
pub const DATA_IN: &str = "Data in ";
pub const EDITOR: &str = "Editor";
pub const AUTOMATIC: &str = "Automatic";
pub const COMMAND_LINE: &str = "Command line";
pub const COMMAND_LINE_HINT: &str = "code --goto {file}:{line}";
/// What a command line of the editor may contain beside words.
pub const PLACEHOLDERS: [&str; 2] = ["{file}", "{line}"];
pub const LINKS: &str = "Links";
pub const LINKS_HERE: &str = "`engram://` links in other programs open in this window.";
pub const LINKS_ELSEWHERE: &str = "`engram://` links in other programs do not open in Engram.";
pub const LINKS_BRING: &str = "Turn on";
pub const AGENTS: &str = "Agents";
pub const MODELS: &str = "Models";
pub const MODELS_MEAN: &str = "Find claims in other words, and judge possible conflicts; the window runs them in the background";
pub const LOG: &str = "Log";
pub const OPEN: &str = "Open";
pub const COPY_LOG: &str = "Copy the path of the log";

/// A model in a line: its task, its name and its state.
pub fn model(task: ModelTask, name: Option<&str>, state: ModelState) -> String {
    let task = match task {
        ModelTask::Embed => "Embedding model",
        ModelTask::Nli => "Classifier",
        ModelTask::Llm => "Language model",
    };
    match (name, state) {
        (Some(name), ModelState::On) => format!("{task} {name}"),
        (Some(name), _) => format!("{task} {name}, which does not work"),
        (None, _) => format!("{task}: none"),
    }
}

/// What to run to choose a model, or to use none.
pub fn model_command(state: ModelState) -> &'static str {
    match state {
        ModelState::Off => "To choose one: ",
        ModelState::On | ModelState::Broken => "To turn it off: ",
    }
}

pub fn percent(zoom: u16) -> String {
    format!("{zoom}%")
}

pub fn automatic(editor: Option<&str>) -> String {
    let [file, line] = PLACEHOLDERS;
    let automatic = editor.map_or_else(
        || "“Automatic” finds no editor.".to_owned(),
        |it| format!("“Automatic” opens {it}."),
    );
    format!(
        "In a command line, which runs without a shell, `{file}` and `{line}` stand for the file and the line. {automatic}"
    )
}

/// Why a command line is not saved.
pub fn unknown_placeholder(found: &str) -> String {
    let [file, line] = PLACEHOLDERS;
    format!("Not saved: there is no `{found}`. Only `{file}` and `{line}` are filled in.")
}

pub fn overruled(variable: &str) -> String {
    format!("`{variable}` is set and overrides this choice.")
}
