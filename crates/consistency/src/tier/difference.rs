//! Explains to people what differs between two statements: the place in each claim, and a sentence.
//! It repeats only what the claims themselves contain, and quotes names, since a claim is data.

use crate::claim::{Statement, Term, Value, ValueKind};

use super::Tier;

type Spans = Vec<(usize, usize)>;

pub(crate) struct Difference {
    pub(crate) tier: Tier,
    pub(crate) why: String,
    pub(crate) left: Spans,
    pub(crate) right: Spans,
}

impl Difference {
    pub(crate) fn of_values(
        tier: Tier,
        apart: &[(&Value, &Value)],
        shared: &[&Term],
        left: &Statement,
        right: &Statement,
    ) -> Self {
        let kinds = apart.first().map(|it| (&it.0.kind, &it.1.kind));
        let what = match kinds {
            Some((ValueKind::Version(_), _) | (_, ValueKind::Version(_))) => "version",
            Some((ValueKind::Days(_), _)) => "date",
            Some((ValueKind::Clock(_), _)) => "time",
            Some((ValueKind::Name(_), _)) => "value",
            _ => "number",
        };
        let of = match left
            .settings
            .first()
            .filter(|it| right.settings.contains(it))
        {
            Some(setting) => {
                quote_words(&as_written(setting, left).min(as_written(setting, right)))
            }
            None => subject_in_words(shared),
        };
        Self {
            tier,
            why: format!("Both give a {what} for {of}, but they cannot both be right."),
            left: apart.iter().map(|it| (it.0.from, it.0.to)).collect(),
            right: apart.iter().map(|it| (it.1.from, it.1.to)).collect(),
        }
    }

    pub(crate) fn of_terms(one: &Term, other: &Term, shared: &[&Term]) -> Self {
        let kind = match (one.kind, other.kind) {
            (Some(kind), Some(another)) if kind == another => kind,
            (Some(_), Some(_)) => "store",
            _ => "name",
        };
        let (first, second) = if one.text <= other.text {
            (one, other)
        } else {
            (other, one)
        };
        Self {
            tier: Tier::Entity,
            why: format!(
                "Each names a different {kind} for {}: {} and {}.",
                subject_in_words(shared),
                quote_words(&first.text),
                quote_words(&second.text)
            ),
            left: vec![(one.from, one.to)],
            right: vec![(other.from, other.to)],
        }
    }

    pub(crate) fn of_life(left: &Statement, right: &Statement, shared: &[&Term]) -> Self {
        Self {
            tier: Tier::Temporal,
            why: format!(
                "One says that {} is still there, the other that it is gone.",
                subject_in_words(shared)
            ),
            left: left.poles.clone(),
            right: right.poles.clone(),
        }
    }

    pub(crate) fn of_poles(left: &Statement, right: &Statement, shared: &[&Term]) -> Self {
        Self {
            tier: Tier::Entity,
            why: format!(
                "One affirms what the other denies about {}.",
                subject_in_words(shared)
            ),
            left: pole_spans(left, right),
            right: pole_spans(right, left),
        }
    }
}

/// The words that affirm or deny; if one claim has none, the words that the other denies.
fn pole_spans(said: &Statement, other: &Statement) -> Spans {
    if !said.poles.is_empty() {
        return said.poles.clone();
    }
    let last = other.poles.last().map_or(0, |it| it.1);
    let denied = other
        .terms
        .iter()
        .find(|it| it.from >= last)
        .or(other.terms.last());
    let term = denied.and_then(|it| said.terms.iter().find(|term| term.key == it.key));
    term.map(|it| vec![(it.from, it.to)]).unwrap_or_default()
}

/// A setting's name as its claim writes it, since its key has the same words for every spelling.
fn as_written(setting: &str, said: &Statement) -> String {
    let part = |key| {
        let mut names = said.terms.iter().filter(|it| it.traits.name);
        let written = names.find(|it| it.key == key);
        written.map_or(key, |it| it.text.as_str())
    };
    let parts: Vec<&str> = setting.split(' ').map(part).collect();
    parts.join("_")
}

/// The common subject, in a few words.
fn subject_in_words(shared: &[&Term]) -> String {
    const WORDS: usize = 4;
    let nouns = shared
        .iter()
        .filter(|it| !it.traits.verb && !it.key.starts_with('='));
    let mut words: Vec<&str> = nouns.map(|it| it.text.as_str()).take(WORDS).collect();
    if words.is_empty() {
        words = shared
            .iter()
            .map(|it| it.text.as_str())
            .take(WORDS)
            .collect();
    }
    if words.is_empty() {
        "the same thing".to_owned()
    } else {
        quote_words(&words.join(" "))
    }
}

/// Quotes words of a claim, so that they cannot look like our own sentence.
fn quote_words(words: &str) -> String {
    const CHARS: usize = 60;
    let shown: String = words
        .chars()
        .filter(|it| !it.is_control() && !"`\"".contains(*it))
        .take(CHARS)
        .collect();
    format!("`{shown}`")
}
