//! What messages leave behind, besides their words.

use engram_model::{
    AgentId, Code, Operation,
    operation::{Sent, Unsent},
};
use engram_store::{MessageTotals, NewEntry, Reader, Store, StoreError};
use tempfile::TempDir;

use crate::fixture::{PROJECT, UNDO_SINCE_15, assert_sound, damage, now, open};

fn record(store: &Store, by: Option<&AgentId>, operation: Operation) {
    store
        .write::<_, StoreError>(now(), |it| {
            it.record(&NewEntry {
                project: PROJECT,
                shareable: false,
                agent: by,
                by: "",
                operation: &operation,
            })
        })
        .unwrap();
}

#[test]
fn files_count_once_for_each_recipient_and_tokens_each_time() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    let agents = ["lead", "ada", "bob"].map(|it| AgentId(it.to_owned()));
    let [lead, ada, bob] = &agents;
    let sent = |id: &str, to: &[&AgentId], budgets: &[(&str, u64)]| {
        Operation::Sent(Box::new(Sent {
            id: id.to_owned(),
            to: to.iter().copied().cloned().collect(),
            tokens: 100,
            turn: Some("t1".to_owned()),
            files: vec!["repo:a.rs@c".to_owned(), "repo:b.rs@c".to_owned()],
            budgets: budgets.iter().map(|it| (it.0.to_owned(), it.1)).collect(),
            text: "{}".to_owned(),
            ..Sent::default()
        }))
    };
    let read = |agent: &AgentId| {
        store
            .read::<_, StoreError>(|it| {
                Ok((
                    it.messages().budgets_of(agent)?,
                    it.messages().inline_tokens(agent, "t1")?,
                ))
            })
            .unwrap()
    };
    record(
        &store,
        Some(lead),
        sent(
            "1",
            &[ada, bob],
            &[("max_repo_spans", 2), ("max_engrams", 3)],
        ),
    );
    record(
        &store,
        Some(lead),
        sent("2", &[ada], &[("max_repo_spans", 1)]),
    );
    record(&store, Some(ada), sent("3", &[], &[]));
    let budgets = |pairs: &[(&str, u64)]| pairs.iter().map(|it| (it.0.to_owned(), it.1)).collect();
    assert_eq!(
        read(ada),
        (budgets(&[("max_repo_spans", 1), ("max_engrams", 3)]), 100)
    );
    assert_eq!(
        read(bob),
        (budgets(&[("max_repo_spans", 2), ("max_engrams", 3)]), 0)
    );
    assert_eq!(read(lead), (budgets(&[]), 200));
    let (delivered, files) = store
        .read::<_, StoreError>(|it| {
            Ok((
                it.messages().totals(PROJECT)?,
                it.messages().uncounted_files(PROJECT, 9)?,
            ))
        })
        .unwrap();
    assert_eq!(
        delivered,
        MessageTotals {
            messages: 3,
            resends: 0,
            tokens: 400
        }
    );
    assert_eq!(files, ["repo:a.rs@c", "repo:b.rs@c"]);
    // Each is counted once for all of its recipients: ada, bob, the user, and later recipients.
    let count = |file: &str, tokens| {
        store
            .write::<_, StoreError>(now(), |it| it.count_file(PROJECT, file, tokens))
            .unwrap();
    };
    let known = || {
        let read = |reader: &Reader<'_>| {
            let files = reader.messages().files(PROJECT)?;
            let left = reader.messages().uncounted_files(PROJECT, 9)?;
            Ok(((files.all, files.counted, files.tokens), left.len()))
        };
        store.read::<_, StoreError>(read).unwrap()
    };
    assert_eq!(known(), ((6, 0, 0), 2));
    count("repo:a.rs@c", Some(40));
    assert_eq!(known(), ((6, 3, 120), 1));
    count("repo:b.rs@c", None);
    assert_eq!(
        known(),
        ((6, 3, 120), 0),
        "an unreadable file does not count as zero"
    );
    record(&store, Some(ada), sent("4", &[lead], &[]));
    assert_eq!(known(), ((8, 4, 160), 0));
}

/// Deliveries in a home of the previous schema are counted on request.
#[test]
fn deliveries_of_the_schema_before_are_not_counted_yet() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    let sent = Sent {
        id: "m".to_owned(),
        files: vec!["repo:a.rs@c".to_owned()],
        ..Sent::default()
    };
    record(&store, None, Operation::Sent(Box::new(sent)));
    drop(store);
    damage(
        home.path(),
        &format!("{UNDO_SINCE_15} PRAGMA user_version = 14"),
    );
    let store = open(home.path());
    let left = store.read::<_, StoreError>(|it| it.messages().uncounted_files(PROJECT, 9));
    assert_eq!(left.unwrap(), ["repo:a.rs@c"]);
    assert_sound(&store);
}

#[test]
fn a_refusal_waits_for_the_next_message_of_its_sender() {
    let home = TempDir::new().unwrap();
    let store = open(home.path());
    let ada = AgentId("ada".to_owned());
    let refused = |id: &str| {
        Operation::Unsent(Unsent {
            id: id.to_owned(),
            code: Code::SchemaInvalid,
            figures: Default::default(),
        })
    };
    let waits = |agent: Option<&AgentId>| {
        store
            .read::<_, StoreError>(|it| it.messages().unsent(PROJECT, agent))
            .unwrap()
    };
    record(&store, Some(&ada), refused("r1"));
    record(&store, Some(&ada), refused("r2"));
    record(&store, None, refused("r3"));
    assert_eq!(waits(Some(&ada)).as_deref(), Some("r2"));
    let sent = Sent {
        id: "m".to_owned(),
        resend_of: Some("r2".to_owned()),
        ..Sent::default()
    };
    record(&store, Some(&ada), Operation::Sent(Box::new(sent)));
    assert_eq!(
        (waits(Some(&ada)), waits(None).as_deref()),
        (None, Some("r3"))
    );
    assert_sound(&store);
}
