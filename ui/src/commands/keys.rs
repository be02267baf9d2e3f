//! Which command a key runs, and how its keys are printed.

use super::{COMMANDS, Command, commands_of};
use crate::app::views::{VIEWS, View};

/// A pressed key.
#[derive(Clone, Copy, Debug, Default)]
pub struct Press<'a> {
    /// The character or key name that it types (the browser's `key`).
    pub key: &'a str,
    /// Its place on the keyboard (the browser's `code`).
    pub code: &'a str,
    /// Whether Ctrl or Command is held.
    pub is_mod: bool,
    /// Whether Shift is held.
    pub shift: bool,
}

impl Press<'_> {
    /// Returns the digit from 1 to 9 that the key types. If it types something else (with Shift on
    /// most keyboards, without Shift on some), its place on the keyboard decides.
    pub fn digit(&self) -> Option<usize> {
        let place = self.code.strip_prefix("Digit").unwrap_or_default();
        let digit = [self.key, place].map(|it| it.parse().ok().filter(|it| (1..=9).contains(it)));
        digit.into_iter().flatten().next()
    }
}

/// Returns the command that a key runs while this view is on the screen.
pub(crate) fn command_pressed(press: Press, view: &View) -> Option<&'static Command> {
    let find = |is_exact| {
        commands_of(view).find(|it| {
            it.keys
                .iter()
                .any(|chord| fits_press(chord, press, is_exact))
        })
    };
    // Shift with a letter counts only if a chord names it, in any view: what a key means elsewhere
    // never runs another command here.
    find(true).or_else(|| if is_named(press) { None } else { find(false) })
}

/// Whether a chord of any view names this key.
fn is_named(press: Press) -> bool {
    let views = VIEWS.iter().flat_map(|it| it.commands());
    let mut chords = COMMANDS.iter().chain(views).flat_map(|it| it.keys);
    chords.any(|chord| fits_press(chord, press, true))
}

fn fits_press(chord: &str, press: Press, is_exact: bool) -> bool {
    let (is_mod, chord) = strip_modifier(chord, "Mod+");
    let (shift, key) = strip_modifier(chord, "Shift+");
    if is_mod != press.is_mod {
        return false;
    }
    match (key, press.key) {
        ("1-9", _) => press.digit().is_some() && shift == press.shift,
        ("Space", " ") => shift == press.shift,
        // Most keyboards need Shift for this sign; the chord works without.
        ("Plus", "+" | "=") => true,
        // Caps Lock does not change which letter a key is; some keyboards need Shift for a sign.
        (key, pressed) if key.len() == 1 => {
            let is_letter = key.starts_with(|it: char| it.is_ascii_alphabetic());
            let may_differ = !(shift || is_exact && is_letter);
            key.eq_ignore_ascii_case(pressed) && (shift == press.shift || may_differ)
        }
        (key, pressed) => key == pressed && shift == press.shift,
    }
}

fn strip_modifier<'a>(chord: &'a str, prefix: &str) -> (bool, &'a str) {
    match chord.strip_prefix(prefix) {
        Some(rest) => (true, rest),
        None => (false, chord),
    }
}

/// Returns the keycaps of a chord.
pub fn keycaps_of(chord: &str, is_mac: bool) -> Vec<String> {
    let word = |part: &str| match part {
        "Mod" if is_mac => "⌘".to_owned(),
        "Mod" => "Ctrl".to_owned(),
        "Shift" => "⇧".to_owned(),
        "ArrowDown" => "↓".to_owned(),
        "ArrowUp" => "↑".to_owned(),
        "ArrowLeft" => "←".to_owned(),
        "ArrowRight" => "→".to_owned(),
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
