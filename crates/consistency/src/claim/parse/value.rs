//! Reads the values of a clause in order: numbers, periods, ports, versions.

use crate::claim::{
    statement::{Aspect, Traits},
    values::{
        quantity::{self, FoundValue},
        unit::{self, Dimension},
        value::{Value, ValueKind},
    },
    words::{
        lexicon::{self, Form},
        name,
        token::Token,
        vocabulary,
    },
};

use super::{clause, read::Reader, sketch::PlacedWord};

impl Reader<'_> {
    /// Takes a value that starts here.
    pub(crate) fn take_value(&mut self) -> bool {
        let word = self.words.lower(self.at);
        let next = self.words.lower(self.at + 1);
        let every = ["every", "each"].contains(&word);
        let noun = self
            .words
            .get(self.at + 1)
            .is_some_and(|it| !it.mark && lexicon::meaning_of(&it.lower).is_none());
        if let Some(seconds) = unit::period(word).filter(|_| !noun).or_else(|| {
            unit::unit(next)
                .filter(|it| every && it.dimension == Dimension::Time)
                .map(|it| it.worth)
        }) {
            let taken = 1 + usize::from(every);
            let last = self.words.get(self.at + taken - 1).map_or(0, |it| it.to);
            let from = self.words.get(self.at).map_or(0, |it| it.from);
            let kind = ValueKind::amount(seconds, Dimension::Time);
            self.said.aspect = Some(Aspect::Interval);
            self.add_value(Value::exact(kind, from, last), false);
            self.at += taken;
            return true;
        }
        let Some(token) = self.words.get(self.at) else {
            return false;
        };
        if token.quoted
            && token.text.chars().any(char::is_alphabetic)
            && !token.text.starts_with(|it: char| it.is_ascii_digit())
        {
            return false;
        }
        let Some(mut found) = quantity::value_at(&self.words, self.at) else {
            return self.take_port(token);
        };
        self.make_version(token, &mut found);
        self.make_range(token, &mut found);
        if found.period {
            self.said.aspect = Some(Aspect::Interval);
        }
        self.sketch.skipped.extend(&found.apart);
        let thing = found.thing.take();
        let (from, to) = (found.value.from, found.value.to);
        let words = found.words;
        if token.text.starts_with(':') {
            self.add_term("port".to_owned(), (from, to), Traits::default(), None);
        }
        self.add_value(found.value, found.bare);
        if let Some(thing) = thing {
            self.add_term(
                name::key_of_word(&thing.to_lowercase()),
                (from, to),
                Traits::default(),
                None,
            );
        }
        self.at += words;
        true
    }

    /// Takes `localhost:5432`: a name and its port.
    fn take_port(&mut self, token: &Token) -> bool {
        let Some((host, port)) = token
            .text
            .rsplit_once(':')
            .filter(|it| !it.0.is_empty() && !it.0.contains(['/', ':']))
        else {
            return false;
        };
        let Some(number) = port.parse::<u16>().ok().filter(|_| port.len() >= 2) else {
            return false;
        };
        let number = crate::claim::values::number::Ratio::whole(i64::from(number));
        let from = token.to - port.len();
        self.add_term(
            host.to_lowercase(),
            (token.from, from),
            Traits {
                name: true,
                ..Traits::default()
            },
            None,
        );
        self.add_term("port".to_owned(), (from, token.to), Traits::default(), None);
        let kind = ValueKind::amount(number, Dimension::Count);
        self.add_value(Value::exact(kind, from, token.to), true);
        self.at += 1;
        true
    }

    /// A bare number directly after a name is its version: Node 20, Python 3.11.
    fn make_version(&self, token: &Token, found: &mut FoundValue) {
        let next = self.words.get(self.at + found.words);
        let noun = next.is_some_and(|it| !it.mark && lexicon::meaning_of(&it.lower).is_none());
        let named = self.sketch.last_name_at.is_some_and(|it| {
            (it + 1..self.at).all(|it| {
                self.words
                    .get(it)
                    .is_some_and(|it| it.mark && it.text.contains(['<', '>', '≥', '≤', '^', '~']))
            })
        });
        let plain = token.text.trim_end_matches('+');
        let digits = plain.bytes().all(|it| it.is_ascii_digit() || it == b'.');
        if found.bare
            && named
            && !noun
            && digits
            && let Some(numbers) = quantity::version_of(plain)
        {
            found.value.kind = ValueKind::Version(numbers);
        }
    }

    /// Reads `^18.2.0` and `~18.2.0` as ranges of versions.
    fn make_range(&self, token: &Token, found: &mut FoundValue) {
        let before = self.at.checked_sub(1).and_then(|it| self.words.get(it));
        let Some(sign) = before.filter(|it| it.to == token.from) else {
            return;
        };
        if sign.is("^")
            && let Some(numbers) = quantity::version_of(&token.text)
        {
            found.value.kind = ValueKind::Version(numbers);
            found.value.form = Form::Compatible;
        } else if sign.is("~") && matches!(found.value.kind, ValueKind::Version(_)) {
            found.value.form = Form::Patched;
        }
    }

    /// Whether a verb follows the number here: "port 80 is open" is about that port.
    fn says_on(&self) -> bool {
        let next = self.words.get(self.at + 1);
        next.is_some_and(|it| [true, false].iter().any(|sure| clause::is_verb(it, *sure)))
    }

    /// Whether the number here distinguishes a thing from others of its kind.
    fn is_numbered(&self) -> bool {
        let back = |steps: usize| {
            let at = self.at.checked_sub(steps);
            at.map_or("", |it| self.words.lower(it))
        };
        let port = back(1) == "port" && ["", "the"].contains(&back(2)) && self.says_on();
        let is_serial = !self.sketch.verb_seen && vocabulary::list_has(vocabulary::SERIAL, back(1));
        port || is_serial
            || vocabulary::list_has(vocabulary::NUMBERED, back(1))
                && !(back(1) == "number" && vocabulary::list_has(vocabulary::WITH_NUMBERS, back(2)))
    }

    fn add_value(&mut self, mut value: Value, bare: bool) {
        if self.sketch.changed && self.preposition == "from" {
            self.preposition = "";
            return;
        }
        let beside = self.at.checked_sub(1);
        let last = self.sketch.places.last().and_then(|it| it.term);
        let last = last.and_then(|it| self.said.terms.get(it));
        self.sketch.in_lots |= self.preposition == "of" && last.is_some_and(|it| it.led == "in");
        let named = self
            .sketch
            .places
            .last()
            .is_some_and(|it| it.term.is_some() && Some(it.at) == beside);
        let number = bare || matches!(value.kind, ValueKind::Version(_));
        value.label = number && named && !self.sketch.verb_seen;
        if bare && self.is_numbered() {
            value.label = true;
            self.sketch.numbered.insert(self.said.values.len());
        }
        self.sketch.places.push(PlacedWord {
            at: self.at,
            term: None,
            value: Some(self.said.values.len()),
        });
        self.sketch.bare.push(bare);
        self.sketch
            .after
            .push(["after", "within", "in"].contains(&self.preposition));
        self.said.values.push(value);
        self.preposition = "";
    }
}
