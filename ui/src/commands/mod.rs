//! What a person can do in the window, by name and by key: one table for the keys, the sheet of
//! shortcuts, the menu, tooltips, the palette and the guide.

mod keys;
mod table;

use std::cmp::Reverse;

pub(crate) use self::{keys::command_pressed, table::COMMANDS};
pub use self::{
    keys::{Press, keycaps_of},
    table::MENU,
};
use crate::{
    app::{
        state::App,
        views::{VIEWS, View},
    },
    fuzzy,
    words::say,
};

/// What a command does.
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
    /// Brings an open repository to the front, by its number.
    Repository,
    /// Connects agents.
    Connect,
    /// Opens the window's log in the person's editor.
    Log,
    /// Zooms the window.
    Zoom(Zooming),
    /// Moves the selection by rows; `isize::MIN` and `isize::MAX` move it to an end.
    Step(isize),
    /// Selects or deselects the open row.
    Choose,
    /// Extends the selection by rows.
    Extend(isize),
    /// Selects all loaded rows.
    ChooseAll,
    /// Shows what was held back.
    New,
    /// Focuses the search field.
    Search,
    /// Shows or hides the values of the filter.
    Facets,
    /// Focuses the field for the time whose knowledge is shown.
    Then,
    /// Returns from a past time to now.
    Now,
    /// Opens the menu of the open engram.
    Menu,
    /// Shows the whole claim in its row, or cuts it again.
    Expand,
    /// Closes the topmost open thing, or returns to the list.
    Back,
    /// Goes this many steps forward in the history; if negative, back.
    Go(i32),
    /// Focuses the first source.
    First,
    /// Focuses a source by its number.
    Pointer,
    /// Shows a view by its number.
    View,
    /// Undoes the last action.
    Undo,
    /// Lists what the person did.
    Steps,
    /// Opens the file in the person's editor.
    Open,
    /// Copies the exact pointer.
    Copy,
    /// Copies the claim, or all selected ones.
    CopyClaim,
    /// Copies a link to what is open.
    Link,
    /// Shows the commits that wrote the lines.
    Blame,
    /// Shows what became of the lines.
    Changes,
    /// Shows the conflict that the engram is in.
    Dispute,
    /// Shows the history of the claim.
    History,
    /// Says that the claim is still true.
    True,
    /// Says that the claim is no longer true.
    False,
    /// Says that the person does not know.
    Unsure,
    /// Lets the claim hold for its ttl again.
    Renew,
    /// Corrects the claim.
    Correct,
    /// Corrects the claim to the value that its evidence has now.
    Suggest,
    /// Pins the claim to the brief, or unpins it.
    Pin,
    /// Adds a claim by hand.
    Add,
    /// Closes the claim's window.
    Forget,
    /// Erases the claim's text.
    Redact,
}

impl Act {
    /// Whether every list knows it, with the same meaning.
    pub(crate) fn is_for_every_list(self) -> bool {
        matches!(
            self,
            Self::View
                | Self::Sheet
                | Self::Steps
                | Self::Step(_)
                | Self::Then
                | Self::Now
                | Self::Add
                | Self::Go(_)
                | Self::Back
        )
    }

    /// Whether it acts on an open source.
    pub(crate) fn is_of_source(self) -> bool {
        matches!(
            self,
            Self::First | Self::Pointer | Self::Open | Self::Copy | Self::Changes
        )
    }

    /// Whether it changes the memory, which is not possible while a past time is shown.
    pub fn writes(self) -> bool {
        matches!(
            self,
            Self::Undo
                | Self::True
                | Self::False
                | Self::Unsure
                | Self::Renew
                | Self::Correct
                | Self::Suggest
                | Self::Pin
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

/// Where a command applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Holds {
    /// Everywhere, even while the person types.
    Always,
    /// Where there is a list.
    List,
    /// Where an engram is open.
    Engram,
    /// Where an engram is open whose evidence changed.
    Drifted,
}

/// One command.
#[derive(Debug)]
pub struct Command {
    /// Its stable name.
    pub id: &'static str,
    /// What it does, for people.
    pub title: &'static str,
    /// What it does.
    pub(crate) does: CommandKind,
    /// Where it applies.
    pub holds: Holds,
    /// Chords that do it: `Mod+` is Ctrl, or Command on a Mac.
    pub keys: &'static [&'static str],
}

/// What a command does.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CommandKind {
    /// An action with the same meaning in every view that supports it.
    Shared(Act),
    /// An action of one view alone.
    Own(ViewCommand),
}

/// A command of one view.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ViewCommand {
    pub(crate) does: fn(App),
    /// Whether there is something to act on.
    pub(crate) may: fn(App) -> bool,
    /// Whether it judges the open item, which a person must therefore see first.
    pub(crate) judges: bool,
}

impl Command {
    /// Makes a command of one view from what it does and whether there is something to act on.
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

    /// Marks the command as one that judges the open item, which a person must therefore see first.
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

    /// Returns what it does in every view, unless it belongs to one view alone.
    pub(crate) fn act(&self) -> Option<Act> {
        match self.does {
            CommandKind::Shared(act) => Some(act),
            CommandKind::Own(_) => None,
        }
    }

    /// Whether it has a meaning while this view is on the screen.
    pub(crate) fn is_for(&self, view: &View) -> bool {
        match self.does {
            CommandKind::Shared(_) if self.holds == Holds::Always => true,
            CommandKind::Shared(act) => (view.knows)(act),
            CommandKind::Own(_) => view.commands().iter().any(|it| it.id == self.id),
        }
    }
}

/// Returns all commands in the groups of the sheet and the guide: first those that views share,
/// then each view's own.
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

/// The score of a command whose key was typed; higher than that of a word in its title.
const EXACT: i32 = 1_000;

/// Returns the commands that have keys and fit what somebody typed: letters of what a command does,
/// the name of its group, or a key. What fits best comes first, as do the groups with that.
pub(crate) fn shortcuts_like(
    query: &str,
    is_mac: bool,
) -> Vec<(&'static str, Vec<&'static Command>)> {
    let wanted = query.trim().to_lowercase();
    let has_key = |command: &Command| {
        let keys = command.keys.iter();
        keys.map(|it| keycaps_of(it, is_mac).join(" ").to_lowercase())
            .any(|it| it == wanted)
    };
    let score = |is_group: bool, command: &Command| {
        let fit = fuzzy::fit(&wanted, command.title).map(|it| it.score);
        let named = (has_key(command) || is_group).then_some(i32::from(has_key(command)) * EXACT);
        fit.max(named).filter(|_| !command.keys.is_empty())
    };
    let mut found = Vec::new();
    for (title, commands) in groups() {
        let is_group = title.to_lowercase().starts_with(&wanted);
        let fitting = commands.into_iter();
        let fitting = fitting.filter_map(|it| Some((score(is_group, it)?, it)));
        let mut fitting: Vec<(i32, &Command)> = fitting.collect();
        if !wanted.is_empty() {
            fitting.sort_by_key(|it| Reverse(it.0));
        }
        if let Some((best, _)) = fitting.first() {
            let commands = fitting.iter().map(|it| it.1).collect();
            found.push((*best, (title, commands)));
        }
    }
    if !wanted.is_empty() {
        found.sort_by_key(|it: &(i32, _)| Reverse(it.0));
    }
    found.into_iter().map(|it| it.1).collect()
}

/// Returns the shared command with this action.
pub fn command_of(act: Act) -> Option<&'static Command> {
    COMMANDS.iter().find(|it| it.act() == Some(act))
}

/// Returns all commands that have a meaning while this view is on the screen.
pub(crate) fn commands_of(view: &View) -> impl Iterator<Item = &'static Command> + use<'_> {
    let all = COMMANDS.iter().chain(view.commands());
    all.filter(|it| it.is_for(view))
}

/// Returns a command's title followed by its keys, for a tooltip.
pub fn tooltip(command: &Command, is_mac: bool) -> String {
    match command.keys.first() {
        Some(chord) => format!(
            "{} ({})",
            command.title,
            keycaps_of(chord, is_mac).join(" ")
        ),
        None => command.title.to_owned(),
    }
}

/// Returns the page of the guide.
pub fn guide() -> String {
    let mut page = "# Keys of the window\n\n`?` lists all keys in the window. The palette (Ctrl+K, ⌘K on a Mac) finds the commands that apply where you are, also those without a key. A key that works in several views does the same kind of thing in each: `Y` says yes, `X` says no, `U` takes back, and `Enter` opens. Keys without Ctrl do nothing while you type: `Esc` leaves a field.\n".to_owned();
    for (title, commands) in groups() {
        page.push_str(&format!(
            "\n## {title}\n\n| keys | what it does |\n|---|---|\n"
        ));
        for command in commands {
            let keys: Vec<String> = command
                .keys
                .iter()
                .map(|chord| format!("`{}`", keycaps_of(chord, false).join(" ")))
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
