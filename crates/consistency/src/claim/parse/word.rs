//! Parses the words that the lexicon does not list in this form: names, files, technologies, and
//! prose, which is looked up by its stem.

use crate::claim::{
    statement::{Reach, Term, Traits},
    words::{
        lexicon::{self, Meaning},
        name, technology,
        token::Token,
    },
};

use super::{circumstance, read::Reader, sketch::PlacedWord};

/// The most parts of a name or a word.
const PARTS: usize = 12;

impl Reader<'_> {
    /// Parses a word that the lexicon does not list in this form: a name, a path, or prose.
    pub(crate) fn take_word(&mut self, token: &Token) {
        let literal = token.quoted;
        let span = (token.from, token.to);
        let first = self.sketch.places.is_empty();
        if circumstance::is_region(&token.lower) {
            self.said.environment.insert(token.lower.clone());
            return;
        }
        if let Some(next) = self
            .words
            .get(self.at + 1)
            .filter(|it| technology::is_pair(&token.lower, &it.lower))
        {
            let pair = format!("{}{}", token.lower, next.lower);
            if let Some((key, kind)) = name::technology_of(&pair) {
                self.at += 1;
                self.add_name(key, (token.from, next.to), literal, Some(kind));
                return;
            }
        }
        let is_common = || {
            !literal
                && (first || !token.text.starts_with(char::is_uppercase))
                && technology::is_common(&name::folded_name(&token.text))
                && !self.is_of_version()
        };
        if let Some((key, kind)) = name::technology_of(&token.text).filter(|_| !is_common()) {
            self.add_name(key, span, literal, Some(kind));
            return;
        }
        if name::is_path(&token.text) {
            self.take_path(token, literal);
            return;
        }
        if literal || name::is_identifier(&token.text) {
            self.identifier(token, literal);
            return;
        }
        self.take_prose(token, first);
    }

    fn add_name(
        &mut self,
        key: String,
        span: (usize, usize),
        literal: bool,
        kind: Option<&'static str>,
    ) {
        if self.sketch.changed && self.preposition == "from" {
            self.preposition = "";
            return;
        }
        self.sketch.last_name_at = Some(self.at);
        self.add_term(
            key,
            span,
            Traits {
                name: true,
                literal,
                ..Traits::default()
            },
            kind,
        );
    }

    /// Parses a path. The file in which something is set says nothing about its value.
    fn take_path(&mut self, token: &Token, literal: bool) {
        let said = self.sketch.filled || self.sketch.verb_seen && !self.said.values.is_empty();
        let aside = ["in", "at", "from", "by"].contains(&self.preposition)
            && (!self.said.values.is_empty() || self.sketch.assigned.is_some())
            && (!self.sketch.filled || said && !self.said.values.is_empty());
        if aside && !self.sketch.places.is_empty() {
            self.preposition = "";
            return;
        }
        let key = token.text.trim_end_matches(['/', ':']).to_lowercase();
        self.add_term(
            key,
            (token.from, token.to),
            Traits {
                name: true,
                path: true,
                literal,
                ..Traits::default()
            },
            None,
        );
    }

    /// Parses a name with several parts, each of which may also appear in prose.
    fn identifier(&mut self, token: &Token, literal: bool) {
        let mut parts = name::name_parts(&token.text);
        if parts.len() > PARTS {
            parts = vec![token.lower.clone()];
        }
        let keys: Vec<String> = parts.iter().map(|it| name::key_of_part(it)).collect();
        let lasts = keys.iter().any(|it| it == "lasting");
        self.sketch.concepts.extend(lasts.then_some("lasting"));
        if name::is_setting(&token.text) && !keys.is_empty() {
            self.sketch
                .settings
                .push((keys.clone(), self.said.terms.len(), token.from));
        }
        self.sketch.last_name_at = Some(self.at);
        for key in keys {
            let generic =
                parts.len() > 1 && matches!(lexicon::meaning_of_stem(&key), Some(Meaning::Generic));
            self.add_term(
                key,
                (token.from, token.to),
                Traits {
                    name: true,
                    literal,
                    generic,
                    ..Traits::default()
                },
                None,
            );
        }
    }

    /// Parses a word of prose: listed by its stem, or a word of the subject.
    fn take_prose(&mut self, token: &Token, first: bool) {
        let span = (token.from, token.to);
        let lower = token.lower.trim_end_matches("'s").trim_end_matches('\'');
        if let Some(rest) = circumstance::denied_word(lower) {
            self.said.negative = !self.said.negative;
            self.said.poles.push(span);
            self.prose_word(&rest, token, first);
            return;
        }
        self.prose_word(lower, token, first);
    }

    fn prose_word(&mut self, lower: &str, token: &Token, first: bool) {
        let span = (token.from, token.to);
        let base = lexicon::base_of_irregular(lower).unwrap_or(lower);
        let stem = lexicon::stem(base);
        let capital = token.text.starts_with(char::is_uppercase);
        let acronym = token.text.chars().filter(|it| it.is_uppercase()).count() > 1;
        let name = (capital && !first) || acronym;
        let acts = self.acts_as_verb(lower, token);
        let meaning = lexicon::meaning_of_stem(&stem).filter(|it| acts || !it.is_verb());
        match meaning {
            Some(Meaning::Generic) => self.add_term(
                stem,
                span,
                Traits {
                    generic: true,
                    ..Traits::default()
                },
                None,
            ),
            Some(Meaning::Light) => self.apply_light_verb(lower, self.at),
            Some(Meaning::Concept(key)) => {
                self.sketch.verb_seen |= !self.sketch.places.is_empty() && lower.ends_with("ed");
                // "Calls authenticate with mTLS": the verb has the key of its noun.
                self.sketch.filled |= !first && lower.starts_with("authenticate");
                self.add_concept(key, span);
            }
            Some(Meaning::Opposite(..)) if self.is_attribute(token, self.at) => {
                self.add_term(name::key_of_word(lower), span, Traits::default(), None);
            }
            Some(Meaning::Opposite(key, side)) => self.add_opposite(key, side, span),
            Some(Meaning::Filled(key)) => {
                self.sketch.filled |= !first;
                // "Stored for a week" means "kept for a week".
                self.sketch.holds.extend((key == "store").then_some(key));
                self.add_verb(key.to_owned(), span);
            }
            Some(Meaning::End(key)) => {
                self.sketch.ends.push((key, self.sketch.was));
                self.add_verb(key.to_owned(), span);
            }
            Some(Meaning::Hold(key)) => {
                self.sketch.holds.push(key);
                self.add_verb(key.to_owned(), span);
            }
            Some(Meaning::Change) => {
                self.sketch.changed = true;
                self.sketch.verb_seen = true;
            }
            Some(Meaning::Verb) => self.add_verb(stem, span),
            _ if lower.ends_with("ly") && lower.len() > 4 => {}
            _ => {
                self.subject_words(lower, span, name);
                // Android API level 34, version 3
                if name || stem == "version" || stem == "level" {
                    self.sketch.last_name_at = Some(self.at);
                }
            }
        }
    }

    /// Adds an unknown word to the subject, in its parts.
    fn subject_words(&mut self, lower: &str, span: (usize, usize), name: bool) {
        let parts = lower.split(['-', '/']).filter(|it| !it.is_empty());
        for part in parts.take(PARTS) {
            let traits = Traits {
                name,
                ..Traits::default()
            };
            self.add_term(name::key_of_word(part), span, traits, None);
        }
    }

    /// Whether a version follows, as in "Node 20 or newer"; no cluster has a "newer node".
    fn is_of_version(&self) -> bool {
        let after = [self.words.lower(self.at + 2), self.words.lower(self.at + 3)];
        let number = self.words.lower(self.at + 1);
        number.starts_with(|it: char| it.is_ascii_digit())
            && (number.ends_with('+') || [["or", "newer"], ["or", "later"]].contains(&after))
    }

    /// Whether a possible verb is one here, judged by its ending and the word before it. In "cached
    /// pages", the word only says which pages.
    fn acts_as_verb(&self, lower: &str, token: &Token) -> bool {
        let before = self.at.checked_sub(1).and_then(|it| self.words.get(it));
        let Some(before) = before.filter(|it| !it.mark && !token.quoted) else {
            return false;
        };
        if is_noun_by_ending(lower) {
            return false;
        }
        let meaning = lexicon::meaning_of(&before.lower);
        let denies = meaning == Some(Meaning::Negation)
            && !["no", "lacks", "lack"].contains(&before.lower.as_str());
        let helped = denies
            || matches!(meaning, Some(Meaning::Plan | Meaning::Open))
            || ["to", "does", "do", "must", "always", "only"].contains(&before.lower.as_str());
        let speaks = [
            "we", "they", "it", "which", "that", "who", "he", "she", "you",
        ]
        .contains(&before.lower.as_str());
        let light = speaks || matches!(meaning, Some(Meaning::Light | Meaning::Negation));
        let adverb = before.lower.ends_with("ly");
        let next = self.words.get(self.at + 1);
        let noun_next = next
            .is_some_and(|it| !it.mark && lexicon::meaning_of(&it.lower).is_none() && !it.quoted);
        let participle = lower.ends_with("ed") || lexicon::base_of_irregular(lower).is_some();
        let noun_before =
            meaning.is_none() || before.quoted || matches!(meaning, Some(Meaning::Concept(_)));
        if participle {
            return helped || light || adverb || !noun_next || noun_before;
        }
        let third = lower.ends_with('s') && !lower.ends_with("ss") && !before.lower.ends_with('s');
        let acronym = before.text.chars().filter(|it| it.is_uppercase()).count() > 1;
        let many = before.lower.ends_with('s') && !acronym && !lower.ends_with('s');
        let agrees = third || many;
        helped || noun_before && !self.sketch.verb_seen && agrees && !lower.ends_with("ions")
    }

    /// Adds a term, once.
    pub(crate) fn add_term(
        &mut self,
        key: String,
        span: (usize, usize),
        mut traits: Traits,
        kind: Option<&'static str>,
    ) {
        if key.is_empty() {
            return;
        }
        traits.object = self.sketch.verb_seen && !traits.verb;
        let led = std::mem::take(&mut self.preposition);
        if !self.sketch.verb_seen && !traits.verb {
            self.extend_class(&key);
        }
        let text = self.word_as_written(&key, span.0);
        let there = self.said.terms.iter().position(|it| it.key == key);
        let place = there.unwrap_or(self.said.terms.len());
        self.sketch.places.push(PlacedWord {
            at: self.at,
            term: Some(place),
            value: None,
        });
        match self.said.terms.get_mut(place) {
            Some(term) => term.traits.name |= traits.name,
            None => self.said.terms.push(Term {
                key,
                text,
                from: span.0,
                to: span.1,
                traits,
                led,
                kind,
            }),
        }
    }

    /// Returns a term's word as written; the key without its mark if that word is not found.
    fn word_as_written(&self, key: &str, from: usize) -> String {
        const BACK: usize = 6;
        let mut near = (self.at.saturating_sub(BACK)..=self.at).filter_map(|it| self.words.get(it));
        let token = near.rfind(|it| it.from == from);
        let word = token.map_or("", |it| it.lower.trim_end_matches("'s"));
        let own = lexicon::stem(word) == key
            || word.split('-').count() == 1 && name::key_of_word(word) == key;
        let own = own
            || (word.ends_with(['s', 'd', 'y'])
                && word.get(..2) == key.get(..2)
                && !word.contains(['-', '_', '.', ':', '/']));
        if own && !word.is_empty() {
            return word.to_owned();
        }
        let of_name = || {
            let mut parts = name::name_parts(token.map_or("", |it| it.text.as_str())).into_iter();
            parts.find(|it| name::key_of_part(it) == key)
        };
        let part = of_name().filter(|_| word.contains(['_', '-', '.', ':']));
        part.unwrap_or_else(|| key.trim_start_matches('=').to_owned())
    }

    /// Takes the next word after "all": the last word of the phrase is the class, and those before
    /// it narrow it.
    fn extend_class(&mut self, key: &str) {
        if let Reach::All { class, narrowed } = &mut self.said.reach {
            if !class.is_empty() {
                narrowed.push(std::mem::take(class));
            }
            *class = key.to_owned();
        }
    }
}

/// Whether a word has an ending that no verb has: "persistent" is not a form of "persist".
fn is_noun_by_ending(word: &str) -> bool {
    const ENDINGS: [&str; 12] = [
        "ent", "ant", "able", "ible", "ion", "ions", "ive", "ment", "ments", "ness", "ity", "er",
    ];
    ENDINGS.iter().any(|it| word.ends_with(it)) && lexicon::stem(word) != word
}
