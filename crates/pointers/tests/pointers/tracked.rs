//! Follows spans over one change or several: every state, and the classes used by comparable tools.

use engram_model::PointerEdit;
use engram_pointers::track::{Anchor, RepoState, Span, SpanState, track};

use crate::fixture::Fixture;

pub(crate) fn span(path: &str, start: u32, end: u32) -> Span {
    Span {
        path: path.to_owned(),
        start,
        end,
    }
}

/// Follows one span, which must not be refused.
#[track_caller]
pub(crate) fn follow(fixture: &Fixture, from: &str, to: &str, asked: &Span) -> Anchor {
    let sides = (RepoState::Commit(from.into()), RepoState::Commit(to.into()));
    let spans = std::slice::from_ref(asked);
    let mut answers = track(&fixture.repo(), &sides.0, &sides.1, spans);
    answers.pop().unwrap().unwrap()
}

/// Makes a file of `count` functions of four lines, each followed by a blank line; function n
/// begins at line 5n - 4.
fn functions(count: usize) -> String {
    (1..=count)
        .map(|n| {
            format!(
                "def limit_of_service_{n}(request):\n    base = settings.base_{n}\n    retries = {}\n    return base * retries + request.weight_{n}\n\n",
                n * 7
            )
        })
        .collect()
}

fn expect(found: &Anchor, state: SpanState, place: Option<(&str, u32, u32)>, what: &str) {
    let place = place.map(|(path, start, end)| span(path, start, end));
    assert_eq!(
        (found.state, &found.place),
        (state, &place),
        "{what}: {found:?}"
    );
    assert!((0.0..=1.0).contains(&found.confidence), "{what}: {found:?}");
}

#[test]
fn one_change_has_one_state() {
    const TEXT: SpanState = SpanState::Edited(PointerEdit::Text);
    const SPACE: SpanState = SpanState::Edited(PointerEdit::Whitespace);
    let old = "alpha one\nbeta two\ngamma three\ndelta four\nepsilon five\nzeta six\n";
    // Lines 3 and 4 are followed.
    type Case = (&'static str, &'static str, SpanState, Option<(u32, u32)>);
    let cases: &[Case] = &[
        ("nothing", old, SpanState::Unchanged, Some((3, 4))),
        (
            "inserted above",
            "new\nalpha one\nbeta two\ngamma three\ndelta four\nepsilon five\nzeta six\n",
            SpanState::Moved,
            Some((4, 5)),
        ),
        (
            "inserted right before and after",
            "alpha one\nbeta two\nnew\ngamma three\ndelta four\nnew\nepsilon five\nzeta six\n",
            SpanState::Moved,
            Some((4, 5)),
        ),
        (
            "inserted inside",
            "alpha one\nbeta two\ngamma three\nnew\ndelta four\nepsilon five\nzeta six\n",
            TEXT,
            Some((3, 5)),
        ),
        (
            "first line deleted",
            "alpha one\nbeta two\ndelta four\nepsilon five\nzeta six\n",
            TEXT,
            Some((3, 3)),
        ),
        (
            "one word changed",
            "alpha one\nbeta two\ngamma 3\ndelta four\nepsilon five\nzeta six\n",
            TEXT,
            Some((3, 4)),
        ),
        (
            "reindented",
            "alpha one\nbeta two\n  gamma three\n\tdelta four\nepsilon five\nzeta six\n",
            SPACE,
            Some((3, 4)),
        ),
        (
            "joined",
            "alpha one\nbeta two\ngamma three delta four\nepsilon five\nzeta six\n",
            SPACE,
            Some((3, 3)),
        ),
        (
            "split",
            "alpha one\nbeta two\ngamma\nthree\ndelta\nfour\nepsilon five\nzeta six\n",
            SPACE,
            Some((3, 6)),
        ),
        (
            "other line endings",
            "alpha one\r\nbeta two\r\ngamma three\r\ndelta four\r\nepsilon five\r\nzeta six\r\n",
            SPACE,
            Some((3, 4)),
        ),
        (
            "deleted",
            "alpha one\nbeta two\nepsilon five\nzeta six\n",
            SpanState::Deleted,
            None,
        ),
        (
            "something else in its place",
            "alpha one\nbeta two\n#include <x>\nepsilon five\nzeta six\n",
            SpanState::Deleted,
            None,
        ),
        ("emptied", "", SpanState::Deleted, None),
        (
            "became a binary",
            "\0\0gamma three\ndelta four\n",
            SpanState::Deleted,
            None,
        ),
    ];
    for (what, new, state, lines) in cases {
        let fixture = Fixture::with(&[("f.txt", old.as_bytes()), ("other", b"x\n")]);
        fixture.write("f.txt", new.as_bytes());
        fixture.commit("second");
        let found = follow(&fixture, "HEAD~1", "HEAD", &span("f.txt", 3, 4));
        let place = lines.map(|(start, end)| ("f.txt", start, end));
        expect(&found, *state, place, what);
    }
}

#[test]
fn a_last_line_without_its_end_has_other_bytes() {
    let fixture = Fixture::with(&[("f", b"one two three\nfour five six")]);
    fixture.write("f", b"one two three\nfour five six\n");
    fixture.commit("second");
    let found = follow(&fixture, "HEAD~1", "HEAD", &span("f", 2, 2));
    expect(
        &found,
        SpanState::Edited(PointerEdit::Whitespace),
        Some(("f", 2, 2)),
        "newline",
    );
    let found = follow(&fixture, "HEAD~1", "HEAD", &span("f", 1, 1));
    expect(&found, SpanState::Unchanged, Some(("f", 1, 1)), "above it");
}

/// The method used for comparable tools: claims that each cite the four lines of one function.
#[test]
fn every_class_of_the_peers() {
    const CLAIMS: u32 = 20;
    type Made = fn(&Fixture, &str, u32);
    let kept: &[(&str, Made)] = &[
        ("unchanged", |fixture, _, _| {
            fixture.write("README", b"another file\n")
        }),
        ("edit elsewhere in the file", |fixture, text, n| {
            let other = n % CLAIMS + 1;
            let text = text.replace(&format!("settings.base_{other}\n"), "settings.fallback\n");
            fixture.write("src/app.py", text.as_bytes());
        }),
        ("20 lines inserted above", |fixture, text, _| {
            let above: String = (0..20).map(|n| format!("import module_{n}\n")).collect();
            fixture.write("src/app.py", (above + text).as_bytes());
        }),
        ("file renamed", |fixture, _, _| {
            fixture.git(&["mv", "src/app.py", "src/limits.py"]);
        }),
        ("renamed and shifted", |fixture, text, _| {
            fixture.git(&["mv", "src/app.py", "src/limits.py"]);
            fixture.write(
                "src/limits.py",
                format!("import os\nimport sys\n\n{text}").as_bytes(),
            );
        }),
        ("moved to another file", |fixture, text, n| {
            let function = function(text, n);
            fixture.write("src/app.py", text.replacen(&function, "", 1).as_bytes());
            fixture.write(
                "src/new.py",
                format!("import os\n\n\n{function}").as_bytes(),
            );
        }),
        ("whitespace only", |fixture, text, n| {
            let function = function(text, n);
            let wide = function.replace("    ", "        ");
            fixture.write("src/app.py", text.replacen(&function, &wide, 1).as_bytes());
        }),
    ];
    let broken: &[(&str, Made, SpanState)] = &[
        (
            "value changed",
            |fixture, text, n| {
                let text = text.replace(&format!("retries = {}\n", n * 7), "retries = 1000\n");
                fixture.write("src/app.py", text.as_bytes());
            },
            SpanState::Edited(PointerEdit::Text),
        ),
        (
            "span deleted",
            |fixture, text, n| {
                let text = text.replacen(&function(text, n), "", 1);
                fixture.write("src/app.py", text.as_bytes());
            },
            SpanState::Deleted,
        ),
        (
            "file deleted",
            |fixture, _, _| {
                fixture.git(&["rm", "-q", "src/app.py"]);
            },
            SpanState::Deleted,
        ),
    ];
    let text = functions(CLAIMS as usize);
    let (mut held, mut caught) = (0, 0);
    let after = |make: Made, n: u32| {
        let fixture = Fixture::with(&[
            ("src/app.py", text.as_bytes()),
            ("src/other.py", b"import os\nprint(os.name)\n"),
        ]);
        make(&fixture, &text, n);
        fixture.commit("second");
        let found = follow(
            &fixture,
            "HEAD~1",
            "HEAD",
            &span("src/app.py", 5 * n - 4, 5 * n - 1),
        );
        found.state
    };
    for n in 1..=CLAIMS {
        for (class, make) in kept {
            let state = after(*make, n);
            let holds = !matches!(
                state,
                SpanState::Deleted | SpanState::Edited(PointerEdit::Text)
            );
            assert!(holds, "{class}, claim {n}: {state:?}");
            held += 1;
        }
        for (class, make, expected) in broken {
            assert_eq!(after(*make, n), *expected, "{class}, claim {n}");
            caught += 1;
        }
    }
    assert_eq!((held, caught), (140, 60));
}

fn function(text: &str, n: u32) -> String {
    let lines = text.split_inclusive('\n');
    lines.skip(5 * n as usize - 5).take(5).collect()
}

#[test]
fn a_twin_is_not_taken_for_what_went_away() {
    let block =
        "fn reset(&mut self) {\n    self.count = 0;\n    self.total_of_everything = 0;\n}\n";
    let old = format!("struct A;\n{block}struct B;\n{block}struct C;\n");
    let fixture = Fixture::with(&[("f.rs", old.as_bytes())]);
    fixture.write(
        "f.rs",
        format!("struct A;\nstruct B;\n{block}struct C;\n").as_bytes(),
    );
    fixture.commit("the first is gone");
    let first = follow(&fixture, "HEAD~1", "HEAD", &span("f.rs", 2, 5));
    expect(&first, SpanState::Deleted, None, "the first twin");
    let second = follow(&fixture, "HEAD~1", "HEAD", &span("f.rs", 7, 10));
    expect(
        &second,
        SpanState::Moved,
        Some(("f.rs", 3, 6)),
        "the second twin",
    );
}

#[test]
fn many_small_steps_are_one_way() {
    let old = functions(6);
    let fixture = Fixture::with(&[("a.py", old.as_bytes())]);
    let from = fixture.commit("begin");
    // Function 3 changes completely, one line at a time, and the file is renamed on the way.
    let mut text = old.clone();
    for (at, (was, is)) in [
        (
            "def limit_of_service_3(request):",
            "def ceiling(request, tenant):",
        ),
        ("    base = settings.base_3", "    floor = tenant.minimum()"),
        ("    retries = 21", "    attempts = tenant.attempts()"),
        (
            "    return base * retries + request.weight_3",
            "    return max(floor, attempts)",
        ),
    ]
    .into_iter()
    .enumerate()
    {
        text = text.replacen(was, is, 1);
        let name = if at < 2 { "a.py" } else { "b.py" };
        fixture.write(name, text.as_bytes());
        if at == 2 {
            fixture.git(&["rm", "-q", "-f", "a.py"]);
        }
        fixture.commit("step");
    }
    let found = follow(&fixture, &from, "HEAD", &span("a.py", 11, 14));
    expect(
        &found,
        SpanState::Edited(PointerEdit::Text),
        Some(("b.py", 11, 14)),
        "step by step",
    );
    let back = follow(&fixture, "HEAD", &from, &span("b.py", 11, 14));
    expect(
        &back,
        SpanState::Edited(PointerEdit::Text),
        Some(("a.py", 11, 14)),
        "and back",
    );
}

#[test]
fn histories_that_are_not_one_line() {
    let text = functions(8);
    let fixture = Fixture::with(&[("a.py", text.as_bytes())]);
    let asked = span("a.py", 16, 19);
    // Two branches that each change the lines above, merged in both directions, and an unrelated
    // branch.
    fixture.git(&["checkout", "-q", "-b", "left"]);
    fixture.write("a.py", format!("left\n{text}").as_bytes());
    let left = fixture.commit("left");
    fixture.git(&["checkout", "-q", "main"]);
    fixture.write("a.py", format!("{text}right\n").as_bytes());
    let right = fixture.commit("right");
    let moved = follow(&fixture, &right, &left, &asked);
    expect(
        &moved,
        SpanState::Moved,
        Some(("a.py", 17, 20)),
        "across branches",
    );
    let merge = |branch: &str, name: &str, with: &str| {
        fixture.git(&["checkout", "-q", "-b", name, branch]);
        fixture.git(&["merge", "-q", "--no-edit", with]);
    };
    merge(&left, "one", &right);
    merge(&right, "two", &left);
    fixture.git(&["checkout", "-q", "one"]);
    fixture.git(&["merge", "-q", "--no-edit", "two"]);
    let crossed = follow(&fixture, "two", "one", &span("a.py", 17, 20));
    expect(
        &crossed,
        SpanState::Unchanged,
        Some(("a.py", 17, 20)),
        "criss-cross",
    );
    fixture.git(&["checkout", "-q", "--orphan", "alone"]);
    fixture.write("a.py", format!("alone\nalone\n{text}").as_bytes());
    let alone = fixture.commit("unrelated");
    let moved = follow(&fixture, &right, &alone, &asked);
    expect(
        &moved,
        SpanState::Moved,
        Some(("a.py", 18, 21)),
        "unrelated histories",
    );
}

#[test]
fn deleted_and_later_restored() {
    let text = functions(5);
    let fixture = Fixture::with(&[("a.py", text.as_bytes()), ("b", b"b\n")]);
    let from = fixture.commit("begin");
    fixture.git(&["rm", "-q", "a.py"]);
    let without = fixture.commit("gone");
    fixture.write("a.py", format!("\n{text}").as_bytes());
    fixture.commit("back");
    let asked = span("a.py", 6, 9);
    let gone = follow(&fixture, &from, &without, &asked);
    expect(&gone, SpanState::Deleted, None, "while it was gone");
    let back = follow(&fixture, &from, "HEAD", &asked);
    expect(&back, SpanState::Moved, Some(("a.py", 7, 10)), "restored");
}

#[test]
fn the_index_and_the_disk_are_sides_too() {
    let text = functions(5);
    let fixture = Fixture::with(&[("a.py", text.as_bytes()), (".gitignore", b"out/\n")]);
    fixture.write("a.py", format!("staged\n{text}").as_bytes());
    fixture.git(&["add", "a.py"]);
    fixture.write("a.py", format!("on disk\nstaged\n{text}").as_bytes());
    let repo = fixture.repo();
    let commit = RepoState::Commit("HEAD".into());
    for (from, to, first, expected) in [
        (&commit, &RepoState::Index, 6, (7, 10)),
        (&commit, &RepoState::Worktree, 6, (8, 11)),
        (&RepoState::Index, &RepoState::Worktree, 7, (8, 11)),
        (&RepoState::Worktree, &RepoState::Index, 8, (7, 10)),
        (&RepoState::Worktree, &commit, 8, (6, 9)),
        (&RepoState::Index, &commit, 7, (6, 9)),
    ] {
        let asked = [span("a.py", first, first + 3)];
        let found = track(&repo, from, to, &asked).pop().unwrap().unwrap();
        let place = Some(("a.py", expected.0, expected.1));
        expect(
            &found,
            SpanState::Moved,
            place,
            &format!("{from:?} to {to:?}"),
        );
    }
    // Moved on disk to a file that git does not track yet.
    fixture.write("a.py", b"import new\n");
    fixture.write("new.py", text.as_bytes());
    let asked = [span("a.py", 6, 9)];
    let found = track(&repo, &commit, &RepoState::Worktree, &asked);
    let found = found.into_iter().next().unwrap().unwrap();
    expect(
        &found,
        SpanState::Renamed,
        Some(("new.py", 6, 9)),
        "an untracked file",
    );
}
