//! The journal has everything that the tables hold: a replay makes the same tables again.

use std::collections::BTreeSet;

use engram_model::{
    AgentId, Code, ConflictStatus, Durability, EngramId, Feed, LineageId, Operation, OperationKind,
    Refusal, operation::Redaction,
};
use engram_store::{Journalled, StoreError};
use tempfile::TempDir;
use ulid::Ulid;

use crate::fixture::{
    CONFLICT, PROJECT, assert_sound, damage, head, now, open, put, record, record_everything,
};

#[test]
fn every_operation_is_the_same_when_it_is_replayed() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    record_everything(&store);
    assert_eq!(assert_sound(&store).applied, head(&store));
    let kinds = |reader: &engram_store::Reader<'_>| {
        let all = reader.journal_after(0, 100)?;
        Ok(all
            .iter()
            .filter_map(Journalled::kind)
            .map(OperationKind::as_str)
            .collect::<BTreeSet<_>>())
    };
    let recorded = store.read::<_, StoreError>(kinds).unwrap();
    let known: BTreeSet<_> = OperationKind::ALL.iter().map(|it| it.as_str()).collect();
    assert_eq!(recorded, known, "every kind of operation");
    let read = |reader: &engram_store::Reader<'_>| {
        let agent = reader.agent(&AgentId("a1".to_owned()))?.unwrap();
        let first = reader.engram(EngramId(Ulid(1)))?.unwrap();
        assert_eq!(first.durability, Durability::Durable, "promoted");
        assert_eq!((first.ttl, first.expires_at), (None, None));
        Ok((
            agent.topics,
            reader.engram(EngramId(Ulid(2)))?.unwrap().valid_until,
        ))
    };
    let (topics, until) = store.read::<_, StoreError>(read).unwrap();
    assert_eq!(
        (topics.read, until),
        (vec!["ledger".to_owned()], Some(now()))
    );
}

/// An operation is shown exactly if the table allows others to see it.
#[test]
fn what_may_be_read_of_is_told() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    record_everything(&store);
    let feed = Feed {
        after: Some(0),
        all: true,
        ..Feed::default()
    };
    let read = |reader: &engram_store::Reader<'_>| {
        let all = reader.journal_after(0, 100)?;
        let told = |it: &&Journalled| it.kind().is_some_and(OperationKind::is_told);
        let want: Vec<u64> = all.iter().filter(told).map(|it| it.seq).collect();
        let (found, _) = reader.feed(PROJECT, "", &feed, now())?;
        Ok((want, found.iter().map(|it| it.seq).collect::<Vec<_>>()))
    };
    let (want, found) = store.read::<_, StoreError>(read).unwrap();
    assert_eq!(found, want);
}

#[test]
fn what_is_said_of_a_conflict_is_read_back_with_its_words() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    record_everything(&store);
    store
        .read::<_, StoreError>(|reader| {
            let pair = reader.conflict(CONFLICT)?.unwrap();
            assert_eq!(pair.status, ConflictStatus::Resolved);
            assert_eq!(pair.sides, ["aa", "bb"]);
            let found = reader.contradiction(pair.last)?.unwrap();
            assert_eq!((found.id, found.why.as_str()), (CONFLICT, "1 is not 2."));
            let allowed = reader.attribution(pair.allowed.unwrap())?.unwrap();
            assert_eq!(
                (allowed.by.as_str(), allowed.why.as_deref()),
                ("one", Some("Known."))
            );
            let ruling = reader.ruling(pair.verdict.unwrap())?.unwrap();
            assert_eq!((ruling.id, ruling.why), (CONFLICT, None));
            assert_eq!(
                reader.conflicts_of(PROJECT, "bb")?,
                std::slice::from_ref(&pair)
            );
            let listed = |status| reader.conflicts_listed(PROJECT, status, None, None, now());
            assert_eq!(listed(Some(ConflictStatus::Open))?, []);
            let [all] = &*listed(None)? else {
                unreachable!("one conflict")
            };
            assert_eq!((all.id, all.first), (CONFLICT, pair.first));
            assert_eq!(reader.entries_about(CONFLICT)?.len(), 4);
            let near = engram_store::NearPairs::of(reader);
            let said = near.judgments(CONFLICT)?;
            assert_eq!(said[0].0.why.as_deref(), Some("1 is not 2."));
            assert!(near.is_raised(CONFLICT)?);
            assert!(
                reader.reported_by(LineageId(Ulid(9)))?.is_some()
                    && reader.reported_by(LineageId(Ulid(1)))?.is_none()
            );
            Ok(())
        })
        .unwrap();
}

#[test]
fn what_can_be_erased_is_shown_from_a_place_on() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    record_everything(&store);
    let shown = |after: u64| {
        let look = |reader: &engram_store::Reader<'_>| {
            let mut found = Vec::new();
            reader.erasable_after(PROJECT, after, |said| {
                found.push((said.seq, said.kind, said.text.to_owned()));
            })?;
            found.sort_by_key(|it| it.0);
            Ok::<_, StoreError>(found)
        };
        store.read(look).unwrap()
    };
    let all = shown(0);
    let texts: Vec<_> = all
        .iter()
        .map(|it| (it.1.as_str(), it.2.as_str()))
        .collect();
    let words = r#"{"intended_use":"","reason":"It is long."}"#;
    let want = [
        ("stored", "one []"),
        ("stored", "two []"),
        ("judged", "1 is not 2."),
        ("conflict", "1 is not 2."),
        ("allowed", "Known."),
        ("sent", "{}"),
        ("requested", words),
        ("denied", "Not now."),
        ("requested", words),
    ];
    assert_eq!(texts, want);
    assert_eq!(shown(all[2].0), all[3..]);
    // Words that go with an erasure are gone for good, and a replay makes the same tables.
    let allowed = all[4].0;
    let erased = Operation::Redacted(Redaction {
        id: EngramId(Ulid(2)),
        reasons: vec![allowed],
        ..Redaction::default()
    });
    store
        .write::<_, StoreError>(now(), |it| record(it, erased))
        .unwrap();
    assert!(shown(0).iter().all(|it| it.0 != allowed));
    let said = |seq| {
        store
            .read::<_, StoreError>(|it| it.still_said(seq))
            .unwrap()
    };
    assert_eq!(said(allowed), None);
    assert_eq!(said(all[0].0), Some(EngramId(Ulid(1)).to_string()));
    assert_sound(&store);
}

#[test]
fn a_table_that_the_journal_does_not_make_is_named_and_made_again() {
    for (table, sql) in [
        (
            "engram",
            "UPDATE engram SET valid_until = 5 WHERE id = (SELECT min(id) FROM engram)",
        ),
        ("engram", "DELETE FROM engram"),
        ("figure", "UPDATE figure SET query_hits = 99"),
        ("spend", "DELETE FROM spend"),
        ("spend_below", "UPDATE spend_below SET tokens = 1"),
        ("agent", "UPDATE agent SET turn = 'mine'"),
        ("project", "UPDATE project SET common_dir = '/y'"),
        ("admitted", "DELETE FROM admitted"),
        ("snapshot", "DELETE FROM snapshot"),
        ("pinned", "INSERT INTO pinned VALUES ('ab', 'cd')"),
        ("event", "UPDATE event SET slug = 'other'"),
        ("held", "UPDATE held SET open = 7"),
        ("tally", "DELETE FROM tally"),
        ("conflict", "UPDATE conflict SET status = 'open'"),
        ("report", "DELETE FROM report"),
        ("reading", "UPDATE reading SET own = 9"),
        ("pin", "DELETE FROM pin"),
        ("message", "DELETE FROM message"),
        ("delivered", "UPDATE delivered SET tokens = 7"),
        ("unsent", "DELETE FROM unsent"),
        ("narrowed", "DELETE FROM narrowed"),
        ("inline", "DELETE FROM inline"),
        ("token", "UPDATE token SET digest = '00'"),
        ("grant", "UPDATE grant SET revoked = NULL"),
        ("request", "UPDATE request SET state = 'waiting'"),
        ("refused", "UPDATE refused SET times = 9"),
        ("reached", "DELETE FROM reached"),
    ] {
        let home = TempDir::new().unwrap();
        let store = open(home.path());
        record_everything(&store);
        damage(home.path(), sql);
        let differences = store.replay().unwrap().differences;
        assert!(
            differences
                .iter()
                .any(|it| it.contains(&format!("table {table}:"))),
            "{sql}: {differences:?}"
        );
        store.rebuild(now()).unwrap();
        assert_sound(&store);
    }
}

/// An incomplete journal is reported, and its tables are left as they are.
#[test]
fn a_hole_and_an_entry_that_cannot_be_read_are_named_and_the_rest_is_read() {
    for (fault, sql) in [
        ("entry 4 is missing", "DELETE FROM journal WHERE seq = 4"),
        (
            "entry 6",
            "UPDATE journal SET subject = 'nobody' WHERE seq = 6",
        ),
        (
            "entry 10",
            "UPDATE journal SET body = 'no json' WHERE seq = 10",
        ),
        ("entry 3", "UPDATE journal SET body = '{}' WHERE seq = 3"),
    ] {
        let home = TempDir::new().unwrap();
        let store = open(home.path());
        record_everything(&store);
        let last = head(&store);
        damage(home.path(), sql);
        let faults = store.replay().unwrap().faults;
        assert!(
            faults.iter().any(|it| it.contains(fault)),
            "{sql}: {faults:?}"
        );
        let before = std::fs::read(home.path().join("engram.db")).unwrap();
        let refusal = Refusal::from(store.rebuild(now()).unwrap_err());
        assert!(refusal.hint.contains("Copy the home"), "{refusal}");
        assert_eq!(refusal.code, Code::StoreCorrupt, "{sql}");
        assert_eq!(
            std::fs::read(home.path().join("engram.db")).unwrap(),
            before
        );
        let kept = store.read::<_, StoreError>(|it| it.newest_holding(PROJECT, now(), None, 10));
        kept.unwrap();
        put(&store, 99, "Another.").unwrap();
        assert_eq!(head(&store), last + 1, "{sql}");
    }
}

#[test]
fn an_entry_of_a_newer_build_is_kept_and_passed_over() {
    for sql in [
        "UPDATE journal SET kind = 'foretold' WHERE seq = 6",
        "UPDATE journal SET schema = 99, body = '?' WHERE seq = 6",
    ] {
        let home = TempDir::new().unwrap();
        let store = open(home.path());
        record_everything(&store);
        let last = head(&store);
        damage(
            home.path(),
            &format!("{sql}; UPDATE figure SET corroborations = 0"),
        );
        assert_eq!(assert_sound(&store).passed_over, 1);
        // The tables may hold what only the newer build can rebuild.
        let error = store.rebuild(now()).unwrap_err();
        assert!(!error.is_of_one_record(), "nothing may skip it");
        let refusal = Refusal::from(error);
        assert!(refusal.message.contains("from a newer Engram"), "{refusal}");
        // The home is sound: only the build is too old.
        assert_eq!(refusal.code, Code::StoreNewer);
        assert!(!refusal.hint.contains("--recover"), "{refusal}");
        assert_eq!(head(&store), last);
    }
}

/// The fault is in the write itself, so nobody is told to recover the home.
#[test]
fn an_operation_that_cannot_be_written_is_no_damage() {
    let cause = serde_json::from_str::<u8>("").unwrap_err();
    let refusal = Refusal::from(StoreError::Unwritable(cause));
    assert_eq!(refusal.code, Code::Internal);
    assert!(!refusal.hint.contains("--recover"), "{refusal}");
}
