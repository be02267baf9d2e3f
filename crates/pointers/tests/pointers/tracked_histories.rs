//! Properties of tracking over generated histories.

use engram_model::PointerEdit;
use engram_pointers::track::{Anchor, RepoState, Span, SpanState, track};
use proptest::prelude::*;

use crate::fixture::Fixture;

/// One change of one file.
#[derive(Clone, Debug)]
enum Change {
    Insert {
        at: usize,
        count: usize,
    },
    Delete {
        at: usize,
        count: usize,
    },
    Edit {
        at: usize,
    },
    Move {
        at: usize,
        count: usize,
        to: usize,
    },
    Rename,
    Reindent,
    /// The lines from here on become a file of their own.
    Split {
        at: usize,
    },
    /// Another file is appended.
    Join,
    /// Lines move to the end of another file.
    Away {
        at: usize,
        count: usize,
    },
}

/// The change of one commit, to the first file or to another.
#[derive(Clone, Debug)]
struct Commit {
    changes: Vec<(bool, Change)>,
    /// The change to the first file is made on a branch, and merged.
    merged: bool,
}

/// A line, and the number that identifies it throughout.
#[derive(Clone, Debug)]
struct Line {
    number: usize,
    text: String,
}

#[derive(Clone, Debug)]
struct File {
    path: String,
    lines: Vec<Line>,
}

fn text_of(lines: &[Line]) -> String {
    lines.iter().map(|it| it.text.as_str()).collect()
}

fn without_blanks(text: &str) -> String {
    text.split_whitespace().collect()
}

/// Returns a line with words that no other line has, so that the true place is certain.
fn fresh(next: &mut usize) -> Line {
    *next += 1;
    let mut mixed = *next as u64;
    let mut word = || {
        mixed = (mixed ^ (mixed >> 29))
            .wrapping_add(1)
            .wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let letters = (0..7).map(|at| char::from(b'a' + (mixed >> (at * 7)) as u8 % 26));
        letters.collect::<String>()
    };
    Line {
        number: *next,
        text: format!("{} {} {}\n", word(), word(), word()),
    }
}

fn apply(files: &mut Vec<File>, second: bool, change: &Change, next: &mut usize) {
    let which = usize::from(second).min(files.len() - 1);
    let other = (which + 1) % files.len();
    match change {
        Change::Split { at } => {
            let total = files[which].lines.len();
            let lines = files[which].lines.split_off(at % (total + 1));
            *next += 1;
            let path = format!("split{next}.rs");
            files.push(File { path, lines });
        }
        Change::Join if other != which => {
            let joined = std::mem::take(&mut files[other].lines);
            files[which].lines.extend(joined);
            files.remove(other);
        }
        Change::Away { at, count } => {
            let total = files[which].lines.len();
            let start = at % (total + 1);
            let gone: Vec<Line> = files[which]
                .lines
                .drain(start..(start + count).min(total))
                .collect();
            files[other].lines.extend(gone);
        }
        _ => apply_within(&mut files[which], change, next),
    }
}

fn apply_within(file: &mut File, change: &Change, next: &mut usize) {
    let total = file.lines.len();
    let within = |at: usize, count: usize| {
        let start = at % (total + 1);
        start..(start + count).min(total)
    };
    match change {
        Change::Insert { at, count } => {
            let new: Vec<Line> = (0..*count).map(|_| fresh(next)).collect();
            let at = at % (total + 1);
            file.lines.splice(at..at, new);
        }
        Change::Delete { at, count } => {
            file.lines.drain(within(*at, *count));
        }
        Change::Edit { at } => {
            if let Some(line) = file.lines.get_mut(at % total.max(1)) {
                line.text = format!("changed{}", &line.text[6..]);
            }
        }
        Change::Move { at, count, to } => {
            let block: Vec<Line> = file.lines.drain(within(*at, *count)).collect();
            let to = to % (file.lines.len() + 1);
            file.lines.splice(to..to, block);
        }
        Change::Rename => {
            *next += 1;
            file.path = format!("renamed{next}/{}", file.path.rsplit('/').next().unwrap());
        }
        Change::Reindent => {
            for line in &mut file.lines {
                line.text.insert_str(0, "  ");
            }
        }
        Change::Split { .. } | Change::Join | Change::Away { .. } => {}
    }
}

impl Change {
    fn is_within(&self) -> bool {
        !matches!(self, Self::Split { .. } | Self::Join | Self::Away { .. })
    }
}

fn change() -> impl Strategy<Value = Change> {
    let at = 0usize..200;
    prop_oneof![
        3 => (at.clone(), 1usize..6).prop_map(|(at, count)| Change::Insert { at, count }),
        3 => (at.clone(), 1usize..4).prop_map(|(at, count)| Change::Delete { at, count }),
        3 => at.clone().prop_map(|at| Change::Edit { at }),
        2 => (at.clone(), 3usize..8, at.clone())
            .prop_map(|(at, count, to)| Change::Move { at, count, to }),
        1 => Just(Change::Rename),
        1 => Just(Change::Reindent),
        1 => at.clone().prop_map(|at| Change::Split { at }),
        1 => Just(Change::Join),
        1 => (at, 3usize..8).prop_map(|(at, count)| Change::Away { at, count }),
    ]
}

/// A change that only moves lines, so that nothing is lost on the way back.
fn shift() -> impl Strategy<Value = Change> {
    let at = 0usize..200;
    prop_oneof![
        (at, 1usize..6).prop_map(|(at, count)| Change::Insert { at, count }),
        Just(Change::Rename),
    ]
}

/// A repository, and the content of its files at each commit.
struct History {
    fixture: Fixture,
    states: Vec<(String, Vec<File>)>,
}

fn history(commits: &[Commit]) -> History {
    let fixture = Fixture::new();
    let mut next = 0;
    let files = ["a.rs", "b.rs"].into_iter().map(|path| File {
        path: path.to_owned(),
        lines: (0..40).map(|_| fresh(&mut next)).collect(),
    });
    let files: Vec<File> = files.collect();
    let first = put(&fixture, &files);
    let mut states = vec![(first, files)];
    for commit in commits {
        let (parent, before) = states.last().unwrap().clone();
        let mut files = before.clone();
        let is_merge =
            commit.merged && files.len() > 1 && commit.changes.iter().all(|it| it.1.is_within());
        if !is_merge {
            for (second, change) in &commit.changes {
                apply(&mut files, *second, change, &mut next);
            }
            states.push((put(&fixture, &files), files));
            continue;
        }
        let mut sides = [before.clone(), before];
        for (second, change) in &commit.changes {
            apply(&mut sides[usize::from(*second)], *second, change, &mut next);
        }
        let [left, right] = sides;
        fixture.git(&["checkout", "-q", "--detach", &parent]);
        let aside = put(&fixture, &left);
        fixture.git(&["checkout", "-q", "--detach", &parent]);
        put(&fixture, &right);
        fixture.git(&[
            "merge",
            "-q",
            "--no-ff",
            "--no-commit",
            "-s",
            "ours",
            &aside,
        ]);
        files = right;
        files[0] = left[0].clone();
        states.push((put(&fixture, &files), files));
    }
    History { fixture, states }
}

/// Commits these files and no others.
fn put(fixture: &Fixture, files: &[File]) -> String {
    fixture.git(&["rm", "-q", "-r", "-f", "--ignore-unmatch", "."]);
    for file in files {
        fixture.write(&file.path, text_of(&file.lines).as_bytes());
    }
    fixture.commit("next")
}

impl History {
    fn follow(&self, from: usize, to: usize, asked: &[Span]) -> Vec<Anchor> {
        let side = |at: usize| RepoState::Commit(self.states[at].0.clone());
        let answers = track(&self.fixture.repo(), &side(from), &side(to), asked);
        answers.into_iter().map(Result::unwrap).collect()
    }

    fn lines(&self, at: usize, span: &Span) -> &[Line] {
        let files = &self.states[at].1;
        let file = files.iter().find(|it| it.path == span.path).unwrap();
        &file.lines[span.start as usize - 1..span.end as usize]
    }

    /// Returns spans of every length from every third line.
    fn spans(&self, at: usize) -> Vec<Span> {
        let mut spans = Vec::new();
        for file in &self.states[at].1 {
            for (n, start) in (1..=file.lines.len() as u32).step_by(3).enumerate() {
                let end = (start + n as u32 % 9).min(file.lines.len() as u32);
                spans.push(Span {
                    path: file.path.clone(),
                    start,
                    end,
                });
            }
        }
        spans
    }

    /// Asserts the most important rule, and what each state promises.
    fn check(&self, from: usize, to: usize, asked: &Span, found: &Anchor) {
        let Some(place) = &found.place else {
            assert_eq!(found.state, SpanState::Deleted, "{asked:?}");
            return;
        };
        let (was, is) = (
            text_of(self.lines(from, asked)),
            text_of(self.lines(to, place)),
        );
        let at = (asked.path == place.path, asked == place);
        match found.state {
            SpanState::Unchanged => assert!(at == (true, true) && was == is, "{asked:?} {found:?}"),
            SpanState::Moved => assert!(at == (true, false) && was == is, "{asked:?} {found:?}"),
            SpanState::Renamed => assert!(!at.0 && was == is, "{asked:?} {found:?}"),
            SpanState::Edited(PointerEdit::Whitespace) => {
                assert!(
                    was != is && without_blanks(&was) == without_blanks(&is),
                    "{asked:?} {found:?}"
                );
            }
            SpanState::Edited(PointerEdit::Text) => {
                assert!(
                    without_blanks(&was) != without_blanks(&is),
                    "{asked:?} {found:?}"
                );
            }
            SpanState::Deleted => panic!("deleted, with a place: {asked:?}"),
        }
    }
}

fn commits(change: impl Strategy<Value = Change>) -> impl Strategy<Value = Vec<Commit>> {
    let changes = prop::collection::vec((any::<bool>(), change), 1..4);
    let commit = (changes, prop::bool::weighted(0.3))
        .prop_map(|(changes, merged)| Commit { changes, merged });
    prop::collection::vec(commit, 1..5)
}

fn all_within(commits: &[Commit]) -> bool {
    let changes = commits.iter().flat_map(|it| &it.changes);
    changes.into_iter().all(|it| it.1.is_within())
}

proptest! {
    // The same histories each time; PROPTEST_CASES=1000 with another seed covers more.
    #![proptest_config(ProptestConfig {
        cases: 40,
        rng_seed: proptest::test_runner::RngSeed::Fixed(4),
        ..ProptestConfig::default()
    })]

    /// If every line has unique words, the true place is known: a span that is still there in one
    /// piece is found, and one that is gone is not.
    #[test]
    fn known_truth(commits in commits(change())) {
        let history = history(&commits);
        let last = history.states.len() - 1;
        let all_within = all_within(&commits);
        for (from, to) in [(0, last), (last, 0)] {
            let asked = history.spans(from);
            let answers = history.follow(from, to, &asked);
            for (asked, found) in asked.iter().zip(&answers) {
                history.check(from, to, asked, found);
                let was: Vec<usize> = history.lines(from, asked).iter().map(|it| it.number).collect();
                let held: Vec<Vec<usize>> = history.states[to].1.iter()
                    .map(|file| file.lines.iter().map(|it| it.number).collect())
                    .collect();
                let there = was.iter().any(|it| held.iter().flatten().any(|held| held == it));
                prop_assert!(there || found.state == SpanState::Deleted, "{asked:?} {found:?}");
                let whole = history.states[to].1.iter().find_map(|file| {
                    let at = file.lines.iter().position(|it| it.number == was[0])?;
                    let lines = file.lines.get(at..at + was.len())?;
                    was.iter().eq(lines.iter().map(|it| &it.number)).then_some(lines)
                });
                // A span of few words, or one that left its file, may be reported as gone rather
                // than edited.
                let says_enough = |now: &[Line]| {
                    let (old, new) = (text_of(history.lines(from, asked)), text_of(now));
                    let is_same = without_blanks(&old) == without_blanks(&new);
                    match (all_within, was.len() > 2) {
                        (true, true) => true,
                        (true, false) => old == new,
                        (false, long) => long && is_same,
                    }
                };
                if whole.is_some_and(says_enough) {
                    let place = found.place.as_ref();
                    prop_assert!(place.is_some(), "lost {asked:?}");
                    let now: Vec<usize> = history.lines(to, place.unwrap())
                        .iter().map(|it| it.number).collect();
                    prop_assert_eq!(was, now, "{:?} {:?}", asked, found);
                }
            }
        }
    }

    /// Following a span by way of another commit gives the same result as directly, if both are
    /// sure. A route on which lines went to another file proves nothing.
    #[test]
    fn two_ways_agree(commits in commits(change())) {
        let history = history(&commits);
        let last = history.states.len() - 1;
        let middle = last / 2;
        let all_within = all_within(&commits);
        let asked = history.spans(0);
        let direct = history.follow(0, last, &asked);
        let first = history.follow(0, middle, &asked);
        for (at, found) in first.iter().enumerate() {
            let Some(place) = found.place.clone() else { continue };
            let second = history.follow(middle, last, &[place]).remove(0);
            let sure = |it: &&Anchor| {
                it.confidence >= 0.9 && (all_within || it.state != SpanState::Edited(PointerEdit::Text))
            };
            let says_enough = all_within || asked[at].end > asked[at].start + 1;
            if says_enough && [found, &second, &direct[at]].iter().all(sure) {
                prop_assert_eq!(&second.place, &direct[at].place, "{:?}", asked[at]);
            }
        }
    }

    /// Lines that only moved are found at their old place on the way back.
    #[test]
    fn there_and_back(commits in commits(shift())) {
        let history = history(&commits);
        let last = history.states.len() - 1;
        let asked = history.spans(0);
        for (asked, found) in asked.iter().zip(history.follow(0, last, &asked)) {
            history.check(0, last, asked, &found);
            prop_assert!(found.place.is_some(), "{asked:?}");
            if !matches!(found.state, SpanState::Edited(_)) {
                let back = history.follow(last, 0, &[found.place.clone().unwrap()]).remove(0);
                prop_assert_eq!(back.place.as_ref(), Some(asked), "{:?}", found);
            }
        }
        for (asked, found) in asked.iter().zip(history.follow(0, 0, &asked)) {
            prop_assert_eq!((found.state, found.place.as_ref()), (SpanState::Unchanged, Some(asked)));
        }
    }

    /// Any bytes on either side give a result or a refusal for each span.
    #[test]
    fn any_bytes(
        old in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'}'), Just(b' '), Just(b'\r'), Just(b'a'), Just(0xffu8), any::<u8>()], 0..200),
        new in prop::collection::vec(prop_oneof![Just(b'\n'), Just(b'}'), Just(b' '), Just(b'\r'), Just(b'a'), Just(0xfeu8), any::<u8>()], 0..200),
        mark in prop_oneof![Just(&b""[..]), Just(&b"\xff\xfe"[..]), Just(&b"\xef\xbb\xbf"[..])],
    ) {
        let (old, new) = ([mark, &old].concat(), [mark, &new].concat());
        let fixture = Fixture::with(&[("f", &old)]);
        fixture.write("f", &new);
        fixture.write("g", &old[old.len() / 2..]);
        fixture.commit("second");
        let asked: Vec<Span> = (0..8)
            .flat_map(|start| (0..4).map(move |more| (start, start + more)))
            .map(|(start, end)| Span { path: "f".into(), start, end })
            .collect();
        let sides = (RepoState::Commit("HEAD~1".into()), RepoState::Commit("HEAD".into()));
        for (from, to) in [(&sides.0, &sides.1), (&sides.1, &sides.0)] {
            let answers = track(&fixture.repo(), from, to, &asked);
            prop_assert_eq!(answers.len(), asked.len());
        }
    }
}
