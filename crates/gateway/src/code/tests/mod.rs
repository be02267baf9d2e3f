//! Real prose must pass, and real code must be found.

mod disguise;

use proptest::prelude::*;

use super::code_chars;

const PROSE: &[&str] = &[
    "",
    "Top risks identified; need deref grant for ledger code.",
    "Await grant or alternative pointers.",
    "Goal: implement Engram Bus with 5% context rule; pointer-first only.",
    "Hard constraint: budget enforcement in gateway; reject oversize.",
    "Confirm atomicity + idempotency; emit 3-5 Engrams max; no inline code.",
    "Potential contradiction between SPEC budget rules and current gateway reservation flow.",
    "`reserve()` takes the row lock before it reads `balance`, so two callers cannot both pass.",
    "Use `max_retries = 3`; the default of 5 doubles the tail latency.",
    "max_retries = 3",
    "`timeout_ms`: 200",
    "timeout: 30s\nretries: 3\nbackoff: exponential",
    "Three things hold:\n- keep retries bounded;\n- never log the token;\n- close the file on error;",
    "- call `close()` on exit;\n- then `flush()`;\n- then `exit(0)`;",
    "1. Read src/main.rs\n2. Look at parse()\n3. Report what it does with empty input",
    "1) open the ledger;\n2) read the head;\n3) stop.",
    "Return early when the ledger is closed.\nImport the keys from the vault first.\nUse one connection for each run.",
    "return early when the ledger is closed\nimport the keys from the vault first\nuse one connection for each run",
    "Which is faster?\n(1) SQLite, (2) a flat file.\n(See docs/bench.md.)",
    "Findings:\n\n    The gateway rejects oversize messages,\n    and children resend them as engrams.\n\nNext: the ledger.",
    "- top\n    - nested point about the cache\n    - another one\n        - and a third",
    "1. First\n\n    It continues here with more words.\n\n2. Second",
    "for every caller: the reservation expires after 30 s.\nif in doubt: ask the parent.",
    "If x == y then the cache is stale (see #41). Otherwise it is not.",
    "p95 < 20 ms; p99 < 40 ms; error rate = 0.1 %.",
    "class of bugs: races on startup\ndef of done: tests pass",
    "See https://example.com/a?b=c;d=e for the details.",
    "Der Test schlägt fehl, weil die Sperre zu früh freigegeben wird;\ndas Protokoll zeigt zwei Schreiber.",
    "予約は原子的です。\n台帳を確認してください。",
    "Kafka (3 brokers)\nPostgres (16)\nRedis (7)",
    "Owner: Ana (on call)\nNext review: Friday (10:00)",
    "const correctness matters here, and let us keep it.",
    "select the newest row where possible; from there, group by topic.",
    "Plan\n====\nfirst the schema, then the store\n\nRisks\n-----\nlock order",
    "| path | owner |\n|---|---|\n| src/a.rs | ana |\n| src/b.rs | bo |",
    "> quoted: the reviewer asked for a bound\n> and a test.",
    "The set {a; b} is closed; f(x) = x holds on it.",
    "Uses <token> as placeholder\nand <name> too",
    "## Summary\nThe import fails.\n## Next\nRetry with a smaller batch.",
    "Fixed: parse() (was: panic)\nOpen: fit()",
    "else: nothing to report.",
    "while the index rebuilds, queries scan;\nafter that they do not;",
    "A -> B -> C; then back to A.",
    "run `cargo test -p model` and `cargo clippy`",
    "if in doubt, ask the parent (see 3.1):\nit knows which file is meant",
    "with thanks to Bo:\nthe fix works",
];

const CODE: &[&str] = &[
    // fences
    "Look:\n```rust\nlet x = 1;\n```\n",
    "```\nanything at all\n```",
    "~~~\nanything at all\n~~~",
    "```python\nnever closed",
    "  ```\n  indented fence\n  ```",
    "see ```x = compute(y)``` for it",
    "```x = compute(y)```",
    // Rust
    "fn main() {\n    let x = 1;\n    println!(\"{x}\");\n}",
    "pub(crate) fn fit(text: &str, max: u32) -> Excerpt {\n    todo!()\n}",
    "let kept = at_line_end(text, end);\nlet mut tokens = count_tokens(kept);",
    "match kind {\n    Kind::Fact => 1,\n    _ => 0,\n}",
    // Python
    "def reserve(self, amount):\n    if self.balance < amount:\n        raise Overdrawn(amount)\n    self.balance -= amount",
    "import os\nfrom pathlib import Path\n\nroot = Path(os.getcwd())",
    "for row in rows:\n    total += row.amount\nreturn total",
    "class Ledger:\n    pass",
    "with open(path) as f:\n    data = f.read()",
    "if self.req and version not in self.req.specifier:\n    logger.warning(\n        name,\n    )",
    "    name: str,\n) -> None:\n    run(name)",
    "try:\n    run()\nexcept ValueError as e:\n    log(e)",
    // JavaScript, TypeScript
    "const a = require('a');\nmodule.exports = a;",
    "import { x } from './x';\nexport default function y() {\n  return x;\n}",
    "items\n  .filter(i => i.ok)\n  .map(i => i.name);",
    "if (a != b) {\n  return c;\n}",
    "interface Row {\n  id: string;\n}",
    // Go
    "func (l *Ledger) Reserve(n int) error {\n\tif n > l.left {\n\t\treturn ErrOverdrawn\n\t}\n}",
    "x, err := open(path)\nif err != nil {\n  return err\n}",
    // C, C++
    "#include <stdio.h>\nint main(void) { return 0; }",
    "int total = 0;\nfor (int i = 0; i < n; i++) total += a[i];",
    "std::vector<int> v;\nv.push_back(1);",
    // Java, C#
    "public class Ledger {\n    private final int limit;\n}",
    "@Override\npublic int hashCode() {\n    return Objects.hash(id);\n}",
    "using System;\nnamespace Ledger;",
    // Ruby
    "def reserve(amount)\n  @balance -= amount\nend",
    "class Ledger < ApplicationRecord\n  has_many :entries\nend\ndef x\nend",
    // SQL
    "SELECT id, claim\nFROM engrams\nWHERE valid_until IS NULL AND seq > 10",
    "INSERT INTO engrams (id) VALUES (1);\nDELETE FROM engrams;",
    // Shells, markup, diffs, data
    "#!/bin/sh\nset -e\nexport A=1",
    "if [ -f x ]; then\n  rm x\nfi",
    "<div class=\"row\">\n  <span id=\"a\">x</span>\n</div>",
    "diff --git a/x b/x\n@@ -1,2 +1,2 @@\n-let a = 1;\n+let a = 2;",
    "{\n  \"a\": 1,\n  \"b\": 2\n}",
    "max_retries = 3\ntimeout = 30\nbackoff = 2",
    // Indented blocks, a single line, backticks around each line
    "It reads:\n\n    return balance - amount;\n\nwhich is wrong.",
    "It reads:\n\n    total = total + x\n    count = count + 1\n\nwhich is wrong.",
    "fn main() { let x = 1; run(x); }",
    "def add(a, b): return a + b",
    "return balance - amount;",
    "`let x = 1;`\n`run(x);`",
    // in prose
    "The loop is wrong:\nfor (i = 0; i <= n; i++) {\n  sum += a[i];\n}\nIt reads past the end.",
];

/// Returns all texts that are judged wrongly.
fn wrong(texts: impl Iterator<Item = String>, is_code: bool) -> Vec<String> {
    texts
        .filter(|text| (code_chars(text) > 0) != is_code)
        .collect()
}

#[test]
fn prose_is_not_code() {
    let texts = PROSE.iter().map(|text| (*text).to_owned());
    assert_eq!(wrong(texts, false), [""; 0]);
}

#[test]
fn code_is_code() {
    let texts = CODE.iter().map(|text| (*text).to_owned());
    assert_eq!(wrong(texts, true), [""; 0]);
    let texts = CODE.iter().map(|text| text.replace('\n', "\r\n"));
    assert_eq!(wrong(texts, true), [""; 0]);
}

#[test]
fn code_within_prose_is_found() {
    let alone = ["def add(a, b): return a + b", "return balance - amount;"];
    let within = CODE.iter().filter(|code| !alone.contains(code));
    let texts = within.map(|code| {
        format!("This is what I found in the file.\n\n{code}\n\nIt looks wrong to me.")
    });
    assert_eq!(wrong(texts, true), [""; 0]);
}

#[test]
fn only_the_code_is_counted() {
    assert_eq!(code_chars("Some words.\n```\nabc\nde\n```\nMore words."), 5);
    assert_eq!(
        code_chars("Some words.\nlet a = 1;\nrun(a);\nMore words."),
        17
    );
}

#[test]
fn long_lines_are_quick() {
    for unit in [
        "(", "a", "a ", "= ", "`", "{;", "a(", "x = ", "if (", "\t", "```",
    ] {
        let text = unit.repeat(1_000_000 / unit.len());
        let _ = code_chars(&text);
    }
}

proptest! {
    #[test]
    fn no_text_panics(text in "(?s).{0,300}") {
        let chars = text.chars().count();
        prop_assert!(code_chars(&text) <= chars);
    }

    #[test]
    fn sentences_are_not_code(words in prop::collection::vec("[A-Z]?[a-z]{1,8}", 3..40)) {
        let text = format!("{}.", words.join(" "));
        prop_assert_eq!(code_chars(&text), 0, "{}", text);
    }
}
