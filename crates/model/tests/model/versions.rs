//! A version in answers and in the journal: the same keys in the same order.

use engram_model::{Engram, Operation, OperationKind};

const ID: &str = "01J9Z3N8M6W0X4V5Y7K2QHPRTA";
const AT: &str = "2026-01-08T10:00:00Z";

/// A version with every field, in the order of the wire; `told` has those that only answers have.
fn write_version(told: [&str; 6], words: [&str; 2]) -> String {
    let [seq, keys, role, until, figures, rest] = told;
    let [claim, tags] = words;
    format!(
        r#"{{"id":"{ID}","seq":{seq},"lineage_id":"{ID}","project":"{ID}","run":"{ID}","claim":"{claim}","kind":"risk","fact_type":"inference","scope":"run","topic":"a/b","topic_key":"k","pointers":[],"confidence":0.5,"ttl":"P1D","durability":"ephemeral","tags":[{tags}],"hash_keys":[{keys}],"entities":[],"provenance":{{"created_at":"{AT}","created_by":"one","source":"agent"}},"agent":"a1",{role}"engineer":"two","content_hash":"sha256:00","valid_from":"{AT}",{until}"expires_at":"{AT}","recorded_at":"{AT}","memory_op":"update","supersedes":"{ID}","restores":"{ID}","asks":"{ID}","verified":true,"#
    ) + &format!(
        r#"{rest}"figures":{{"query_hits":{figures},"corroborations":{figures},"conflicts":{figures}}}"#
    )
}

#[test]
fn the_journal_keeps_what_answers_tell_without_words_and_findings() {
    let until = format!(r#""valid_until":"{AT}","#);
    let told = [
        "7",
        r#""holds""#,
        r#""role":"r","#,
        &until,
        "2",
        r#""redacted":true,"#,
    ];
    let told = write_version(told, ["It holds.", r#""t""#])
        + &format!(
            r#","score":0.5,"conflicts":["{ID}"],"health":{{"standing":"holds"}},"asked":"{ID}","lost":{{"conflict":"{ID}","how":"winner"}},"place":{{"seq":3,"at":"{AT}"}}}}"#
        );
    let engram: Engram = serde_json::from_str(&told).unwrap();
    assert_eq!(serde_json::to_string(&engram).unwrap(), told);

    let stored = Operation::Stored(Box::new(engram.into()));
    let body = stored.body().unwrap();
    assert_eq!(
        body,
        write_version(["0", "", "", "", "0", ""], ["", ""]) + "}"
    );
    let subject = stored.subject();
    assert_eq!(subject.as_deref(), Some(ID));
    let read = Operation::read(OperationKind::Stored, subject.as_deref(), &body).unwrap();
    assert_eq!(read.body().unwrap(), body);
}
