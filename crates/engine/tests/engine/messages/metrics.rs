//! The cost of messages, counted on request.

use engram_model::{Code, Operation, ask, operation::Sent};
use engram_store::{NewEntry, Store, StoreError};
use serde_json::json;
use ulid::Ulid;

use crate::fixture::{
    Asked, USER, handle_of,
    messages::{engram, open_team, order, report},
    refused,
};

/// Unreadable files, however many, are estimated as the average of the others, so the share stays
/// the same.
#[test]
fn files_that_cannot_be_read_change_no_share() {
    let (sandbox, engine, [_, ada, _]) = open_team();
    let budget = |at: &Asked| {
        let reply = at.0.ask(&USER, ask::Budget(Default::default()));
        reply.unwrap().delivered
    };
    let said = report(vec![engram("Retries use full jitter.")], "One.");
    engine.send(&ada, said).unwrap();
    let one = budget(&engine);
    assert!(one.full_tokens > 4_000 && one.uncounted == 0, "{one:?}");
    let store = Store::open(&sandbox.home(), Ulid(9)).unwrap();
    let project = engine.status(&USER).unwrap().project.unwrap();
    let project = project.id.unwrap();
    let sent = Sent {
        id: "m".to_owned(),
        tokens: 2_500 * one.tokens,
        files: (0..2_500)
            .map(|nth| format!("repo:gone-{nth}.rs@{:040x}", 7))
            .collect(),
        ..Sent::default()
    };
    store
        .write::<_, StoreError>(sandbox.clock.now(), |it| {
            it.record(&NewEntry {
                project,
                shareable: false,
                agent: None,
                by: "",
                operation: &Operation::Sent(Box::new(sent)),
            })
        })
        .unwrap();
    for nth in 1..=3 {
        let all = budget(&sandbox.open());
        assert_eq!(all.full_tokens, 2_501 * one.full_tokens);
        assert_eq!(all.uncounted, 2_500);
        assert!((all.share - one.share).abs() < 1e-9, "{all:?} {one:?}");
        let left = store.read::<_, StoreError>(|it| it.messages().uncounted_files(project, 9_999));
        assert_eq!(
            left.unwrap().len(),
            2_500 - 500 * nth,
            "each file is read once"
        );
    }
}

#[test]
fn what_was_delivered_is_counted_when_it_is_asked() {
    let (_sandbox, engine, [lead, ada, _]) = open_team();
    let budget = || {
        engine
            .0
            .ask(&USER, ask::Budget(Default::default()))
            .unwrap()
    };
    assert_eq!(budget().delivered, Default::default());
    let tokens = engine
        .send(
            &ada,
            report(vec![engram("Retries use full jitter.")], "One."),
        )
        .unwrap()
        .tokens as u64;
    let one = budget().delivered;
    assert_eq!((one.tokens, one.resend_rate), (tokens, 0.0));
    assert!(one.full_tokens > 4_000 && one.share < 0.05, "{one:?}");
    engine
        .send(&ada, report(vec![], "Nothing new was found."))
        .unwrap();
    assert_eq!(
        budget().delivered.full_tokens,
        one.full_tokens,
        "the same file, the same recipient"
    );
    engine.send(&lead, order(json!({}))).unwrap();
    let all = budget();
    assert_eq!(
        all.delivered.full_tokens,
        3 * one.full_tokens,
        "two more recipients"
    );
    refused(
        engine.send(&ada, json!({ "role": "programmer" })),
        Code::SchemaInvalid,
    );
    engine
        .send(&ada, report(vec![], "Nothing new was found."))
        .unwrap();
    assert_eq!(budget().delivered.resend_rate, 0.25);
    let used = all
        .agents
        .iter()
        .find(|it| it.agent == handle_of(&ada))
        .unwrap()
        .inline_tokens
        .used;
    assert!(u64::from(used) > tokens);
}
