//! The shape of the sources in figures: the size of types, functions, files, folders and crates,
//! and names with more than one meaning.
//!
//! `ceilings.rs` limits the figures; `cargo run -p xtask --example shape [CHECKOUT [FIGURE]]`
//! prints them. They come from the syntax alone. Code that a macro generates is not counted; the
//! code inside its brackets is, if it parses as expressions, statements or closures.

mod found;
mod macros;
pub mod sources;

use std::{
    collections::{BTreeMap, BTreeSet},
    path::Path,
};

use self::{
    found::{Definition, Found},
    sources::{Crate, File},
};

/// A figure: its name, and the places that it counts, mostly as `path:line: what`.
pub struct Figure {
    pub name: &'static str,
    pub places: Vec<String>,
}

/// The size of one crate.
#[derive(Default)]
pub struct Size {
    pub name: String,
    /// Whether it ships as part of the product; `crates/kit` and the developer's commands do not.
    pub is_product: bool,
    /// Lines of code outside tests: each line with a token that is not a comment, in sources
    /// formatted by `rustfmt`. Data is in separate files and not counted.
    pub lines: usize,
    /// Lines of code in tests.
    pub test_lines: usize,
    /// Functions with an attribute such as `#[test]` or `#[tokio::test]`.
    pub tests: usize,
    /// Calls in tests of macros whose names start with `assert` or `prop_assert`.
    pub assertions: usize,
}

pub struct Shape {
    pub figures: Vec<Figure>,
    pub sizes: Vec<Size>,
}

/// Measures a checkout.
pub fn measure(root: &Path) -> Shape {
    let (crates, files) = sources::read(root);
    let mut sizes: Vec<Size> = crates.iter().map(size).collect();
    let mut found = Found::default();
    for file in &files {
        add(&mut sizes[file.of], file);
        found.read(file);
    }
    let figures = vec![
        methods(
            "methods of the engine's Context",
            &crates,
            &found,
            "engram-engine",
            "Context",
        ),
        methods(
            "methods of the front end's App",
            &crates,
            &found,
            "engram-ui",
            "App",
        ),
        large_types(&crates, &found),
        shared_names("names of several types", &crates, &found, |_| true),
        shared_names(
            "names of several types, not all private",
            &crates,
            &found,
            |all| all.iter().any(|it| !it.is_private),
        ),
        figure("bindings called it", found.its),
        figure("matches on a bool", found.bools),
        figure("functions over 80 lines", found.long),
        long_files("files over 600 lines", &files, |it| !it.is_test),
        long_files("files over 600 lines, tests too", &files, |_| true),
        full_folders(&files),
    ];
    Shape { figures, sizes }
}

fn figure(name: &'static str, places: Vec<String>) -> Figure {
    Figure { name, places }
}

fn size(of: &Crate) -> Size {
    Size {
        name: of.name.clone(),
        is_product: of.is_product,
        ..Size::default()
    }
}

fn add(size: &mut Size, file: &File) {
    let code = &file.tokens.code;
    let tests = code.iter().filter(|it| file.is_test(**it)).count();
    size.lines += code.len() - tests;
    size.test_lines += tests;
    size.tests += file.tokens.tests;
    let assertions = file.tokens.assertions.iter();
    size.assertions += assertions.filter(|it| file.is_test(**it)).count();
}

/// Counts the methods of one type outside tests: functions in its `impl` blocks, including those of
/// traits.
fn methods(name: &'static str, crates: &[Crate], found: &Found, of: &str, owner: &str) -> Figure {
    let methods = found.methods.iter();
    let methods = methods.filter(|it| crates[it.of].name == of && it.owner == owner);
    figure(name, methods.map(|it| it.place.clone()).collect())
}

/// Counts types and traits with over 100 methods. Types of one crate that share a name count as
/// one.
fn large_types(crates: &[Crate], found: &Found) -> Figure {
    let mut counts = BTreeMap::<(usize, &str), usize>::new();
    for method in &found.methods {
        *counts.entry((method.of, &method.owner)).or_default() += 1;
    }
    let large = counts.into_iter().filter(|it| it.1 > 100);
    let large =
        large.map(|((of, owner), count)| format!("{}: {owner} has {count}", crates[of].name));
    figure("types and traits with over 100 methods", large.collect())
}

/// Counts names that two types, traits or aliases have within one crate, or in a crate and one that
/// it depends on, directly or not. Only names whose definitions `counts` accepts are included.
/// Private definitions may count; tests and associated types do not.
fn shared_names(
    name: &'static str,
    crates: &[Crate],
    found: &Found,
    counts: impl Fn(&[&Definition]) -> bool,
) -> Figure {
    let mut named = BTreeMap::<&str, Vec<&Definition>>::new();
    for definition in &found.definitions {
        named.entry(&definition.name).or_default().push(definition);
    }
    let meet = |one: usize, other: usize| {
        let (one, other) = (&crates[one], &crates[other]);
        one.name == other.name || one.below.contains(&other.name) || other.below.contains(&one.name)
    };
    let mut shared = Vec::new();
    for (name, all) in named {
        let mut meeting = Vec::new();
        for (at, one) in all.iter().enumerate() {
            let mut others = all.iter().enumerate().filter(|it| it.0 != at);
            if others.any(|other| meet(one.of, other.1.of)) {
                meeting.push(*one);
            }
        }
        if !meeting.is_empty() && counts(&meeting) {
            let places: Vec<&str> = meeting.iter().map(|it| it.place.as_str()).collect();
            shared.push(format!("{name}: {}", places.join(", ")));
        }
    }
    figure(name, shared)
}

fn long_files(name: &'static str, files: &[File], counts: impl Fn(&File) -> bool) -> Figure {
    let long = files.iter().filter(|it| it.lines > 600 && counts(it));
    figure(
        name,
        long.map(|it| format!("{}: {} lines", it.path, it.lines))
            .collect(),
    )
}

/// Counts folders with over 20 source files directly inside, not counting tests.
fn full_folders(files: &[File]) -> Figure {
    let mut counts = BTreeMap::<&str, BTreeSet<&str>>::new();
    for file in files.iter().filter(|it| !it.is_test) {
        let (folder, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
        counts.entry(folder).or_default().insert(name);
    }
    let full = counts.into_iter().filter(|it| it.1.len() > 20);
    figure(
        "folders with over 20 files",
        full.map(|(folder, files)| format!("{folder}: {} files", files.len()))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the counts of a file that is a crate by itself.
    fn found(text: &str) -> Found {
        let mut found = Found::default();
        found.read(&sources::parse_source(
            &[Crate::default()],
            "a.rs".into(),
            text,
        ));
        found
    }

    #[test]
    fn a_binding_is_called_it_only_in_a_closure_of_one_expression() {
        for (text, count) in [
            ("fn f() { a.map(|it| it.b) }", 0),
            ("fn f() { a.map(|it| { it.b }) }", 0),
            ("fn f() { a.map(|it| match it { 1 => 2, _ => { 3 } }) }", 0),
            ("fn f() { a.map(|it| { b(it); c }) }", 1),
            ("fn f() { a.map(|it| if it { b(); c } else { d }) }", 1),
            ("fn f() { assert!(a.all(|it| { b(it); c })) }", 1),
            (
                "fn f() { view! { <p on:click=move |it| { b(it); c }>x</p> } }",
                1,
            ),
            ("fn f(it: u8) {}", 1),
            ("fn f() { let it = 1; }", 1),
            ("fn f() { if let Some(it) = a {} }", 1),
            ("fn f() { for it in a {} }", 1),
            ("fn f() { match a { S { it } => 1 } }", 1),
            ("fn f() { matches!(a, Some(it) if it.b) }", 1),
            ("trait T { fn f(it: u8); }", 1),
        ] {
            assert_eq!(found(text).its.len(), count, "{text}");
        }
    }

    #[test]
    fn a_match_on_a_bool_has_true_or_false_as_an_arm() {
        for (text, count) in [
            ("fn f() { match a { true => 1, false => 2 } }", 1),
            ("fn f() { match a { false if b => 1, _ => 2 } }", 1),
            ("fn f() { match (a, b) { (true, _) => 1, _ => 2 } }", 0),
            ("fn f() { match a { Some(true) => 1, _ => 2 } }", 0),
        ] {
            assert_eq!(found(text).bools.len(), count, "{text}");
        }
    }

    #[test]
    fn a_line_of_code_has_a_token_outside_comments() {
        let text = "//! doc\n\n/// doc\nfn f() {\n    // why\n    g(\"\n\");\n}\n#[cfg(test)]\nmod tests {\n    #[test]\n    fn t() { assert!(a) }\n}\n";
        let file = sources::parse_source(&[Crate::default()], "a.rs".into(), text);
        let mut size = Size::default();
        add(&mut size, &file);
        let counted = (size.lines, size.test_lines, size.tests, size.assertions);
        assert_eq!(counted, (4, 5, 1, 1));
    }

    #[test]
    fn a_type_for_each_platform_is_one_type() {
        let text = "#[cfg(unix)] struct A; #[cfg(not(unix))] struct A; mod m { struct A; } words!(B { C });";
        let names: Vec<_> = found(text)
            .definitions
            .into_iter()
            .map(|it| it.name)
            .collect();
        assert_eq!(names, ["A", "A", "B"]);
    }
}
