//! Checks that the licence of every library is one that we accept.

use crate::workspace::{WORKSPACES, assert_none};

const ACCEPTED: &[&str] = &[
    "0BSD",
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "CDLA-Permissive-2.0",
    "ISC",
    "MIT",
    "MIT-0",
    // Applies by file: the library's own files stay open, and ours are unaffected.
    "MPL-2.0",
    "Unicode-3.0",
    "Unlicense",
    "Zlib",
];

#[test]
fn every_licence_is_accepted() {
    let packages = WORKSPACES.iter().flat_map(|it| &it.packages);
    let refused = packages.filter_map(|package| match package.license.as_deref() {
        Some(licence) if accepts(licence) => None,
        other => Some(format!(
            "{} {}: {}",
            package.name,
            package.version,
            other.unwrap_or("no licence")
        )),
    });
    assert_none("licences that nobody has reviewed", refused.collect());
}

/// Whether accepted licences satisfy an SPDX expression. `AND` binds tighter than `OR`; an old `/`
/// means `OR`.
fn accepts(expression: &str) -> bool {
    let spaced = expression
        .replace('(', " ( ")
        .replace(')', " ) ")
        .replace('/', " OR ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let (accepted, rest) = parse_or(&words);
    accepted && rest.is_empty()
}

fn parse_or<'a>(words: &'a [&'a str]) -> (bool, &'a [&'a str]) {
    let (mut accepted, mut rest) = parse_and(words);
    while let [word, more @ ..] = rest
        && *word == "OR"
    {
        let (next, after) = parse_and(more);
        accepted |= next;
        rest = after;
    }
    (accepted, rest)
}

fn parse_and<'a>(words: &'a [&'a str]) -> (bool, &'a [&'a str]) {
    let (mut accepted, mut rest) = parse_licence(words);
    while let [word, more @ ..] = rest
        && *word == "AND"
    {
        let (next, after) = parse_licence(more);
        accepted &= next;
        rest = after;
    }
    (accepted, rest)
}

fn parse_licence<'a>(words: &'a [&'a str]) -> (bool, &'a [&'a str]) {
    match words {
        ["(", inner @ ..] => match parse_or(inner) {
            (accepted, [")", rest @ ..]) => (accepted, rest),
            (_, rest) => (false, rest),
        },
        [name, "WITH", exception, rest @ ..] => (
            ACCEPTED.contains(&format!("{name} WITH {exception}").as_str()),
            rest,
        ),
        [name, rest @ ..] => (ACCEPTED.contains(name), rest),
        [] => (false, words),
    }
}

#[test]
fn expressions_are_understood() {
    for (expression, expected) in [
        ("MIT", true),
        ("GPL-3.0", false),
        ("MIT OR GPL-3.0", true),
        ("GPL-3.0/MIT", true),
        ("MIT AND GPL-3.0", false),
        ("GPL-3.0 OR MIT AND Unicode-3.0", true),
        ("(MIT OR GPL-3.0) AND Unicode-3.0", true),
        ("(MIT OR Apache-2.0) AND GPL-3.0", false),
        ("Apache-2.0 WITH LLVM-exception OR GPL-2.0", true),
        ("GPL-2.0 WITH Classpath-exception-2.0", false),
        ("MIT)", false),
        ("", false),
    ] {
        assert_eq!(accepts(expression), expected, "{expression:?}");
    }
}
