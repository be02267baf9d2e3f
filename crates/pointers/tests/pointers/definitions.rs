//! `test:` pointers: the source that defines a name, in many languages.

use engram_model::Code;

use crate::{
    definition_sources::{RUST, TABLE},
    fixture::Fixture,
};

#[test]
fn a_test_is_found_by_its_definition() {
    let texts: Vec<(&str, String)> = TABLE.iter().map(|(s, _)| (s.path, s.plain())).collect();
    let files: Vec<(&str, &[u8])> = texts.iter().map(|(p, t)| (*p, t.as_bytes())).collect();
    let fixture = Fixture::with(&files);
    let mut wrong = Vec::new();
    for (source, cases) in TABLE {
        for (name, marker) in *cases {
            let pointer = format!("test:{}::{}@HEAD", source.path, name.replace('#', "%23"));
            let found = fixture.resolve(&pointer).map(|r| r.text());
            let expected = source.marked(marker);
            if found.as_deref() != Ok(&expected) {
                wrong.push(format!(
                    "{pointer}\n--- wanted\n{expected}--- found\n{found:?}"
                ));
            }
        }
    }
    assert!(
        wrong.is_empty(),
        "{} wrong:\n{}",
        wrong.len(),
        wrong.join("\n\n")
    );
}

#[test]
fn what_has_no_definition_is_found_where_it_is_first_named() {
    let fixture = Fixture::with(&[
        ("tests/ledger.rs", RUST.plain().as_bytes()),
        (
            "cases.yaml",
            b"a: 1\nprereserve: 2\nreserve once: 3\nreserve: 4\n",
        ),
        ("Makefile", b"test:\n\tcheck-all\n"),
        ("broken.py", b"def test_x(:\n  '''\nunclosed\n"),
        ("broken.rs", b"fn test_x() { \"\n{{{{\n"),
        ("broken.js", b"it('test_x', `(\n"),
        (
            "letters.js",
            "const test_x = () => \u{e9}\nlet y\n".as_bytes(),
        ),
    ]);
    for (pointer, text) in [
        (
            "test:tests/ledger.rs::made_by_macro@HEAD",
            "macros::case! { made_by_macro, 1 }\n",
        ),
        ("test:cases.yaml::reserve once@HEAD", "reserve once: 3\n"),
        ("test:cases.yaml::reserve@HEAD", "reserve once: 3\n"),
        ("test:cases.yaml::suite::reserve@HEAD", "reserve once: 3\n"),
        ("test:Makefile::check-all@HEAD", "\tcheck-all\n"),
        ("test:broken.rs::test_x@HEAD", "fn test_x() { \"\n"),
        ("test:broken.js::test_x@HEAD", "it('test_x', `(\n"),
        (
            "test:letters.js::test_x@HEAD",
            "const test_x = () => \u{e9}\n",
        ),
    ] {
        assert_eq!(fixture.text(pointer), text, "{pointer}");
    }
    assert!(
        fixture
            .text("test:broken.py::test_x@HEAD")
            .starts_with("def test_x(:\n")
    );
    for pointer in [
        "test:cases.yaml::nowhere@HEAD",
        "test:cases.yaml::eserve@HEAD",
        "test:tests/ledger.rs::(.*)@HEAD",
    ] {
        fixture.refused(pointer, Code::PointerNotFound, "does not define");
    }
}

/// Any text and any name give a result or a refusal, never a panic.
#[test]
fn any_source_is_answered() {
    use proptest::prelude::*;
    let pieces = "(fn |def |class |it\\('|test |func |\\{|\\}|\\(|\\)|\\[|\\]|'|\"|`|/\\*|\\*/|//|#|@|;|x|\n|  |é|r#|\\\\|end|do|=)";
    let strategy = (
        prop::collection::vec(pieces, 0..60),
        prop::sample::select(vec![
            "rs", "py", "ts", "go", "java", "kt", "cs", "cc", "rb", "bats",
        ]),
        prop::sample::select(vec!["x", "fn x", "é", "'", "x::x", "x[x]", "#", "x > x"]),
    );
    proptest!(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() }, |((text, extension, name) in strategy)| {
        let mut shelf = crate::fixture::Stored::default();
        let hex = shelf.keep(text.concat().as_bytes());
        let pointer = engram_model::Pointer {
            target: engram_model::Target::Test {
                path: format!("f.{extension}"),
                name: name.to_owned(),
                pin: engram_model::Pin::Digest(hex),
            },
            digest: None,
        };
        if let Ok(resolved) = engram_pointers::resolve(None, &shelf, &pointer) {
            let lines = resolved.lines.unwrap();
            prop_assert!(lines.start <= lines.end);
        }
    });
}
