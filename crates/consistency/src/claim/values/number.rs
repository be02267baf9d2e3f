//! Exact numbers: a ratio of integers, so that 150 s are exactly 2.5 minutes. A number too large
//! for this is not read as a number.

/// An exact number, always reduced with a positive divisor, so that equal numbers are equal values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ratio {
    over: i128,
    under: i128,
}

impl Ratio {
    /// `over / under`; none if `under` is zero or a sign change overflows.
    pub fn new(over: i128, under: i128) -> Option<Self> {
        let divisor = divisor(over, under);
        let (over, under) = (over.checked_div(divisor)?, under.checked_div(divisor)?);
        match under {
            0 => None,
            1.. => Some(Self { over, under }),
            _ => Some(Self {
                over: over.checked_neg()?,
                under: under.checked_neg()?,
            }),
        }
    }

    /// A whole number.
    pub fn whole(number: i64) -> Self {
        Self {
            over: i128::from(number),
            under: 1,
        }
    }

    /// The product, unless it overflows.
    pub fn times(self, other: Self) -> Option<Self> {
        Self::new(
            self.over.checked_mul(other.over)?,
            self.under.checked_mul(other.under)?,
        )
    }

    /// The quotient, unless it is undefined or overflows.
    pub fn divided_by(self, other: Self) -> Option<Self> {
        self.times(Self::new(other.under, other.over)?)
    }

    /// The sum, unless it overflows.
    pub fn plus(self, other: Self) -> Option<Self> {
        let left = self.over.checked_mul(other.under)?;
        let right = other.over.checked_mul(self.under)?;
        Self::new(
            left.checked_add(right)?,
            self.under.checked_mul(other.under)?,
        )
    }

    /// The number as an integer, if it is whole and small enough.
    pub fn as_whole(self) -> Option<i64> {
        (self.under == 1).then_some(self.over)?.try_into().ok()
    }

    /// For approximate uses, such as a record's value or a rough comparison.
    pub fn as_f64(self) -> f64 {
        self.over as f64 / self.under as f64
    }

    /// Compares two numbers; approximate if the exact comparison overflows.
    pub fn compare(self, other: Self) -> std::cmp::Ordering {
        let left = self.over.checked_mul(other.under);
        let right = other.over.checked_mul(self.under);
        match left.zip(right) {
            Some((left, right)) => left.cmp(&right),
            None => self.as_f64().total_cmp(&other.as_f64()),
        }
    }

    /// Whether the two differ by at most a fifth of the larger: what "about" allows.
    pub fn is_about(self, other: Self) -> bool {
        let (left, right) = (self.as_f64(), other.as_f64());
        (left - right).abs() <= left.abs().max(right.abs()) * 0.2
    }
}

/// The greatest common divisor; 1 if there is none.
fn divisor(left: i128, right: i128) -> i128 {
    let (mut left, mut right) = (left.unsigned_abs(), right.unsigned_abs());
    while right != 0 {
        (left, right) = (right, left % right);
    }
    i128::try_from(left).unwrap_or(1).max(1)
}

/// A number as written, and its other reading: `1.500` and `1,5` mean different numbers in
/// different countries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WrittenNumber {
    pub(crate) number: Ratio,
    pub(crate) or: Option<Ratio>,
}

/// More digits than any number in a claim has.
const DIGITS: usize = 30;

/// Reads the number at the start of a word, and its length in bytes: `2.5` of `2.5min`. Commas,
/// underscores and apostrophes may group the digits; an exponent may follow.
pub(crate) fn leading_number(word: &str) -> Option<(WrittenNumber, usize)> {
    let bytes = word.as_bytes();
    let signed = usize::from(matches!(bytes.first(), Some(b'+' | b'-')));
    let mut end = signed;
    while let Some(byte) = bytes.get(end) {
        let digit = |at: usize| bytes.get(at).is_some_and(u8::is_ascii_digit);
        let joins = matches!(byte, b',' | b'.' | b'_' | b'\'') && end > signed && digit(end + 1);
        if !(byte.is_ascii_digit() || joins) {
            break;
        }
        end += 1;
    }
    let plain = word.get(..end)?;
    let (number, or) = plain_number(plain.get(signed..)?)?;
    let number = match bytes.first() {
        Some(b'-') => number.times(Ratio::whole(-1))?,
        _ => number,
    };
    match exponent(word.get(end..)?) {
        Some((power, taken)) => {
            let number = number.times(ten_to(power)?)?;
            Some((WrittenNumber { number, or: None }, end + taken))
        }
        None => Some((WrittenNumber { number, or }, end)),
    }
}

/// Digits with their separators, and the other reading if there is one.
fn plain_number(text: &str) -> Option<(Ratio, Option<Ratio>)> {
    let text: String = text.chars().filter(|it| !"_'".contains(*it)).collect();
    let commas = text.matches(',').count();
    let points = text.matches('.').count();
    let tail = |sign: char| text.rsplit(sign).next().map_or(0, str::len);
    let grouped = |sign: char| text.split(sign).skip(1).all(|it| it.len() == 3);
    let bare = |sign: char| text.replace(sign, "");
    match (commas, points) {
        (0, 0) => Some((decimal(&text)?, None)),
        // 1.5, and 1.500 that may be one and a half thousand
        (0, 1) if tail('.') == 3 && !text.starts_with('0') => {
            Some((decimal(&text)?, decimal(&bare('.'))))
        }
        (0, 1) => Some((decimal(&text)?, None)),
        (1, 0) if tail(',') == 3 && !text.starts_with('0') => {
            Some((decimal(&bare(','))?, decimal(&text.replace(',', "."))))
        }
        // 1,5 as written in many countries
        (1, 0) => Some((decimal(&text.replace(',', "."))?, None)),
        (_, 0) if grouped(',') => Some((decimal(&bare(','))?, None)),
        (0, _) if is_grouped(&text) => Some((decimal(&bare('.'))?, None)),
        (_, 1) if text.rfind(',') < text.rfind('.') => Some((decimal(&bare(','))?, None)),
        (1, _) if text.rfind('.') < text.rfind(',') => {
            Some((decimal(&bare('.').replace(',', "."))?, None))
        }
        _ => None,
    }
}

/// Whether points only group the digits: `1.000.000`, which is not a version.
pub(crate) fn is_grouped(text: &str) -> bool {
    let mut parts = text.split('.');
    let first = parts.next().unwrap_or_default();
    let begins = (1..=3).contains(&first.len()) && !first.starts_with('0');
    let digits = |it: &str| it.bytes().all(|it| it.is_ascii_digit());
    let groups: Vec<&str> = parts.collect();
    begins
        && digits(first)
        && groups.len() > 1
        && groups.iter().all(|it| it.len() == 3 && digits(it))
}

/// Digits with at most one point.
fn decimal(text: &str) -> Option<Ratio> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let digits = format!("{whole}{part}");
    let sound = !digits.is_empty()
        && digits.len() <= DIGITS
        && digits.bytes().all(|it| it.is_ascii_digit());
    let over = sound.then(|| digits.parse().ok())??;
    Ratio::new(over, 10_i128.checked_pow(u32::try_from(part.len()).ok()?)?)
}

/// Reads `e6`, `E-3`: the power, and the number of bytes it takes.
fn exponent(text: &str) -> Option<(i32, usize)> {
    let rest = text.strip_prefix(['e', 'E'])?;
    let digits = rest.strip_prefix(['+', '-']).unwrap_or(rest);
    let length = digits.bytes().take_while(u8::is_ascii_digit).count();
    let taken = 1 + (rest.len() - digits.len()) + length;
    if length == 0 || length > 2 || text.len() > taken {
        return None;
    }
    Some((rest.parse().ok()?, taken))
}

/// A power of ten, unless it overflows.
pub(crate) fn ten_to(power: i32) -> Option<Ratio> {
    let size = 10_i128.checked_pow(power.unsigned_abs())?;
    match power {
        0.. => Ratio::new(size, 1),
        _ => Ratio::new(1, size),
    }
}

/// The factor of a suffix directly after a number: `10k`, `2M`.
pub(crate) fn suffix_factor(text: &str) -> Option<Ratio> {
    match text {
        "k" | "K" => ten_to(3),
        "M" | "mio" | "mn" => ten_to(6),
        "G" | "B" | "bn" => ten_to(9),
        "T" => ten_to(12),
        "x" | "×" => ten_to(0),
        _ => None,
    }
}

/// The value of a number word below a hundred, or of two joined by a hyphen.
pub(crate) fn small_number(word: &str) -> Option<i64> {
    const ONES: [&str; 20] = [
        "zero",
        "one",
        "two",
        "three",
        "four",
        "five",
        "six",
        "seven",
        "eight",
        "nine",
        "ten",
        "eleven",
        "twelve",
        "thirteen",
        "fourteen",
        "fifteen",
        "sixteen",
        "seventeen",
        "eighteen",
        "nineteen",
    ];
    const TENS: [&str; 8] = [
        "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety",
    ];
    let at = |list: &[&str], word: &str| list.iter().position(|it| *it == word);
    if let Some((tens, ones)) = word.split_once('-') {
        let tens = i64::try_from(at(&TENS, tens)?).ok()?;
        let ones = i64::try_from(at(&ONES, ones)?).ok()?;
        return (1..10).contains(&ones).then_some((tens + 2) * 10 + ones);
    }
    if let Some(ones) = at(&ONES, word) {
        return i64::try_from(ones).ok();
    }
    let tens = i64::try_from(at(&TENS, word)?).ok()?;
    Some((tens + 2) * 10)
}

/// Whether a number word continues the count so far: "fifty" after "one hundred", "five" after
/// "twenty". `scaled` means that a hundred or a thousand was named.
pub(crate) fn may_follow(count: Ratio, word: i64, scaled: bool) -> bool {
    let Some(count) = count.as_whole() else {
        return false;
    };
    let ones = (20..100).contains(&(count % 100)) && count % 10 == 0 && (1..10).contains(&word);
    ones || (scaled && count % 100 == 0 && word > 0)
}

/// A word that multiplies what precedes it: `two thousand`, `10 million`, `a dozen`.
pub(crate) fn scale_factor(word: &str) -> Option<Ratio> {
    match word {
        "dozen" | "dozens" => Some(Ratio::whole(12)),
        "hundred" | "hundreds" => ten_to(2),
        "thousand" | "thousands" => ten_to(3),
        "million" | "millions" => ten_to(6),
        "billion" | "billions" => ten_to(9),
        "trillion" => ten_to(12),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_however_they_are_written() {
        let cases = [
            ("30", 30, 1),
            ("2.5min", 5, 2),
            ("1,000", 1000, 1),
            ("1_000_000", 1_000_000, 1),
            ("1,234.5", 2469, 2),
            ("1.234,5", 2469, 2),
            ("0,25", 1, 4),
            ("1e6", 1_000_000, 1),
            ("5e-3", 1, 200),
            ("-7", -7, 1),
        ];
        for (text, over, under) in cases {
            let read = leading_number(text).map(|it| it.0.number);
            assert_eq!(read, Ratio::new(over, under), "{text}");
        }
    }

    #[test]
    fn what_depends_on_the_writer_has_two_readings() {
        let german = leading_number("1.500").unwrap().0;
        assert_eq!(german.number, Ratio::new(3, 2).unwrap());
        assert_eq!(german.or, Some(Ratio::whole(1500)));
    }

    #[test]
    fn what_cannot_be_held_is_no_number() {
        assert_eq!(leading_number(&"9".repeat(60)), None);
        assert_eq!(leading_number("1.2.3.4,5,6"), None);
        assert_eq!(leading_number(""), None);
        assert_eq!(Ratio::new(1, 0), None);
    }

    #[test]
    fn number_words_are_numbers() {
        assert_eq!(small_number("thirty-two"), Some(32));
        assert_eq!(small_number("seventeen"), Some(17));
        assert_eq!(small_number("thirty-zero"), None);
        assert_eq!(small_number("wallet"), None);
    }
}
