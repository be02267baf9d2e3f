//! Which words of a claim were changed.

/// A text in parts, each with whether it is missing from the other text.
pub type Parts = Vec<(String, bool)>;

/// In longer texts (words of one times words of the other), all words are marked.
const MOST: usize = 1_000_000;

/// Two wordings, with the words that only one has marked.
pub fn reworded(before: &str, now: &str) -> (Parts, Parts) {
    let (a, b) = (tokens(before), tokens(now));
    if a.len().saturating_mul(b.len()) > MOST {
        return (
            vec![(before.to_owned(), true)],
            vec![(now.to_owned(), true)],
        );
    }
    // How many tokens both share from each pair of places on.
    let width = b.len() + 1;
    let mut common = vec![0u32; (a.len() + 1) * width];
    for (i, x) in a.iter().enumerate().rev() {
        for (j, y) in b.iter().enumerate().rev() {
            common[i * width + j] = match x == y {
                true => common[(i + 1) * width + j + 1] + 1,
                false => common[(i + 1) * width + j].max(common[i * width + j + 1]),
            };
        }
    }
    let (mut then, mut later) = (Parts::new(), Parts::new());
    let (mut i, mut j) = (0, 0);
    while let (Some(x), Some(y)) = (a.get(i), b.get(j)) {
        if x == y {
            push(&mut then, x, false);
            push(&mut later, y, false);
            (i, j) = (i + 1, j + 1);
        } else if common[(i + 1) * width + j] >= common[i * width + j + 1] {
            push(&mut then, x, true);
            i += 1;
        } else {
            push(&mut later, y, true);
            j += 1;
        }
    }
    a[i..].iter().for_each(|it| push(&mut then, it, true));
    b[j..].iter().for_each(|it| push(&mut later, it, true));
    (then, later)
}

/// Words, and what is between them.
fn tokens(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let is_space = first.is_whitespace();
        let end = rest.find(|it: char| it.is_whitespace() != is_space);
        let (token, after) = rest.split_at(end.unwrap_or(rest.len()));
        tokens.push(token);
        rest = after;
    }
    tokens
}

fn push(parts: &mut Parts, token: &str, is_other: bool) {
    match parts.last_mut() {
        Some((text, same)) if *same == is_other => text.push_str(token),
        _ => parts.push((token.to_owned(), is_other)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn drawn(parts: &Parts) -> String {
        let part = |(text, is_other): &(String, bool)| match is_other {
            true => format!("[{text}]"),
            false => text.clone(),
        };
        parts.iter().map(part).collect()
    }

    #[test]
    fn only_other_words_are_marked() {
        for (before, now, then, later) in [
            (
                "It is slow.",
                "It is fast.",
                "It is [slow.]",
                "It is [fast.]",
            ),
            ("It is slow.", "It is slow.", "It is slow.", "It is slow."),
            (
                "It is slow",
                "It is very slow",
                "It is slow",
                "It is [very ]slow",
            ),
            ("größer als", "kleiner als", "[größer] als", "[kleiner] als"),
            ("", "x", "", "[x]"),
            ("one", "two words", "[one]", "[two words]"),
        ] {
            let (a, b) = reworded(before, now);
            assert_eq!((drawn(&a).as_str(), drawn(&b).as_str()), (then, later));
        }
    }

    #[test]
    fn whatever_is_compared_nothing_is_lost() {
        let long = "a b ".repeat(700);
        for (before, now) in [
            (long.as_str(), "b a"),
            (long.as_str(), long.as_str()),
            (" \n", ""),
        ] {
            let (a, b) = reworded(before, now);
            let whole = |parts: Parts| parts.into_iter().map(|it| it.0).collect::<String>();
            assert_eq!((whole(a), whole(b)), (before.to_owned(), now.to_owned()));
        }
    }
}
