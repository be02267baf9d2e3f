//! What became of an action on many claims.

use engram_model::{Code, Refusal};

use crate::words::{self, say};

/// The outcome of an action on many claims.
#[derive(Debug)]
pub struct BatchOutcome<T, D> {
    /// What was done, with the results.
    pub done: Vec<(T, D)>,
    /// What had ended before its turn came, because of what was done to another.
    pub over: Vec<T>,
    /// What was refused for a reason of its own.
    pub refused: Vec<T>,
    /// Why the first of them was refused.
    pub first: Option<Refusal>,
    /// What was not tried, because the run ended first.
    pub left: Vec<T>,
    /// Why the run ended, unless the person stopped it.
    pub ended: Option<Refusal>,
}

impl<T, D> BatchOutcome<T, D> {
    /// Starts with all of these to do.
    pub fn of(mut all: Vec<T>) -> Self {
        all.reverse();
        Self {
            done: Vec::new(),
            over: Vec::new(),
            refused: Vec::new(),
            first: None,
            left: all,
            ended: None,
        }
    }

    /// Returns the next one.
    pub fn next(&self) -> Option<&T> {
        self.left.last()
    }

    /// Records the answer for the next one; returns whether to go on.
    pub fn answer(&mut self, answer: Result<D, Refusal>) -> bool {
        match answer {
            Err(refusal) if !is_of_one(refusal.code) => {
                self.ended = Some(refusal);
                return false;
            }
            Ok(done) => self.done.extend(self.left.pop().map(|it| (it, done))),
            Err(refusal) if refusal.code == Code::AlreadySettled && !self.done.is_empty() => {
                self.over.extend(self.left.pop());
            }
            Err(refusal) => {
                self.refused.extend(self.left.pop());
                self.first.get_or_insert(refusal);
            }
        }
        !self.left.is_empty()
    }

    /// The total number.
    pub fn len(&self) -> usize {
        self.done.len() + self.over.len() + self.refused.len() + self.left.len()
    }

    /// Whether there were none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Whether nothing is left to do.
    pub fn is_whole(&self) -> bool {
        self.done.len() + self.over.len() == self.len()
    }

    /// Returns how many of these were done, and why the rest were not.
    pub fn in_words(&self, done: &str, of: say::Noun) -> (String, String) {
        let number = |it: usize| words::thousands(it as u64);
        let over = match self.over.len() {
            0 => String::new(),
            over => say::many::over(&number(over)),
        };
        if self.is_whole() {
            let all = words::format_count(self.done.len() as u64, of);
            return (format!("{done} {all}"), over);
        }
        let text = say::many::done_of(done, &number(self.done.len()), &number(self.len()));
        let reason = |refusal: &Refusal| {
            let message = words::sentence(&refusal.message);
            words::visible(&format!("{message}. {}", refusal.hint))
        };
        let mut why = Vec::new();
        if let Some(first) = &self.first {
            why.push(say::many::refused_why(
                &number(self.refused.len()),
                &reason(first),
            ));
        }
        if !self.left.is_empty() {
            let because = self.ended.as_ref().map(reason);
            why.push(say::many::not_done(
                &number(self.left.len()),
                because.as_deref(),
            ));
        }
        why.extend((!over.is_empty()).then_some(over));
        (text, why.join(" "))
    }
}

/// Whether a refusal is about one claim; any other would affect the rest too.
fn is_of_one(code: Code) -> bool {
    matches!(
        code,
        Code::NotFound
            | Code::PointerNotFound
            | Code::PointerInvalid
            | Code::PointerUnpinned
            | Code::Unanchored
            | Code::Expired
            | Code::AlreadySettled
            | Code::ScopeDenied
            | Code::SecretDetected
            | Code::SchemaInvalid
            | Code::ClaimTooLong
    )
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Returns the message for `count` claims, each answered by its number.
    fn told(count: u32, answer: impl Fn(u32) -> Result<(), Refusal>) -> (String, String) {
        let mut outcome = BatchOutcome::of((1..=count).collect());
        let mut asked = BTreeSet::new();
        while let Some(&next) = outcome.next() {
            assert!(asked.insert(next), "each claim comes up once");
            if !outcome.answer(answer(next)) {
                break;
            }
        }
        let is_whole = outcome.is_whole();
        let (text, why) = outcome.in_words("Confirmed", say::CLAIMS);
        assert_eq!(is_whole, why.is_empty());
        assert_eq!(outcome.len(), count as usize, "nothing is lost");
        (text, why)
    }

    #[test]
    fn what_was_done_and_what_not_is_told() {
        let refused = |code| Refusal::new(code, "it is over", "Look again.");
        assert_eq!(told(1, |_| Ok(())).0, "Confirmed 1 claim");
        assert_eq!(told(10_000, |_| Ok(())).0, "Confirmed 10,000 claims");
        // A refusal that is about one claim is counted; the run continues with the others.
        let odd = |it| match it % 2 {
            0 => Ok(()),
            _ => Err(refused(Code::NotFound)),
        };
        for (count, text, why) in [
            (
                2,
                "Confirmed 1 of 2",
                "1 was refused: It is over. Look again.",
            ),
            (
                5,
                "Confirmed 2 of 5",
                "3 were refused; the first: It is over. Look again.",
            ),
        ] {
            assert_eq!(told(count, odd), (text.to_owned(), why.to_owned()));
        }
        // A refusal that would affect all claims ends the run.
        for code in [Code::RateLimited, Code::StoreFull, Code::Internal] {
            let full = |it| match it {
                ..=212 => Ok(()),
                _ => Err(refused(code)),
            };
            let (text, why) = told(1_000, full);
            assert_eq!(text, "Confirmed 212 of 1,000");
            assert_eq!(why, "Not done: 788. It is over. Look again.");
        }
        // A verdict on the first conflict closed the second.
        let mut outcome = BatchOutcome::of(vec![1, 2]);
        outcome.answer(Ok(()));
        outcome.answer(Err(refused(Code::AlreadySettled)));
        assert!(outcome.is_whole());
        let (text, why) = outcome.in_words("Settled", say::CONFLICTS);
        assert_eq!(text, "Settled 1 conflict");
        assert_eq!(why, "1 had already closed.");
        // Stopped by the person.
        let mut outcome = BatchOutcome::of(vec![1, 2, 3]);
        assert!(outcome.answer(Ok(())));
        assert_eq!(outcome.done, [(1, ())]);
        let (text, why) = outcome.in_words("Confirmed", say::CLAIMS);
        assert_eq!(text, "Confirmed 1 of 3");
        assert_eq!(why, "Stopped: 2 not done.");
    }
}
