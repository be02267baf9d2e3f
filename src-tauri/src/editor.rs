//! Opens a file of the working tree in the person's editor: an argument vector, never a shell.

use std::{
    env,
    ffi::{OsStr, OsString},
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc,
    time::Duration,
};

use engram_model::{Code, EditorFound, Refusal};
use which::which_in_global;

/// A file in the working tree, and a line of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    root: PathBuf,
    file: PathBuf,
    line: u32,
}

impl Place {
    /// Follows every link, and refuses a target that is not a file inside the tree.
    pub(crate) fn inside(root: &Path, path: &Path, line: u32) -> Result<Self, Refusal> {
        let refuse =
            |message: String, hint: &str| Refusal::new(Code::PointerNotFound, message, hint);
        let root = root.canonicalize().map_err(|error| {
            Refusal::new(
                Code::RepoUnavailable,
                format!("cannot read the working tree: {error}"),
                "Start the window in a clone, or pass one with --repo.",
            )
        })?;
        let file = root.join(path).canonicalize().map_err(|_| {
            refuse(
                format!("{} is not in the working tree", path.display()),
                "It may have moved since; the pinned source is shown instead.",
            )
        })?;
        if !file.starts_with(&root) || !file.is_file() {
            return Err(refuse(
                format!("{} is not a file of this working tree", path.display()),
                "Engram opens only files inside the repository.",
            ));
        }
        Ok(Self {
            root,
            file,
            line: line.max(1),
        })
    }

    fn file(&self) -> String {
        self.file.display().to_string()
    }

    fn at(&self) -> String {
        format!("{}:{}", self.file(), self.line)
    }
}

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
struct Editor {
    name: &'static str,
    programs: &'static [&'static str],
    style: Style,
    in_terminal: bool,
}

const fn window(name: &'static str, programs: &'static [&'static str], style: Style) -> Editor {
    Editor {
        name,
        programs,
        style,
        in_terminal: false,
    }
}

const fn terminal(name: &'static str, programs: &'static [&'static str], style: Style) -> Editor {
    Editor {
        name,
        programs,
        style,
        in_terminal: true,
    }
}

/// In the order in which they are looked for.
const EDITORS: &[Editor] = &[
    window("VS Code", &["code", "code-insiders", "codium"], Style::Goto),
    window("Cursor", &["cursor"], Style::Goto),
    window("Windsurf", &["windsurf"], Style::Goto),
    window("Zed", &["zed", "zeditor"], Style::Colon),
    window(
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
    window("Sublime Text", &["subl"], Style::Colon),
    window("Kate", &["kate"], Style::Line),
    window("Emacs", &["emacsclient"], Style::Client),
    window("Emacs", &["emacs"], Style::Plus),
    terminal("Neovim", &["nvim"], Style::Plus),
    terminal("Vim", &["vim", "vi"], Style::Plus),
    terminal("Helix", &["hx", "helix"], Style::Colon),
    terminal("nano", &["nano"], Style::Plus),
];

impl Editor {
    /// By the path or name of its program.
    fn of(program: &str) -> Option<&'static Self> {
        let name = Path::new(program).file_stem()?.to_str()?;
        EDITORS.iter().find(|it| it.programs.contains(&name))
    }

    fn arguments(&self, place: &Place) -> Vec<String> {
        match self.style {
            Style::Goto => vec!["--reuse-window".into(), "--goto".into(), place.at()],
            Style::Colon => vec![place.at()],
            Style::Line => vec!["--line".into(), place.line.to_string(), place.file()],
            Style::Plus => vec![format!("+{}", place.line), place.file()],
            Style::Client => vec!["-n".into(), format!("+{}", place.line), place.file()],
        }
    }
}

/// What decides the editor, in order of precedence.
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
    /// What this machine and this home specify.
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

    /// The result, for people: the editor's name, and the deciding variable, if any.
    pub(crate) fn told(&self) -> (Option<String>, Option<String>) {
        let words = self.words().unwrap_or_default();
        let name = words.first().map(|program| {
            Editor::of(program).map_or_else(|| file_name(program), |it| it.name.to_owned())
        });
        let variable = self.template.is_some().then(|| "ENGRAM_EDITOR".to_owned());
        (name, variable)
    }

    /// The command line that was chosen, as words: at least one.
    fn words(&self) -> Result<Vec<String>, Refusal> {
        let line = self
            .template
            .as_deref()
            .or(self.setting.as_deref())
            .or(self.environment.as_deref());
        let words = match (line, self.found) {
            (Some(line), _) => split(line)?,
            (None, Some(program)) => vec![program.to_owned()],
            (None, None) => return Err(none_found()),
        };
        if words.is_empty() {
            Err(none_found())
        } else {
            Ok(words)
        }
    }

    /// The argument vector, and the name to tell the person.
    fn command(
        &self,
        place: &Place,
        terminal: Option<Vec<String>>,
    ) -> Result<(Vec<String>, String), Refusal> {
        let words = self.words()?;
        let Some(program) = words.first() else {
            return Err(none_found());
        };
        let known = Editor::of(program);
        let name = known.map_or_else(|| file_name(program), |it| it.name.to_owned());
        if words.iter().any(|it| it.contains("{file}")) {
            // A whole command line includes the choice of terminal.
            let fill = |word: &String| {
                word.replace("{line}", &place.line.to_string())
                    .replace("{file}", &place.file())
            };
            return Ok((words.iter().map(fill).collect(), name));
        }
        let arguments = known.map_or_else(|| vec![place.file()], |it| it.arguments(place));
        let words: Vec<String> = words.into_iter().chain(arguments).collect();
        // An editor that is not in the table came from $EDITOR, and those run in a terminal.
        match (known.is_none_or(|it| it.in_terminal), terminal) {
            (false, _) => Ok((words, name)),
            (true, Some(terminal)) => Ok((terminal.into_iter().chain(words).collect(), name)),
            (true, None) => Err(Refusal::new(
                Code::Internal,
                format!("{name} needs a terminal, and no supported one was found"),
                format!("Set TERMINAL to your terminal's command. {CHOOSE}"),
            )),
        }
    }
}

/// What to do about an unusable editor.
const CHOOSE: &str = "Choose an editor in the settings, or set ENGRAM_EDITOR to a command line with {file} and {line}, for example: code --goto {file}:{line}";

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

/// The start of a command line that runs the rest in a terminal: the one that the person
/// named, where that is one plain name, else the first of the table.
fn terminal_of(named: Option<&str>, is_installed: impl Fn(&str) -> bool) -> Option<Vec<String>> {
    let is_plain = |it: &&str| {
        let is_safe = |c: char| c.is_ascii_alphanumeric() || "-_.+".contains(c);
        !it.is_empty() && !it.starts_with('-') && it.chars().all(is_safe)
    };
    let named = named.filter(is_plain).into_iter();
    let mut all = named.chain(TERMINALS.iter().map(|it| it.0));
    let program = all.find(|it| is_installed(it))?;
    let known = TERMINALS.iter().find(|it| it.0 == program);
    // Nearly every other one works like xterm.
    let before = known.map_or(&["-e"][..], |it| it.1);
    let words = [program].into_iter().chain(before.iter().copied());
    Some(words.map(str::to_owned).collect())
}

/// The editors of the table that are installed, one program of each.
pub(crate) fn installed() -> Vec<EditorFound> {
    let found = EDITORS.iter().filter_map(|it| {
        let program = it.programs.iter().find(|name| is_installed(name))?;
        Some(EditorFound {
            name: it.name.to_owned(),
            program: (*program).to_owned(),
        })
    });
    let mut all: Vec<EditorFound> = found.collect();
    all.dedup_by(|a, b| a.name == b.name);
    all
}

/// Where programs are looked for while a file of this tree is open: folders of `PATH` that are not in it.
/// One that is relative, or empty, is a folder of whatever tree the program is started in.
fn search(path: &OsStr, root: Option<&Path>) -> OsString {
    let is_apart = |folder: &PathBuf| {
        let real = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        folder.is_absolute() && root.is_none_or(|root| !real.starts_with(root))
    };
    // What was split can be joined.
    env::join_paths(env::split_paths(path).filter(is_apart)).unwrap_or_default()
}

fn is_installed(program: &str) -> bool {
    let path = env::var_os("PATH").unwrap_or_default();
    found_in(program, &search(&path, None)).is_some()
}

/// A program by its plain name in these folders.
fn found_in(program: &str, folders: &OsStr) -> Option<PathBuf> {
    which_in_global(program, Some(folders)).ok()?.next()
}

/// The program that a name or a path means, wherever it is started: never one of the tree's own.
fn program_of(named: &str, folders: &OsStr, root: &Path) -> Result<PathBuf, Refusal> {
    let is_name = Path::new(named).file_name() == Some(OsStr::new(named));
    let found = if is_name {
        found_in(named, folders)
    } else {
        Some(PathBuf::from(named)).filter(|it| it.is_absolute())
    };
    let real = found.as_ref().and_then(|it| it.canonicalize().ok());
    match (found, real) {
        (Some(found), Some(real)) if !real.starts_with(root) && !found.starts_with(root) => {
            Ok(found)
        }
        (_, Some(real)) => Err(Refusal::new(
            Code::ScopeDenied,
            format!("{} is in the repository itself", real.display()),
            format!("Engram starts no program of a repository. {CHOOSE}"),
        )),
        (_, None) => Err(Refusal::new(
            Code::Internal,
            format!("there is no program {named} on this machine"),
            format!(
                "Install it in an absolute folder of PATH, or name it by its absolute path. {CHOOSE}"
            ),
        )),
    }
}

/// A command line that is to be run in a tree.
fn in_tree(words: &[String], folders: &OsStr, root: &Path) -> Result<Command, Refusal> {
    let (program, arguments) = words.split_first().ok_or_else(none_found)?;
    let mut command = Command::new(program_of(program, folders, root)?);
    command
        .args(arguments)
        .current_dir(root)
        // For what it starts in its turn: a terminal the editor, a script its interpreter.
        .env("PATH", folders)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    Ok(command)
}

/// An editor that fails within this time did not open.
const AT_ONCE: Duration = Duration::from_millis(400);

/// Starts the editor, and waits only to see that it does not fail at once; returns its name.
pub(crate) fn open(place: &Place, choice: &Choice) -> Result<String, Refusal> {
    let named = env::var("TERMINAL").ok();
    let folders = search(&env::var_os("PATH").unwrap_or_default(), Some(&place.root));
    let terminal = terminal_of(named.as_deref(), |it| found_in(it, &folders).is_some());
    let (words, name) = choice.command(place, terminal)?;
    // A terminal would start it in the tree.
    for editor in choice.words()?.iter().take(1) {
        program_of(editor, &folders, &place.root)?;
    }
    let started = in_tree(&words, &folders, &place.root)?.spawn();
    let mut child = started.map_err(|error| {
        Refusal::new(
            Code::Internal,
            format!("cannot start {name}: {error}"),
            "Check the editor: ENGRAM_EDITOR comes first, then the settings, VISUAL and EDITOR.",
        )
    })?;
    let (tell, told) = mpsc::channel();
    let who = name.clone();
    std::thread::spawn(move || match child.wait() {
        Ok(status) => {
            if !status.success() {
                tracing::warn!(editor = who, %status, "the editor ended with an error");
            }
            let _ = tell.send(status);
        }
        Err(error) => tracing::warn!(editor = who, %error, "the editor cannot be waited for"),
    });
    match told.recv_timeout(AT_ONCE) {
        Ok(status) if !status.success() => Err(Refusal::new(
            Code::Internal,
            format!("{name} did not open: it ended at once ({status})"),
            format!("Run it once in a terminal to see why. {CHOOSE}"),
        )),
        _ => {
            tracing::info!(editor = name, file = %place.file.display(), line = place.line, "opened");
            Ok(name)
        }
    }
}

/// A command line as words: split and quoted as in a shell, without expansion.
fn split(line: &str) -> Result<Vec<String>, Refusal> {
    // There a backslash separates folders and quotes nothing.
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

fn none_found() -> Refusal {
    Refusal::new(
        Code::Internal,
        "no editor was found on this machine",
        CHOOSE,
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs;

    use super::*;

    fn place() -> Place {
        Place {
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
            let (words, _) = choice.command(&place(), terminal()).unwrap();
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
            match (choice.command(&place(), terminal()), want) {
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
    fn an_editor_of_the_terminal_needs_one() {
        let choice = Choice {
            environment: said("nvim"),
            ..Choice::default()
        };
        let refusal = choice.command(&place(), None).unwrap_err();
        assert!(
            refusal.message.contains("Neovim needs a terminal"),
            "{refusal}"
        );
        for what in ["TERMINAL", "settings", "ENGRAM_EDITOR"] {
            assert!(refusal.hint.contains(what), "{refusal}");
        }
    }

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
            let found = terminal_of(said(named).as_deref(), |it| {
                installed.split(' ').any(|there| there == it)
            });
            let found = found.map(|it| it.join(" "));
            assert_eq!(found.as_deref(), want, "{named:?} of {installed:?}");
        }
    }

    /// As where somebody works on programs of their own: `PATH=node_modules/.bin:$PATH`.
    #[cfg(unix)]
    #[test]
    fn no_program_of_the_repository_is_started() {
        use std::os::unix::fs::{PermissionsExt, symlink};
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().canonicalize().unwrap().join(name);
        let (root, ran) = (at("tree"), at("ran"));
        let (its, ours) = (root.join("node_modules/.bin"), at("bin"));
        let shows = ours.join("engram-ed");
        for (dir, says) in [(&its, "its own"), (&ours, "ours")] {
            fs::create_dir_all(dir).unwrap();
            let program = dir.join("engram-ed");
            let script = format!("#!/bin/sh\necho {says} $PATH > {}\n", ran.display());
            fs::write(&program, script).unwrap();
            fs::set_permissions(&program, fs::Permissions::from_mode(0o755)).unwrap();
        }
        symlink(&its, at("link")).unwrap();
        symlink(its.join("engram-ed"), ours.join("engram-linked")).unwrap();
        let (its_bin, link) = (its.display(), at("link"));
        let path = format!(
            "node_modules/.bin::.:{its_bin}:{}:{}",
            link.display(),
            ours.display()
        );
        let folders = search(OsStr::new(&path), Some(&root));
        assert_eq!(folders, ours.as_os_str());
        for (named, want) in [
            ("engram-ed", Ok(&shows)),
            (shows.to_str().unwrap(), Ok(&shows)),
            ("node_modules/.bin/engram-ed", Err(Code::Internal)),
            ("./engram-ed", Err(Code::Internal)),
            ("engram-none", Err(Code::Internal)),
            ("..", Err(Code::Internal)),
            ("", Err(Code::Internal)),
            ("engram-linked", Err(Code::ScopeDenied)),
            (
                its.join("engram-ed").to_str().unwrap(),
                Err(Code::ScopeDenied),
            ),
            (
                at("link/engram-ed").to_str().unwrap(),
                Err(Code::ScopeDenied),
            ),
        ] {
            let found = program_of(named, &folders, &root);
            assert_eq!(found.as_ref().map_err(|it| it.code), want, "{named}");
        }
        let words = ["engram-ed".to_owned()];
        let mut command = in_tree(&words, &folders, &root).unwrap();
        assert!(command.status().unwrap().success());
        let said = fs::read_to_string(ran).unwrap();
        assert_eq!(said, format!("ours {}\n", ours.display()));
    }

    #[cfg(unix)]
    #[test]
    fn only_files_inside_the_tree_are_opened() {
        let folder = tempfile::tempdir().unwrap();
        let (root, outside) = (folder.path().join("tree"), folder.path().join("secret"));
        fs::create_dir_all(root.join("src")).unwrap();
        fs::write(root.join("src/a.rs"), "x").unwrap();
        fs::write(&outside, "x").unwrap();
        std::os::unix::fs::symlink(&outside, root.join("link")).unwrap();
        std::os::unix::fs::symlink("src/a.rs", root.join("inner")).unwrap();
        let absolute = outside.display().to_string();
        for (path, opens) in [
            ("src/a.rs", true),
            ("inner", true),
            ("src/../src/a.rs", true),
            ("src", false),
            ("link", false),
            ("../secret", false),
            ("gone.rs", false),
            ("", false),
            ("a\0b", false),
            (&absolute, false),
        ] {
            assert_eq!(
                Place::inside(&root, Path::new(path), 0).is_ok(),
                opens,
                "{path:?}"
            );
        }
        assert_eq!(Place::inside(&root, Path::new("inner"), 0).unwrap().line, 1);
    }
}
