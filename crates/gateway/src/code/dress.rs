//! Strips what surrounds a line: quote and list markers, line numbers, comments, table cells,
//! quotation marks. A line of code inside any of them is still code.

/// What surrounded a line, ordered by how often it surrounds prose, the least first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(super) enum Dress {
    None,
    /// A list item: prose in it may have the shape of a call or a setting.
    Item,
    /// A comment, a cell or a quotation.
    Remark,
}

/// Returns the line itself, and what surrounded it.
pub(super) fn undressed(line: &str) -> (Dress, &str) {
    let mut dress = Dress::None;
    let mut bare = without_line_end(line.trim());
    // No ordinary line has more layers than this.
    for _ in 0..6 {
        let (more, within) = if let Some(within) = item(bare) {
            (Dress::Item, within)
        } else if let Some(within) = remark(bare)
            .or_else(|| wrapped(bare))
            .or_else(|| cell(bare))
            .or_else(|| labelled(bare))
        {
            (Dress::Remark, within)
        } else {
            break;
        };
        bare = without_line_end(within.trim());
        if more > dress {
            dress = more;
        }
    }
    (dress, bare)
}

/// Returns the line after the `> ` of a quotation and after its number in a listing (`12: `,
/// `12 | `, `src/a.rs:12: `); it may still be indented.
pub(super) fn unquoted(line: &str) -> &str {
    let mut line = line;
    loop {
        let trimmed = line.trim_start_matches(' ');
        let within = match trimmed.strip_prefix('>') {
            Some(within) if line.len() - trimmed.len() < 4 => {
                within.strip_prefix(' ').unwrap_or(within)
            }
            _ => match numbered(trimmed) {
                Some(within) => within,
                None => return line,
            },
        };
        if within.trim().is_empty() {
            return within;
        }
        line = within;
    }
}

/// Returns the text after the line number in a listing.
fn numbered(line: &str) -> Option<&str> {
    // A notebook cell: `In [3]: `
    if let Some((number, within)) = line
        .strip_prefix("In [")
        .and_then(|it| it.split_once("]: "))
    {
        return number.parse::<u16>().ok().map(|_| within);
    }
    let digits = |text: &str| text.bytes().take_while(u8::is_ascii_digit).count();
    let mut rest = line;
    if let Some((path, after)) = line.split_once(':')
        && digits(path) == 0
        && path.contains(['.', '/'])
        && !path.contains(' ')
        && digits(after) > 0
    {
        rest = after;
    }
    let count = digits(rest);
    let after = rest.get(count..).filter(|_| (1..=6).contains(&count))?;
    let spaced = after.trim_start_matches(' ');
    let rest = spaced
        .strip_prefix([':', '|', '│', '→'])
        .or_else(|| after.strip_prefix('\t'))?;
    Some(rest.strip_prefix(' ').unwrap_or(rest))
}

const ITEMS: [&str; 6] = ["- ", "* ", "+ ", "• ", "– ", "◦ "];

fn item(line: &str) -> Option<&str> {
    if let Some(within) = ITEMS.iter().find_map(|mark| line.strip_prefix(mark)) {
        return Some(within);
    }
    // An arrow, a check mark, an emoji
    let mut chars = line.chars();
    if chars
        .next()
        .is_some_and(|it| !it.is_ascii() && !it.is_alphanumeric() && !"“‘«„".contains(it))
        && let Some(within) = chars
            .as_str()
            .trim_start_matches('\u{fe0f}')
            .strip_prefix(' ')
    {
        return Some(within);
    }
    let (number, rest) = line.split_once(['.', ')'])?;
    let number = number.strip_prefix('(').unwrap_or(number);
    let is_number = number.parse::<u16>().is_ok()
        || (number.len() == 1 && number.bytes().all(|it| it.is_ascii_lowercase()));
    (is_number && rest.starts_with(' ')).then_some(rest)
}

const REMARKS: [&str; 6] = ["//", "/*", "<!--", "--", ";;", "% "];

/// Returns the text of a comment. `//` alone stays, since three lines of it are code themselves.
fn remark(line: &str) -> Option<&str> {
    // A heading of any level
    let within = match line.trim_start_matches('#') {
        rest if rest.starts_with(' ') && rest.len() < line.len() => rest.trim_start(),
        _ => REMARKS.iter().find_map(|mark| line.strip_prefix(mark))?,
    };
    let within = within.trim_end_matches("*/").trim_end_matches("-->").trim();
    (super::lines::is_hard(within) && !within.starts_with(['-', '+'])).then_some(within)
}

const PAIRS: [(&str, &str); 11] = [
    ("(", ")"),
    ("\"", "\""),
    ("'", "'"),
    ("“", "”"),
    ("‘", "’"),
    ("«", "»"),
    ("„", "“"),
    ("**", "**"),
    ("__", "__"),
    ("~~", "~~"),
    ("*", "*"),
];

fn wrapped(line: &str) -> Option<&str> {
    PAIRS.iter().find_map(|(open, close)| {
        let within = line.strip_prefix(open)?.strip_suffix(close)?;
        (!within.is_empty() && !within.contains(open)).then_some(within)
    })
}

/// Returns the text after a few words and a colon: `Line 2: let a = 1;`
fn labelled(line: &str) -> Option<&str> {
    let (label, within) = line.split_once(": ")?;
    let is_label = label.split(' ').count() <= 3
        && label.chars().all(|it| it.is_alphanumeric() || it == ' ')
        && label.starts_with(|it: char| it.is_ascii_uppercase());
    (is_label && super::lines::is_hard(within)).then_some(within)
}

/// Returns the cell of a table row that looks most like code.
fn cell(line: &str) -> Option<&str> {
    let row = line.strip_prefix('|')?.strip_suffix('|')?;
    let hard = |it: &&str| super::lines::is_hard(it) && it.len() > 3;
    row.split('|').map(str::trim).find(hard)
}

/// Strips what a renderer treats as a line end, and punctuation after the end of a statement.
fn without_line_end(line: &str) -> &str {
    if let Some(line) = line.strip_suffix(['.', ','])
        && line.ends_with([';', '}', '"'])
    {
        return line;
    }
    ["<br>", "<br/>", "<br />", "\\"]
        .iter()
        .find_map(|mark| line.strip_suffix(mark))
        .map_or(line, str::trim_end)
}
