//! What a person can do in the window, by name and by key: one table for the keys, the sheet of
//! shortcuts, the menu, tooltips, the palette and the guide.

use crate::{
    app::{App, VIEWS, View},
    words::say,
};

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Act {
    /// Opens the palette.
    Palette,
    /// Opens the sheet of shortcuts.
    Sheet,
    /// Opens the settings.
    Settings,
    /// Chooses another repository.
    Repositories,
    /// Connects agents.
    Connect,
    /// The window's log in the person's editor.
    Log,
    /// Zooms the window.
    Zoom(Zooming),
    /// Moves the selection by rows; to an end at the limits.
    Step(isize),
    /// Selects or deselects the open row.
    Choose,
    /// Extends the selection by rows.
    Extend(isize),
    /// Selects all loaded rows.
    ChooseAll,
    /// Shows what was held back.
    New,
    /// To the search field.
    Search,
    /// What the list can be limited to.
    Facets,
    /// To the time of which the knowledge is shown.
    Then,
    /// From a time that is past back to now.
    Now,
    /// Opens the menu of what is read.
    Menu,
    /// The whole claim in its row.
    Expand,
    /// Away from what is open, back to the list.
    Back,
    /// To what was shown before, or after, by as many steps.
    Go(i32),
    /// To the first source.
    First,
    /// To a source by its number.
    Pointer,
    /// To a view by its number.
    View,
    /// What was done last, taken back.
    Undo,
    /// The file in the person's editor.
    Open,
    /// The exact pointer on the clipboard.
    Copy,
    /// Copies the claim, or all selected ones.
    CopyClaim,
    /// A link that leads here, on the clipboard.
    Link,
    /// The commits that wrote the lines.
    Blame,
    /// What became of them.
    Changes,
    /// The conflict that the engram is in.
    Dispute,
    /// Versions and voices.
    History,
    /// It is still true.
    True,
    /// It is no longer true.
    False,
    /// Nobody knows.
    Unsure,
    /// Corrects the claim.
    Correct,
    /// Adds a claim by hand.
    Add,
    /// Closes its window.
    Forget,
    /// Erases its text.
    Redact,
}

impl Act {
    /// Whether it means the same in every list: it moves through it, or away.
    pub(crate) fn moves(self) -> bool {
        matches!(
            self,
            Self::View
                | Self::Sheet
                | Self::Step(_)
                | Self::Then
                | Self::Now
                | Self::Add
                | Self::Go(_)
                | Self::Back
        )
    }

    /// Whether it acts on a source that is read.
    pub(crate) fn is_of_source(self) -> bool {
        matches!(
            self,
            Self::First | Self::Pointer | Self::Open | Self::Copy | Self::Changes
        )
    }

    /// Whether it changes the memory, which the past does not let.
    pub fn writes(self) -> bool {
        matches!(
            self,
            Self::Undo
                | Self::True
                | Self::False
                | Self::Unsure
                | Self::Correct
                | Self::Add
                | Self::Forget
                | Self::Redact
        )
    }
}

/// A change of the zoom.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Zooming {
    /// One step larger.
    In,
    /// One step smaller.
    Out,
    /// Back to 100%.
    Reset,
}

/// Where a command holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Everywhere, also where somebody types.
    Always,
    /// Where the list is.
    List,
    /// Where an engram is read.
    Engram,
    /// Where one is read whose evidence changed.
    Drifted,
}

/// One thing that can be done.
#[derive(Debug)]
pub struct Command {
    /// Stable name.
    pub id: &'static str,
    /// What it does, for people.
    pub title: &'static str,
    /// What is done.
    pub(crate) does: CommandKind,
    /// Where.
    pub holds: Holds,
    /// Chords that do it: `Mod+` is Ctrl, or Command on a Mac.
    pub keys: &'static [&'static str],
}

/// What a command does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CommandKind {
    /// What means the same in every view that knows it.
    Shared(Act),
    /// What one view alone has.
    Own(ViewCommand),
}

/// A command of one view.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ViewCommand {
    pub(crate) does: fn(App),
    /// Whether there is something to do it to.
    pub(crate) may: fn(App) -> bool,
    /// It says something of what is open, so that a person must see that first.
    pub(crate) judges: bool,
}

impl Command {
    /// A command of one view: what it does, and whether there is something to do it to.
    pub(crate) const fn own(
        id: &'static str,
        title: &'static str,
        keys: &'static [&'static str],
        does: fn(App),
        may: fn(App) -> bool,
    ) -> Self {
        Self {
            id,
            title,
            does: CommandKind::Own(ViewCommand {
                does,
                may,
                judges: false,
            }),
            holds: Holds::List,
            keys,
        }
    }

    /// One that says something of what is open, so that a person must see that first.
    pub(crate) const fn that_judges(self) -> Self {
        let does = match self.does {
            CommandKind::Own(own) => CommandKind::Own(ViewCommand {
                judges: true,
                ..own
            }),
            shared => shared,
        };
        Self { does, ..self }
    }

    /// What it does in every view, if it is not of one alone.
    pub(crate) fn act(&self) -> Option<Act> {
        match self.does {
            CommandKind::Shared(act) => Some(act),
            CommandKind::Own(_) => None,
        }
    }

    /// Whether it means anything while this view is on the screen.
    pub(crate) fn is_for(&self, view: &View) -> bool {
        match self.does {
            CommandKind::Shared(_) if self.holds == Holds::Always => true,
            CommandKind::Shared(act) => (view.knows)(act),
            CommandKind::Own(_) => view.commands().iter().any(|it| it.id == self.id),
        }
    }
}

const fn command(
    id: &'static str,
    title: &'static str,
    act: Act,
    holds: Holds,
    keys: &'static [&'static str],
) -> Command {
    Command {
        id,
        title,
        does: CommandKind::Shared(act),
        holds,
        keys,
    }
}

/// Those that views share, in the order in which they are listed.
pub(crate) const COMMANDS: &[Command] = &[
    command(
        "palette",
        say::sheet::FIND,
        Act::Palette,
        Holds::Always,
        &["Mod+k"],
    ),
    command(
        "settings",
        say::settings::COMMAND,
        Act::Settings,
        Holds::Always,
        &["Mod+,"],
    ),
    command(
        "repositories",
        say::status::OTHER_REPOSITORY,
        Act::Repositories,
        Holds::Always,
        &["Mod+o"],
    ),
    command(
        "connect",
        say::connect::OPEN,
        Act::Connect,
        Holds::Always,
        &[],
    ),
    command("log", say::sheet::OPEN_LOG, Act::Log, Holds::Always, &[]),
    command(
        "zoom-in",
        "Zoom in",
        Act::Zoom(Zooming::In),
        Holds::Always,
        &["Mod+Plus"],
    ),
    command(
        "zoom-out",
        "Zoom out",
        Act::Zoom(Zooming::Out),
        Holds::Always,
        &["Mod+-"],
    ),
    command(
        "zoom-reset",
        say::settings::ZOOM_RESET,
        Act::Zoom(Zooming::Reset),
        Holds::Always,
        &["Mod+0"],
    ),
    command("view", "View by number", Act::View, Holds::List, &["1-9"]),
    command("sheet", "All shortcuts", Act::Sheet, Holds::List, &["?"]),
    command(
        "next",
        "Next engram",
        Act::Step(1),
        Holds::List,
        &["j", "ArrowDown"],
    ),
    command(
        "previous",
        "Previous engram",
        Act::Step(-1),
        Holds::List,
        &["k", "ArrowUp"],
    ),
    command(
        "page-down",
        "Page down",
        Act::Step(8),
        Holds::List,
        &["PageDown"],
    ),
    command(
        "page-up",
        "Page up",
        Act::Step(-8),
        Holds::List,
        &["PageUp"],
    ),
    command(
        "newest",
        "Newest engram",
        Act::Step(isize::MIN),
        Holds::List,
        &["Home"],
    ),
    command(
        "oldest",
        "Oldest engram",
        Act::Step(isize::MAX),
        Holds::List,
        &["End"],
    ),
    command(
        "choose",
        say::many::CHOOSE,
        Act::Choose,
        Holds::Engram,
        &["v"],
    ),
    command(
        "choose-next",
        say::many::CHOOSE_NEXT,
        Act::Extend(1),
        Holds::List,
        &["Shift+j", "Shift+ArrowDown"],
    ),
    command(
        "choose-previous",
        say::many::CHOOSE_PREVIOUS,
        Act::Extend(-1),
        Holds::List,
        &["Shift+k", "Shift+ArrowUp"],
    ),
    command(
        "choose-all",
        say::many::CHOOSE_ALL,
        Act::ChooseAll,
        Holds::List,
        &["Mod+a"],
    ),
    command("new", "Show new engrams", Act::New, Holds::List, &["n"]),
    command("search", "Search", Act::Search, Holds::List, &["/"]),
    command(
        "filter",
        "Filter by kind, agent, topic, …",
        Act::Facets,
        Holds::List,
        &["f"],
    ),
    command(
        "then",
        say::knowledge::CHOOSE,
        Act::Then,
        Holds::List,
        &["t"],
    ),
    command(
        "now",
        say::knowledge::BACK,
        Act::Now,
        Holds::List,
        &["Shift+t"],
    ),
    command("add", say::write::ADD, Act::Add, Holds::List, &["w"]),
    command(
        "menu",
        say::engram::MENU,
        Act::Menu,
        Holds::Engram,
        &["m", "ContextMenu", "Shift+F10"],
    ),
    command(
        "expand",
        "Show the whole claim",
        Act::Expand,
        Holds::Engram,
        &["e", "Space"],
    ),
    command("earlier", "Go back", Act::Go(-1), Holds::List, &["["]),
    command("later", "Go forward", Act::Go(1), Holds::List, &["]"]),
    command(
        "back",
        "Back to the list",
        Act::Back,
        Holds::List,
        &["Escape"],
    ),
    command(
        "first-source",
        "First source",
        Act::First,
        Holds::Engram,
        &["Enter"],
    ),
    command(
        "source",
        "Source by number",
        Act::Pointer,
        Holds::Engram,
        &["Shift+1-9"],
    ),
    command("open", say::OPEN_EDITOR, Act::Open, Holds::Engram, &["o"]),
    command(
        "copy",
        say::engram::COPY_POINTER,
        Act::Copy,
        Holds::Engram,
        &["c"],
    ),
    command(
        "copy-claim",
        say::engram::COPY_CLAIM,
        Act::CopyClaim,
        Holds::Engram,
        &["Shift+c"],
    ),
    command("link", "Copy link", Act::Link, Holds::Engram, &["l"]),
    command(
        "blame",
        say::source::WHO_WROTE,
        Act::Blame,
        Holds::Engram,
        &["b"],
    ),
    command(
        "changes",
        say::source::WHAT_CHANGED,
        Act::Changes,
        Holds::Engram,
        &["d"],
    ),
    command(
        "history",
        say::engram::HISTORY,
        Act::History,
        Holds::Engram,
        &["h"],
    ),
    command(
        "dispute",
        say::engram::SHOW_CONFLICT,
        Act::Dispute,
        Holds::Engram,
        &["g"],
    ),
    command("undo", say::UNDO, Act::Undo, Holds::Always, &["z"]),
    command("true", say::review::YES, Act::True, Holds::Drifted, &["y"]),
    command(
        "false",
        say::review::NO_ASKS,
        Act::False,
        Holds::Drifted,
        &["x"],
    ),
    command(
        "unsure",
        say::review::ASK,
        Act::Unsure,
        Holds::Drifted,
        &["a"],
    ),
    command(
        "correct",
        say::write::CORRECT,
        Act::Correct,
        Holds::Engram,
        &["r"],
    ),
    command(
        "forget",
        say::engram::FORGET,
        Act::Forget,
        Holds::Engram,
        &["Delete", "Backspace"],
    ),
    command(
        "redact",
        say::engram::REDACT,
        Act::Redact,
        Holds::Engram,
        &["Shift+Delete", "Shift+Backspace"],
    ),
];

/// All commands in the groups of the sheet and the guide: those that views share, then each view's own.
pub(crate) fn groups() -> Vec<(&'static str, Vec<&'static Command>)> {
    let of = |holds: &[Holds]| {
        let all = COMMANDS.iter();
        all.filter(|it| holds.contains(&it.holds)).collect()
    };
    let mut groups = vec![
        (say::sheet::WINDOW, of(&[Holds::Always])),
        (say::sheet::LIST, of(&[Holds::List])),
        (say::engram::LABEL, of(&[Holds::Engram, Holds::Drifted])),
    ];
    for view in VIEWS {
        if let Some((title, commands)) = view.own {
            groups.push((title, commands.iter().collect()));
        }
    }
    groups
}

/// What the menu of an engram holds, in the groups that a line parts.
pub const MENU: &[&[Act]] = &[
    &[Act::Open, Act::CopyClaim, Act::Copy, Act::Link],
    &[
        Act::Choose,
        Act::Expand,
        Act::Blame,
        Act::Changes,
        Act::History,
        Act::Dispute,
    ],
    &[Act::True, Act::False, Act::Unsure],
    &[Act::Correct, Act::Forget, Act::Redact],
];

/// The shared one that does this.
pub fn by(act: Act) -> Option<&'static Command> {
    COMMANDS.iter().find(|it| it.act() == Some(act))
}

/// All that mean something while this view is on the screen.
pub(crate) fn of(view: &View) -> impl Iterator<Item = &'static Command> + use<'_> {
    let all = COMMANDS.iter().chain(view.commands());
    all.filter(|it| it.is_for(view))
}

/// A key that went down.
#[derive(Clone, Copy, Debug, Default)]
pub struct Press<'a> {
    /// What it types, as the browser names it.
    pub key: &'a str,
    /// Where it is on the keyboard, as the browser names that.
    pub code: &'a str,
    /// Ctrl or Command is held.
    pub is_mod: bool,
    /// Shift is held.
    pub shift: bool,
}

impl Press<'_> {
    /// Which digit from 1 to 9 it is; by its place where it types something else, as it does with Shift on
    /// most keyboards, and without on some.
    pub fn digit(&self) -> Option<usize> {
        let place = self.code.strip_prefix("Digit").unwrap_or_default();
        let digit = [self.key, place].map(|it| it.parse().ok().filter(|it| (1..=9).contains(it)));
        digit.into_iter().flatten().next()
    }
}

/// What a key stands for while this view is on the screen.
pub(crate) fn pressed(press: Press, view: &View) -> Option<&'static Command> {
    let find =
        |is_exact| of(view).find(|it| it.keys.iter().any(|chord| fits(chord, press, is_exact)));
    // Shift with a letter counts only if a chord names it.
    find(true).or_else(|| find(false))
}

fn fits(chord: &str, press: Press, is_exact: bool) -> bool {
    let (is_mod, chord) = strip(chord, "Mod+");
    let (shift, key) = strip(chord, "Shift+");
    if is_mod != press.is_mod {
        return false;
    }
    match (key, press.key) {
        ("1-9", _) => press.digit().is_some() && shift == press.shift,
        ("Space", " ") => shift == press.shift,
        // Most keyboards need Shift for this sign; the chord works without.
        ("Plus", "+" | "=") => true,
        // Caps Lock makes no other key of a letter; some keyboards need Shift for a sign.
        (key, pressed) if key.len() == 1 => {
            let is_letter = key.starts_with(|it: char| it.is_ascii_alphabetic());
            let may_differ = !(shift || is_exact && is_letter);
            key.eq_ignore_ascii_case(pressed) && (shift == press.shift || may_differ)
        }
        (key, pressed) => key == pressed && shift == press.shift,
    }
}

fn strip<'a>(chord: &'a str, prefix: &str) -> (bool, &'a str) {
    match chord.strip_prefix(prefix) {
        Some(rest) => (true, rest),
        None => (false, chord),
    }
}

/// A chord as the caps of its keys.
pub fn caps(chord: &str, is_mac: bool) -> Vec<String> {
    let word = |part: &str| match part {
        "Mod" if is_mac => "⌘".to_owned(),
        "Mod" => "Ctrl".to_owned(),
        "Shift" => "⇧".to_owned(),
        "ArrowDown" => "↓".to_owned(),
        "ArrowUp" => "↑".to_owned(),
        "Enter" => "↵".to_owned(),
        "Plus" => "+".to_owned(),
        "Escape" => "Esc".to_owned(),
        "Delete" => "Del".to_owned(),
        "Backspace" => "⌫".to_owned(),
        "PageDown" => "PgDn".to_owned(),
        "PageUp" => "PgUp".to_owned(),
        "ContextMenu" => "Menu".to_owned(),
        "1-9" => "1–9".to_owned(),
        key if key.len() == 1 => key.to_uppercase(),
        key => key.to_owned(),
    };
    chord.split('+').map(word).collect()
}

/// A title with the keys behind it, for a tooltip.
pub fn tip(command: &Command, is_mac: bool) -> String {
    match command.keys.first() {
        Some(chord) => format!("{} ({})", command.title, caps(chord, is_mac).join(" ")),
        None => command.title.to_owned(),
    }
}

/// The page of the guide.
pub fn guide() -> String {
    let mut page = "# Keys of the window\n\nEvery command is also in the palette (Ctrl+K, ⌘K on a Mac), and the window lists them with `?`. Keys without Ctrl do nothing while you type.\n".to_owned();
    for (title, commands) in groups() {
        page.push_str(&format!(
            "\n## {title}\n\n| keys | what it does |\n|---|---|\n"
        ));
        for command in commands {
            let keys: Vec<String> = command
                .keys
                .iter()
                .map(|chord| format!("`{}`", caps(chord, false).join(" ")))
                .collect();
            let keys = if keys.is_empty() {
                "in the palette".to_owned()
            } else {
                keys.join(", ")
            };
            page.push_str(&format!("| {keys} | {} |\n", command.title));
        }
    }
    page
}

#[cfg(test)]
mod tests;
