//! What holds, by topic, and what held at a time.

pub const TITLE: &str = "Knowledge";
pub const LABEL: &str = "Engrams that hold, by topic";
pub const WHEN: &str = "Time";
pub const NOW: &str = "Now";
pub const READ_ONLY: &str = "Read only";
pub const AT: &str = "Go to";
pub const COUNTS: &str = "Counts are for this time.";
pub const CHOOSE: &str = "Show an earlier time";
pub const BACK: &str = "Back to now";
pub const THEN: &str = "Show what held then";
pub const THEN_MEANS: &str = "What held when this was stored";
pub const LOCKED: &str = "The past cannot be changed";
pub const LOCKED_HINT: &str = "Go back to now (⇧ T) first.";
pub const NO_TOPIC: &str = "No topic";
pub const NOTHING: &str = "Nothing here yet";
pub const NOTHING_MEANS: &str =
    "What agents and you store appears here by topic, until it is replaced, forgotten or expires.";
pub const NOTHING_THEN: &str = "Nothing was stored yet";
pub const NOTHING_THEN_MEANS: &str = "Choose a later time above, or go back to now.";

pub fn held_on(at: &str) -> String {
    format!("As of {at}")
}

/// Before the first row of a topic, for screen readers.
pub fn topic(topic: &str) -> String {
    format!("Topic {topic}. ")
}

/// Below a list that was cut.
pub fn only_newest(count: &str) -> String {
    format!("Only the newest {count} are listed. Filter by topic to see the rest.")
}
