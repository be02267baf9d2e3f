//! Finds code within a line of prose: bodies, consecutive statements, and statements in backticks.

use std::sync::LazyLock;

use regex::RegexSet;

use super::lines::{LineKind, SURE, is_hard, judge, set, without_ticks};

/// Whether a line contains, anywhere, code that is more than a name.
pub(super) fn contains_code(line: &str) -> bool {
    const SQL: [&str; 6] = ["SELECT", "INSERT", "UPDATE", "DELETE", "CREATE", "select "];
    if !line.contains(['(', '{', ';', '[', '`']) && !SQL.iter().any(|it| line.contains(it)) {
        return false;
    }
    is_body(line) || is_fenced(line) || BODY.is_match(line) || statements(line)
}

/// Whether a line contains a body: `fn main() { let x = 1; run(x); }`
fn is_body(line: &str) -> bool {
    let line = without_ticks(line);
    let Some((before, rest)) = line.split_once('{') else {
        return false;
    };
    rest.rsplit_once('}').is_some_and(|(body, _)| {
        body.contains(';') && (body.contains(['(', '=']) || before.trim_end().ends_with([')', '>']))
    })
}

/// Whether a line of prose contains code between triple backticks.
fn is_fenced(line: &str) -> bool {
    line.split_once("```")
        .and_then(|(_, after)| after.split_once("```"))
        .is_some_and(|(inside, _)| !inside.trim().is_empty())
}

/// Whether a line contains three consecutive statements with their semicolons, after any other
/// text.
fn statements(line: &str) -> bool {
    if line.bytes().filter(|it| *it == b';').count() < 3 {
        return false;
    }
    let Some((done, _)) = line.rsplit_once(';') else {
        return false;
    };
    let is_statement = |part: &&str| {
        let said = part.rsplit_once(": ").map_or(*part, |it| it.1).trim();
        // Drops a backtick whose partner is in another part; a pair of backticks within one part
        // encloses a name.
        let said = match said.matches('`').count() {
            1 => match said.strip_suffix('`') {
                Some(said) => said,
                None => said.rsplit('`').next().unwrap_or(said),
            },
            _ => said,
        };
        said.contains(['=', '(']) && SURE.is_match(&format!("{said};"))
    };
    done.split(';').filter(is_statement).count() >= 3
}

/// The length of each whole statement in backticks that is not a name.
pub(super) fn ticked(line: &str) -> impl Iterator<Item = usize> {
    let parts: Vec<&str> = if line.contains('`') {
        line.split('`').collect()
    } else {
        Vec::new()
    };
    // A line that is entirely in backticks is judged as a line.
    let is_mention = parts.len() > 2
        && parts
            .iter()
            .step_by(2)
            .any(|it| it.chars().any(char::is_alphanumeric));
    let inside: Vec<usize> = parts
        .iter()
        .skip(1)
        .step_by(2)
        .filter(|it| is_mention && it.contains(' ') && is_hard(it) && judge(it) == LineKind::Surely)
        .map(|it| it.chars().count())
        .collect();
    inside.into_iter()
}

static BODY: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        // A function, with the start of its body
        r"\b(?:fn|func|function|def|sub)\s+\w+\s*(?:<[^>]*>)?\([^()]*\)\s*(?:->\s*[^{:]+)?[{:]\s*\S",
        // A declaration, and a call that follows it
        r"\b(?:let|const|var|val)\s+(?:mut\s+)?\w+(?:\s*:\s*[\w<>&]+)?\s*=\s*[^;=][^;]*;\s*\S*\w\(",
        r"\([\w\s,:&]*\)\s*=>\s*\{\s*\S",
        r"[=(,]\s*lambda(?:\s+[\w, ]+)?:\s*\S",
        r"\bclass\s+\w+\s*(?:\([^)]*\)|extends\s+\w+)?\s*\{\s*\S",
        r"\{\s*(?:return|let|const|var)\s+\S|\{\s*(?:self|this)\.\w+",
        r"\b(?:if|for|while)\s*\([^()]*(?:[=<>!]=|[<>]|;)[^()]*\)\s*(?:\{|\w+[\w.]*\s*(?:\(|[-+]?=\s))",
        r"[\w\])]\s*\{\s*[\w-]+\s*:\s*[^;{}]+;",
        // SQL
        r"\bSELECT\s[^.;]+\sFROM\s+\w[^.;]*\s(?:WHERE|JOIN|GROUP BY|ORDER BY|LIMIT)\s",
        r"\bselect\s+[\w.*]+(?:\s*,\s*[\w.*]+)*\s+from\s+\w+(?:\s+\w+)?\s+(?:where|join|order by|group by)\s+[\w.]+\s*(?:[=<>]|(?:in|like|on)\b)",
        r"\bINSERT\s+INTO\s+\w[^;]*\bVALUES\b|\bUPDATE\s+\w+\s+SET\s+\w+\s*=|\bDELETE\s+FROM\s+\w+\s+WHERE\b",
        r"\bCREATE\s+(?:TABLE|(?:UNIQUE )?INDEX|VIEW)\s+[\w ]+\(",
        // data
        r#"[{\[]\s*"[^"]+"\s*:[^"]*"?[^"]*"?\s*,\s*"[^"]+"\s*:[^"]*"?[^"]*"?\s*,\s*"[^"]+"\s*:"#,
    ])
});
