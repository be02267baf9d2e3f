//! Chooses the editor: what the person set, in order of precedence, otherwise the first that is
//! installed.

use std::{env, path::Path};

use engram_model::{Code, Refusal};

use super::{
    EditorLocation,
    known_editors::{EDITORS, Editor},
    programs::is_installed,
};

/// What to do about an unusable editor.
pub(super) const CHOOSE: &str = "Choose an editor in the settings, or set ENGRAM_EDITOR to a command line with {file} and {line}, for example: code --goto {file}:{line}";

/// The sources of the choice, in order of precedence.
#[derive(Debug, Default)]
pub(crate) struct Choice {
    /// `ENGRAM_EDITOR`: a command line, with `{file}` and `{line}`.
    template: Option<String>,
    /// `editor` in the home's `window.toml`: likewise.
    setting: Option<String>,
    /// `$VISUAL`, then `$EDITOR`.
    environment: Option<String>,
    /// The first program of the table that is installed.
    found: Option<&'static str>,
}

impl Choice {
    /// Returns the choice on this machine, with this home.
    pub(crate) fn here(home: &Path) -> Self {
        let variable = |name| env::var(name).ok().filter(|it| !it.trim().is_empty());
        let programs = EDITORS.iter().flat_map(|it| it.programs);
        Self {
            template: variable("ENGRAM_EDITOR"),
            setting: crate::settings::read(home).editor,
            environment: variable("VISUAL").or_else(|| variable("EDITOR")),
            found: programs.copied().find(|it| is_installed(it)),
        }
    }

    /// Returns the result for people while no editor is set: the editor's name, and the variable
    /// that decided it, if any.
    pub(crate) fn automatic(self) -> (Option<String>, Option<String>) {
        let automatic = Self {
            setting: None,
            ..self
        };
        automatic.name_and_variable()
    }

    fn name_and_variable(&self) -> (Option<String>, Option<String>) {
        let words = self.command_line().unwrap_or_default();
        let name = words.first().map(|program| {
            Editor::of(program).map_or_else(|| file_name(program), |it| it.name.to_owned())
        });
        let variable = self.template.is_some().then(|| "ENGRAM_EDITOR".to_owned());
        (name, variable)
    }

    /// Returns the words of the chosen command line: at least one.
    pub(super) fn command_line(&self) -> Result<Vec<String>, Refusal> {
        let line = self
            .template
            .as_deref()
            .or(self.setting.as_deref())
            .or(self.environment.as_deref());
        let words = match (line, self.found) {
            (Some(line), _) => split_words(line)?,
            (None, Some(program)) => vec![program.to_owned()],
            (None, None) => return Err(none_found()),
        };
        if words.is_empty() {
            Err(none_found())
        } else {
            Ok(words)
        }
    }

    /// Returns the argument vector, and the editor's name for the person.
    pub(super) fn command(
        &self,
        location: &EditorLocation,
        terminal: Option<Vec<String>>,
    ) -> Result<(Vec<String>, String), Refusal> {
        let words = self.command_line()?;
        let Some(program) = words.first() else {
            return Err(none_found());
        };
        let known = Editor::of(program);
        let name = known.map_or_else(|| file_name(program), |it| it.name.to_owned());
        if words.iter().any(|it| it.contains("{file}")) {
            // A whole command line includes the choice of terminal.
            let fill = |word: &String| {
                word.replace("{line}", &location.line.to_string())
                    .replace("{file}", &location.file())
            };
            return Ok((words.iter().map(fill).collect(), name));
        }
        let arguments = known.map_or_else(|| vec![location.file()], |it| it.arguments(location));
        let words: Vec<String> = words.into_iter().chain(arguments).collect();
        // An editor that is not in the table came from $EDITOR, and those run in a terminal.
        match (known.is_none_or(|it| it.in_terminal), terminal) {
            (false, _) => Ok((words, name)),
            (true, Some(terminal)) => Ok((terminal.into_iter().chain(words).collect(), name)),
            (true, None) => Err(Refusal::new(
                Code::NotFound,
                format!("no supported terminal was found for {name}"),
                format!("Set TERMINAL to your terminal's command. {CHOOSE}"),
            )),
        }
    }
}

/// Splits a command line into words, with a shell's quoting but without expansion.
fn split_words(line: &str) -> Result<Vec<String>, Refusal> {
    // On Windows, a backslash separates folders and quotes nothing.
    let line = if cfg!(windows) {
        line.replace('\\', r"\\")
    } else {
        line.to_owned()
    };
    shlex::split(&line).ok_or_else(|| {
        Refusal::new(
            Code::SchemaInvalid,
            format!("the editor's command line has an unclosed quote: {line}"),
            "Close the quote in ENGRAM_EDITOR, the settings, VISUAL or EDITOR; the first one set is used.",
        )
    })
}

fn file_name(program: &str) -> String {
    let name = Path::new(program).file_name();
    name.map_or_else(
        || program.to_owned(),
        |it| it.to_string_lossy().into_owned(),
    )
}

pub(super) fn none_found() -> Refusal {
    Refusal::new(
        Code::NotFound,
        "no editor was found on this machine",
        CHOOSE,
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::editor::terminal_of;

    fn location() -> EditorLocation {
        EditorLocation {
            root: "/r".into(),
            file: "/r/a b.rs".into(),
            line: 7,
        }
    }

    fn terminal() -> Option<Vec<String>> {
        terminal_of(None, |it| it == "x-terminal-emulator")
    }

    fn said(text: &str) -> Option<String> {
        (!text.is_empty()).then(|| text.to_owned())
    }

    #[test]
    fn each_editor_is_told_the_line_in_its_way() {
        for (program, want) in [
            ("code", "code|--reuse-window|--goto|/r/a b.rs:7"),
            ("cursor", "cursor|--reuse-window|--goto|/r/a b.rs:7"),
            ("zed", "zed|/r/a b.rs:7"),
            ("rustrover", "rustrover|--line|7|/r/a b.rs"),
            ("subl", "subl|/r/a b.rs:7"),
            ("emacsclient", "emacsclient|-n|+7|/r/a b.rs"),
            ("nvim", "x-terminal-emulator|-e|nvim|+7|/r/a b.rs"),
            ("vim", "x-terminal-emulator|-e|vim|+7|/r/a b.rs"),
        ] {
            let choice = Choice {
                found: Some(program),
                ..Choice::default()
            };
            let (words, _) = choice.command(&location(), terminal()).unwrap();
            assert_eq!(words.join("|"), want);
        }
    }

    #[test]
    fn the_choice_is_made_in_order() {
        for (template, setting, environment, found, want) in [
            (
                "x 'a b' {file}:{line}",
                "code",
                "vim",
                "zed",
                Ok("x|a b|/r/a b.rs:7"),
            ),
            ("", "x +{line} {file}", "vim", "zed", Ok("x|+7|/r/a b.rs")),
            (
                "",
                "",
                "code --wait",
                "zed",
                Ok("code|--wait|--reuse-window|--goto|/r/a b.rs:7"),
            ),
            (
                "",
                "",
                "/opt/own-editor -x",
                "zed",
                Ok("x-terminal-emulator|-e|/opt/own-editor|-x|/r/a b.rs"),
            ),
            ("", "", "", "zed", Ok("zed|/r/a b.rs:7")),
            ("", "", "", "", Err("no editor")),
            ("x \"{file}", "", "", "zed", Err("unclosed quote")),
            (
                "x $(touch /tmp/y) ; {file}",
                "",
                "",
                "",
                Ok("x|$(touch|/tmp/y)|;|/r/a b.rs"),
            ),
        ] {
            let found = EDITORS
                .iter()
                .flat_map(|it| it.programs)
                .find(|it| **it == found)
                .copied();
            let choice = Choice {
                template: said(template),
                setting: said(setting),
                environment: said(environment),
                found,
            };
            match (choice.command(&location(), terminal()), want) {
                (Ok((words, _)), Ok(want)) => assert_eq!(words.join("|"), want),
                (Err(refusal), Err(want)) => {
                    assert!(refusal.message.contains(want), "{refusal}");
                    assert!(refusal.hint.contains("settings"), "{refusal}");
                }
                (got, want) => panic!("{got:?}, wanted {want:?}"),
            }
        }
    }

    #[test]
    fn what_is_automatic_does_not_depend_on_the_setting() {
        for (template, found, want) in [
            ("", Some("vim"), (said("Vim"), None)),
            ("", None, (None, None)),
            (
                "subl {file}",
                Some("vim"),
                (said("Sublime Text"), said("ENGRAM_EDITOR")),
            ),
        ] {
            let choice = Choice {
                template: said(template),
                setting: said("nonesuch {file}:{line}"),
                environment: None,
                found,
            };
            assert_eq!(choice.automatic(), want);
        }
    }

    #[test]
    fn an_editor_of_the_terminal_needs_one() {
        let choice = Choice {
            environment: said("nvim"),
            ..Choice::default()
        };
        let refusal = choice.command(&location(), None).unwrap_err();
        assert!(
            refusal
                .message
                .contains("no supported terminal was found for Neovim"),
            "{refusal}"
        );
        for what in ["TERMINAL", "settings", "ENGRAM_EDITOR"] {
            assert!(refusal.hint.contains(what), "{refusal}");
        }
    }
}
