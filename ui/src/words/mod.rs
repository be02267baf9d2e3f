//! What a person reads: times, states and digests in words, and every string of the window (`say`).

mod budget;
mod clock;
pub mod ending;
mod evidence;
mod files;
mod repository;
pub mod say;

pub use self::{
    budget::{fullest_meter, is_nearly_spent, meter, spent},
    clock::Clock,
    evidence::{
        as_stored, can_repin, dispute, evidence, gone_evidence, is_drifted, last_seen, place_now,
        place_read, reading, reported_conflict, standing,
    },
    files::{
        is_file, measures, media, short_digest, size, split_path, wanted_source, with_short_digests,
    },
    repository::{checkout, initials, repository, repository_badge},
};
use engram_model::{Engram, Kind, is_hidden};
pub use engram_model::{format_count, thousands, visible};
use jiff::Timestamp;

/// The title of the page on a repository in which this many conflicts and requests wait.
pub fn title(repository: Option<&str>, waiting: u64) -> String {
    let name = repository.unwrap_or(say::status::NO_REPOSITORY);
    if waiting > 0 {
        format!("({}) {name} — Engram", thousands(waiting))
    } else {
        format!("{name} — Engram")
    }
}

/// What became of a claim, as it is shown on its row.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// It holds.
    Holds,
    /// It held at the time that is shown.
    Held,
    /// A newer version took its place.
    Replaced,
    /// Its ttl is over.
    Expired,
    /// Its window was closed.
    Forgotten,
    /// Its author, the person, soon took it back.
    Undone,
    /// A verdict on a conflict chose the other claim.
    Lost,
    /// A verdict on a conflict replaced both claims with one.
    Merged,
    /// Its text was erased.
    Redacted,
}

impl State {
    /// Whether it holds, at the time that is shown.
    pub fn holds(self) -> bool {
        matches!(self, Self::Holds | Self::Held)
    }

    /// The word for it; none for a claim that simply holds.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::Holds | Self::Held => None,
            Self::Replaced => Some(say::state::REPLACED),
            Self::Expired => Some(say::state::EXPIRED),
            Self::Forgotten => Some(say::state::FORGOTTEN),
            Self::Undone => Some(say::state::UNDONE),
            Self::Lost => Some(say::state::LOST),
            Self::Merged => Some(say::state::MERGED),
            Self::Redacted => Some(say::state::REDACTED),
        }
    }
}

/// Whether the engine found the evidence, in a word.
pub fn verified(engram: &Engram) -> &'static str {
    if engram.verified {
        say::state::VERIFIED
    } else {
        say::state::UNVERIFIED
    }
}

/// The word for a kind.
pub fn kind(kind: Kind) -> &'static str {
    match kind {
        Kind::Fact => "fact",
        Kind::Decision => "decision",
        Kind::Risk => "risk",
        Kind::Todo => "to-do",
        Kind::Constraint => "constraint",
        Kind::Diff => "change",
        Kind::Test => "test",
        Kind::Perf => "performance",
        Kind::Policy => "policy",
    }
}

/// The author of a claim; a claim that no agent made is the user's.
pub fn author(engram: &Engram) -> String {
    match engram.provenance.created_by.as_str() {
        "" if engram.redacted => say::engram::NO_AUTHOR.to_owned(),
        "" | "user" if engram.agent.is_none() => say::engram::YOU.to_owned(),
        name => visible(name),
    }
}

/// An author as the list names them.
pub fn author_name(author: &str) -> &str {
    match author {
        "" | "user" => say::engram::YOU,
        name => name,
    }
}

/// The name of a topic for people; claims without a topic get a name of ours.
pub fn topic_name(topic: &str) -> String {
    match topic {
        "" => say::knowledge::NO_TOPIC.to_owned(),
        topic => visible(topic),
    }
}

/// The claim, or a note that it was redacted.
pub fn claim(engram: &Engram) -> String {
    if engram.redacted {
        say::engram::REDACTED.to_owned()
    } else {
        visible(&engram.claim)
    }
}

/// When a claim was first recorded in its words: to confirm or restore it records another version.
pub fn recorded(engram: &Engram) -> Timestamp {
    engram.place.map_or(engram.recorded_at, |it| it.at)
}

/// The name to show for a person or an agent; empty if it was erased.
pub fn person(by: &str) -> String {
    match by {
        "user" => say::engram::YOU.to_owned(),
        name => visible(name),
    }
}

/// The message of a refusal as a sentence. A path or a name at its beginning stays as it is.
pub fn sentence(message: &str) -> String {
    let message = visible(message);
    let first_word = message.split_whitespace().next().unwrap_or_default();
    if first_word.contains(['/', '.', '#', '_']) {
        return message;
    }
    let mut letters = message.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// The beginning of a text, at most `most` long once it is made [`visible`]. A hidden character
/// counts as 16: its name takes eight characters of other fonts, which are twice as slow to draw.
pub fn beginning(text: &str, most: usize) -> &str {
    let mut long = 0;
    let end = text.char_indices().find(|(_, c)| {
        long += if is_hidden(*c) { 16 } else { 1 };
        long > most
    });
    &text[..end.map_or(text.len(), |it| it.0)]
}

/// A number in a few characters: `99`, `1.2k`, `31k`, `4M`.
pub fn brief(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..10_000 => format!("{}.{}k", number / 1_000, number % 1_000 / 100),
        10_000..1_000_000 => format!("{}k", number / 1_000),
        _ => format!("{}M", number / 1_000_000),
    }
}

/// Returns the `doctor` commands that a text has in backticks.
pub fn commands(text: &str) -> Vec<String> {
    let quoted = text.split('`').skip(1).step_by(2);
    let is_doctor = |it: &&str| it.starts_with("engram ") && it.split(' ').any(|it| it == "doctor");
    let ours = quoted.filter(is_doctor);
    ours.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_beginning_and_a_number_are_short() {
        for (text, most, want) in [
            ("größe", 5, "größe"),
            ("größe", 3, "grö"),
            ("a\u{202E}b\u{202E}c", 18, "a\u{202E}b"),
            ("\u{202E}", 7, ""),
        ] {
            assert_eq!(beginning(text, most), want, "{text:?}");
        }
        for (number, want) in [
            (0, "0"),
            (999, "999"),
            (1_250, "1.2k"),
            (31_900, "31k"),
            (4_000_000, "4M"),
        ] {
            assert_eq!(brief(number), want);
        }
    }

    #[test]
    fn a_refusal_begins_with_a_capital_but_a_path_stays() {
        for (message, want) in [
            ("the grant is spent", "The grant is spent"),
            ("src/app.py#L213 is gone", "src/app.py#L213 is gone"),
            ("", ""),
        ] {
            assert_eq!(sentence(message), want);
        }
    }

    /// A version that an undo restored was recorded when its words first were.
    #[test]
    fn a_claim_was_recorded_when_its_words_first_were() {
        let (id, first, now) = (
            format!("{:026}", 1),
            "2026-11-20T10:00:00Z",
            "2026-11-21T10:00:00Z",
        );
        let mut engram: Engram = serde_json::from_value(serde_json::json!({
            "id": id, "seq": 3, "lineage_id": id, "project": id, "claim": "It holds.", "kind": "fact",
            "fact_type": "observation", "scope": "project", "topic": "", "pointers": [],
            "confidence": 0.7, "durability": "durable", "tags": [], "hash_keys": [], "entities": [],
            "provenance": {"created_at": now, "created_by": "ada", "source": "agent"},
            "content_hash": "sha256:1", "valid_from": now, "recorded_at": now, "memory_op": "add",
            "verified": true, "place": {"seq": 1, "at": first}
        }))
        .unwrap();
        assert_eq!(recorded(&engram).to_string(), first);
        engram.place = None;
        assert_eq!(recorded(&engram).to_string(), now);
    }

    #[test]
    fn numbers_are_grouped() {
        for (number, want) in [
            (0, "0 engrams"),
            (1, "1 engram"),
            (999, "999 engrams"),
            (1_284, "1,284 engrams"),
            (1_000_000, "1,000,000 engrams"),
        ] {
            assert_eq!(format_count(number, say::ENGRAMS), want);
        }
    }

    #[test]
    fn a_page_is_titled_by_its_repository_and_what_waits() {
        assert_eq!(title(Some("shop"), 0), "shop — Engram");
        assert_eq!(title(Some("shop"), 1200), "(1,200) shop — Engram");
        assert_eq!(title(None, 0), "no repository — Engram");
    }

    #[test]
    fn commands_are_found_in_a_hint() {
        let hint =
            "Restore a backup, or run `engram --home '/a b' doctor --recover`; `ENGRAM_HOME` too.";
        assert_eq!(commands(hint), ["engram --home '/a b' doctor --recover"]);
        assert_eq!(commands("Run `engram doctor`; then"), ["engram doctor"]);
        assert!(commands("Open what `engram serve` printed. `").is_empty());
    }
}
