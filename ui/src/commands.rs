//! What a person can do in the window, by name and by key: one table for the keys, the sheet of
//! shortcuts, the menu, tooltips, the palette and the guide.

mod keys;
mod table;

pub(crate) use self::{keys::pressed, table::COMMANDS};
pub use self::{
    keys::{Press, caps},
    table::MENU,
};
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

/// The shared one that does this.
pub fn by(act: Act) -> Option<&'static Command> {
    COMMANDS.iter().find(|it| it.act() == Some(act))
}

/// All that mean something while this view is on the screen.
pub(crate) fn of(view: &View) -> impl Iterator<Item = &'static Command> + use<'_> {
    let all = COMMANDS.iter().chain(view.commands());
    all.filter(|it| it.is_for(view))
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
