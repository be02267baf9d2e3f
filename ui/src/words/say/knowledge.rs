//! What holds, by topic, and what held at a time.

pub const TITLE: &str = "Knowledge";
pub const LABEL: &str = "Engrams that hold, by topic";
pub const WHEN: &str = "Time";
pub const NOW: &str = "Now";
pub const READ_ONLY: &str = "Read only";
pub const AT: &str = "Go to";
pub const EXAMPLE: &str = "29 Nov 2026, 12:30";
pub const PARTIAL: &str = "The time is not complete";
pub const PARTIAL_HINT: &str = "Fill in the day, the month, the year, the hour and the minute.";
pub const FUTURE: &str = "This time is not past yet";
pub const FUTURE_HINT: &str = "The list shows what holds now. Choose an earlier time.";
pub const COUNTS: &str = "Counts are for this time.";
pub const CHOOSE: &str = "Show an earlier time";
pub const BACK: &str = "Back to now";
pub const THEN: &str = "Show what held then";
pub const THEN_MEANS: &str = "What held when this was stored";
pub const LOCKED: &str = "The past cannot be changed";
pub const LOCKED_HINT: &str = "Go back to now (⇧ T) first.";
pub const NO_TOPIC: &str = "No topic";
pub const EXPIRES_SOON: &str = "Expires soon";

pub const SHAPE: &str = "Shown as";
pub const LIST: &str = "List";
pub const TIMELINE: &str = "Timeline";
pub const TIMELINE_LABEL: &str = "When claims held, by topic";
pub const TIMELINE_MEANS: &str = "When each claim held, with its earlier versions";
pub const TOGGLE: &str = "Show as a timeline or a list";
pub const ZOOM_IN: &str = "Zoom into the timeline";
pub const ZOOM_OUT: &str = "Zoom out of the timeline";
pub const ZOOM_ALL: &str = "Show all times";
pub const ALL: &str = "All";
pub const EARLIER: &str = "Move to earlier times";
pub const LATER: &str = "Move to later times";

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

/// The stretch of time on the screen.
pub fn stretch(from: &str, to: &str) -> String {
    format!("{from} – {to}")
}

/// A version on the timeline, for screen readers and as a tooltip: when it held, or holds; which
/// version it is, if there are several; and what became of it.
pub fn bar(
    claim: &str,
    when: &str,
    version: Option<(usize, usize)>,
    state: Option<&str>,
) -> String {
    let version = version.map(|(number, of)| format!(", version {number} of {of}"));
    let state = state.map(|it| format!(", {it}"));
    let (version, state) = (version.unwrap_or_default(), state.unwrap_or_default());
    format!("{claim} — {when}{version}{state}")
}

pub fn since(from: &str) -> String {
    format!("since {from}, until replaced")
}

pub fn from_to(from: &str, to: &str) -> String {
    format!("from {from} to {to}")
}
