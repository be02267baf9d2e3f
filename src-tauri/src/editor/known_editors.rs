//! Editors and terminals that Engram knows by the names of their programs, and how to call each.

use std::path::Path;

use engram_model::EditorFound;

use super::{EditorLocation, programs::is_installed};

/// How to pass the file and the line to an editor.
#[derive(Clone, Copy, Debug)]
enum Style {
    /// `--reuse-window --goto FILE:LINE`
    Goto,
    /// `FILE:LINE`
    Colon,
    /// `--line LINE FILE`
    Line,
    /// `+LINE FILE`
    Plus,
    /// `-n +LINE FILE`
    Client,
}

/// An editor known by the name of its program.
#[derive(Debug)]
pub(super) struct Editor {
    pub(super) name: &'static str,
    pub(super) programs: &'static [&'static str],
    style: Style,
    pub(super) in_terminal: bool,
}

const fn window_editor(
    name: &'static str,
    programs: &'static [&'static str],
    style: Style,
) -> Editor {
    Editor {
        name,
        programs,
        style,
        in_terminal: false,
    }
}

const fn terminal_editor(
    name: &'static str,
    programs: &'static [&'static str],
    style: Style,
) -> Editor {
    Editor {
        name,
        programs,
        style,
        in_terminal: true,
    }
}

/// In the order of the search.
pub(super) const EDITORS: &[Editor] = &[
    window_editor("VS Code", &["code", "code-insiders", "codium"], Style::Goto),
    window_editor("Cursor", &["cursor"], Style::Goto),
    window_editor("Windsurf", &["windsurf"], Style::Goto),
    window_editor("Zed", &["zed", "zeditor"], Style::Colon),
    window_editor(
        "JetBrains",
        &[
            "idea",
            "rustrover",
            "pycharm",
            "webstorm",
            "goland",
            "clion",
            "phpstorm",
            "rubymine",
            "rider",
        ],
        Style::Line,
    ),
    window_editor("Sublime Text", &["subl"], Style::Colon),
    window_editor("Kate", &["kate"], Style::Line),
    window_editor("Emacs", &["emacsclient"], Style::Client),
    window_editor("Emacs", &["emacs"], Style::Plus),
    terminal_editor("Neovim", &["nvim"], Style::Plus),
    terminal_editor("Vim", &["vim", "vi"], Style::Plus),
    terminal_editor("Helix", &["hx", "helix"], Style::Colon),
    terminal_editor("nano", &["nano"], Style::Plus),
];

impl Editor {
    /// Finds an editor by the path or name of its program.
    pub(super) fn of(program: &str) -> Option<&'static Self> {
        let name = Path::new(program).file_stem()?.to_str()?;
        EDITORS.iter().find(|it| it.programs.contains(&name))
    }

    pub(super) fn arguments(&self, location: &EditorLocation) -> Vec<String> {
        match self.style {
            Style::Goto => vec!["--reuse-window".into(), "--goto".into(), location.at()],
            Style::Colon => vec![location.at()],
            Style::Line => vec!["--line".into(), location.line.to_string(), location.file()],
            Style::Plus => vec![format!("+{}", location.line), location.file()],
            Style::Client => vec!["-n".into(), format!("+{}", location.line), location.file()],
        }
    }
}

/// Terminals in the order of the search: the system's choice, then well-known ones;
/// each with what precedes the command line to run.
const TERMINALS: &[(&str, &[&str])] = &[
    ("xdg-terminal-exec", &[]),
    ("x-terminal-emulator", &["-e"]),
    ("gnome-terminal", &["--"]),
    ("konsole", &["-e"]),
    ("kitty", &[]),
    ("alacritty", &["-e"]),
    ("wezterm", &["start", "--"]),
    ("foot", &[]),
    ("xterm", &["-e"]),
];

/// Returns the start of a command line that runs the rest in a terminal: the one that the person
/// named, if that is a plain name, otherwise the first of the table.
pub(super) fn terminal_of(
    named: Option<&str>,
    is_installed: impl Fn(&str) -> bool,
) -> Option<Vec<String>> {
    let is_plain = |name: &&str| {
        let is_safe = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
        !name.is_empty() && !name.starts_with('-') && name.chars().all(is_safe)
    };
    let named = named.filter(is_plain).into_iter();
    let mut all = named.chain(TERMINALS.iter().map(|it| it.0));
    let program = all.find(|it| is_installed(it))?;
    let known = TERMINALS.iter().find(|it| it.0 == program);
    // Nearly every other terminal works like xterm.
    let before = known.map_or(&["-e"][..], |it| it.1);
    let words = [program].into_iter().chain(before.iter().copied());
    Some(words.map(str::to_owned).collect())
}

/// Returns the editors of the table that are installed, with one program each.
pub(crate) fn installed() -> Vec<EditorFound> {
    let found = EDITORS.iter().filter_map(|editor| {
        let program = editor.programs.iter().find(|name| is_installed(name))?;
        Some(EditorFound {
            name: editor.name.to_owned(),
            program: (*program).to_owned(),
        })
    });
    let mut all: Vec<EditorFound> = found.collect();
    all.dedup_by(|a, b| a.name == b.name);
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_terminal_is_the_one_that_was_named_or_the_first_that_is_known() {
        for (named, installed, want) in [
            ("", "", None),
            (
                "",
                "xterm x-terminal-emulator",
                Some("x-terminal-emulator -e"),
            ),
            (
                "",
                "xterm xdg-terminal-exec kitty",
                Some("xdg-terminal-exec"),
            ),
            ("", "xterm gnome-terminal", Some("gnome-terminal --")),
            ("", "konsole", Some("konsole -e")),
            ("", "foot kitty", Some("kitty")),
            ("", "alacritty", Some("alacritty -e")),
            ("", "wezterm", Some("wezterm start --")),
            ("", "foot", Some("foot")),
            ("", "xterm", Some("xterm -e")),
            ("foot", "foot xterm", Some("foot")),
            ("st", "st xterm", Some("st -e")),
            ("gone", "xterm", Some("xterm -e")),
            ("xterm -hold", "xterm -hold foot", Some("foot")),
            ("/tmp/x", "/tmp/x xterm", Some("xterm -e")),
            ("-e", "-e xterm", Some("xterm -e")),
            ("$(x)", "$(x) xterm", Some("xterm -e")),
        ] {
            let named = Some(named).filter(|it| !it.is_empty());
            let found = terminal_of(named, |it| installed.split(' ').any(|there| there == it));
            let found = found.map(|it| it.join(" "));
            assert_eq!(found.as_deref(), want, "{named:?} of {installed:?}");
        }
    }
}
