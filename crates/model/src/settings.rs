//! A person's settings for the window, stored in the home's `window.toml`.

use std::collections::BTreeMap;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

/// All settings. A file may leave any out; the default follows the system.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct Settings {
    /// Colors.
    pub theme: Theme,
    /// How much room a row takes.
    pub density: Density,
    /// Whether the window animates.
    pub motion: Motion,
    /// The zoom of the window.
    pub zoom: Zoom,
    /// Width of the list, in CSS pixels.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub list_width: Option<u32>,
    /// The person's editor as a command line, with `{file}` and `{line}` where it has them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub editor: Option<String>,
    /// Whether the desktop shows a notification of each new request that waits.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub notify: bool,
    /// How far the person has seen the list, by project.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub looked: BTreeMap<String, Looked>,
}

/// How far a person has seen the journal.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Looked {
    /// The newest entry at that time.
    pub seq: u64,
    /// When they looked.
    pub at: Timestamp,
}

/// Colors of the window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Theme {
    /// The system's colors.
    #[default]
    System,
    /// Dark on light.
    Light,
    /// Light on dark.
    Dark,
    /// The highest contrast.
    Contrast,
}

/// How much room a row takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Density {
    /// Two lines for a claim.
    #[default]
    Normal,
    /// One line for a claim.
    Compact,
}

/// Whether the window animates.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Motion {
    /// As set in the system.
    #[default]
    System,
    /// No animation.
    Reduced,
}

/// The window's zoom in percent: always one of [`Zoom::STEPS`], even if the file has another value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "f64", into = "u16")]
pub struct Zoom(u16);

impl Zoom {
    /// The choices, from small to large.
    pub const STEPS: [u16; 8] = [80, 90, 100, 110, 125, 150, 175, 200];

    /// The zoom in percent.
    pub fn percent(self) -> u16 {
        self.0
    }

    /// The zoom as a factor.
    pub fn factor(self) -> f64 {
        f64::from(self.0) / 100.0
    }

    /// The next larger zoom, or the same at the end.
    pub fn larger(self) -> Self {
        let next = Self::STEPS.into_iter().find(|it| *it > self.0);
        next.map_or(self, Self)
    }

    /// The next smaller zoom, or the same at the end.
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

/// An editor that is installed on this machine.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EditorFound {
    /// Its name for people.
    pub name: String,
    /// Its program, for [`Settings::editor`].
    pub program: String,
}

/// The surroundings of the window on this machine.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Surroundings {
    /// Editors that are installed.
    pub editors: Vec<EditorFound>,
    /// The editor that opens files now.
    pub editor: Option<String>,
    /// The environment variable that overrides the settings.
    pub overruled_by: Option<String>,
    /// The path of the window's log.
    pub log: String,
    /// Whether the system opens `engram://` links with the window; absent if this cannot be set up.
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
    /// Its name for people.
    pub name: String,
    /// Its working tree, or its git folder.
    pub path: String,
    /// Whether it is in front.
    #[serde(default)]
    pub is_front: bool,
    /// How many engrams arrived while it was open behind another.
    #[serde(default)]
    pub unseen: u64,
    /// How many engrams hold, and how many of them need review; absent if unknown.
    #[serde(default)]
    pub holding: Option<(u64, u64)>,
    /// How many conflicts wait for a verdict.
    #[serde(default)]
    pub conflicts: u64,
    /// How many requests wait for an answer.
    #[serde(default)]
    pub requests: u64,
}

/// The repositories that are open in a window.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct OpenedReply {
    /// A number that changes with each change among them.
    pub news: u64,
    /// In the order in which they were opened.
    pub repositories: Vec<Recent>,
    /// How many conflicts and requests wait in repositories that are not open.
    #[serde(default)]
    pub others: u64,
}

/// What the window sends to its page without a request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Handed {
    /// A link from another program.
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
