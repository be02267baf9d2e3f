//! Matches git's patterns (gitignore(5), `wildmatch`) in one pass over the path: it tracks all
//! positions in the pattern that the path so far can reach.

/// A part of a pattern.
enum PatternPart {
    Byte(u8),
    /// `?` or brackets: one byte other than `/`.
    OneOf(Box<[bool; 256]>),
    /// `*`: within one name.
    Star,
    /// `**/`: no folder, or several.
    Folders,
    /// `**` at the end.
    Rest,
}

pub(super) struct Glob {
    tokens: Vec<PatternPart>,
    /// The literal beginning and end of every matching path.
    head: Vec<u8>,
    tail: Vec<u8>,
    folds: bool,
    /// Whether it matches nothing.
    is_broken: bool,
}

impl Glob {
    /// Reads a pattern; with `folds`, case does not count.
    pub(super) fn read(pattern: &[u8], folds: bool) -> Self {
        let folded = if folds {
            pattern.to_ascii_lowercase()
        } else {
            pattern.to_vec()
        };
        let tokens = tokens(&folded, folds);
        let is_broken = tokens.is_none();
        let tokens = tokens.unwrap_or_default();
        let byte = |it: &PatternPart| match it {
            PatternPart::Byte(byte) => Some(*byte),
            _ => None,
        };
        let mut tail: Vec<u8> = tokens.iter().rev().map_while(byte).collect();
        tail.reverse();
        Self {
            head: tokens.iter().map_while(byte).collect(),
            tail,
            tokens,
            folds,
            is_broken,
        }
    }

    fn is_plain(&self) -> bool {
        self.head.len() == self.tokens.len()
    }

    /// The number of steps to compare it with a text.
    pub(super) fn cost(&self, text: &[u8]) -> usize {
        if self.is_plain() {
            self.head.len()
        } else {
            self.tokens.len() * text.len()
        }
    }

    pub(super) fn fits(&self, text: &[u8]) -> bool {
        if self.folds {
            self.fits_folded(&text.to_ascii_lowercase())
        } else {
            self.fits_folded(text)
        }
    }

    fn fits_folded(&self, text: &[u8]) -> bool {
        if self.is_broken || !text.starts_with(&self.head) || !text.ends_with(&self.tail) {
            return false;
        }
        if self.is_plain() {
            return text.len() == self.head.len();
        }
        // at[i]: the first i tokens match the text so far.
        let mut at = vec![false; self.tokens.len() + 1];
        self.enter(&mut at, 0);
        let mut next = at.clone();
        for byte in text {
            next.fill(false);
            for (place, token) in self.tokens.iter().enumerate() {
                if !at[place] {
                    continue;
                }
                match token {
                    PatternPart::Byte(literal) if literal == byte => {
                        self.enter(&mut next, place + 1)
                    }
                    PatternPart::OneOf(set) if set[usize::from(*byte)] => {
                        self.enter(&mut next, place + 1);
                    }
                    PatternPart::Star if *byte != b'/' => self.enter(&mut next, place),
                    PatternPart::Rest => self.enter(&mut next, place),
                    PatternPart::Folders => {
                        // The star stays within a name, and cannot match a slash here.
                        next[place] = true;
                        if *byte == b'/' {
                            self.enter(&mut next, place + 1);
                        }
                    }
                    _ => {}
                }
            }
            std::mem::swap(&mut at, &mut next);
        }
        at[self.tokens.len()]
    }

    /// Marks a position as reached, and also those after parts that can match nothing.
    fn enter(&self, at: &mut [bool], place: usize) {
        let mut place = place;
        at[place] = true;
        while let Some(PatternPart::Star | PatternPart::Folders | PatternPart::Rest) =
            self.tokens.get(place)
        {
            place += 1;
            at[place] = true;
        }
    }
}

/// Splits a pattern into parts; `None` if brackets do not close.
fn tokens(pattern: &[u8], folds: bool) -> Option<Vec<PatternPart>> {
    let mut tokens = Vec::new();
    let mut rest = pattern;
    let mut before = b'/';
    while let Some((&byte, after)) = rest.split_first() {
        rest = after;
        match byte {
            b'\\' => {
                let (&literal, after) = rest.split_first()?;
                tokens.push(PatternPart::Byte(literal));
                rest = after;
            }
            b'?' => {
                let mut any = Box::new([true; 256]);
                any[usize::from(b'/')] = false;
                tokens.push(PatternPart::OneOf(any));
            }
            b'[' => {
                let (set, after) = brackets(rest, folds)?;
                tokens.push(PatternPart::OneOf(set));
                rest = after;
            }
            b'*' => {
                let stars = rest.iter().take_while(|it| **it == b'*').count();
                rest = &rest[stars..];
                let is_whole = stars > 0 && before == b'/';
                match rest.first() {
                    None if is_whole => tokens.push(PatternPart::Rest),
                    Some(b'/') if is_whole => {
                        rest = &rest[1..];
                        tokens.push(PatternPart::Folders);
                        before = b'/';
                        continue;
                    }
                    _ => tokens.push(PatternPart::Star),
                }
            }
            byte => tokens.push(PatternPart::Byte(byte)),
        }
        before = byte;
    }
    Some(tokens)
}

/// Returns the bytes that brackets match, and the text after them.
fn brackets(text: &[u8], folds: bool) -> Option<(Box<[bool; 256]>, &[u8])> {
    let mut set = Box::new([false; 256]);
    let (negated, mut rest) = match text.first()? {
        b'!' | b'^' => (true, &text[1..]),
        _ => (false, text),
    };
    let mut is_first = true;
    // The byte that may begin a range.
    let mut last = None;
    loop {
        let (&byte, after) = rest.split_first()?;
        rest = after;
        match byte {
            b']' if !is_first => break,
            b'-' if last.is_some() && rest.first().is_some_and(|it| *it != b']') => {
                let (mut end, mut after) = rest.split_first()?;
                if *end == b'\\' {
                    (end, after) = after.split_first()?;
                }
                rest = after;
                let from = usize::from(last?);
                set.iter_mut()
                    .take(usize::from(*end) + 1)
                    .skip(from)
                    .for_each(|it| *it = true);
                last = None;
            }
            b'[' if rest.first() == Some(&b':') => {
                let end = rest.iter().position(|it| *it == b']')?;
                if rest.get(end - 1) == Some(&b':') && end > 1 {
                    let class = class(&rest[1..end - 1])?;
                    (0..=255u8)
                        .filter(class)
                        .for_each(|it| set[usize::from(it)] = true);
                    rest = &rest[end + 1..];
                } else {
                    // Not a class, so the bracket is an ordinary byte.
                    set[usize::from(b'[')] = true
                }
                last = None;
            }
            byte => {
                let byte = match byte {
                    b'\\' => {
                        let (&literal, after) = rest.split_first()?;
                        rest = after;
                        literal
                    }
                    byte => byte,
                };
                set[usize::from(byte)] = true;
                last = Some(byte);
            }
        }
        is_first = false;
    }
    if folds {
        for upper in b'A'..=b'Z' {
            let lower = usize::from(upper.to_ascii_lowercase());
            set[lower] |= set[usize::from(upper)];
        }
    }
    if negated {
        set.iter_mut().for_each(|it| *it = !*it);
    }
    set[usize::from(b'/')] = false;
    Some((set, rest))
}

fn class(name: &[u8]) -> Option<fn(&u8) -> bool> {
    Some(match name {
        b"alnum" => u8::is_ascii_alphanumeric,
        b"alpha" => u8::is_ascii_alphabetic,
        b"blank" => |it| matches!(it, b' ' | b'\t'),
        b"cntrl" => u8::is_ascii_control,
        b"digit" => u8::is_ascii_digit,
        b"graph" => u8::is_ascii_graphic,
        b"lower" => u8::is_ascii_lowercase,
        b"print" => |it| it.is_ascii_graphic() || *it == b' ',
        b"punct" => u8::is_ascii_punctuation,
        b"space" => |it| it.is_ascii_whitespace() || *it == 0x0b,
        b"upper" => u8::is_ascii_uppercase,
        b"xdigit" => u8::is_ascii_hexdigit,
        _ => return None,
    })
}
