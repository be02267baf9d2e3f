//! Secrets that must be found.

use base64::{Engine, engine::general_purpose::STANDARD};
use engram_consistency::screen;

use crate::{lines, text_of};

const MADE_UP: &str = include_str!("made_up.txt");
const PUBLISHED: &str = include_str!("published.txt");

/// Secrets that are not found, with the reason.
const MISSED: &[(&str, &str)] = &[(
    "Railway",
    "a bare UUID is an id, unless a rule knows the vendor beside it",
)];

/// The number of texts for each template, since a single draw can by chance read as words or as a
/// placeholder.
const DRAWS: usize = 20;

#[test]
fn made_up_credentials_are_found() {
    let (mut all, mut missed) = (0, Vec::new());
    for line in lines(MADE_UP) {
        let (vendor, template) = line.split_once('\t').unwrap();
        let texts = (0..DRAWS).map(|seed| text_of(template, seed));
        let passed: Vec<String> = texts.filter(|it| screen(it).is_none()).collect();
        let known = MISSED.iter().any(|it| it.0 == vendor);
        assert_eq!(known, passed.len() * 2 > DRAWS, "{vendor}: {passed:#?}");
        all += DRAWS;
        missed.extend(passed);
    }
    assert!(all >= 141 * DRAWS);
    assert!(
        missed.len() * 100 <= all,
        "{} of {all} are missed: {missed:#?}",
        missed.len()
    );
}

#[test]
fn cases_that_other_scanners_publish_are_found() {
    let cases: Vec<String> = lines(PUBLISHED)
        .map(|line| {
            let case = STANDARD.decode(line.split_once('\t').unwrap().1).unwrap();
            String::from_utf8(case).unwrap()
        })
        .collect();
    let missed: Vec<&String> = cases.iter().filter(|it| screen(it).is_none()).collect();
    assert!(
        missed.len() * 20 <= cases.len(),
        "{} of {} are missed: {missed:#?}",
        missed.len(),
        cases.len()
    );
}

#[test]
fn a_finding_says_what_it_looks_like_and_never_what_it_is() {
    for line in lines(MADE_UP) {
        let (_, template) = line.split_once('\t').unwrap();
        let text = text_of(template, 3);
        if let Some(secret) = screen(&text) {
            assert!(
                secret.rule.starts_with("a ") || secret.rule.starts_with("an "),
                "{}",
                secret.rule
            );
            let value = &text[secret.range];
            assert!(!value.is_empty() && !secret.rule.contains(value));
        }
    }
}

/// A sentence that contains a service's key, and no word that says so. Hex digits and UUIDs pass,
/// as ids and digests do.
#[test]
fn nine_in_ten_stand_bare_in_a_sentence_and_are_found() {
    const NO_SERVICE: [&str; 5] = ["Connection", "Assignment", "Command", "Header", "Sentence"];
    let (mut all, mut missed) = (0, Vec::new());
    for line in lines(MADE_UP) {
        let (vendor, template) = line.split_once('\t').unwrap();
        if NO_SERVICE.contains(&vendor) {
            continue;
        }
        all += 1;
        let bare = (0..DRAWS).filter_map(|seed| {
            let text = text_of(template, seed);
            let value = text.get(screen(&text)?.range)?;
            Some(format!("The staging box uses {value} for now."))
        });
        let passed = bare.filter(|it| screen(it).is_none()).count();
        if passed * 2 > DRAWS {
            missed.push(line);
        }
    }
    assert!(all > 160, "only {all} forms");
    assert!(
        missed.len() * 10 <= all,
        "{} of {all} are missed: {missed:#?}",
        missed.len()
    );
}
