//! The sentence about what differs, in the claims' own words. A claim is data: only a few of its
//! words are repeated, and whatever is more than plain words is quoted.

use core::net::{IpAddr, SocketAddr};

use engram_model::is_stop_word;

use crate::claim::{Claim, Statement, Term};

/// A range of a claim, in characters.
pub(super) type Span = (usize, usize);

/// The kinds of difference.
#[derive(Clone, Copy, Debug)]
pub(super) enum Contrast {
    /// Two values, and what values like these are called.
    Values(&'static str),
    /// Two names, and what they are names of, if known.
    Names(Option<&'static str>),
    /// One says that something is still there, the other that it is gone.
    Life,
    /// One affirms what the other denies.
    Opposite,
}

/// A word of a statement.
struct Word {
    key: String,
    at: Span,
    /// Whether it names what both statements are about.
    names: bool,
    is_name: bool,
}

/// A statement's part in a difference.
pub(super) struct Part {
    /// The values, names or words that differ.
    marks: Vec<Span>,
    words: Vec<Word>,
    /// How many values the statement gives.
    values: usize,
}

impl Part {
    pub(super) fn new(
        said: &Statement,
        other: &Statement,
        marks: Vec<Span>,
        shared: &[&Term],
    ) -> Self {
        let names = |term: &Term| {
            let of = shared.iter().copied().find(|it| it.key == term.key);
            let of = of.or_else(|| other.terms.iter().find(|it| it.key == term.key));
            let noun = |it: &Term| !it.traits.verb && !it.key.starts_with('=');
            noun(term) && of.is_some_and(noun)
        };
        let mut words: Vec<Word> = said
            .terms
            .iter()
            .map(|term| Word {
                key: term.key.clone(),
                at: (term.from, term.to),
                names: names(term),
                is_name: term.traits.name,
            })
            .collect();
        words.sort_by_key(|it| it.at);
        Self {
            marks,
            words,
            values: said.values.len(),
        }
    }
}

/// A difference in words, and what to mark in each claim.
pub(super) struct Worded {
    pub(super) why: String,
    pub(super) left: Vec<Span>,
    pub(super) right: Vec<Span>,
}

pub(super) fn describe(
    contrast: Contrast,
    [left, right]: [&Part; 2],
    claims: [&Claim; 2],
) -> Worded {
    let texts = claims.map(|it| Text(it.text.chars().collect()));
    let [one, other] = &texts;
    match contrast {
        Contrast::Values(_) | Contrast::Names(_) => {
            values_in_words(contrast, [left, right], &texts)
        }
        Contrast::Life | Contrast::Opposite => {
            let (left_marks, right_marks) = match contrast {
                Contrast::Life => (left.marks.clone(), right.marks.clone()),
                _ => opposing_marks([left, right], [one, other]),
            };
            let (a, b) = (one.words_at(&left_marks), other.words_at(&right_marks));
            let says = match contrast {
                Contrast::Life => "One says that it is still there, the other that it is gone",
                _ => "One says the opposite of the other",
            };
            let why = if a.is_empty() || b.is_empty() || a.to_lowercase() == b.to_lowercase() {
                format!("{says}.")
            } else {
                format!("{says}: {a} / {b}.")
            };
            Worded {
                why,
                left: left_marks,
                right: right_marks,
            }
        }
    }
}

fn values_in_words(contrast: Contrast, parts: [&Part; 2], texts: &[Text; 2]) -> Worded {
    let [one, other] = texts;
    let marks = |part: &Part, text: &Text| -> Vec<Span> {
        part.marks
            .iter()
            .map(|it| text.widen_to_address(*it))
            .collect()
    };
    let (mut left, mut right) = (marks(parts[0], one), marks(parts[1], other));
    // "5 per second" or "5 per minute"
    for _ in 0..MORE {
        if one.words_at(&left) == other.words_at(&right) {
            one.take_word(&mut left);
            other.take_word(&mut right);
        }
    }
    let is_address = |text: &Text, all: &[Span]| all.iter().any(|it| text.is_address(*it));
    let addresses = is_address(one, &left) || is_address(other, &right);
    let (mut a, mut b) = (one.words_at(&left), other.words_at(&right));
    if let Contrast::Values(kind) = contrast
        && !addresses
    {
        // "Go 1.21 or 1.22", "3 or 5 attempts"
        if let Some(product) = shared_word(texts, [&left, &right], Text::product_before)
            && kind == "versions"
        {
            a = format!("{product} {a}");
        }
        if let Some(noun) = shared_word(texts, [&left, &right], Text::noun_after) {
            b = format!("{b} {noun}");
        }
    }
    let why = match (contrast, subject(one, parts[0])) {
        (Contrast::Names(Some(kind)), _) => format!("They name different {kind}: {a} and {b}."),
        (_, Some(about)) => format!("They disagree about {about}: {a} or {b}."),
        (Contrast::Values(_), None) if addresses => {
            format!("They give different addresses: {a} or {b}.")
        }
        (Contrast::Values(kind), None) => format!("They give different {kind}: {a} or {b}."),
        _ => format!("They name different things: {a} and {b}."),
    };
    Worded { why, left, right }
}

/// The word that both texts have beside their value, if it is the same.
fn shared_word(
    texts: &[Text; 2],
    [left, right]: [&[Span]; 2],
    find: fn(&Text, Span) -> Option<String>,
) -> Option<String> {
    let [one, other] = texts;
    let ([here], [there]) = (left, right) else {
        return None;
    };
    let word = find(one, *here)?;
    (find(other, *there)?.to_lowercase() == word.to_lowercase()).then_some(word)
}

/// The most words that are added to values that are written alike.
const MORE: usize = 3;

/// The words by which one statement affirms what the other denies. If one has no such word, the
/// word that the other denies.
fn opposing_marks(parts: [&Part; 2], texts: [&Text; 2]) -> (Vec<Span>, Vec<Span>) {
    let own = |at: usize| -> Vec<Span> {
        let is_of_both = |mark: &Span| {
            let mut others = parts[1 - at].marks.iter();
            others.any(|it| is_alike(&texts[at].slice(*mark), &texts[1 - at].slice(*it)))
        };
        let marks = parts[at].marks.iter().copied();
        marks.filter(|it| !is_of_both(it)).collect()
    };
    let mut found = [own(0), own(1)];
    let bare = match found.each_ref().map(|it| it.first()) {
        [None, None] => return (parts[0].marks.clone(), parts[1].marks.clone()),
        [None, Some(_)] => 0,
        [Some(_), None] => 1,
        [Some(_), Some(_)] => {
            // "5 minutes", "never expires"
            for (text, marks) in texts.into_iter().zip(&mut found) {
                let last = marks.last().map(|it| text.slice(*it).to_lowercase());
                if last.is_some_and(|it| ["no", "not", "never"].contains(&it.as_str())) {
                    text.take_word(marks);
                }
            }
            return found.into();
        }
    };
    let (said, denied) = (texts[bare], texts[1 - bare]);
    if let Some(mark) = found[1 - bare].last_mut()
        && let Some((mut affirmed, mut negated)) = denied.find_denied(*mark, said)
    {
        if let Some(always) = said.affirming_before(affirmed.0) {
            affirmed = always;
        } else {
            // "no primary key", "is rate limited"
            if let (Some(more), Some(same)) =
                (denied.word_after(negated.1), said.word_after(affirmed.1))
                && is_alike(&denied.slice(more), &said.slice(same))
                && (denied.slice(more).ends_with("ed")
                    || denied.slice(*mark).to_lowercase() == "no")
            {
                (affirmed.1, negated.1) = (same.1, more.1);
            }
            mark.1 = negated.1;
        }
        found[bare] = vec![affirmed];
    } else if let Some(word) = denied_word(parts[1 - bare], &found[1 - bare]) {
        let affirmed = parts[bare].words.iter().filter(|it| it.key == word.key);
        found[bare] = affirmed.map(|it| it.at).take(1).collect();
    }
    found.into()
}

/// Whether two words are forms of one: blocks, block.
fn is_alike(one: &str, other: &str) -> bool {
    let (one, other) = (one.to_lowercase(), other.to_lowercase());
    let shared = one
        .chars()
        .zip(other.chars())
        .take_while(|it| it.0 == it.1)
        .count();
    let shorter = one.chars().count().min(other.chars().count());
    one == other || (shared >= 3 && shared + 2 >= shorter && shorter > 3)
}

/// The word that these marks deny: the next one, or else the last.
fn denied_word<'a>(part: &'a Part, marks: &[Span]) -> Option<&'a Word> {
    let last = marks.last().map_or(0, |it| it.1);
    let next = part.words.iter().find(|it| it.at.0 >= last);
    next.or_else(|| part.words.last())
}

/// What both statements are about, as the first claim writes it: "the benchmark server's port".
fn subject(text: &Text, part: &Part) -> Option<String> {
    let runs = runs(text, part);
    let setting = runs.iter().find(|run| run.is_name && text.is_setting(run));
    if let Some(setting) = setting {
        return Some(text.name_of(setting));
    }
    // With several values, the attribute may belong to another one.
    let attributes = || runs.iter().filter(|run| is_attribute(&text.slice(run.at)));
    let attribute = attributes()
        .find(|run| run.words > 1)
        .or_else(|| attributes().next());
    let attribute = attribute.filter(|_| part.values < 2).map(|it| it.at);
    let stands_before = || {
        let before = text.word_before(part.marks.first()?.0);
        before.filter(|it| is_attribute(&text.slice(*it)))
    };
    let Some(at) = attribute.or_else(stands_before) else {
        return runs.first().map(|run| text.name_of(run));
    };
    let attribute = Run {
        at,
        words: 1,
        is_name: false,
    };
    let name = text.slice(at);
    let alone = !name.contains(char::is_whitespace);
    let holds = |run: &&Run| run.at.0 <= at.0 && at.1 <= run.at.1;
    match runs.iter().find(|it| !holds(it)).filter(|_| alone) {
        Some(owner) => {
            let owner = text.name_of(owner);
            let s = if owner.ends_with('s') { "'" } else { "'s" };
            Some(format!("{owner}{s} {}", plain(&name.to_lowercase())))
        }
        None => Some(match text.name_of(&attribute) {
            named if named.starts_with("the ") => named,
            named => format!("the {named}"),
        }),
    }
}

/// Words of the subject that stand together.
struct Run {
    at: Span,
    words: usize,
    is_name: bool,
}

/// The most words of a run that are repeated.
const WORDS: usize = 4;

fn runs(text: &Text, part: &Part) -> Vec<Run> {
    let mut runs: Vec<Run> = Vec::new();
    let marks: Vec<Span> = part
        .marks
        .iter()
        .map(|it| text.widen_to_address(*it))
        .collect();
    let differs = |at: Span| marks.iter().any(|it| at.0 < it.1 && it.0 < at.1);
    let words = part.words.iter().filter(|it| it.names && !differs(it.at));
    for word in words {
        match runs.last_mut() {
            // The parts of a name are where the name is.
            Some(run) if word.at.1 <= run.at.1 => run.is_name |= word.is_name,
            Some(run) if run.words < WORDS && text.is_gap(run.at.1, word.at.0) => {
                run.at.1 = word.at.1;
                run.words += 1;
            }
            _ => runs.push(Run {
                at: word.at,
                words: 1,
                is_name: word.is_name,
            }),
        }
    }
    runs.iter_mut().for_each(|run| text.drop_verb(run));
    runs
}

/// Words that say which value of a thing is meant.
const ATTRIBUTES: &str = "port, timeout, limit, size, length, interval, delay, version, default, ttl, level, rate, \
     ratio, height, width, depth, capacity, threshold, duration, deadline, retention, budget, \
     price, quota, maximum, minimum, age, number, count, name, host, address, url, path, branch, \
     license, region, zone, format, mode, algorithm, lifetime, period, frequency, backoff, \
     concurrency, owner, engine, date, status, code, protocol, order, type";

fn is_attribute(words: &str) -> bool {
    let words = words.to_lowercase();
    let last = words.split_whitespace().next_back().unwrap_or_default();
    ATTRIBUTES.split(", ").any(|it| it == last)
}

/// Words before which a word that ends a run is its verb: "the server listens on".
const AFTER_VERBS: [&str; 18] = [
    "on", "to", "in", "at", "for", "with", "from", "by", "into", "over", "after", "about", "a",
    "an", "the", "up", "out", "per",
];

/// Words between a negation and what it denies.
const BETWEEN: [&str; 9] = [
    "a", "an", "the", "any", "be", "been", "being", "to", "longer",
];

/// Words that only stress what a statement affirms.
const AFFIRMING: [&str; 8] = [
    "always", "still", "does", "do", "can", "may", "must", "will",
];

const ARTICLES: [&str; 8] = ["the", "a", "an", "our", "each", "every", "this", "its"];

/// The most characters of a claim that a sentence repeats at once.
const CHARS: usize = 60;

/// A claim's characters.
struct Text(Vec<char>);

impl Text {
    fn slice(&self, (from, to): Span) -> String {
        self.0.get(from..to).unwrap_or_default().iter().collect()
    }

    fn is_gap(&self, from: usize, to: usize) -> bool {
        let between = self.0.get(from..to).unwrap_or_default();
        from < to && between.iter().all(|it| *it == ' ')
    }

    /// The word before this place.
    fn word_before(&self, at: usize) -> Option<Span> {
        let before = self.0.get(..at)?;
        let to = before.iter().rposition(|it| it.is_alphanumeric())? + 1;
        let is_near = before.get(to..)?.iter().all(|it| *it == ' ');
        let from = before
            .get(..to)?
            .iter()
            .rposition(|it| !it.is_alphanumeric());
        is_near.then(|| (from.map_or(0, |it| it + 1), to))
    }

    /// The product of which this is a version: a name just before it, within the sentence.
    fn product_before(&self, value: Span) -> Option<String> {
        let at = self.word_before(value.0)?;
        let name = self.slice(at);
        let is_inside = self.word_before(at.0).is_some();
        (is_inside && name.starts_with(char::is_uppercase)).then_some(name)
    }

    /// What a bare number counts: the few words just after it, "failed attempts".
    fn noun_after(&self, value: Span) -> Option<String> {
        let is_bare = self.slice(value).chars().all(|it| it.is_ascii_digit());
        let is_noun = |it: &str| {
            it.len() > 2 && it != "per" && it.chars().all(char::is_alphabetic) && !is_stop_word(it)
        };
        let (mut noun, mut at) = (Vec::new(), value.1);
        while let Some(next) = self.word_after(at).filter(|it| self.is_gap(at, it.0)) {
            let word = self.slice(next);
            if noun.len() == WORDS || !is_noun(&word) {
                break;
            }
            noun.push(word);
            at = next.1;
        }
        (is_bare && !noun.is_empty()).then(|| noun.join(" "))
    }

    /// The word that begins at this place, or after a space.
    fn word_after(&self, at: usize) -> Option<Span> {
        let is_word = |it: &char| it.is_alphanumeric() || "-_'’".contains(*it);
        let rest = self.0.get(at..)?;
        let from = rest.iter().position(|it| *it != ' ')?;
        let length = rest
            .get(from..)?
            .iter()
            .take_while(|it| is_word(it))
            .count();
        (length > 0).then_some((at + from, at + from + length))
    }

    /// A word that stresses what is affirmed at this place, up to two words before it.
    fn affirming_before(&self, at: usize) -> Option<Span> {
        let first = self.word_before(at)?;
        let second = self.word_before(first.0);
        let stresses = |it: &Span| AFFIRMING.contains(&self.slice(*it).to_lowercase().as_str());
        [Some(first), second].into_iter().flatten().find(stresses)
    }

    /// The word that this mark denies, in the other claim and in this one.
    fn find_denied(&self, mark: Span, said: &Self) -> Option<(Span, Span)> {
        let mut next = self.word_after(mark.1)?;
        while BETWEEN.contains(&self.slice(next).to_lowercase().as_str()) {
            next = self.word_after(next.1)?;
        }
        let denied = self.slice(next);
        let mut at = 0;
        while at < said.0.len() {
            match said.word_after(at) {
                Some(word) if is_alike(&said.slice(word), &denied) => return Some((word, next)),
                Some(word) => at = word.1,
                None => at += 1,
            }
        }
        None
    }

    /// Takes a verb or an "of" off the end of a run of nouns.
    fn drop_verb(&self, run: &mut Run) {
        let written = self.slice(run.at);
        if written.ends_with(" of") {
            run.at.1 -= 3;
            return;
        }
        let Some((before, last)) = written.rsplit_once(' ') else {
            return;
        };
        // A path is one thing.
        let many = |it: &str| it.ends_with('s') && !it.ends_with("ss") && !it.contains('/');
        let next = self
            .word_after(run.at.1)
            .map(|it| self.slice(it).to_lowercase());
        let follows = next.is_some_and(|it| {
            AFTER_VERBS.contains(&it.as_str()) || it.starts_with(|it: char| it.is_ascii_digit())
        });
        let is_capital = last.starts_with(char::is_uppercase);
        if follows && many(before.trim_end()) != many(last) && !is_capital && !is_attribute(last) {
            run.at.1 = run.at.0 + before.trim_end().chars().count();
            run.words -= 1;
        }
    }

    /// Whether a run is the name of a setting.
    fn is_setting(&self, run: &Run) -> bool {
        let written = self.slice(run.at);
        written.contains(['_', '=']) && !written.contains([' ', '/'])
    }

    /// Lengthens the last mark by the next word.
    fn take_word(&self, marks: &mut [Span]) {
        if let Some(mark) = marks.last_mut()
            && let Some(next) = self.word_after(mark.1)
        {
            mark.1 = next.1;
        }
    }

    /// The whole address, if this is a part of one.
    fn widen_to_address(&self, (from, to): Span) -> Span {
        let ends = |it: &char| it.is_whitespace() || ",;()<>\"'`“”".contains(*it);
        let before = self.0.get(..from).unwrap_or_default();
        let start = before.iter().rposition(ends).map_or(0, |it| it + 1);
        let after = self.0.get(to..).unwrap_or_default();
        let mut end = to + after.iter().position(ends).unwrap_or(after.len());
        while end > to && self.0.get(end - 1).is_some_and(|it| ".:!?".contains(*it)) {
            end -= 1;
        }
        if self.is_address((start, end)) {
            (start, end)
        } else {
            (from, to)
        }
    }

    fn is_address(&self, at: Span) -> bool {
        let text = self.slice(at);
        text.parse::<IpAddr>().is_ok() || text.parse::<SocketAddr>().is_ok()
    }

    /// These parts as written.
    fn words_at(&self, marks: &[Span]) -> String {
        let shown: Vec<String> = marks
            .iter()
            .take(2)
            .map(|it| plain(&self.slice(*it)))
            .collect();
        shown.join(" … ")
    }

    /// A run with its article; the beginning of a sentence in lower case.
    fn name_of(&self, run: &Run) -> String {
        let written = self.slice(run.at);
        let written = written.trim_end_matches("'s").trim_end_matches("’s");
        if written.contains(['_', '.', '/', ':', '=', '@']) && !written.contains(' ') {
            return quote(written, '`', '`');
        }
        let word = |at: usize| self.word_before(at);
        let before = word(run.at.0);
        let earlier = before.and_then(|it| word(it.0));
        let article = |it: Option<Span>| {
            it.is_some_and(|it| ARTICLES.contains(&self.slice(it).to_lowercase().as_str()))
        };
        let the = if article(before) || article(earlier) {
            "the "
        } else {
            ""
        };
        let begins = self.0.get(..run.at.0).unwrap_or_default();
        let begins = begins.iter().rev().find(|it| !it.is_whitespace());
        let begins = begins.is_none_or(|it| ".!?;:".contains(*it));
        let mut letters = written.chars();
        let first = letters.next().filter(|_| begins && !run.is_name);
        // "TTL" and "iOS" are written in one way.
        let first = first.filter(|_| letters.next().is_none_or(|it| !it.is_uppercase()));
        let written = match first {
            Some(first) => {
                let rest: String = written.chars().skip(1).collect();
                format!("{}{rest}", first.to_lowercase())
            }
            None => written.to_owned(),
        };
        format!("{the}{}", plain(&written))
    }
}

/// Words of a claim, quoted if they could pass for more than a value or a name.
fn plain(words: &str) -> String {
    let is_word = |it: char| it.is_alphanumeric() || " -'’._/:%+#@,=$€£~°&*\u{301}".contains(it);
    let few = words.split_whitespace().count() <= WORDS + 1 && words.chars().count() <= CHARS;
    if few && words.chars().all(is_word) {
        words.to_owned()
    } else {
        quote(words, '“', '”')
    }
}

fn quote(words: &str, opens: char, closes: char) -> String {
    let mut shown: String = words
        .chars()
        .map(|it| if it.is_whitespace() { ' ' } else { it })
        .filter(|it| !it.is_control() && !"`\"“”".contains(*it))
        .take(CHARS)
        .collect();
    if words.chars().count() > CHARS {
        shown.push('…');
    }
    format!("{opens}{}{closes}", shown.trim())
}
