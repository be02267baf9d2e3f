//! Properties of any two claims.

use std::time::{Duration, Instant};

use engram_consistency::{
    claim::{Claim, ValueKind, unit},
    tier::{self, Disagreement},
};
use proptest::prelude::*;

use crate::{compare, pairs::developed, side_of};

/// Words that the rules know, mixed with other text.
fn text() -> impl Strategy<Value = String> {
    let known = prop::sample::select(vec![
        "the",
        "pool",
        "timeout",
        "is",
        "not",
        "30",
        "s",
        "minutes",
        "half an hour",
        "at most",
        "all services",
        "when",
        "`MAX_CONN`",
        "=",
        "1.5",
        "v2",
        "PostgreSQL",
        "MySQL",
        "uses",
        "and",
        ",",
        ".",
        "every",
        "no",
        "in production",
        "2026-02-30",
        "10-20",
        "a",
        "per second",
        "except",
        "was",
        "without",
        "99999999999999999999999999999999999999999",
        "1e99",
        "0x1F",
        "-",
        "٣٠",
        "三十",
        "½",
        "\u{301}",
        "e.g.",
        "before",
        "after",
        "unencrypted",
        ":",
        "(",
        "12:99",
    ]);
    let piece =
        prop_oneof![3 => known.prop_map(str::to_owned), 1 => "\\PC{0,12}", 1 => any::<String>()];
    prop::collection::vec(piece, 0..14).prop_map(|it| it.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn either_order_finds_the_same(a in text(), b in text(), filed in 0_usize..4) {
        let (one, other) = [("", ""), ("db/pool", "db"), ("pool", "pool"), ("pool/a", "pool/b")][filed];
        let (left, right) = (Claim::read(&a), Claim::read(&b));
        let (left, right) = (side_of(&left, one), side_of(&right, other));
        let (there, back) = (tier::compare(&left, &right), tier::compare(&right, &left));
        prop_assert_eq!(there.is_some(), back.is_some());
        if let (Some(there), Some(back)) = (there, back) {
            prop_assert_eq!((there.tier, there.severity, there.score), (back.tier, back.severity, back.score));
            prop_assert_eq!((there.differs_a, there.differs_b), (back.differs_b, back.differs_a));
        }
        prop_assert_eq!(tier::corroborates(&left, &right), tier::corroborates(&right, &left));
        prop_assert_eq!(tier::same_matter(&left, &right), tier::same_matter(&right, &left));
    }

    #[test]
    fn no_claim_contradicts_itself(a in text()) {
        prop_assert_eq!(compare(&a, &a), None);
        let loud = a.split_whitespace().collect::<Vec<_>>().join("  \n ");
        prop_assert_eq!(compare(&a, &loud), None);
    }

    #[test]
    fn what_differs_lies_within_the_claim(a in text(), b in text()) {
        if let Some(finding) = compare(&a, &b) {
            for (spans, text) in [(finding.differs_a, &a), (finding.differs_b, &b)] {
                for (from, to) in spans {
                    prop_assert!(from < to && to <= text.chars().count());
                }
            }
        }
    }

    /// A quantity is read as the same in each of its units.
    #[test]
    fn units_round_trip(number in 1_u32..5000, seconds in 1_u32..500, from in 0_usize..5, to in 0_usize..5) {
        const TIMES: [&str; 5] = ["ms", "s", "minutes", "hours", "days"];
        const SIZES: [&str; 5] = ["bytes", "kB", "MB", "KiB", "MiB"];
        for (units, number) in [(TIMES, seconds), (SIZES, number)] {
            let (one, other) = (unit(units[from]).unwrap(), unit(units[to]).unwrap());
            // The number in the other unit, in ten-thousandths, if that is whole.
            let scaled = one.worth.times(engram_consistency::claim::Ratio::whole(i64::from(number))).unwrap();
            let scaled = scaled.divided_by(other.worth).unwrap();
            let thousandths = scaled.times(engram_consistency::claim::Ratio::whole(10_000)).unwrap();
            let Some(whole) = thousandths.as_whole() else { continue };
            let written = format!("{}.{:04}", whole / 10_000, whole % 10_000);
            let a = format!("The limit of the store is {number} {}.", units[from]);
            let b = format!("The limit of the store is {written} {}.", units[to]);
            prop_assert_eq!(compare(&a, &b), None, "{} | {}", a, b);
            let low = |text: &str| match Claim::read(text).statements[0].values[0].kind {
                ValueKind::Quantity { low, .. } => low,
                _ => panic!("{text}"),
            };
            prop_assert_eq!(low(&a), low(&b));
        }
    }

    /// Two numbers in any unit are two different limits.
    #[test]
    fn other_numbers_are_found(number in 1_u32..1_000_000, more in 1_u32..1_000_000, unit in 0_usize..6) {
        let unit = ["ms", "s", "hours", "MB", "GiB", "requests per minute"][unit];
        let a = format!("The limit of the store is {number} {unit}.");
        let b = format!("The limit of the store is {} {unit}.", number + more);
        prop_assert!(compare(&a, &b).is_some(), "{} | {}", a, b);
    }

    /// Claims in other scripts share no word that would make them about the same thing.
    #[test]
    fn other_scripts_raise_no_false_conflict(a in "[ぁ-んァ-ヶ一-龠가-힣А-яא-תء-ي0-9 ]{1,60}", b in "[ぁ-んァ-ヶ一-龠가-힣А-яא-תء-ي ]{1,60}") {
        prop_assert_eq!(compare(&a, &b), None);
    }
}

/// A claim has a few hundred characters; the time to read any text stays in proportion to its
/// length.
#[test]
fn hostile_input_takes_no_longer() {
    let units = [
        "and is ",
        "the ",
        "a ",
        "1 ",
        "1,",
        "9",
        "not ",
        "except ",
        "every ",
        "`",
        "\"a ",
        "- ",
        "10-",
        "when if ",
        "all ",
        "x_",
        "aB",
        "::",
        "1 to 2 to ",
        "é\u{301}",
        "half a ",
        "per second per ",
        "and 1 is ",
        ", and 1 is ",
        "before ",
        "between 1 and ",
        "12 May 2020 ",
        "is `a` ",
    ];
    let claims: Vec<(String, Claim)> = units
        .iter()
        .map(|unit| {
            let text = unit.repeat(100_000 / unit.len());
            let begun = Instant::now();
            let claim = Claim::read(&text);
            assert!(
                begun.elapsed() < Duration::from_secs(5),
                "{unit:?}: {:?}",
                begun.elapsed()
            );
            (text, claim)
        })
        .collect();
    let begun = Instant::now();
    for (_, a) in &claims {
        for (_, b) in &claims {
            tier::compare(&side_of(a, "x"), &side_of(b, "x"));
        }
        tier::claim_keys(a, "x/y");
    }
    assert!(
        begun.elapsed() < Duration::from_secs(20),
        "{:?}",
        begun.elapsed()
    );
}

/// Each pair of the set gives the same result in the other order, and each claim agrees with
/// itself.
#[test]
fn the_set_is_judged_alike_in_either_order() {
    for pair in developed() {
        let (a, b) = (Claim::read(&pair.a), Claim::read(&pair.b));
        let (left, right) = (side_of(&a, &pair.topic_a), side_of(&b, &pair.topic_b));
        let (left_bare, right_bare) = (side_of(&a, ""), side_of(&b, ""));
        for (left, right) in [(&left, &right), (&left_bare, &right_bare)] {
            let told = |it: Disagreement| (it.tier, it.severity, it.score);
            let there = tier::compare(left, right).map(told);
            let back = tier::compare(right, left).map(told);
            assert_eq!(there, back, "{} | {}", pair.a, pair.b);
        }
        assert_eq!(tier::compare(&left, &left), None, "{}", pair.a);
    }
}
