//! The person's settings, in the home's `window.toml`; anything else in that file is kept.

use std::{io::ErrorKind, path::Path};

use engram_model::{Code, Refusal, Settings};

/// The file in the home.
const FILE: &str = "window.toml";
/// The keys of the settings in that file, those that are left out while unset too.
const KEYS: &[&str] = &[
    "density",
    "editor",
    "list_width",
    "looked",
    "motion",
    "notify",
    "theme",
    "zoom",
];
/// The largest file of the window that is read, in bytes.
pub(crate) const MAX_FILE: u64 = 1 << 20;

/// Returns the settings. A file that cannot be read counts as empty, with a warning in the log.
pub(crate) fn read(home: &Path) -> Settings {
    let path = home.join(FILE);
    let Ok(text) = engram_engine::read_file(&path, MAX_FILE) else {
        return Settings::default();
    };
    toml::from_str(&text).unwrap_or_else(|error| {
        tracing::warn!(%error, path = %path.display(), "cannot read the settings");
        Settings::default()
    })
}

/// Stores the settings.
pub(crate) fn keep(home: &Path, settings: &Settings) -> Result<(), Refusal> {
    let path = home.join(FILE);
    let refuse = |error: &dyn std::fmt::Display| {
        Refusal::new(
            Code::Internal,
            format!("cannot save the settings: {error}"),
            format!(
                "Check {}; the choice lasts until you close the window.",
                path.display()
            ),
        )
    };
    let text = match engram_engine::read_file(&path, MAX_FILE) {
        Err(error) if error.kind() == ErrorKind::NotFound => String::new(),
        read => read.map_err(|error| refuse(&error))?,
    };
    // A file that is not TOML is not overwritten: the person must fix it.
    let mut table: toml::Table = text
        .parse()
        .map_err(|error: toml::de::Error| refuse(&error))?;
    let chosen = toml::Table::try_from(settings).map_err(|error| refuse(&error))?;
    for key in KEYS {
        table.remove(*key);
    }
    table.extend(chosen);
    engram_engine::write_known_home_file(home, FILE, &table.to_string())
        .map_err(|error| refuse(&error))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::fs;

    use engram_model::{Density, Looked, Motion, Theme};

    use super::*;

    fn looked() -> Looked {
        Looked {
            seq: 7,
            at: "2026-01-08T14:02:00Z".parse().unwrap(),
        }
    }

    #[test]
    fn what_is_chosen_is_kept_beside_what_else_is_there() {
        let home = tempfile::tempdir().unwrap();
        let file = home.path().join(FILE);
        let chosen = Settings {
            theme: Theme::Contrast,
            density: Density::Compact,
            zoom: 150.0.into(),
            list_width: Some(500),
            editor: Some("x \"a b\" {file}".to_owned()),
            looked: [("a".to_owned(), looked())].into(),
            ..Settings::default()
        };
        assert_eq!(read(home.path()), Settings::default());
        for (before, want) in [
            ("", Some(&chosen)),
            ("mine = 1\ntheme = \"dark\"\n", Some(&chosen)),
            ("theme = \"purple\"\n", Some(&chosen)),
            ("not toml", None),
        ] {
            fs::write(&file, before).unwrap();
            let kept = keep(home.path(), &chosen);
            assert_eq!(kept.is_ok(), want.is_some(), "{before:?}");
            match want {
                Some(want) => assert_eq!(&read(home.path()), want),
                None => assert_eq!(fs::read_to_string(&file).unwrap(), before),
            }
        }
        for (said, want) in [("nan", 100), ("inf", 200), ("-9", 80), ("1.2e2", 125)] {
            fs::write(&file, format!("theme = \"dark\"\nzoom = {said}\n")).unwrap();
            let read = read(home.path());
            assert_eq!((read.theme, read.zoom.percent()), (Theme::Dark, want));
        }
        fs::write(&file, "mine = 1\ntheme = \"dark\"\neditor = \"vi\"\n").unwrap();
        keep(home.path(), &Settings::default()).unwrap();
        let table: toml::Table = fs::read_to_string(&file).unwrap().parse().unwrap();
        assert!(
            table.contains_key("mine") && !table.contains_key("editor"),
            "{table}"
        );
    }

    /// A key that is missing could never be unset again.
    #[test]
    fn every_setting_has_its_key() {
        let all = Settings {
            theme: Theme::Dark,
            density: Density::Compact,
            motion: Motion::default(),
            zoom: 150.0.into(),
            list_width: Some(500),
            editor: Some("vi".to_owned()),
            notify: true,
            looked: [("a".to_owned(), looked())].into(),
        };
        let table = toml::Table::try_from(&all).unwrap();
        assert_eq!(table.keys().collect::<Vec<_>>(), KEYS);
    }

    #[test]
    fn a_home_that_was_moved_away_is_not_made_anew() {
        let place = tempfile::tempdir().unwrap();
        let gone = place.path().join("home");
        assert!(keep(&gone, &Settings::default()).is_err());
        assert!(!gone.exists());
    }

    #[test]
    fn nothing_is_made_in_a_home_that_is_refused() {
        use crate::single_instance::{StartOutcome, StartRequest, start};
        let home = tempfile::tempdir().unwrap();
        fs::write(home.path().join("engram.db"), "another program's").unwrap();
        assert!(keep(home.path(), &Settings::default()).is_err());
        assert!(matches!(
            start(home.path(), &StartRequest::default()),
            StartOutcome::First(None)
        ));
        crate::recent::keep_opened(home.path(), &[home.path().to_owned()]);
        assert_eq!(fs::read_dir(home.path()).unwrap().count(), 1);
    }
}
