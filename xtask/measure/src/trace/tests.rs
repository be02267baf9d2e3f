//! The kept trace: it stays within the limits, the documents show its figures, and the check finds
//! each exceeded limit.

use std::path::Path;

use super::{
    KEPT,
    check::check,
    record::{CallMade, RefusedMessage, SentMessage, TraceRecord},
};

/// The maximum size in the repository, so that it stays small to clone.
const MAX_BYTES: usize = 400_000;

fn read(path: &str) -> String {
    let root = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../.."));
    std::fs::read_to_string(root.join(path)).unwrap()
}

fn kept() -> TraceRecord {
    TraceRecord::read(&read(KEPT)).unwrap()
}

#[test]
fn the_kept_trace_keeps_every_bound_and_the_documents_say_so() {
    let text = read(KEPT);
    assert!(text.len() < MAX_BYTES, "{} bytes", text.len());
    let record = TraceRecord::read(&text).unwrap();
    assert_eq!(
        record.text().unwrap(),
        text,
        "it reads back as it was written"
    );
    let figures = check(&record).unwrap();
    let document = read("docs/benchmarks.md");
    for row in figures.rows() {
        assert!(document.contains(&row), "docs/benchmarks.md lacks {row}");
    }
}

/// Returns the calls of all turns.
fn calls(record: &mut TraceRecord) -> impl Iterator<Item = &mut CallMade> {
    record.turns.iter_mut().flat_map(|it| &mut it.calls)
}

fn sent(record: &mut TraceRecord, is_it: impl Fn(&SentMessage) -> bool) -> &mut SentMessage {
    let mut sent = calls(record).filter_map(|it| match it {
        CallMade::Sent(sent) => Some(sent),
        _ => None,
    });
    sent.find(|it| is_it(it)).unwrap()
}

/// Adds refused messages to the last turn.
fn refuse(record: &mut TraceRecord, times: usize) {
    let refused = (0..times).map(|at| {
        CallMade::Refused(RefusedMessage {
            refusal: 9_000 + at,
            wrong: "something".to_owned(),
            code: "SCHEMA_INVALID".to_owned(),
            tokens: None,
        })
    });
    record.turns.last_mut().unwrap().calls.extend(refused);
}

/// A fault in a trace, named by its error message, and the change that causes it.
type Broken = (&'static str, fn(&mut TraceRecord));

const BROKEN: &[Broken] = &[
    ("a message of 801 tokens was accepted", |record| {
        sent(record, |_| true).tokens = 801;
    }),
    ("a message was accepted with code in a fence", |record| {
        sent(record, |_| true).wrong = Some("code in a fence".to_owned());
    }),
    ("answers refusal None, not Some", |record| {
        sent(record, |it| it.resend_of.is_some()).resend_of = None;
    }),
    ("answers refusal Some(7000), not None", |record| {
        sent(record, |it| it.resend_of.is_none()).resend_of = Some(7_000);
    }),
    ("a message was refused twice", |record| refuse(record, 2)),
    ("a refused message was not sent again", |record| {
        refuse(record, 1)
    }),
    ("a claim has 3 pointers", |record| {
        let sent = sent(record, |it| !it.claims.is_empty());
        sent.claims[0] = vec!["1#L1".to_owned(); 3];
    }),
    ("a claim has 0 pointers", |record| {
        sent(record, |it| !it.claims.is_empty()).claims[0].clear();
    }),
    ("4 spans without a grant", |record| {
        let read = |at: usize| CallMade::Read(format!("2#L{at}"), 1);
        record.turns[5].calls = (1..=4).map(read).collect();
    }),
    ("1201 tokens read without a grant", |record| {
        record.turns[5].calls = vec![CallMade::Read("1#L1".to_owned(), 1_201)];
    }),
    ("spans without a grant", |record| {
        let sent = sent(record, |it| it.claims.is_empty());
        sent.budgets.insert("max_repo_spans".to_owned(), 0);
    }),
    ("was read by a grant that nobody gave", |record| {
        let did = calls(record)
            .find(|it| matches!(it, CallMade::Grant(_)))
            .unwrap();
        *did = CallMade::Query(0);
    }),
    ("was read by a grant that nobody gave", |record| {
        let turn = record.turns.iter_mut().find_map(|turn| {
            let spent = turn
                .calls
                .iter()
                .find(|it| matches!(it, CallMade::Granted(..)));
            spent.cloned().map(|spent| (turn, spent))
        });
        let (turn, spent) = turn.unwrap();
        turn.calls.push(spent);
    }),
    ("% were sent of the files behind the pointers", |record| {
        record.files.iter_mut().for_each(|it| it.tokens /= 10);
    }),
    (
        "a message points into a file that is not listed",
        |record| {
            record.files.pop();
        },
    ),
    ("there are 999 turns, not 1000", |record| {
        record.turns.pop();
    }),
    ("does not follow the one before", |record| {
        record.turns.remove(7);
    }),
    ("there are not a parent and 8 children", |record| {
        record.run.agents.pop();
    }),
    ("no grant was spent", |record| {
        calls(record)
            .filter(|it| matches!(it, CallMade::Granted(..)))
            .for_each(|it| *it = CallMade::Query(0));
    }),
    ("no read was denied", |record| {
        calls(record)
            .filter(|it| matches!(it, CallMade::Denied(..)))
            .for_each(|it| *it = CallMade::Query(0));
    }),
];

#[test]
fn a_trace_that_breaks_a_bound_is_found_out() {
    for (expected, damage) in BROKEN {
        let mut record = kept();
        damage(&mut record);
        let wrong = check(&record).expect_err(expected);
        assert!(
            wrong.iter().any(|it| it.contains(expected)),
            "{expected}: {wrong:?}"
        );
    }
}
