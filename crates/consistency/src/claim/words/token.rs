//! Cuts a claim into words and marks, each with its position in characters, without interpreting
//! them.

/// A word or a mark of a claim.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Token {
    /// The text as written.
    pub(crate) text: String,
    /// The text in lower case, with straight apostrophes.
    pub(crate) lower: String,
    /// Its first character, and the one after its last, counted in characters of the claim.
    pub(crate) from: usize,
    pub(crate) to: usize,
    /// Whether it is within backticks or quotation marks, and so meant literally.
    pub(crate) quoted: bool,
    /// Whether it is a mark, not a word.
    pub(crate) mark: bool,
}

impl Token {
    /// Whether it is this mark.
    pub(crate) fn is(&self, mark: &str) -> bool {
        self.mark && self.text == mark
    }
}

/// The most characters of a claim that are read. A claim has at most a few hundred; a longer text
/// comes from elsewhere, and its end is not compared.
const CHARS: usize = 4000;
/// The most characters between two quotation marks.
const QUOTED: usize = 120;

/// The words and marks of a text.
pub(crate) fn tokenize(text: &str) -> Vec<Token> {
    let chars: Vec<char> = text.chars().take(CHARS).collect();
    let mut found = Vec::new();
    let mut at = 0;
    let mut closes: Option<(usize, char)> = None;
    while let Some(&sign) = chars.get(at) {
        if closes.is_some_and(|it| it.0 == at) {
            closes = None;
            at += 1;
            continue;
        }
        if closes.is_none()
            && let Some(end) = quotation_end(&chars, at)
        {
            closes = Some((end, sign));
            at += 1;
            continue;
        }
        let end = word_end(&chars, at);
        if end > at {
            found.push(token(&chars, at, end, closes.is_some(), false));
            at = end;
            // e.g. and i.e. do not end a sentence
            let short = found.last().is_some_and(|it| {
                ["e.g", "i.e", "approx", "max", "min"].contains(&it.lower.as_str())
            });
            let goes_on = chars
                .get(at + 1..)
                .is_some_and(|it| it.iter().any(|it| it.is_alphanumeric()));
            at += usize::from(short && goes_on && chars.get(at) == Some(&'.'));
            continue;
        }
        if sign == '\n' || !(sign.is_whitespace() || sign.is_control()) {
            let length = mark_length(&chars, at);
            found.push(token(&chars, at, at + length, closes.is_some(), true));
            at += length;
            continue;
        }
        at += 1;
    }
    found
}

fn token(chars: &[char], from: usize, to: usize, quoted: bool, mark: bool) -> Token {
    let text: String = chars.get(from..to).unwrap_or_default().iter().collect();
    let lower = text.to_lowercase().replace('’', "'");
    Token {
        text,
        lower,
        from,
        to,
        quoted,
        mark,
    }
}

/// The end of the quotation that begins here.
fn quotation_end(chars: &[char], at: usize) -> Option<usize> {
    let ends = match chars.get(at)? {
        '`' => '`',
        '"' => '"',
        '“' => '”',
        '«' => '»',
        '\'' => '\'',
        _ => return None,
    };
    let begins_word = at == 0 || chars.get(at - 1).is_some_and(|it| !it.is_alphanumeric());
    let inside = chars.iter().skip(at + 1).take(QUOTED);
    let length = inside.take_while(|it| **it != ends && **it != '\n').count();
    let end = at + 1 + length;
    (begins_word && length > 0 && chars.get(end) == Some(&ends)).then_some(end)
}

/// The end of the word that begins here; `at` itself if none does.
fn word_end(chars: &[char], at: usize) -> usize {
    let is_word = |at: usize| {
        chars
            .get(at)
            .is_some_and(|it| it.is_alphanumeric() || *it == '_' || is_joined_to(*it))
    };
    let digit = |at: usize| chars.get(at).is_some_and(char::is_ascii_digit);
    let fresh = at == 0 || !is_word(at - 1);
    let mut end = at;
    // Characters that may begin a word: .env, /v1/users, --jobs, :8080, @scope, ~/x, -5
    if fresh {
        let leads = chars
            .iter()
            .skip(at)
            .take(2)
            .take_while(|it| "./-:@~".contains(**it))
            .count();
        // ~5 is about five, ~1.2.3 is a version
        let about = chars.get(at) == Some(&'~') && digit(at + 1);
        let negative = leads == 1 && chars.get(at) == Some(&'-') && !digit(at + 1);
        if leads > 0 && !negative && !about && is_word(at + leads) {
            end += leads;
        }
    }
    if !is_word(end) {
        return at;
    }
    while let Some(&sign) = chars.get(end) {
        if is_word(end) {
            end += 1;
            continue;
        }
        let next = end + 1;
        let joins = match sign {
            '.' | '/' | ':' | '@' | '-' | '\'' | '’' | '#' | '&' | '?' => is_word(next),
            ',' | '–' => digit(end - 1) && digit(next),
            '+' => {
                digit(end - 1)
                    || is_word(next)
                    || chars.get(next) == Some(&'+')
                    || chars.get(end - 1) == Some(&'+')
            }
            _ => false,
        };
        // a::b, 10..20, https://x
        let pair = matches!((sign, chars.get(next)), (':', Some(':')) | ('.', Some('.')))
            && is_word(end + 2);
        let scheme = sign == ':'
            && chars.get(next) == Some(&'/')
            && chars.get(next + 1) == Some(&'/')
            && is_word(end + 3);
        match (scheme, pair, joins) {
            (true, ..) => end += 3,
            (_, true, _) => end += 2,
            (.., true) => end += 1,
            _ => break,
        }
    }
    end
}

/// Marks that belong to the preceding letter: accents written as separate characters.
fn is_joined_to(sign: char) -> bool {
    ('\u{300}'..='\u{36f}').contains(&sign)
}

/// The number of characters of one mark.
fn mark_length(chars: &[char], at: usize) -> usize {
    let pair: String = chars.iter().skip(at).take(2).collect();
    if ["<=", ">=", "==", "!=", "->", "=>", ":="].contains(&pair.as_str()) {
        return 2;
    }
    1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        tokenize(text).into_iter().map(|it| it.text).collect()
    }

    #[test]
    fn words_are_cut_where_people_see_them() {
        let cases = [
            ("KEY=5 s.", vec!["KEY", "=", "5", "s", "."]),
            (
                "on :8080, localhost:5432",
                vec!["on", ":8080", ",", "localhost:5432"],
            ),
            ("`a::b` isn't 1,000.", vec!["a::b", "isn't", "1,000", "."]),
            ("in src/a.rs: --jobs", vec!["in", "src/a.rs", ":", "--jobs"]),
            ("x >= 3.10+", vec!["x", ">=", "3.10+"]),
            ("https://a.b/c?d", vec!["https://a.b/c?d"]),
            ("e.g. to 5", vec!["e.g", "to", "5"]),
            ("10–20 or 1..5", vec!["10–20", "or", "1..5"]),
        ];
        for (text, expected) in cases {
            assert_eq!(words(text), expected, "{text}");
        }
    }

    #[test]
    fn places_are_counted_in_characters() {
        let found = tokenize("é `x y` ß");
        let places: Vec<_> = found.iter().map(|it| (it.from, it.to, it.quoted)).collect();
        assert_eq!(
            places,
            [(0, 1, false), (3, 4, true), (5, 6, true), (8, 9, false)]
        );
    }
}
