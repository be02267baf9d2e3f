//! Finds statements by their shape, however their lines are joined: as sentences, as steps of a
//! list, or spelled out in words. Most rules need several statements, since prose may mention one.

use std::sync::LazyLock;

use regex::Regex;

use super::lines::{LineKind, judge};

/// A shape of statement, and the number of matches that make it code.
struct Shape {
    statement: Regex,
    least: usize,
}

static SHAPES: LazyLock<Vec<Shape>> = LazyLock::new(|| {
    let rules: [(usize, &str); 12] = [
        // SQL: a statement that compares or assigns.
        (
            1,
            r"(?i)\b(?:select\s[^;]{1,200}?\sfrom\s+[\w.]+(?:\s+\w+)?\s+(?:where|on|join|inner|left|group|order)\b[^;]{0,160}?[=<>]|delete\s+from\s+[\w.]+\s+where\s[^;]{1,80}?[=<>]|update\s+[\w.]+\s+set\s+[\w.]+\s*=|insert\s+into\s+[\w.]+\s*(?:\(|values\b)|create\s+(?:table|view)\s+[\w.]+\s+(?:as\s+select|\())",
        ),
        // Tags of templates.
        (
            2,
            r"\{\{-?\s*(?:range|if|else|end|with|include|define|template|block|\.)|\{%-?\s*(?:for|if|elif|else|endif|endfor|block|set)\b",
        ),
        // Assembly: an instruction and its register.
        (
            3,
            r"(?i)\b(?:mov|add|sub|xor|and|or|inc|dec|push|pop|cmp|test|lea|shl|shr|imul|ldr|str|ldp|stp)\s+(?:[er]?[abcd]x|[er]?[sd]i|[er]?[sb]p|r\d{1,2}d?|[xw]\d{1,2}|\[)",
        ),
        // Instructions of a container image.
        (
            4,
            r"(?:^|[\s.;`])(?:FROM|RUN|COPY|WORKDIR|EXPOSE|CMD|ENTRYPOINT|ENV|USER|VOLUME|ARG)\s+[\w./\[$-]",
        ),
        // COBOL, and BASIC with its line numbers.
        (
            3,
            r"\b(?:MOVE|PERFORM|DISPLAY|COMPUTE|ADD|SUBTRACT|READ|CLOSE|OPEN\s+(?:INPUT|OUTPUT))\s+[A-Z0-9][A-Z0-9-]+\b|\bSTOP\s+RUN\b|\bEND-[A-Z]+\b",
        ),
        (
            3,
            r"\b\d{1,5}\s+(?:INPUT|LET|FOR|NEXT|PRINT|GOTO|GOSUB|IF|DIM|REM|END|RETURN)\b",
        ),
        // Blocks that end with words.
        (
            2,
            r"(?i)\bend\s+(?:tell|repeat|if|for|while|function|sub|select|case|try|def|do)\s*(?:[.,;)\n]|$)",
        ),
        // Punctuation spelled out in words.
        (
            5,
            r"(?i)\b(?:open|close|left|right)\s+(?:paren|parenthesis|bracket|brace|curly)\b|\b(?:newline|semicolon|indent|dedent|backtick)\b",
        ),
        // Shell commands, one per line: with a subcommand that prose never uses, or with a flag, a
        // path or a setting.
        (
            3,
            r"(?m)^[ \t]*(?:\d+[.):][ \t]*|[-*][ \t]+)?(?:[$#>][ \t]*)?(?:sudo[ \t]+)?(?:git[ \t]+(?:fetch|pull|push|checkout|clone|commit|add|rebase|merge|reset|switch|stash|tag)\b|cargo[ \t]+(?:build|test|run|install|publish|clippy|fmt|bench)\b|(?:npm|npx|pnpm|yarn|pip3?|docker|kubectl|helm|terraform|apt-get|apt|brew|systemctl)[ \t]+(?:i|ci|install|run|build|push|pull|apply|get|exec|up|down|init|plan|restart|start|stop|upgrade|update)\b|(?:git|cargo|ssh|scp|rsync|curl|wget|cmake|python3?|journalctl|psql|aws|gcloud|chmod|chown|mkdir|tar|unzip|rm|cp|mv|cd|export|docker|kubectl)[ \t]+(?:[a-z][a-z-]*[ \t]+)*(?:-|\S*[/=@~]))",
        ),
        // Statements with their signs, between words that describe them.
        (
            3,
            r"\b(?:def|fn|func|function)\s+\w+\([^()]*\)|\b\w+\s:?=\s(?:await\s+|new\s+)?\w[\w.]*\(|\b\w+(?:\.\w+)+\([^()]*[=,*+'][^()]*\)|\bfor\s+\w+\s+in\s+\w+\(|\bexcept\s+[\w.]+\s+as\s+\w+|\breturn\s+\w[\w.]*\(|\b\w+\s[=!]==?\s\w+\s[-+*/]\s\w+",
        ),
        // Comprehensions.
        (
            2,
            r"[\[{(][^\[\]{}\n]{1,80}\sfor\s\w+(?:,\s*\w+)*\sin\s[^\[\]{}\n]{1,120}[\]})]",
        ),
        // Control flow in words, one step each.
        (
            4,
            r"(?i)(?:^|[.;,]\s+|\n\s*)(?:set\s+\w+\s+to\b|for\s+each\s+\w+\s+in\b|if\s+\w+\s+is\s+(?:in|greater|less|equal|not)\b|append\s+\w+\s+to\b|return\s+\w+\b|let\s+\w+\s+be\b|while\s+\w+\s+is\b|add\s+\w+\s+to\b|repeat\s+with\b|tell\s+application\b)",
        ),
    ];
    let shape = |(least, rule): (usize, &str)| {
        // Each pattern is a constant; a test below compiles them all.
        let statement = Regex::new(rule).ok()?;
        Some(Shape { statement, least })
    };
    rules.into_iter().filter_map(shape).collect()
});

/// Counts the characters from the first to the last statement of the shape that covers most.
pub(super) fn code_chars(text: &str) -> usize {
    let taken = SHAPES.iter().map(|shape| {
        let (mut count, mut from, mut to) = (0, text.len(), 0);
        for found in shape.statement.find_iter(text) {
            count += 1;
            from = from.min(found.start());
            to = found.end();
        }
        if count < shape.least {
            0
        } else {
            text.get(from..to).map_or(0, |code| code.chars().count())
        }
    });
    let most = taken.max().unwrap_or_default();
    most.max(nested_keys(text)).max(quoted(text))
}

/// Counts the characters of keys nested three levels deep: settings, whatever their meaning.
fn nested_keys(text: &str) -> usize {
    let mut depths = Vec::new();
    let mut chars = 0;
    for line in text.lines() {
        let bare = line.trim_start().trim_start_matches("- ");
        let Some((key, value)) = bare.split_once(':') else {
            continue;
        };
        let of_key = |c: char| c.is_alphanumeric() || "_-./".contains(c);
        if key.is_empty()
            || !key.chars().all(of_key)
            || !(value.is_empty() || value.starts_with(' '))
        {
            continue;
        }
        chars += line.trim().chars().count();
        let depth = line.len() - line.trim_start().len();
        let is_known = depths.contains(&depth);
        depths.extend((!is_known).then_some(depth));
    }
    if depths.len() < 3 { 0 } else { chars }
}

/// Counts the characters of statements quoted one by one, if at least one of them is more than a
/// call.
fn quoted(text: &str) -> usize {
    let inside = text.split(['"', '“', '”']).skip(1).step_by(2);
    let statements: Vec<_> = inside
        .map(|part| (judge(part.trim()), part))
        .filter(|(reads, part)| *reads != LineKind::Prose && part.len() > 3)
        .collect();
    let does_more =
        |(reads, part): &(LineKind, &str)| *reads == LineKind::Surely || part.contains(" = ");
    if statements.len() < 3 || !statements.iter().any(does_more) {
        return 0;
    }
    statements
        .iter()
        .map(|(_, part)| part.chars().count())
        .sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_known_by_their_shape() {
        assert_eq!(SHAPES.len(), 12, "each rule compiles");
        for code in [
            "For the report we select c.name, count(*) as n from orders o join customers c on c.id = o.cid.",
            "Afterwards delete from orders where due < now(), and update customers set flagged = true.",
            "The chart gained {{- range .Values.hosts }} followed by - host: {{ .name | quote }} and {{- end }}.",
            "The stub goes xor eax eax then mov ecx 10 then add eax ecx then dec ecx and nothing else.",
            "The image is built so. FROM alpine:3.19. RUN apk add python3. WORKDIR /srv. COPY app.py ./. CMD python3 app.py.",
            "MOVE ZERO TO WS-TOTAL. OPEN INPUT ORDER-FILE. PERFORM UNTIL WS-EOF EQUAL 1. DISPLAY WS-TOTAL. STOP RUN.",
            "The demo is 10 INPUT N then 20 LET F = 1 then 30 FOR I = 1 TO N.",
            "tell application Finder, repeat with f in oldFiles, move f to trash, end repeat, end tell.",
            "def space retry open paren fn close paren colon newline indent return fn open paren close paren newline.",
            "1. git fetch origin main\n2. git checkout -b hotfix origin/main\n3. cargo build --release --locked",
            "Then def fetch(url, tries=5) opens it, for n in range(tries) starts the loop, and r = requests.get(url, timeout=10) follows.",
            "I made it pairs = [(a, b) for a in nodes if a < b] and then labels = {a: find(a) for a, _ in pairs}",
            "on:\n  push:\n    branches: [main]\njobs:\n  build:\n    steps: none",
            "First \"lock = Lock()\", then \"with lock:\", inside it \"count = count + 1\", last \"notify(count)\".",
            "Set seen to an empty set. Set out to a list. For each row in rows, set key to row. If key is in seen, continue. Return out.",
        ] {
            assert!(code_chars(code) > 0, "{code}");
        }
        for prose in [
            "Select the branch from the menu where the pull request is shown.",
            "We delete from the cache where possible, and update the set of keys.",
            "Run `git fetch` and `cargo test` before you push; docker is not needed.",
            "- git is required\n- cargo builds it\n- docker runs it",
            "FROM and RUN are the two instructions that invalidate the layer.",
            "At the end if the tests pass, we release; in the end for most users nothing changes.",
            "The parser counts an open paren and a close paren, and a newline ends the statement.",
            "Calls of `get(key)` and `put(key, value)` race; `lock()` was taken too late, so a == b + 1 fails.",
            "Results:\n  p50: 3 ms\n  p95: 9 ms\nMachine: quiet",
            "It says \"connect(host) failed\", then \"retry in 3 s\", then \"a = b\" and exits.",
            "Set the timeout to 30 s. Return early if the lock is held.",
            "Move the test to its own file. Add a note to the changelog.",
        ] {
            assert_eq!(code_chars(prose), 0, "{prose}");
        }
    }
}
