//! Claims whose ttl is about to end, so that a person can renew those that still matter.

use engram_model::{Durability, Engram, EngramId, Ttl};
use jiff::{SignedDuration, Timestamp};

use super::{is_drifted, say};

/// A claim is about to end this long before its end, or in the last tenth of its ttl if that is
/// longer.
const SOON: SignedDuration = SignedDuration::from_hours(24);

/// Returns when a claim ends, if it holds and is about to end. An ephemeral claim is meant to.
pub fn ends_soon(engram: &Engram, now: Timestamp) -> Option<Timestamp> {
    let is_kept = engram.durability == Durability::Durable && engram.holds_now(now);
    let end = engram.expires_at.filter(|_| is_kept)?;
    let tenth = end.duration_since(engram.valid_from) / 10;
    (end.duration_since(now) <= SOON.max(tenth)).then_some(end)
}

/// Whether one key may renew a claim that holds: it has a ttl. Claims whose evidence changed are
/// judged instead, which renews them too.
pub fn is_renewable(engram: &Engram) -> bool {
    engram.ttl.is_some() && !is_drifted(engram)
}

/// Whether one key may renew a claim now.
pub fn can_renew(engram: &Engram, now: Timestamp) -> bool {
    is_renewable(engram) && engram.holds_now(now)
}

/// Returns what a confirmation did: one after which the evidence reads as before only restarted the
/// ttl. `find` looks up the version before.
pub fn confirmed<'e>(
    engram: &Engram,
    find: impl FnOnce(EngramId) -> Option<&'e Engram>,
) -> &'static str {
    let read = |version: &Engram| -> Vec<_> {
        let pointers = version.pointers.iter();
        pointers.map(|it| it.digest.clone()).collect()
    };
    let before = engram.supersedes.filter(|_| engram.ttl.is_some());
    match before.and_then(find) {
        Some(before) if read(before) == read(engram) => say::steps::RENEWED,
        _ => say::steps::CONFIRMED,
    }
}

/// Returns a ttl in words: `7 days`, `6 h`; one that mixes units, as it was written.
pub fn ttl_in_words(ttl: &Ttl) -> String {
    let text = ttl.to_string();
    let of = |prefix: &str, unit: char| {
        let number = text.strip_prefix(prefix)?.strip_suffix(unit)?;
        number.parse::<u64>().ok()
    };
    let named = |number: u64, one: &str, many: &str| {
        let name = if number == 1 { one } else { many };
        format!("{number} {name}")
    };
    let units = [
        ("PT", 'M', "min", "min"),
        ("PT", 'H', "h", "h"),
        ("P", 'D', "day", "days"),
        ("P", 'W', "week", "weeks"),
        ("P", 'M', "month", "months"),
        ("P", 'Y', "year", "years"),
    ];
    let seconds = || {
        let seconds = of("PT", 'S')?;
        Some(match seconds {
            _ if seconds % 86_400 == 0 => named(seconds / 86_400, "day", "days"),
            _ if seconds % 3_600 == 0 => named(seconds / 3_600, "h", "h"),
            _ if seconds % 60 == 0 => named(seconds / 60, "min", "min"),
            _ => named(seconds, "s", "s"),
        })
    };
    let mut all = units.iter();
    let found =
        all.find_map(|(prefix, unit, one, many)| Some(named(of(prefix, *unit)?, one, many)));
    found.or_else(seconds).unwrap_or_else(|| text.clone())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::json;

    use super::*;

    const NOW: &str = "2027-01-15T08:00:00Z";

    fn engram(from: &str, ttl: Option<&str>) -> Engram {
        let id = format!("{:026}", 1);
        let from: Timestamp = from.parse().unwrap();
        let ttl: Option<Ttl> = ttl.map(|it| it.parse().unwrap());
        let end = ttl.as_ref().map(|it| it.expires_at(from));
        serde_json::from_value(json!({
            "id": id, "seq": 1, "lineage_id": id, "project": id, "claim": "It holds.", "kind": "fact",
            "fact_type": "observation", "scope": "project", "topic": "", "pointers": [], "confidence": 0.7,
            "durability": "durable", "tags": [], "hash_keys": [], "entities": [],
            "provenance": {"created_at": from, "created_by": "ada", "source": "agent"},
            "content_hash": "sha256:1", "valid_from": from, "recorded_at": from, "memory_op": "add",
            "verified": true, "ttl": ttl, "expires_at": end
        }))
        .unwrap()
    }

    #[test]
    fn a_claim_is_about_to_end_within_a_day_or_a_tenth_of_its_ttl() {
        let now: Timestamp = NOW.parse().unwrap();
        for (from, ttl, want) in [
            ("2027-01-15T07:00:00Z", None, false),
            ("2027-01-15T07:00:00Z", Some("P7D"), false),
            ("2027-01-09T08:00:00Z", Some("P7D"), true),
            ("2027-01-09T08:00:01Z", Some("P7D"), false),
            ("2027-01-15T07:00:00Z", Some("PT6H"), true),
            // A tenth of 100 days is longer than a day.
            ("2026-10-17T08:00:00Z", Some("P100D"), true),
            ("2026-10-17T08:00:01Z", Some("P100D"), false),
            // Over.
            ("2027-01-08T08:00:00Z", Some("P7D"), false),
        ] {
            let found = ends_soon(&engram(from, ttl), now).is_some();
            assert_eq!(found, want, "{from} {ttl:?}");
        }
        let mut ephemeral = engram("2027-01-15T07:00:00Z", Some("PT6H"));
        ephemeral.durability = Durability::Ephemeral;
        assert!(ends_soon(&ephemeral, now).is_none());
        let mut over = engram("2027-01-15T07:00:00Z", Some("PT6H"));
        assert!(can_renew(&over, now));
        over.valid_until = Some(now);
        assert!(ends_soon(&over, now).is_none() && !can_renew(&over, now));
        assert!(!can_renew(&engram("2027-01-15T07:00:00Z", None), now));
    }

    #[test]
    fn a_ttl_is_said_in_one_unit() {
        for (ttl, want) in [
            ("P7D", "7 days"),
            ("P1D", "1 day"),
            ("PT86400S", "1 day"),
            ("PT5400S", "90 min"),
            ("PT6H", "6 h"),
            ("PT30M", "30 min"),
            ("P2W", "2 weeks"),
            ("P1M", "1 month"),
            ("P1Y", "1 year"),
            ("P1DT6H", "P1DT6H"),
        ] {
            assert_eq!(ttl_in_words(&ttl.parse().unwrap()), want);
        }
    }

    #[test]
    fn a_confirmation_that_only_restarts_the_ttl_is_a_renewal() {
        let version = |ttl: Option<&str>, read: char| {
            let mut version = engram(NOW, ttl);
            let digest = format!("sha256:{}", String::from(read).repeat(64));
            let pointer = json!({"type": "repo", "ref": "repo:a.rs#L1@abc1234", "digest": digest});
            version.pointers = vec![serde_json::from_value(pointer).unwrap()];
            version
        };
        for (ttl, read, want) in [
            (Some("P7D"), 'a', say::steps::RENEWED),
            (Some("P7D"), 'b', say::steps::CONFIRMED),
            (None, 'a', say::steps::CONFIRMED),
        ] {
            let (before, mut now) = (version(ttl, 'a'), version(ttl, read));
            assert_eq!(confirmed(&now, |_| Some(&before)), say::steps::CONFIRMED);
            now.supersedes = Some(before.id);
            assert_eq!(confirmed(&now, |_| Some(&before)), want, "{ttl:?} {read}");
            assert_eq!(confirmed(&now, |_| None), say::steps::CONFIRMED);
        }
    }
}
