//! Combines what was noted in a clause: which bound belongs to which number, what a setting is set
//! to, which kind of time is meant.

use std::collections::BTreeSet;

use crate::claim::{
    statement::{Aspect, Reach, Statement},
    values::{
        quantity,
        unit::{self, Dimension},
        value::{Value, ValueKind},
    },
    words::{lexicon::Form, technology, token::Token},
};

use super::assigned;

/// A word of the clause, and the term or value that it became.
pub(crate) struct PlacedWord {
    pub(crate) at: usize,
    pub(crate) term: Option<usize>,
    pub(crate) value: Option<usize>,
}

/// What is noted while a clause is parsed.
#[derive(Default)]
pub(crate) struct Sketch {
    pub(crate) places: Vec<PlacedWord>,
    /// For each value: whether it was a bare number, and whether it followed "after".
    pub(crate) bare: Vec<bool>,
    pub(crate) after: Vec<bool>,
    pub(crate) skipped: BTreeSet<usize>,
    /// Whether a value is the size of a group: "in batches of 500". The verb then does not count.
    pub(crate) in_lots: bool,
    /// The values that distinguish a thing from others of its kind, whatever else the clause says.
    pub(crate) numbered: BTreeSet<usize>,
    pub(crate) forms: Vec<(usize, Form)>,
    pub(crate) about: Vec<usize>,
    /// The position of the word before an assigned value, and whether the notation is used only for
    /// assignments.
    pub(crate) assigned: Option<(usize, bool)>,
    pub(crate) verb_seen: bool,
    pub(crate) was: bool,
    /// Whether its verb is "is", alone or before a participle, or "runs on".
    pub(crate) is_copula: bool,
    pub(crate) changed: bool,
    pub(crate) filled: bool,
    pub(crate) ended: bool,
    pub(crate) last_name_at: Option<usize>,
    /// The settings: the parts of the name, the position of its first term, and its first
    /// character.
    pub(crate) settings: Vec<(Vec<String>, usize, usize)>,
    pub(crate) concepts: Vec<&'static str>,
    pub(crate) ends: Vec<(&'static str, bool)>,
    pub(crate) holds: Vec<&'static str>,
    alive: Option<bool>,
    poles: Vec<(usize, usize)>,
}

impl Sketch {
    /// Notes whether something still exists; once gone, it stays gone.
    pub(crate) fn note_alive(&mut self, alive: bool, span: (usize, usize)) {
        self.alive = Some(self.alive.unwrap_or(true) && alive);
        self.poles.push(span);
        self.verb_seen = true;
    }

    pub(crate) fn finish(mut self, mut said: Statement, tokens: &[Token]) -> Statement {
        self.apply_bounds(&mut said);
        self.mark_versions(&mut said, tokens);
        self.units_of_settings(&mut said);
        assigned::assign(&mut self, &mut said, tokens);
        self.determine_aspect(&mut said, tokens);
        self.determine_existence(&mut said);
        mark_implied(&mut said);
        // Without a verb, a number after a name is the name's value.
        for (at, value) in said.values.iter_mut().enumerate() {
            value.label &= self.verb_seen || self.numbered.contains(&at);
        }
        said.sole |= self.filled || self.is_copula;
        said.settings = self.settings.iter().map(|it| it.0.join(" ")).collect();
        said.settings.sort();
        said.settings.dedup();
        // A class without any word in the subject narrows nothing.
        if matches!(&said.reach, Reach::All { class, .. } if class.is_empty()) {
            said.reach = Reach::Named;
        }
        let nothing_left =
            self.changed && said.values.is_empty() && said.terms.iter().all(|it| it.kind.is_none());
        // Digits of other scripts are not read, so what the clause says about numbers is unknown.
        let unread = tokens
            .iter()
            .any(|it| it.text.chars().any(|it| it.is_numeric() && !it.is_ascii()));
        said.aside |= nothing_left || unread;
        said.event |= self.changed;
        said
    }

    /// Applies "at most" or "about" to the next number nearby, or else to the previous one.
    fn apply_bounds(&mut self, said: &mut Statement) {
        let values: Vec<(usize, usize)> = self
            .places
            .iter()
            .filter_map(|it| Some((it.at, it.value?)))
            .collect();
        let next = |at: usize| {
            values
                .iter()
                .find(|it| it.0 > at && it.0 - at <= 5)
                .map(|it| it.1)
        };
        let before = |at: usize| values.iter().rfind(|it| it.0 < at).map(|it| it.1);
        for &(at, form) in &self.forms {
            let trails = matches!(form, Form::AtMost | Form::AtLeast);
            let value = next(at).or_else(|| before(at).filter(|_| trails));
            if let Some(value) = value.and_then(|it| said.values.get_mut(it)) {
                value.form = form;
                said.allowed |= trails;
            }
        }
        for &at in &self.about {
            if let Some(value) = next(at).and_then(|it| said.values.get_mut(it)) {
                value.about = true;
            }
        }
    }

    /// Handles numbers that are called a version, or pinned.
    fn mark_versions(&mut self, said: &mut Statement, tokens: &[Token]) {
        if !said.has("version") && !said.has("pin") {
            return;
        }
        for place in &self.places {
            let Some(value) = place.value.and_then(|it| said.values.get_mut(it)) else {
                continue;
            };
            let bare = place
                .value
                .and_then(|it| self.bare.get(it))
                .is_some_and(|it| *it);
            let text = tokens
                .get(place.at)
                .map_or("", |it| it.text.trim_end_matches('+'));
            if bare && let Some(numbers) = quantity::version_of(text) {
                value.kind = ValueKind::Version(numbers);
            }
        }
    }

    /// `TTL_SECONDS=900`: the unit of a bare number may be the end of the setting's name.
    fn units_of_settings(&mut self, said: &mut Statement) {
        const ENDS: &str =
            "ms milli millisecond sec second minut hour day byte kb mb gb kib mib gib percent";
        let [(parts, first, _)] = self.settings.as_mut_slice() else {
            return;
        };
        let Some(unit) = parts
            .last()
            .filter(|it| ENDS.split(' ').any(|end| end == it.as_str()) && parts.len() > 1)
            // requests_per_second is not counted in seconds
            .filter(|_| !parts.iter().any(|it| it == "per"))
        else {
            return;
        };
        let spelled = match unit.as_str() {
            "minut" => "min",
            "milli" => "ms",
            name => name,
        };
        let (Some(unit), [value]) = (unit::unit(spelled), said.values.as_mut_slice()) else {
            return;
        };
        if let ValueKind::Quantity {
            low,
            high,
            or,
            dimension,
        } = &mut value.kind
            && *dimension == Dimension::Count
            && let (Some(least), Some(most)) = (low.times(unit.worth), high.times(unit.worth))
        {
            (*low, *high, *dimension) = (least, most, unit.dimension);
            *or = or.and_then(|it| it.times(unit.worth));
        }
        let place = *first + parts.len() - 1;
        if said
            .terms
            .get(place)
            .is_some_and(|it| Some(&it.key) == parts.last())
        {
            said.terms.remove(place);
        }
        parts.pop();
    }

    /// Determines the kind of time, and drops the words that only express it.
    fn determine_aspect(&mut self, said: &mut Statement, tokens: &[Token]) {
        let timed = said
            .values
            .iter()
            .any(|it| it.dimension() == Some(Dimension::Time));
        let counted = !said.values.is_empty();
        let drop_term = |said: &mut Statement, key: &str| {
            said.terms.retain(|it| it.key != key || it.traits.name)
        };
        if timed {
            for (key, _) in std::mem::take(&mut self.ends) {
                let follows = self.after.iter().any(|it| *it);
                if follows || key == "expire" {
                    said.aspect = said.aspect.or(Some(Aspect::Lasting));
                    said.until.insert(key);
                    drop_term(said, key);
                }
            }
            if said.aspect.is_none()
                && (!self.holds.is_empty() || self.concepts.contains(&"lasting"))
            {
                said.aspect = Some(Aspect::Lasting);
            }
            if self.concepts.contains(&"interval") {
                said.aspect = Some(Aspect::Interval);
                said.interval = true;
            }
            said.terms
                .retain(|it| !["lasting", "interval"].contains(&it.key.as_str()));
        }
        if counted {
            for key in &self.holds {
                said.until.insert(key);
                drop_term(said, key);
            }
        }
        said.terms.retain(|it| !(self.in_lots && it.traits.verb));
        let gives_up = said.has("timeout");
        if gives_up && timed {
            // It waits for an answer before it times out: the wait is the timeout.
            drop_term(said, "wait");
            drop_term(said, "=before");
        }
        if gives_up && !timed && (said.has("attempt") || said.has("retry")) {
            // It gives up after that many attempts, so the number is a maximum.
            drop_term(said, "timeout");
            at_most(said, Dimension::Count);
        }
        if tokens
            .iter()
            .any(|it| ["get", "gets"].contains(&it.lower.as_str()))
        {
            // What a client gets per minute is the most it may use.
            at_most(said, Dimension::Rate);
        }
        let bound = |key: &str| said.terms.iter().any(|it| it.key == key);
        let (most, least) = (bound("limit"), bound("minimum"));
        let accepts = said.has("=accept") || said.has("=allow");
        said.allowed |= most || least || accepts || said.has("range");
        let more = said.values.iter().any(|it| it.form == Form::More);
        if said.negative && accepts && more {
            // If more than the number is refused, the number is the most that is accepted.
            said.negative = false;
            said.terms
                .retain(|it| !["=accept", "=allow"].contains(&it.key.as_str()));
            for value in said.values.iter_mut().filter(|it| it.form == Form::More) {
                value.form = Form::AtMost;
            }
        }
        if counted && (most || least) {
            let form = if most { Form::AtMost } else { Form::AtLeast };
            for value in said
                .values
                .iter_mut()
                .filter(|it| it.form == Form::Exact && !matches!(it.kind, ValueKind::Name(_)))
            {
                value.form = form;
            }
        }
    }

    /// Whether the subject of a clause still exists: "was removed in 2.4", "is still in use".
    fn determine_existence(&mut self, said: &mut Statement) {
        let timed = said
            .values
            .iter()
            .any(|it| it.dimension() == Some(Dimension::Time));
        let removed = self
            .ends
            .iter()
            .any(|it| it.1 && ["remove", "delete"].contains(&it.0));
        if removed && !timed {
            self.alive = Some(false);
            said.terms
                .retain(|it| !["remove", "delete"].contains(&it.key.as_str()));
        }
        if let Some(alive) = self.alive {
            said.alive = Some(alive != said.negative);
            said.negative = false;
            said.poles.append(&mut self.poles);
            said.terms.retain(|it| it.key != "support");
        }
    }
}

/// Treats the exact numbers of a dimension as maximums.
fn at_most(said: &mut Statement, dimension: Dimension) {
    let exact = |it: &&mut Value| it.form == Form::Exact && it.dimension() == Some(dimension);
    for value in said.values.iter_mut().filter(exact) {
        value.form = Form::AtMost;
        said.allowed = true;
    }
}

/// Marks what the value already implies: a size in bytes, a rate in requests a second.
fn mark_implied(said: &mut Statement) {
    let of = |dimension: Dimension| {
        said.values
            .iter()
            .any(|it| it.dimension() == Some(dimension))
    };
    let any = !said.values.is_empty();
    let (time, data, rate) = (
        of(Dimension::Time),
        of(Dimension::Data),
        of(Dimension::Rate) || of(Dimension::DataRate),
    );
    let version = said
        .values
        .iter()
        .any(|it| matches!(it.kind, ValueKind::Version(_)));
    let least = said.values.iter().any(|it| it.form == Form::AtLeast);
    let product = said
        .terms
        .iter()
        .any(|it| it.kind.is_some_and(technology::is_part_of_product));
    let port = said.has("port");
    // What runs at three, or every hour, also starts then.
    let clock = |it: &Value| matches!(it.kind, ValueKind::Clock(_));
    let recurs = said.aspect == Some(Aspect::Interval) || said.values.iter().any(clock);
    for term in said.terms.iter_mut().filter(|it| !it.traits.name) {
        term.traits.implied = match term.key.as_str() {
            "limit" | "minimum" | "count" => any,
            // "Needs two" does not exclude more than two, but after a version or a minimum, "needs"
            // adds nothing.
            "=mandatory" => version || least,
            "pin" | "lock" | "write" if term.traits.verb => version,
            "build" if term.traits.verb => version && product,
            "serv" if term.traits.verb => port,
            "start" | "begin" | "schedul" | "trigger" if term.traits.verb => recurs,
            "length" | "durat" => time || data || any,
            "size" => data || any,
            "larg" => data,
            "rate" | "throughput" => rate,
            "version" | "releas" => version,
            _ => false,
        };
    }
}
