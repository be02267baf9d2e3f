//! Parses one clause word by word into a [`Statement`].

use crate::claim::{
    statement::{Reach, Statement, Traits},
    values::{
        quantity::{self, Words},
        value::{Value, ValueKind},
    },
    words::{
        lexicon::{self, Form, MAX_WORDS_OF_FORM, Meaning},
        name,
        token::Token,
        vocabulary,
    },
};

use super::{circumstance, event, sketch::Sketch};

/// Parses what one clause says.
pub(crate) fn parse_clause(tokens: &[Token]) -> Statement {
    let mut reader = Reader {
        words: Words(tokens),
        at: 0,
        sketch: Sketch::default(),
        said: Statement::default(),
        preposition: "",
    };
    circumstance::take_leading(&mut reader);
    if is_order(tokens) || event::tells_change(tokens) {
        reader.said.aside = true;
    }
    while reader.words.get(reader.at).is_some() && !reader.sketch.ended {
        reader.step();
    }
    let Reader { sketch, said, .. } = reader;
    let mut said = sketch.finish(said, tokens);
    // Whatever has a date happened once, so two different dates contradict each other.
    let is_dated = |it: &Value| matches!(it.kind, ValueKind::Days(_));
    said.event |= event::tells_past(tokens) && !said.values.iter().any(is_dated);
    said
}

/// Whether a clause is an instruction rather than a statement.
fn is_order(tokens: &[Token]) -> bool {
    tokens
        .first()
        .is_some_and(|it| !it.quoted && vocabulary::list_has(vocabulary::ORDERS, &it.lower))
}

pub(crate) struct Reader<'a> {
    pub(crate) words: Words<'a>,
    pub(crate) at: usize,
    pub(crate) sketch: Sketch,
    pub(crate) said: Statement,
    /// The preposition that governs the next word.
    pub(crate) preposition: &'static str,
}

impl Reader<'_> {
    /// Takes the next word, or the next few that belong together.
    fn step(&mut self) {
        if self.sketch.skipped.contains(&self.at) {
            self.at += 1;
            return;
        }
        let Some(token) = self.words.get(self.at) else {
            return;
        };
        // A reference to evidence: line 43, #123
        let evidence = vocabulary::list_has(vocabulary::EVIDENCE, &token.lower);
        let number = |at: usize| {
            self.words
                .lower(at)
                .starts_with(|it: char| it.is_ascii_digit())
        };
        // At the beginning, such a reference is the subject: "line 10 sets the timeout" says
        // nothing about line 40, "bug #12" is not "bug #13".
        let before = self.at.checked_sub(1).and_then(|it| self.words.get(it));
        let is_named = token.is("#") && before.is_some_and(|it| !it.mark) && !self.sketch.verb_seen;
        if evidence && (self.sketch.places.is_empty() || is_named) {
            let told = (self.at..self.at + 3).find(|it| number(*it) && *it > self.at);
            self.said
                .conditions
                .extend(told.map(|it| format!("{} {}", token.lower, self.words.lower(it))));
        }
        if evidence && !token.quoted && self.words.lower(self.at + 1) == "#" {
            self.at += 1;
            return;
        }
        if evidence && !token.quoted && number(self.at + 1) {
            self.at += 2;
            return;
        }
        let phrase = self.longest_phrase(2);
        let meaning = match phrase {
            Some(known) => Some(known),
            None => {
                if self.take_value() {
                    return;
                } else {
                    self.longest_phrase(1)
                }
            }
        };
        if let Some((meaning, words)) = meaning {
            self.apply_meaning(meaning, words);
            return;
        }
        if token.mark {
            self.take_mark(&token.text.clone());
            return;
        }
        self.take_word(token);
        self.at += 1;
    }

    /// The longest lexicon entry that starts here, with at least `least` words.
    fn longest_phrase(&self, least: usize) -> Option<(Meaning, usize)> {
        let mut joined = String::new();
        let mut best = None;
        for length in 1..=MAX_WORDS_OF_FORM {
            let Some(token) = self.words.get(self.at + length - 1).filter(|it| !it.quoted) else {
                break;
            };
            if length > 1 {
                joined.push(' ');
            }
            joined.push_str(&token.lower);
            if length >= least
                && let Some(meaning) = lexicon::meaning_of(&joined)
            {
                best = Some((meaning, length));
            }
        }
        let token = self.words.get(self.at)?;
        let owner = token.lower.strip_suffix("'s").and_then(lexicon::meaning_of);
        if let (None, Some(Meaning::Environment(_)), 1) = (best, owner, least) {
            return owner.map(|it| (it, 1));
        }
        match best {
            Some((_, 1)) => {
                let (meaning, words) = self.meaning_alone(token, best?.0)?;
                Some((meaning, words))
            }
            best => best,
        }
    }

    /// The meaning of a single word here, given its neighbours.
    fn meaning_alone(&self, token: &Token, meaning: Meaning) -> Option<(Meaning, usize)> {
        let next = self.words.lower(self.at + 1);
        let before = self.at.checked_sub(1).map_or("", |it| self.words.lower(it));
        // In "closed after a minute", "closed" is an end, not a state.
        if meaning == Meaning::Opposite("open", false) && next == "after" {
            return None;
        }
        let ends = self.words.get(self.at + 1).is_none_or(|it| it.mark)
            || matches!(
                lexicon::meaning_of(next),
                Some(Meaning::Preposition | Meaning::Condition | Meaning::Default)
            );
        let copula = vocabulary::list_has(vocabulary::COPULAS, before);
        let number_next = || quantity::value_at(&self.words, self.at + 1).is_some();
        let meaning = match token.lower.as_str() {
            "on" if copula && ends => Meaning::Opposite("enable", true),
            "off" if copula && ends => Meaning::Opposite("enable", false),
            "off" => Meaning::Preposition,
            "over" if number_next() => Meaning::Form(Form::More),
            "under" if number_next() => Meaning::Form(Form::Less),
            "after" if !number_next() && !self.counts_next() => Meaning::Opposite("before", false),
            "after" => Meaning::Preposition,
            "before" if number_next() => Meaning::Preposition,
            "once" if number_next() => Meaning::Preposition,
            "ci" if token.text != "CI" => return None,
            "current" | "supported" | "maintained" if !(copula && ends) => return None,
            "every" | "each" | "any" | "all"
                if !self.sketch.places.is_empty()
                    && self.preposition != "in"
                    && self.preposition != "for" =>
            {
                Meaning::Noise
            }
            // GET and SET are names, not verbs
            _ if meaning == Meaning::Light
                && token.text.len() > 2
                && token.text != "MUST"
                && token.text.chars().all(char::is_uppercase) =>
            {
                return None;
            }
            // The language Go, not the verb
            "go" if token.text == "Go" && !self.sketch.places.is_empty() => return None,
            _ => meaning,
        };
        Some((meaning, 1))
    }

    /// Whether "after" is followed by a count: "after three failed logins".
    fn counts_next(&self) -> bool {
        (1..=2).any(|it| quantity::value_at(&self.words, self.at + it).is_some())
    }

    fn take_mark(&mut self, mark: &str) {
        match mark {
            // From one value to the next.
            "->" | "→" if !self.said.values.is_empty() => self.said.event = true,
            "=" | ":" | ":=" | "==" | "=>" | "->" => self.sketch.assigned = Some((self.at, true)),
            "~" | "≈" => self.sketch.about.push(self.at),
            // Other marks add nothing
            _ => {}
        }
        self.preposition = "";
        self.at += 1;
    }

    /// Applies a word or a phrase.
    fn apply_meaning(&mut self, meaning: Meaning, words: usize) {
        let Some(token) = self.words.get(self.at) else {
            return;
        };
        let last = self.words.get(self.at + words - 1).unwrap_or(token);
        let span = (token.from, last.to);
        let lower = token.lower.clone();
        let at = self.at;
        self.at += words;
        match meaning {
            Meaning::Noise => self.apply_noise(&lower),
            Meaning::Preposition => self.take_preposition(&lower),
            Meaning::Light => self.apply_light_verb(&lower, at),
            Meaning::Open => {
                self.said.open = true;
                self.sketch.verb_seen |= !self.sketch.places.is_empty();
                if lower.starts_with("support") || lower.starts_with("depend") {
                    self.add_verb(name::key_of_word(&lower), span);
                }
            }
            Meaning::Negation => {
                if lower == "no" && self.sketch.places.is_empty() {
                    self.apply_all(false);
                }
                self.said.negative = !self.said.negative;
                self.said.poles.push(span);
                self.sketch.verb_seen |= lower.ends_with("n't") || lower == "cannot";
            }
            Meaning::Opposite(key, side) => {
                if words == 1 && self.is_set_to(key, at) {
                    self.at = at;
                    self.take_word(token);
                    self.at += 1;
                } else if words == 1 && self.is_attribute(token, at) {
                    self.add_term(name::key_of_word(&lower), span, Traits::default(), None);
                } else {
                    self.add_opposite(key, side, span);
                }
            }
            Meaning::Concept(key) => self.add_concept(key, span),
            Meaning::Form(form) => self.sketch.forms.push((at, form)),
            Meaning::About => self.sketch.about.push(at),
            Meaning::Environment(key) => drop(self.said.environment.insert(key.to_owned())),
            Meaning::All => self.apply_all(false),
            Meaning::NoneOf => self.apply_all(true),
            Meaning::Some => self.said.reach = Reach::Some,
            Meaning::Except => circumstance::take_exceptions(self),
            Meaning::Also => self.said.also = true,
            Meaning::Past | Meaning::Plan => self.said.aside = true,
            Meaning::Example => {
                if self.sketch.places.is_empty() {
                    self.said.aside = true
                } else {
                    self.sketch.ended = true
                }
            }
            Meaning::Default => self.apply_default(&lower, at),
            Meaning::Condition => circumstance::take_condition(self, &lower),
            Meaning::Filled(key) => {
                self.sketch.filled = true;
                self.add_verb(name::key_of_word(key), span);
            }
            Meaning::Alive(alive) => self.sketch.note_alive(alive, span),
            // These meanings are found only by stems.
            Meaning::Generic
            | Meaning::End(_)
            | Meaning::Hold(_)
            | Meaning::Verb
            | Meaning::Change => {}
        }
    }

    fn apply_noise(&mut self, lower: &str) {
        if lower == "or" {
            self.said.open = true;
        }
        self.said.sole |= ["only", "exclusively"].contains(&lower);
        self.said.event |= lower == "now";
    }

    fn take_preposition(&mut self, lower: &str) {
        let kept = vocabulary::words_of_list(vocabulary::GOVERNING).find(|it| *it == lower);
        self.preposition = kept.unwrap_or("with");
    }

    pub(crate) fn apply_light_verb(&mut self, lower: &str, at: usize) {
        let first = !self.sketch.places.is_empty();
        self.sketch.verb_seen |= first;
        if ["is", "are", "set to", "set", "equals", "has"].contains(&lower)
            || lower.starts_with("is set")
        {
            self.sketch.assigned = Some((
                self.at.saturating_sub(1),
                lower.contains("set") || lower == "equals",
            ));
        }
        if ["was", "were", "had"].contains(&lower) && !circumstance::is_event(&self.words, at + 1) {
            self.said.aside = true;
        }
        self.sketch.was |= ["was", "were", "been"].contains(&lower);
        let runs = ["run", "runs"].contains(&lower)
            && ["on", "under", "in"].contains(&self.words.lower(at + 1));
        self.sketch.is_copula |= runs || ["is", "are", "be"].contains(&lower);
        self.preposition = "";
    }

    /// Whether a word is the value of a setting, as in `SAMESITE=Strict`, not a statement of its
    /// own.
    fn is_set_to(&self, key: &str, at: usize) -> bool {
        let flag = ["enable", "mandatory", "allow"].contains(&key);
        let follows = |it: &(usize, bool)| it.1 && it.0 + 1 == at;
        !flag
            && !self.sketch.settings.is_empty()
            && self.sketch.assigned.as_ref().is_some_and(follows)
    }

    /// Whether a word only narrows the subject, before the verb: "disabled accounts are purged"
    /// does not deny that active ones are.
    pub(crate) fn is_attribute(&self, token: &Token, at: usize) -> bool {
        let participle = token.lower.ends_with("ed") && token.lower != "need";
        let adjective = participle || vocabulary::list_has(vocabulary::ATTRIBUTES, &token.lower);
        let before = at.checked_sub(1).map(|it| self.words.lower(it));
        let said = before.and_then(lexicon::meaning_of);
        let predicate = matches!(
            said,
            Some(Meaning::Light | Meaning::Negation | Meaning::Open)
        );
        let noun = self.words.get(at + 1).is_some_and(|next| {
            let meaning = lexicon::meaning_of(&next.lower);
            !next.mark && !next.quoted && matches!(meaning, None | Some(Meaning::Concept(_)))
        });
        adjective && noun && !predicate && !self.sketch.verb_seen
    }

    pub(crate) fn add_opposite(&mut self, key: &'static str, side: bool, span: (usize, usize)) {
        if key == "before" {
            self.said.first = Some(self.said.terms.iter().map(|it| it.key.clone()).collect());
        }
        if !side {
            self.said.negative = !self.said.negative;
        }
        self.said.poles.push(span);
        self.sketch.verb_seen |= key == "mandatory" && !self.sketch.places.is_empty();
        self.add_term(format!("={key}"), span, Traits::default(), None);
    }

    pub(crate) fn add_concept(&mut self, key: &'static str, span: (usize, usize)) {
        self.sketch.concepts.push(key);
        self.sketch.verb_seen |=
            self.sketch.places.len() > 1 && matches!(key, "timeout" | "lasting" | "port");
        self.add_term(key.to_owned(), span, Traits::default(), None);
    }

    fn apply_default(&mut self, lower: &str, at: usize) {
        self.said.conditions.insert("default".to_owned());
        if lower == "defaults" {
            self.sketch.assigned = Some((self.at.saturating_sub(1).max(at), true));
            self.sketch.verb_seen = true;
        }
    }

    /// Reads "all" or "every", and what it applies to, up to the end of that phrase.
    fn apply_all(&mut self, none: bool) {
        self.said.reach = Reach::All {
            class: String::new(),
            narrowed: Vec::new(),
        };
        if none {
            self.said.negative = !self.said.negative;
        }
    }

    pub(crate) fn add_verb(&mut self, key: String, span: (usize, usize)) {
        self.sketch.verb_seen |= !self.sketch.places.is_empty();
        let traits = Traits {
            verb: true,
            ..Traits::default()
        };
        self.add_term(key, span, traits, None);
    }
}
