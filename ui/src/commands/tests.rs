//! The table of commands: keys, groups, and the guide that is made from it.
#![allow(clippy::unwrap_used)]
use std::{
    collections::{BTreeMap, BTreeSet},
    env, fs,
    path::Path,
};

use super::*;

fn view(id: &str) -> &'static View {
    View::with_id(id)
}

#[test]
fn shortcuts_are_found_by_what_they_do_their_key_or_their_group() {
    let found = |query: &str| -> Vec<&str> {
        let groups = shortcuts_like(query, false).into_iter();
        groups.flat_map(|(_, all)| all).map(|it| it.id).collect()
    };
    let all = found("");
    assert!(all.contains(&"forget") && !all.contains(&"connect"));
    assert_eq!(found("redact"), ["redact"]);
    assert_eq!(found("ctrl k"), ["palette"]);
    assert!(found("Y").contains(&"true"));
    assert!(found("brief").contains(&"pin"), "{:?}", found("brief"));
    // What only has the letters comes after what has the word.
    assert_eq!(found("pin").first(), Some(&"pin"), "{:?}", found("pin"));
    assert_eq!(found("zebra"), [""; 0]);
}

#[test]
fn a_key_stands_for_one_command() {
    for (key, is_mod, shift, want) in [
        ("k", true, false, Some("palette")),
        ("K", true, false, Some("palette")),
        ("k", false, false, Some("previous")),
        ("J", false, false, Some("next")),
        ("J", false, true, Some("choose-next")),
        ("j", false, true, Some("choose-next")),
        ("ArrowUp", false, true, Some("choose-previous")),
        ("c", false, false, Some("copy")),
        ("C", false, true, Some("copy-claim")),
        ("a", true, false, Some("choose-all")),
        ("A", false, true, None),
        ("q", false, false, Some("unsure")),
        ("Q", false, true, Some("unsure")),
        (".", false, false, Some("menu")),
        ("?", false, true, Some("sheet")),
        ("Delete", false, false, Some("forget")),
        ("Delete", false, true, Some("redact")),
        ("7", false, false, Some("view")),
        ("7", false, true, Some("source")),
        ("/", false, true, Some("search")),
        ("0", false, false, None),
        ("10", false, false, None),
        (" ", false, false, Some("expand")),
        ("=", true, false, Some("zoom-in")),
        ("+", true, true, Some("zoom-in")),
        ("+", false, true, None),
        ("-", true, false, Some("zoom-out")),
        ("0", true, false, Some("zoom-reset")),
        ("j", true, false, None),
        ("2", true, false, Some("repository")),
        ("9", true, false, Some("repository")),
        ("", false, false, None),
        ("É", false, false, None),
    ] {
        let press = Press {
            key,
            is_mod,
            shift,
            ..Press::default()
        };
        let found = command_pressed(press, view("feed"));
        assert_eq!(found.map(|it| it.id), want, "{press:?}");
    }
    // A digit is also recognized by its place, but what a key types comes first.
    for (key, code, shift, want) in [
        ("\"", "Digit2", true, Some("source")),
        ("é", "Digit2", false, Some("view")),
        ("/", "Digit7", true, Some("search")),
        ("=", "Digit0", true, None),
    ] {
        let press = Press {
            key,
            code,
            shift,
            ..Press::default()
        };
        let found = command_pressed(press, view("feed"));
        assert_eq!(found.map(|it| it.id), want, "{press:?}");
    }
}

#[test]
fn a_key_acts_on_what_is_listed() {
    for (key, shift, engrams, conflicts, others) in [
        ("a", false, None, Some("first-holds"), None),
        ("A", true, None, Some("first-claim"), None),
        ("b", false, None, Some("second-holds"), None),
        ("D", true, Some("blame"), None, None),
        ("n", false, Some("new"), None, None),
        ("N", true, None, Some("newer-holds"), None),
        ("m", false, None, Some("merge"), None),
        (".", false, Some("menu"), None, None),
        ("q", false, Some("unsure"), None, None),
        ("x", false, Some("false"), Some("dismiss"), None),
        ("r", false, Some("correct"), None, None),
        ("R", true, Some("suggest"), None, None),
        ("W", true, None, Some("reason"), None),
        ("o", false, Some("open"), Some("open"), None),
        ("J", true, Some("choose-next"), Some("choose-next"), None),
        ("f", false, Some("filter"), Some("filter"), Some("filter")),
        ("/", false, Some("search"), None, None),
        ("i", false, None, Some("allow"), None),
        ("Delete", false, Some("forget"), None, None),
        ("p", false, Some("pin"), None, None),
        ("z", false, Some("undo"), Some("undo"), Some("undo")),
        ("3", false, Some("view"), Some("view"), Some("view")),
    ] {
        let press = Press {
            key,
            shift,
            ..Press::default()
        };
        let wanted = [
            (view("feed"), engrams),
            (view("conflicts"), conflicts),
            (view("agents"), others),
        ];
        for (lists, want) in wanted {
            let found = command_pressed(press, lists).map(|it| it.id);
            assert_eq!(found, want, "{key} among {}", lists.id);
        }
    }
}

#[test]
fn names_and_chords_are_given_once() {
    let mut ids = BTreeSet::new();
    for command in groups().into_iter().flat_map(|(_, all)| all) {
        assert!(ids.insert(command.id), "{}", command.id);
        for chord in command.keys {
            assert!(keycaps_of(chord, false).iter().all(|it| !it.is_empty()));
        }
    }
    for command in COMMANDS {
        assert_eq!(command_of(command.act().unwrap()).unwrap().id, command.id);
    }
    for view in VIEWS {
        let mut chords = BTreeSet::new();
        for command in commands_of(view) {
            let once = command.keys.iter().all(|chord| chords.insert(*chord));
            assert!(once, "{} among {}", command.id, view.id);
        }
    }
    let all: Vec<Act> = MENU.concat();
    for (index, &act) in all.iter().enumerate() {
        let command = command_of(act).unwrap();
        assert!(matches!(command.holds, Holds::Engram | Holds::Drifted));
        assert!(
            !all[..index].contains(&act),
            "{} is twice in the menu",
            command.id
        );
    }
    let own: usize = VIEWS.iter().map(|view| view.commands().len()).sum();
    assert_eq!(
        ids.len(),
        COMMANDS.len() + own,
        "each command is in one group"
    );
}

#[test]
fn a_key_acts_on_the_request_or_the_line_that_is_open() {
    for (key, shift, requests, brief) in [
        ("y", false, Some("grant"), None),
        ("x", false, Some("deny"), None),
        ("u", false, Some("revoke"), None),
        ("E", true, Some("cap"), Some("edit-line")),
        ("W", true, Some("why"), None),
        ("p", false, None, Some("pin")),
        ("P", true, None, Some("line")),
        ("f", false, None, Some("filter")),
        ("d", false, Some("changes"), Some("changes")),
        ("D", true, Some("blame"), Some("blame")),
        ("l", false, Some("link"), None),
        ("j", false, Some("next"), Some("next")),
        ("a", false, None, None),
        ("g", false, None, None),
        ("n", false, None, None),
        ("v", false, None, None),
    ] {
        let press = Press {
            key,
            shift,
            ..Press::default()
        };
        let found = |lists| command_pressed(press, lists).map(|it| it.id);
        assert_eq!(found(view("requests")), requests, "{key}");
        assert_eq!(found(view("brief")), brief, "{key}");
    }
}

/// Two commands share a key only if they mean the same, which the first words of their titles show.
#[test]
fn a_key_means_one_thing_in_every_view() {
    let mut meanings: BTreeMap<&str, (&str, &str)> = BTreeMap::new();
    let mut shared = BTreeSet::new();
    for command in groups().into_iter().flat_map(|(_, all)| all) {
        let verb = command.title.split([' ', ',', ':']).next().unwrap();
        let meaning = match verb {
            "Confirm" | "Grant" => "Yes",
            "Forget" | "Dismiss" | "Deny" => "No",
            "Undo" | "Revoke" => "Take back",
            verb => verb,
        };
        // Enter opens what is current, whatever a view shows.
        for chord in command.keys.iter().filter(|it| **it != "Enter") {
            let Some((before, id)) = meanings.insert(chord, (meaning, command.id)) else {
                continue;
            };
            assert_eq!(before, meaning, "{chord}: {id} and {}", command.id);
            shared.insert((*chord, meaning));
        }
    }
    let wanted = [
        ("Shift+e", "Edit"),
        ("Shift+w", "Write"),
        ("u", "Take back"),
        ("x", "No"),
        ("y", "Yes"),
    ];
    assert_eq!(shared, BTreeSet::from(wanted));
}

#[test]
fn the_guide_lists_the_table() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/guide/keys.md");
    if env::var_os("ENGRAM_UPDATE_GUIDE").is_some() {
        fs::write(&file, guide()).unwrap();
    }
    let kept = fs::read_to_string(&file).unwrap();
    assert!(
        kept == guide(),
        "docs/guide/keys.md is out of date: run the tests of ui/ with ENGRAM_UPDATE_GUIDE=1"
    );
}
