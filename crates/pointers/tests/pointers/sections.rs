//! Sections of documents.

use engram_model::Code;

use crate::fixture::Fixture;

const DOCUMENT: &str = "\
---
title: Front matter
---
intro

# 1. First `code` part #

one

```sh
# Fenced
```

    # Indented

## Sub *section*
sub

> # Quoted
> text

- # Listed

### Deep
deep

## Sub Section Two!
two

Underlined
==========
under

Second underlined
over two lines
-----------------
second

# Repeat
a
# Repeat
b
# Rules & Règles {#named}
<!-- # Commented -->
last line";

#[test]
fn a_section_ends_where_the_next_of_its_level_begins() {
    let fixture = Fixture::with(&[
        ("docs/spec.md", DOCUMENT.as_bytes()),
        ("crlf.md", DOCUMENT.replace('\n', "\r\n").as_bytes()),
        (
            "utf16.md",
            &format!("\u{FEFF}{DOCUMENT}")
                .encode_utf16()
                .flat_map(u16::to_le_bytes)
                .collect::<Vec<_>>(),
        ),
        ("latin1.md", b"# Caf\xE9\none\n# B\ntwo\n"),
    ]);
    let line = |starts: &str| DOCUMENT.lines().position(|l| l == starts).unwrap() as u32 + 1;
    let cases = [
        ("1. First `code` part", "# 1. First `code` part #", "two"),
        ("first code part", "# 1. First `code` part #", "two"),
        ("# First code part", "# 1. First `code` part #", "two"),
        ("7. First code part", "# 1. First `code` part #", "two"),
        ("1-first-code-part", "# 1. First `code` part #", "two"),
        ("Sub section", "## Sub *section*", "deep"),
        ("## Sub *section* ##", "## Sub *section*", "deep"),
        ("sub-section-two", "## Sub Section Two!", "two"),
        ("Deep", "### Deep", "deep"),
        ("UNDERLINED", "Underlined", "second"),
        (
            "Second underlined over two lines",
            "Second underlined",
            "second",
        ),
        ("Repeat", "# Repeat", "a"),
        ("rules & règles", "# Rules & Règles {#named}", "last line"),
        ("named", "# Rules & Règles {#named}", "last line"),
        ("rules--règles", "# Rules & Règles {#named}", "last line"),
    ];
    for file in ["docs/spec.md", "crlf.md", "utf16.md"] {
        for (asked, first, last) in cases {
            let pointer = format!("artifact:{file}#sec={}@HEAD", asked.replace('#', "%23"));
            let resolved = fixture
                .resolve(&pointer)
                .unwrap_or_else(|e| panic!("{pointer}: {e}"));
            let lines = resolved.lines.unwrap();
            assert_eq!(lines.start, line(first), "{pointer}");
            let text = resolved.text();
            let end = text.trim_end().lines().last().unwrap();
            assert_eq!(end, last, "{pointer}: {text}");
        }
        let repeat = fixture.text(&format!("artifact:{file}#sec=repeat-1@HEAD"));
        assert_eq!(repeat.replace('\r', ""), "# Repeat\nb\n");
    }
    assert_eq!(fixture.text("artifact:latin1.md#sec=B@HEAD"), "# B\ntwo\n");
    assert!(
        fixture
            .text("artifact:docs/spec.md@HEAD")
            .starts_with("---\n")
    );
}

#[test]
fn what_is_no_heading_is_no_section() {
    let fixture = Fixture::with(&[
        ("spec.md", DOCUMENT.as_bytes()),
        ("plain.txt", b"no headings here\n"),
        ("empty.md", b""),
    ]);
    for asked in [
        "Fenced",
        "Indented",
        "Quoted",
        "Listed",
        "Commented",
        "title: Front matter",
        "Nowhere",
    ] {
        let pointer = format!("artifact:spec.md#sec={asked}@HEAD");
        fixture.refused(&pointer, Code::PointerNotFound, "First code part");
    }
    for pointer in [
        "artifact:plain.txt#sec=no@HEAD",
        "artifact:empty.md#sec=no@HEAD",
        "artifact:empty.md#sec=%23@HEAD",
    ] {
        fixture.refused(pointer, Code::PointerNotFound, "no headings");
    }
}
