//! Redaction of words that several authors said exactly alike: each said them separately.

use std::path::PathBuf;

use engram_model::{Allow, Caller, Commit, ConflictStatus, Draft, EngramId, ask};

use super::erasure::{SAID, files_with_words, is_sound};
use crate::fixture::{
    Asked, SHORT, Sandbox, USER,
    conflicts::{conflict, contradict},
    correction_of, draft, on_topic, with_other_evidence,
};

/// Says the same without evidence, so that the event of saying it is the evidence.
fn commit(at: &Asked, who: &Caller) -> EngramId {
    let draft = Draft {
        pointers: Vec::new(),
        ..draft(SAID)
    };
    let commit = Commit {
        draft,
        ..Commit::default()
    };
    at.0.ask(who, ask::Commit(Box::new(commit))).unwrap().id
}

/// Says something as ada, and returns its id.
type Say = fn(&Asked, &Caller) -> EngramId;

const SAYS: [(&str, Say); 2] = [
    ("with evidence", |at, ada| {
        at.put(ada, draft(SAID)).unwrap().id
    }),
    ("without evidence", commit),
];

/// Says the same as somebody else.
type Repeat = fn(&Asked);

/// How many texts each repetition stores.
const REPEATS: [(&str, usize, Repeat); 6] = [
    ("an agent, with other evidence", 1, |at| {
        let said = with_other_evidence(draft(SAID));
        at.put(&at.agent("eve"), said).unwrap();
    }),
    ("an agent, on another topic", 1, |at| {
        let said = with_other_evidence(on_topic("plans", SAID));
        at.put(&at.agent("eve"), said).unwrap();
    }),
    ("the user", 1, |at| {
        at.claim(SAID);
    }),
    ("the user, without evidence", 2, |at| {
        commit(at, &USER);
    }),
    ("a note of the user", 1, |at| {
        at.note(&USER, "plan", SAID);
    }),
    ("a note of an agent", 1, |at| {
        at.note(&at.agent("eve"), "plan", SAID);
    }),
];

/// The ids of the engrams and notes that an answer names.
fn named(pending: &[String]) -> Vec<EngramId> {
    let id = |told: &String| {
        let (what, rest) = told.split_once(' ').unwrap();
        assert!(what == "engram" || what == "note", "{told}");
        rest.split_once(", which quotes it")
            .unwrap()
            .0
            .parse()
            .unwrap()
    };
    pending.iter().map(id).collect()
}

#[test]
fn the_same_words_of_others_stay_and_are_named() {
    for (how, say) in SAYS {
        for (who, count, repeat) in REPEATS {
            let sandbox = Sandbox::new();
            let at = sandbox.open();
            let ada = at.agent("ada");
            let erased = say(&at, &ada);
            repeat(&at);
            let reply = at.redact(&USER, erased).unwrap();
            assert!(at.get(&USER, erased).unwrap().redacted, "{how}, {who}");
            assert_eq!(reply.also, [""; 0], "{how}, {who}");
            let others = named(&reply.pending);
            assert_eq!(others.len(), count, "{how}, {who}: {reply:?}");
            if let Ok(other) = at.get(&USER, others[0]) {
                let is_there = other.claim == SAID && !other.pointers.is_empty();
                assert!(is_there && other.valid_until.is_none(), "{how}, {who}");
            }
            assert!(
                !files_with_words(&sandbox.home()).is_empty(),
                "{how}, {who}"
            );
            assert!(is_sound(&at), "{how}, {who}");
            // Each is erased by its own id.
            for other in others {
                at.redact(&USER, other).unwrap();
            }
            let left = files_with_words(&sandbox.home());
            assert_eq!(left, Vec::<PathBuf>::new(), "{how}, {who}");
            assert!(is_sound(&at), "{how}, {who}");
        }
    }
}

#[test]
fn what_its_author_said_again_goes_and_is_named() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let (ada, eve) = (at.agent("ada"), at.agent("eve"));
    let first = at.put(&ada, draft(SAID)).unwrap().id;
    // Another version of the claim is not another claim, whoever stored it.
    let newer = with_other_evidence(correction_of(first, SAID));
    let newer = at.put(&eve, newer).unwrap().id;
    let again = at.put(&ada, on_topic("plans", SAID)).unwrap().id;
    at.note(&ada, "plan", SAID);
    let reply = at.redact(&USER, first).unwrap();
    assert_eq!(reply.pending, [""; 0]);
    let [engram, note] = &reply.also[..] else {
        panic!("{reply:?}");
    };
    assert!(engram.starts_with("another engram of its author"));
    assert!(note.starts_with("a note of its author"));
    for id in [first, newer, again] {
        assert!(at.get(&USER, id).unwrap().redacted);
    }
    assert_eq!(files_with_words(&sandbox.home()), Vec::<PathBuf>::new());
    assert!(is_sound(&at));
}

/// A conflict that goes on keeps its report, and what was said about it without quoting the claim.
#[test]
fn a_conflict_goes_on_with_those_who_say_the_same() {
    let sandbox = Sandbox::new();
    let at = sandbox.open();
    let (id, first, _) = contradict(&at);
    let eve = at.agent("eve");
    let same = at
        .put(&eve, with_other_evidence(on_topic("wallet", SHORT)))
        .unwrap()
        .id;
    let allow = Allow {
        conflict: id,
        why: "Until Friday.".to_owned(),
        undo: false,
    };
    at.0.ask(&USER, ask::Allow(allow)).unwrap();
    let before = conflict(&at, id);
    let reply = at.redact(&USER, first).unwrap();
    let after = conflict(&at, id);
    assert_eq!(after.status, ConflictStatus::Open);
    assert_eq!((&after.why, after.risk), (&before.why, before.risk));
    assert_eq!(after.allowed.unwrap().why, "Until Friday.");
    let risk = at.get(&USER, after.risk.unwrap()).unwrap();
    assert!(!risk.redacted && risk.valid_until.is_none());
    assert_eq!(named(&reply.pending), [same]);
    assert!(is_sound(&at));
    // Once the last of these claims is erased, the report is erased too.
    assert_eq!(at.redact(&USER, same).unwrap().pending, [""; 0]);
    assert!(at.get(&USER, risk.id).unwrap().redacted);
    assert_eq!(conflict(&at, id).why, "");
    assert!(is_sound(&at));
}
