//! Where an erased text is quoted: which words are erased with it, and which stay because others
//! said them.

use std::borrow::Cow;

use engram_gateway::Quotable;
use engram_model::{Noun, OperationKind, ProjectId, Refusal, format_count};
use engram_store::{Erasable, Reader};
use serde_json::Value;
use unicode_normalization::UnicodeNormalization;

/// The most quotations of one kind that are listed; the rest is only counted.
const NAMED: usize = 20;

/// The quotations of one text in a project, found so far.
#[derive(Default)]
pub(crate) struct Quotations {
    of: Quotable,
    /// The place up to which entries were read.
    read: u64,
    /// The kinds and places of entries whose words are erased.
    going: Vec<(OperationKind, u64)>,
    /// The kinds and places of entries whose words stay. Only places are kept, because the text may
    /// be a single word that many entries quote.
    staying: Vec<(OperationKind, u64)>,
    /// The kinds and places of claims and notes that are erased because the author of the text said
    /// the same there.
    pub(crate) repeated: Vec<(OperationKind, u64)>,
}

impl Quotations {
    pub(crate) fn of(text: &str) -> Self {
        Self {
            of: Quotable::new(&normalised(text)),
            ..Self::default()
        }
    }

    /// Reads the entries since the last call and returns those whose words are erased. An erasure
    /// is planned on a snapshot, and again under the write lock if the journal moved. The second
    /// plan then reads only the new entries.
    pub(crate) fn read_new_entries(
        &mut self,
        tx: &Reader<'_>,
        project: ProjectId,
    ) -> Result<Vec<u64>, Refusal> {
        if self.of.is_empty() {
            return Ok(Vec::new());
        }
        let head = tx.head()?;
        tx.erasable_after(project, self.read, |said| {
            if !is_quoted(&self.of, said) {
                return;
            }
            if is_erased_along(said.kind) {
                self.going.push((said.kind, said.seq));
            } else {
                self.staying.push((said.kind, said.seq));
            }
        })?;
        self.read = head;
        Ok(self.going.iter().map(|(_, seq)| *seq).collect())
    }

    /// Descriptions of the repetitions and quotations that are erased.
    pub(crate) fn describe_erased(&self) -> Vec<String> {
        let name = |(kind, seq): &(OperationKind, u64)| {
            let what = match kind {
                OperationKind::Stored => "another engram of its author",
                OperationKind::Noted => "a note of its author",
                OperationKind::Pinned => "a pin",
                OperationKind::Requested => "the reason for a request",
                OperationKind::Denied => "the reason for a denial",
                OperationKind::Allowed => "the reason for an allowance",
                _ => "the reason for a verdict",
            };
            format!("{what} that quoted it (entry {seq})")
        };
        let all = || self.repeated.iter().chain(&self.going);
        let mut gone: Vec<String> = all().take(NAMED).map(name).collect();
        let more = all().count().saturating_sub(NAMED) as u64;
        if more > 0 {
            gone.push(format!(
                "{} quoting it",
                format_count(more, ("more text", "more texts"))
            ));
        }
        gone
    }

    /// The quotations that stay, by id; to be called after the erasure. The words themselves are
    /// not repeated.
    pub(crate) fn describe_staying(&self, tx: &Reader<'_>) -> Result<Vec<String>, Refusal> {
        let mut left = Vec::new();
        for of in STAYS {
            let (mut named, mut more) = (Vec::new(), 0);
            for (_, seq) in self.staying.iter().filter(|it| it.0 == of.kind) {
                let Some(id) = tx.still_said(*seq)? else {
                    continue;
                };
                let name = format!("{} {id}, which quotes it; {}", of.what, of.advice);
                if named.len() == NAMED {
                    more += 1;
                } else if !named.contains(&name) {
                    named.push(name);
                }
            }
            left.extend(named);
            if more > 0 {
                left.push(format!("{} quoting it", format_count(more, of.more)));
            }
        }
        Ok(left)
    }
}

/// A kind of text that stays even if it quotes something.
struct StayingText {
    kind: OperationKind,
    /// The name of one such text.
    what: &'static str,
    /// The noun for those that are not listed.
    more: Noun,
    /// What happens to it, or what the user can do.
    advice: &'static str,
}

const STAYS: [StayingText; 4] = [
    StayingText {
        kind: OperationKind::Stored,
        what: "engram",
        more: ("more engram", "more engrams"),
        advice: "redact that too if the words must go",
    },
    StayingText {
        kind: OperationKind::Noted,
        what: "note",
        more: ("more note", "more notes"),
        advice: "redact that too if the words must go",
    },
    StayingText {
        kind: OperationKind::Sent,
        what: "message",
        more: ("more message", "more messages"),
        advice: "redact that too if the words must go",
    },
    StayingText {
        kind: OperationKind::Conflicted,
        what: "the explanation of conflict",
        more: (
            "more explanation of a conflict",
            "more explanations of conflicts",
        ),
        advice: "redact either claim of that conflict too if the words must go",
    },
];

/// Whether words of this kind only judge or cite a claim, so that they are erased with it.
fn is_erased_along(kind: OperationKind) -> bool {
    matches!(
        kind,
        OperationKind::Pinned
            | OperationKind::Requested
            | OperationKind::Denied
            | OperationKind::Judged
            | OperationKind::Resolved
            | OperationKind::Allowed
    )
}

/// Gives texts that look the same one form: an accent may be a separate character, and a letter may
/// be full-width.
fn normalised(text: &str) -> Cow<'_, str> {
    if text.is_ascii() {
        Cow::Borrowed(text)
    } else {
        text.nfkc().collect()
    }
}

fn is_quoted(of: &Quotable, said: Erasable<'_>) -> bool {
    let is_json = matches!(said.kind, OperationKind::Requested | OperationKind::Sent);
    if is_json {
        of.is_quoted_in(&normalised(&words_in_json(said.text)))
    } else {
        of.is_quoted_in(&normalised(said.text))
    }
}

/// The words in text stored as JSON, where line ends are escaped.
pub(crate) fn words_in_json(text: &str) -> String {
    let mut words = String::new();
    match serde_json::from_str(text) {
        Ok(value) => collect_words(&value, &mut words),
        Err(_) => words.push_str(text),
    }
    words
}

/// Collects all texts of a value, one per line.
fn collect_words(value: &Value, words: &mut String) {
    match value {
        Value::String(text) => {
            words.push_str(text);
            words.push('\n');
        }
        Value::Array(all) => all.iter().for_each(|it| collect_words(it, words)),
        Value::Object(all) => all.values().for_each(|it| collect_words(it, words)),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use engram_kit::Folder;
    use engram_model::{
        Operation,
        operation::{BriefPin, Requested},
    };
    use engram_store::{NewEntry, Store, Writer};
    use jiff::Timestamp;
    use ulid::Ulid;

    use super::*;

    const PROJECT: ProjectId = ProjectId(Ulid(7));

    fn record(tx: &Writer<'_>, operation: &Operation) -> Result<u64, Refusal> {
        Ok(tx.record(&NewEntry {
            project: PROJECT,
            shareable: false,
            agent: None,
            by: "user",
            operation,
        })?)
    }

    fn pin(text: &str) -> Operation {
        Operation::Pinned(BriefPin {
            text: Some(text.to_owned()),
            ..BriefPin::default()
        })
    }

    /// Under the write lock, nothing is read again.
    #[test]
    fn it_reads_on_where_it_left_off() {
        let folder = Folder::temporary();
        let store = Store::open(&folder.path("home"), Ulid(1)).unwrap();
        let mut found = Quotations::of("Use SQLite.");
        let add = |text: &str| {
            let entry = pin(text);
            store
                .write(Timestamp::UNIX_EPOCH, |tx| record(tx, &entry))
                .unwrap()
        };
        let first = add("We use SQLite here.");
        add("We use Postgres.");
        let mut read = || -> Vec<u64> {
            let going = |tx: &Reader<'_>| found.read_new_entries(tx, PROJECT);
            store.read(going).unwrap()
        };
        assert_eq!(read(), [first]);
        let second = add("use sqlite");
        assert_eq!(read(), [first, second], "each once");
    }

    #[test]
    fn a_quotation_is_found_however_it_is_kept() {
        let asked = Requested {
            reason: "We\nuse\t\u{1}caf\u{e9}".to_owned(),
            ..Requested::default()
        };
        for (kind, text, want) in [
            (OperationKind::Pinned, "use cafe\u{301}", true),
            (OperationKind::Pinned, "ｕｓｅ café", true),
            (OperationKind::Pinned, "use cafe", false),
            (OperationKind::Requested, &asked.stored_text(), true),
            (OperationKind::Requested, "no JSON: use café", true),
            (
                OperationKind::Sent,
                r#"{"a":["We use"],"b":{"c":"café","d":1}}"#,
                true,
            ),
            (OperationKind::Sent, r#"{"use":"café"}"#, false),
        ] {
            let said = Erasable { seq: 1, kind, text };
            let of = Quotations::of("Use café.").of;
            assert_eq!(is_quoted(&of, said), want, "{text}");
        }
    }
}
