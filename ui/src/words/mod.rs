//! What a person reads: times, states and digests in words, and every string of the window (`say.rs`).

mod places;
pub mod say;

pub use self::places::{checkout, commands};
use engram_model::{
    Budget, Engram, Evidence, Kind, Lines, Media, MediaKind, Meter, Pointer, PointerType, REVERIFY,
    Reading, Recent, Spending, Standing, is_hidden,
};
pub use engram_model::{count, thousands, visible};
use jiff::{Timestamp, tz::Offset};

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
    /// A verdict on a conflict chose the other claim,
    Lost,
    /// or one claim that replaced both.
    Merged,
    /// Its text was erased.
    Redacted,
}

impl State {
    /// Whether it holds, at the time that is shown.
    pub fn holds(self) -> bool {
        matches!(self, Self::Holds | Self::Held)
    }

    /// The word for it; nothing for what simply holds.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::Holds | Self::Held => None,
            Self::Replaced => Some(say::state::REPLACED),
            Self::Expired => Some(say::state::EXPIRED),
            Self::Forgotten => Some(say::state::FORGOTTEN),
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

/// The kind as a person says it.
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

/// Who said it; what no agent said comes from the person at the machine.
pub fn author(engram: &Engram) -> String {
    match engram.provenance.created_by.as_str() {
        "" if engram.redacted => say::engram::NO_AUTHOR.to_owned(),
        "" | "user" if engram.agent.is_none() => say::engram::YOU.to_owned(),
        name => visible(name),
    }
}

/// The claim, or that it was redacted.
pub fn claim(engram: &Engram) -> String {
    if engram.redacted {
        say::engram::REDACTED.to_owned()
    } else {
        visible(&engram.claim)
    }
}

/// Who did something, as a surface names them; nobody where that was erased.
pub fn person(by: &str) -> String {
    match by {
        "user" => say::engram::YOU.to_owned(),
        name => visible(name),
    }
}

const MONTHS: [&str; 12] = [
    "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
];

fn month(number: i8) -> &'static str {
    MONTHS[usize::from(number.unsigned_abs().saturating_sub(1)).min(11)]
}

/// The person's clock: the time now and how far local time is from UTC.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Clock {
    /// Now.
    pub now: Timestamp,
    /// Local time minus UTC.
    pub offset: Offset,
}

impl Clock {
    /// From milliseconds since 1970 and minutes that local time is ahead of UTC.
    pub fn new(millis: f64, ahead_minutes: f64) -> Self {
        Self {
            now: Timestamp::from_millisecond(millis as i64).unwrap_or(Timestamp::UNIX_EPOCH),
            offset: Offset::from_seconds((ahead_minutes * 60.0) as i32).unwrap_or(Offset::UTC),
        }
    }

    /// How long ago, for a row: `now`, `4 min`, `3 h`, then the day, then the month. Past ten minutes
    /// in steps of five: each change is a frame to draw, and little is drawn at rest.
    pub fn ago(&self, at: Timestamp) -> String {
        match self.now.as_second().saturating_sub(at.as_second()) {
            ..60 => "now".to_owned(),
            seconds @ 60..600 => format!("{} min", seconds / 60),
            seconds @ 600..3_600 => format!("{} min", seconds / 300 * 5),
            seconds @ 3_600..86_400 => format!("{} h", seconds / 3_600),
            _ if self.same_year(at) => self.day(at),
            _ => {
                let date = self.offset.to_datetime(at);
                format!("{} {}", month(date.month()), date.year())
            }
        }
    }

    /// The day: `27 Nov`, with the year where it is another one.
    pub fn day(&self, at: Timestamp) -> String {
        let date = self.offset.to_datetime(at);
        let month = month(date.month());
        if self.same_year(at) {
            format!("{} {month}", date.day())
        } else {
            format!("{} {month} {}", date.day(), date.year())
        }
    }

    fn same_year(&self, at: Timestamp) -> bool {
        self.offset.to_datetime(at).year() == self.offset.to_datetime(self.now).year()
    }

    /// Day and time to the minute: `27 Nov, 14:03`.
    pub fn moment(&self, at: Timestamp) -> String {
        let time = self.offset.to_datetime(at);
        format!("{}, {:02}:{:02}", self.day(at), time.hour(), time.minute())
    }

    /// Day and time to the second, with the year.
    pub fn exactly(&self, at: Timestamp) -> String {
        let time = self.offset.to_datetime(at);
        let (day, month, year) = (time.day(), month(time.month()), time.year());
        let (hour, minute, second) = (time.hour(), time.minute(), time.second());
        format!("{day} {month} {year}, {hour:02}:{minute:02}:{second:02}")
    }

    /// The time if that was today (`14:03`), else with its day.
    pub fn lately(&self, at: Timestamp) -> String {
        let moment = self.moment(at);
        if self.day(at) == self.day(self.now) {
            moment.rsplit(' ').next().unwrap_or_default().to_owned()
        } else {
            moment
        }
    }

    /// The label and the value of the window in which a claim holds.
    pub fn window(&self, engram: &Engram, state: State) -> (&'static str, String) {
        match (state, engram.valid_until, engram.expires_at) {
            (State::Held, Some(until), _) => ("held until", self.moment(until)),
            (State::Holds | State::Held, _, Some(end)) => ("holds until", self.day(end)),
            (State::Holds | State::Held, _, None) => ("holds", "until replaced".to_owned()),
            (State::Expired, _, Some(end)) => ("held until", self.moment(end)),
            (_, Some(until), _) => ("held until", self.moment(until)),
            _ => ("no longer", "holds".to_owned()),
        }
    }
}

impl Clock {
    /// The label and the value of what is known of the end of a claim.
    pub fn validity(&self, until: Option<Timestamp>) -> (&'static str, String) {
        match until {
            None => ("holds", "until replaced".to_owned()),
            Some(end) if end > self.now => ("holds until", self.day(end)),
            Some(end) => ("held until", self.moment(end)),
        }
    }
}

/// Whether the evidence resolved when it was stored, and the class of the word.
pub fn as_stored(engram: &Engram) -> (&'static str, &'static str) {
    if engram.verified {
        (say::state::VERIFIED, "word quiet")
    } else {
        (say::state::UNVERIFIED, "word warn")
    }
}

/// How the working tree reads where a span was pinned, in words, and the class of the words.
pub fn reading(standing: &Standing, then: Option<Lines>) -> (String, &'static str) {
    match standing.reading {
        Reading::Same => (say::state::UNCHANGED.to_owned(), "word ok"),
        Reading::Moved => {
            let by = then.zip(standing.lines).map(|(then, now)| {
                let by = i64::from(now.start) - i64::from(then.start);
                if by < 0 {
                    format!("{} −{}", say::state::MOVED, -by)
                } else {
                    format!("{} +{by}", say::state::MOVED)
                }
            });
            let word = by.unwrap_or_else(|| say::state::MOVED.to_owned());
            (word, "word moved")
        }
        Reading::Renamed => match &standing.path {
            Some(path) => (
                format!("{} {}", say::state::RENAMED, visible(path)),
                "word moved",
            ),
            None => (say::state::RENAMED.to_owned(), "word moved"),
        },
        Reading::Edited => (say::state::EDITED.to_owned(), "word warn"),
        Reading::Gone => (say::state::GONE.to_owned(), "word bad"),
    }
}

/// How the evidence of a claim stands, in a word and the class of the word; `is_blind` where the repository
/// is not there to be looked at. Where all is well the class is `word well`, for who has less to say of that.
pub fn evidence(engram: &Engram, is_blind: bool) -> (&'static str, &'static str) {
    // A question shows evidence in doubt: never call it well.
    if is_question(engram) {
        return (say::state::ASKED, "word quiet");
    }
    let Some(health) = engram.health.as_ref().filter(|_| !is_blind) else {
        return match (engram.verified, is_blind) {
            (true, true) => (say::state::UNKNOWN, "word quiet"),
            // It resolved when it was stored, and nothing else was seen since.
            (true, false) => (say::state::UNCHANGED, "word well"),
            (false, _) => (say::state::UNVERIFIED, "word warn"),
        };
    };
    if engram.asked.is_some() && is_drifted(engram) {
        return (say::state::ASKED, "word moved");
    }
    let class = match health.standing {
        Evidence::NeedsReverification => "word warn",
        Evidence::EvidenceGone => "word bad",
        Evidence::Unknown => "word quiet",
        Evidence::Holds => match health.worst().and_then(|it| it.state.as_deref()) {
            Some("renamed") => return (say::state::RENAMED, "word moved"),
            Some("moved") => return (say::state::MOVED, "word moved"),
            Some("edited") => return (say::state::REFORMATTED, "word moved"),
            _ => "word well",
        },
    };
    (standing(health.standing), class)
}

/// Whether it asks agents if another claim is still true.
fn is_question(engram: &Engram) -> bool {
    engram.kind == Kind::Todo && engram.tags.iter().any(|it| it == REVERIFY)
}

/// How evidence stands, in the one word for it.
pub fn standing(evidence: Evidence) -> &'static str {
    match evidence {
        Evidence::Holds => say::state::UNCHANGED,
        Evidence::NeedsReverification => say::state::EDITED,
        Evidence::EvidenceGone => say::state::GONE,
        Evidence::Unknown => say::state::UNKNOWN,
    }
}

/// Whether somebody should look at a claim again.
pub fn is_drifted(engram: &Engram) -> bool {
    let standing = engram.health.as_ref().map(|it| it.standing);
    engram.valid_until.is_none() && standing.is_some_and(|it| Evidence::DRIFTED.contains(&it))
}

/// Whether an editor can open what a pointer addresses.
pub fn is_file(pointer: &Pointer) -> bool {
    !matches!(pointer.kind(), PointerType::Sam | PointerType::Url)
}

/// Whether the evidence of a drifted claim is still there, so that the claim can point at it anew.
pub fn can_repin(engram: &Engram) -> bool {
    let standing = engram.health.as_ref().map(|it| it.standing);
    is_drifted(engram) && standing == Some(Evidence::NeedsReverification)
}

/// Where a pointer leads now, where that is not where it was pinned: `src/core.rs#L3-L9`.
pub fn place_now(engram: &Engram, pointer: &str) -> Option<String> {
    let health = engram.health.as_ref()?;
    let found = health.pointers.iter().find(|it| it.pointer == pointer)?;
    let (path, start, end) = (found.path.as_ref()?, found.start?, found.end?);
    let pinned = engram
        .pointers
        .iter()
        .find(|it| it.to_string() == pointer)?;
    let is_there = pinned.name() == path
        && pinned
            .lines()
            .is_none_or(|it| (it.start, it.end) == (start, end));
    (!is_there).then(|| place(path, Lines { start, end }))
}

/// The same, by what was just read of the working tree.
pub fn place_read(pointer: &Pointer, standing: &Standing) -> Option<String> {
    let path = standing.path.as_deref().unwrap_or(pointer.name());
    let lines = standing.lines.filter(|_| pointer.lines().is_some());
    let is_there = path == pointer.name() && (lines.is_none() || lines == pointer.lines());
    (!is_there).then(|| match lines {
        Some(lines) => place(path, lines),
        None => path.to_owned(),
    })
}

fn place(path: &str, lines: Lines) -> String {
    if lines.start == lines.end {
        format!("{path}#L{}", lines.start)
    } else {
        format!("{path}#L{}-L{}", lines.start, lines.end)
    }
}

/// How a pointer stood when somebody last looked, where that is known.
pub fn last_seen(engram: &Engram, pointer: &Pointer) -> Option<String> {
    let text = pointer.to_string();
    let checked = engram.health.as_ref()?.pointers.iter();
    let found = checked.into_iter().find(|it| it.pointer == text)?;
    found.state.is_some().then(|| found.words())
}

/// What a file is: `PNG picture`, `ELF file`, `Binary file`.
pub fn media(media: &Media) -> String {
    let what = match media.kind {
        MediaKind::Picture | MediaKind::Drawing => "picture",
        MediaKind::StandIn => "stand-in",
        MediaKind::Binary => "file",
    };
    match (&media.format, media.kind) {
        (Some(format), _) => format!("{format} {what}"),
        (None, MediaKind::Binary) => "Binary file".to_owned(),
        (None, _) => what.to_owned(),
    }
}

/// How large it is: `640 × 480 pixels, 12.4 KB`.
pub fn measures(media: &Media) -> String {
    let size = size(media.size);
    match media.pixels {
        Some((width, height)) => format!(
            "{} × {} pixels, {size}",
            thousands(width.into()),
            thousands(height.into())
        ),
        None => size,
    }
}

/// `17 bytes`, `12.4 KB`, `3.0 GB`.
pub fn size(bytes: u64) -> String {
    const UNITS: [&str; 5] = ["KB", "MB", "GB", "TB", "PB"];
    if bytes < 1_000 {
        return count(bytes, say::BYTES);
    }
    let mut tenths = bytes / 100;
    let mut unit = 0;
    while tenths >= 10_000 && unit + 1 < UNITS.len() {
        tenths /= 1_000;
        unit += 1;
    }
    format!("{}.{} {}", thousands(tenths / 10), tenths % 10, UNITS[unit])
}

/// A digest in few characters: `sha256 5976ad02…`.
pub fn short_digest(digest: &str) -> String {
    let hex = digest.strip_prefix("sha256:").unwrap_or(digest);
    let head: String = hex.chars().take(8).collect();
    format!("sha256 {head}…")
}

/// The first letters of a path that has no room, cut in front so that the file name stays.
pub fn split_path(path: &str) -> (&str, &str) {
    match path.rfind('/') {
        Some(at) => path.split_at(at + 1),
        None => ("", path),
    }
}

/// The message of a refusal as a sentence.
pub fn sentence(message: &str) -> String {
    let message = visible(message);
    let mut letters = message.chars();
    match letters.next() {
        Some(first) => first.to_uppercase().chain(letters).collect(),
        None => String::new(),
    }
}

/// What is used of a meter, and its limit.
pub fn meter(meter: Meter) -> String {
    format!(
        "{}/{}",
        thousands(meter.used.into()),
        thousands(meter.limit.into())
    )
}

/// Of the meters that count pointers, the fullest, with its name; the first of two.
pub fn fullest(budget: &Budget) -> (&'static str, Meter) {
    let [_, spans, others @ ..] = budget.meters();
    let fuller = |fullest: (_, Meter), it: (_, Meter)| {
        if it.1.share() > fullest.1.share() {
            it
        } else {
            fullest
        }
    };
    others.into_iter().fold(spans, fuller)
}

/// Most letters that a repository is told by.
const LETTERS: usize = 4;

/// Repositories by two letters each, or as few more as tell them apart; the same name twice by numbers.
pub fn initials(names: &[&str]) -> Vec<String> {
    let mut all: Vec<String> = names.iter().map(|it| letters(it, 2)).collect();
    let is_alike = |all: &[String], at: usize| all.iter().filter(|it| **it == all[at]).count() > 1;
    for long in 3..=LETTERS {
        let before = all.clone();
        for (at, name) in names.iter().enumerate() {
            if is_alike(&before, at) {
                all[at] = letters(name, long);
            }
        }
    }
    let before = all.clone();
    for (at, name) in names.iter().enumerate() {
        if is_alike(&before, at) {
            let earlier = before[..at].iter().filter(|it| **it == before[at]);
            all[at] = format!("{}{}", letters(name, 2), earlier.count() + 1);
        }
    }
    all
}

/// The first letter of a name and the first of its other words; of its only word, the first ones.
fn letters(name: &str, most: usize) -> String {
    let words = name.split(|c: char| !c.is_alphanumeric());
    let words: Vec<&str> = words.filter(|it| !it.is_empty()).collect();
    let letters: String = match words.as_slice() {
        [] => "·".to_owned(),
        [only] => only.chars().take(most).collect(),
        [first, rest @ ..] => {
            let rest = rest.iter().flat_map(|it| it.chars());
            first.chars().take(1).chain(rest).take(most).collect()
        }
    };
    letters.to_lowercase()
}

/// What is known of an open repository, as a sentence.
pub fn repository(repository: &Recent) -> String {
    let (engrams, drifted) = repository.holding.unwrap_or_default();
    let counts = [
        (repository.unseen > 0).then(|| format!("{} new", thousands(repository.unseen))),
        (drifted > 0).then(|| count(drifted, say::TO_REVIEW)),
        repository.holding.map(|_| count(engrams, say::ENGRAMS)),
    ];
    let counts: Vec<String> = counts.into_iter().flatten().collect();
    let colon = if counts.is_empty() { "" } else { ": " };
    format!(
        "{}{colon}{} ({})",
        visible(&repository.name),
        counts.join(", "),
        visible(&repository.path)
    )
}

/// All that an agent has spent in its turn, as a sentence.
pub fn spent(spending: &Spending) -> String {
    let of = |(what, meter): (_, Meter)| {
        let (used, limit) = (thousands(meter.used.into()), thousands(meter.limit.into()));
        format!("{used} of {limit} {what}")
    };
    let all = spending.budget.meters().map(of).join(", ");
    format!("{} in this turn: {all}", visible(&spending.agent))
}

/// The beginning of a text that is at most this long once it is made [`visible`]: a name takes eight
/// characters, which come from other fonts and are twice as slow to draw.
pub fn beginning(text: &str, most: usize) -> &str {
    let mut long = 0;
    let end = text.char_indices().find(|(_, c)| {
        long += if is_hidden(*c) { 16 } else { 1 };
        long > most
    });
    &text[..end.map_or(text.len(), |it| it.0)]
}

/// `99`, `1.2k`, `31k`, `4M`: room for a few signs.
pub fn brief(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..10_000 => format!("{}.{}k", number / 1_000, number % 1_000 / 100),
        10_000..1_000_000 => format!("{}k", number / 1_000),
        _ => format!("{}M", number / 1_000_000),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn a_repository_is_said_in_two_letters_and_in_a_sentence() {
        for (name, want) in [
            ("engram", "en"),
            ("api-gateway", "ag"),
            (".dotfiles", "do"),
            ("Größe 2", "g2"),
            ("x", "x"),
            ("\u{202E}", "·"),
            ("", "·"),
        ] {
            assert_eq!(initials(&[name]), [want], "{name}");
        }
        for (names, want) in [
            (
                &["engram", "shop", "api-gateway"][..],
                &["en", "sh", "ag"][..],
            ),
            (
                &["payments-api", "payments-app", "pa"],
                &["papi", "papp", "pa"],
            ),
            (&["re1", "re2"], &["re1", "re2"]),
            (&["shop", "shelf", "docs"], &["sho", "she", "do"]),
            (&["shop", "docs", "shop"], &["sh1", "do", "sh2"]),
            (&["", "x", "\u{202E}"], &["·1", "x", "·2"]),
        ] {
            assert_eq!(initials(names), want, "{names:?}");
        }
        let mut recent = Recent {
            name: "shop".to_owned(),
            path: "/code/shop/".to_owned(),
            is_front: false,
            unseen: 1_200,
            holding: Some((9, 1)),
        };
        assert_eq!(
            repository(&recent),
            "shop: 1,200 new, 1 claim to review, 9 engrams (/code/shop/)"
        );
        (recent.unseen, recent.holding) = (0, None);
        assert_eq!(repository(&recent), "shop (/code/shop/)");
    }

    #[test]
    fn times_are_said_shortly() {
        let clock = Clock::new(1_800_000_000_000.0, 120.0); // 2027-01-15 08:00 UTC, 10:00 local
        for (seconds, want) in [
            (-30, "now"),
            (0, "now"),
            (59, "now"),
            (60, "1 min"),
            (599, "9 min"),
            (600, "10 min"),
            (899, "10 min"),
            (900, "15 min"),
            (3_599, "55 min"),
            (3_600, "1 h"),
            (86_399, "23 h"),
            (86_400, "14 Jan"),
            (20 * 86_400, "Dec 2026"),
        ] {
            let at = Timestamp::from_second(1_800_000_000 - seconds).unwrap();
            assert_eq!(clock.ago(at), want, "{seconds} s ago");
        }
        let midnight: Timestamp = "2027-01-14T23:30:00Z".parse().unwrap();
        assert_eq!(clock.moment(midnight), "15 Jan, 01:30");
        assert_eq!(clock.lately(midnight), "01:30");
        assert_eq!(
            clock.lately(midnight - jiff::SignedDuration::from_hours(2)),
            "14 Jan, 23:30"
        );
        assert_eq!(
            Clock::new(f64::NAN, f64::INFINITY).ago(Timestamp::UNIX_EPOCH),
            "now"
        );
    }

    #[test]
    fn a_to_do_looks_well_only_where_its_evidence_is() {
        let todo = |tag: &str, standing: Option<&str>| -> Engram {
            let id = format!("{:026}", 1);
            let mut engram = serde_json::json!({
                "id": id, "seq": 1, "lineage_id": id, "project": id, "claim": "Look again.", "kind": "todo",
                "fact_type": "observation", "scope": "project", "topic": "",
                "pointers": [{"type": "repo", "ref": "src/a.rs@HEAD", "span": "L1-L2"}],
                "confidence": 0.7, "durability": "durable", "tags": [tag], "hash_keys": [], "entities": [],
                "provenance": {"created_at": "2026-11-20T10:00:00Z", "created_by": "Architect", "source": "agent"},
                "content_hash": "sha256:1", "valid_from": "2026-11-20T10:00:00Z",
                "recorded_at": "2026-11-20T10:00:00Z", "memory_op": "add", "verified": true
            });
            if let Some(standing) = standing {
                engram["health"] = serde_json::json!({"standing": standing, "pointers": []});
            }
            serde_json::from_value(engram).unwrap()
        };
        for (tag, standing, want) in [
            ("build", Some("holds"), "word well"),
            ("build", Some("evidence_gone"), "word bad"),
            ("build", Some("needs_reverification"), "word warn"),
            (REVERIFY, Some("holds"), "word quiet"),
            (REVERIFY, None, "word quiet"),
        ] {
            let (word, class) = evidence(&todo(tag, standing), false);
            assert_eq!(class, want, "{tag} {standing:?}: {word}");
        }
    }

    #[test]
    fn what_an_agent_spent_is_said_by_its_fullest_meter() {
        let meter = |used, limit| Meter { used, limit };
        for (spans, sections, events, want) in [
            ((0, 3), (0, 2), (0, 2), ("spans", "0/3")),
            ((2, 3), (1, 2), (0, 2), ("spans", "2/3")),
            ((1, 3), (1, 2), (1, 2), ("sections", "1/2")),
            ((2, 3), (0, 2), (2, 2), ("events", "2/2")),
            ((0, 0), (0, 0), (0, 1_000), ("spans", "0/0")),
        ] {
            let budget = Budget {
                turn: String::new(),
                repo_spans: meter(spans.0, spans.1),
                artifact_sections: meter(sections.0, sections.1),
                sam_items: meter(events.0, events.1),
                tokens: meter(96, 1_200),
            };
            let (what, fullest) = fullest(&budget);
            assert_eq!((what, &*super::meter(fullest)), want);
        }
        let spending = Spending {
            agent: "programmer\u{202e}".to_owned(),
            budget: Budget {
                turn: String::new(),
                repo_spans: meter(2, 3),
                artifact_sections: meter(0, 2),
                sam_items: meter(0, 2),
                tokens: meter(96, 1_200),
            },
            until: Timestamp::UNIX_EPOCH,
        };
        let said = spent(&spending);
        assert!(said.ends_with(
            " in this turn: 96 of 1,200 tokens, 2 of 3 spans, 0 of 2 sections, 0 of 2 events"
        ));
        assert!(!said.contains('\u{202e}'), "{said}");
    }

    #[test]
    fn where_lines_are_now_is_what_was_read_last() {
        let at = |start, end| Some(Lines { start, end });
        for (pointer, path, lines, want) in [
            ("repo:src/a.rs#L5-L9@HEAD", None, at(5, 9), None),
            (
                "repo:src/a.rs#L5-L9@HEAD",
                None,
                at(8, 12),
                Some("src/a.rs#L8-L12"),
            ),
            ("repo:src/a.rs#L5@HEAD", None, at(8, 8), Some("src/a.rs#L8")),
            (
                "repo:src/a.rs#L5-L9@HEAD",
                Some("src/b.rs"),
                at(5, 9),
                Some("src/b.rs#L5-L9"),
            ),
            ("repo:src/a.rs#L5-L9@HEAD", None, None, None),
            (
                "repo:src/a.rs@HEAD",
                Some("src/b.rs"),
                at(1, 30),
                Some("src/b.rs"),
            ),
            ("repo:src/a.rs@HEAD", None, at(1, 30), None),
        ] {
            let standing = Standing {
                reading: Reading::Moved,
                path: path.map(str::to_owned),
                lines,
                changes: Vec::new(),
                hidden: 0,
                media: None,
            };
            let pointer: Pointer = pointer.parse().unwrap();
            assert_eq!(
                place_read(&pointer, &standing).as_deref(),
                want,
                "{pointer}"
            );
        }
    }

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
    fn numbers_are_grouped() {
        for (number, want) in [
            (0, "0 engrams"),
            (1, "1 engram"),
            (999, "999 engrams"),
            (1_284, "1,284 engrams"),
            (1_000_000, "1,000,000 engrams"),
        ] {
            assert_eq!(count(number, say::ENGRAMS), want);
        }
    }

    #[test]
    fn a_path_keeps_its_file_name() {
        for (path, want) in [
            ("a/b/c.rs", ("a/b/", "c.rs")),
            ("c.rs", ("", "c.rs")),
            ("a/", ("a/", "")),
        ] {
            assert_eq!(split_path(path), want);
        }
        assert_eq!(short_digest("sha256:5976ad02ffff"), "sha256 5976ad02…");
    }

    #[test]
    fn sizes_are_said_shortly() {
        for (bytes, want) in [
            (0, "0 bytes"),
            (1, "1 byte"),
            (999, "999 bytes"),
            (1_000, "1.0 KB"),
            (12_499, "12.4 KB"),
            (999_999, "999.9 KB"),
            (1_000_000, "1.0 MB"),
            (u64::MAX, "18,446.7 PB"),
        ] {
            assert_eq!(size(bytes), want, "{bytes}");
        }
    }
}
