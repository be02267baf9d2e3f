//! What a person chose for the window; kept in the home's `window.toml`.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// Everything that can be chosen; what a file leaves out is as the system has it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Colors.
    pub theme: Theme,
    /// How much room a row takes.
    pub density: Density,
    /// Whether things move.
    pub motion: Motion,
    /// The zoom of the window.
    pub zoom: Zoom,
    /// Width of the list, in CSS pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_width: Option<u32>,
    /// The person's editor as a command line, with `{file}` and `{line}` where it has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub editor: Option<String>,
    /// Whether the desktop shows a notification of each request that begins to wait.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub notify: bool,
    /// By project: how far the person has seen the list.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub looked: BTreeMap<String, Looked>,
}

/// How far in the journal a person has seen.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looked {
    /// The newest entry that was there.
    pub seq: u64,
    /// When they looked.
    pub at: Timestamp,
}

/// Colors of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    /// As the system has it.
    #[default]
    System,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
    /// The most that light and dark allow.
    Contrast,
}

/// How much room things take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Density {
    /// Two lines of a claim.
    #[default]
    Normal,
    /// One line of a claim.
    Compact,
}

/// Whether things move.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Motion {
    /// As the system has it.
    #[default]
    System,
    /// Nothing moves.
    Reduced,
}

/// The window's zoom in percent: always one of [`Zoom::STEPS`], whatever a file says.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "f64", into = "u16")]
pub struct Zoom(u16);

impl Zoom {
    /// The choices, from small to large.
    pub const STEPS: [u16; 8] = [80, 90, 100, 110, 125, 150, 175, 200];

    /// In percent.
    pub fn percent(self) -> u16 {
        self.0
    }

    /// As a factor.
    pub fn factor(self) -> f64 {
        f64::from(self.0) / 100.0
    }

    /// The next larger one; itself at the end.
    pub fn larger(self) -> Self {
        let next = Self::STEPS.into_iter().find(|it| *it > self.0);
        next.map_or(self, Self)
    }

    /// The next smaller one; itself at the end.
    pub fn smaller(self) -> Self {
        let next = Self::STEPS.into_iter().rev().find(|it| *it < self.0);
        next.map_or(self, Self)
    }
}

impl Default for Zoom {
    fn default() -> Self {
        Self(100)
    }
}

impl From<f64> for Zoom {
    fn from(percent: f64) -> Self {
        let far = |step: &u16| (f64::from(*step) - percent.clamp(0.0, 1000.0)).abs();
        let nearest = Self::STEPS
            .into_iter()
            .min_by(|a, b| far(a).total_cmp(&far(b)));
        match nearest {
            Some(step) if !percent.is_nan() => Self(step),
            _ => Self::default(),
        }
    }
}

impl From<Zoom> for u16 {
    fn from(zoom: Zoom) -> Self {
        zoom.0
    }
}

/// An editor of this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditorFound {
    /// For people.
    pub name: String,
    /// Its program: what [`Settings::editor`] takes.
    pub program: String,
}

/// What surrounds the window on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Surroundings {
    /// Editors that are installed.
    pub editors: Vec<EditorFound>,
    /// The editor that opens files as things stand.
    pub editor: Option<String>,
    /// The variable of the environment that overrules the settings.
    pub overruled_by: Option<String>,
    /// The log of the window.
    pub log: String,
    /// Whether the system opens `engram://` links with the window; absent if it cannot be asked to.
    #[serde(default)]
    pub has_links: Option<bool>,
    /// Whether the window can show the system's folder dialog.
    #[serde(default)]
    pub picks_folders: bool,
    /// Whether the desktop can be asked to show notifications.
    #[serde(default)]
    pub notifies: bool,
}

/// A repository that was opened before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Recent {
    /// For people.
    pub name: String,
    /// Its working tree, or its git folder.
    pub path: String,
    /// It is the one in front.
    #[serde(default)]
    pub is_front: bool,
    /// Engrams that came while it was open behind another.
    #[serde(default)]
    pub unseen: u64,
    /// Current engrams, and how many of them are to review; absent if that is unknown.
    #[serde(default)]
    pub holding: Option<(u64, u64)>,
}

/// The repositories that are open in a window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenedReply {
    /// Changes with each change among them.
    pub news: u64,
    /// In the order in which they were opened.
    pub repositories: Vec<Recent>,
}

/// What the window sends to its page unasked.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Handed {
    /// A link of another program.
    Link(String),
    /// The path of a repository to bring to the front.
    Repository(String),
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_zoom_is_one_of_its_steps_whatever_a_file_says() {
        for (said, want) in [
            ("100", 100),
            ("80", 80),
            ("119.9", 125),
            ("0", 80),
            ("-1", 80),
            ("1e300", 200),
            ("18446744073709551615", 200),
        ] {
            let text = format!("{{\"zoom\": {said}}}");
            let read: Settings = serde_json::from_str(&text).unwrap();
            assert_eq!(read.zoom.percent(), want, "{said}");
            let kept = serde_json::to_value(&read).unwrap();
            assert_eq!(kept["zoom"], want, "{said}");
        }
        assert_eq!(Zoom::from(f64::NAN), Zoom::default());
        assert_eq!(Settings::default().zoom.factor(), 1.0);
        let (mut up, mut down) = (Zoom::from(80.0), Zoom::from(200.0));
        for step in Zoom::STEPS {
            assert_eq!(up.percent(), step);
            up = up.larger();
        }
        assert_eq!(up, down);
        for step in Zoom::STEPS.into_iter().rev() {
            assert_eq!(down.percent(), step);
            down = down.smaller();
        }
        assert_eq!(down, Zoom::from(80.0));
    }
}
