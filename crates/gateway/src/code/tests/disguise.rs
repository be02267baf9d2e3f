//! Disguised code, and prose that looks like disguised code.

use super::code_chars;

/// A function that each test below disguises.
const BODY: [&str; 4] = [
    "fn reserve(&mut self, amount: u64) -> bool {",
    "    let left = self.limit - self.used;",
    "    self.used += amount;",
    "}",
];

fn dressed(each: impl Fn(usize, &str) -> String, between: &str) -> String {
    let lines = BODY.iter().enumerate().map(|(at, line)| each(at, line));
    lines.collect::<Vec<_>>().join(between)
}

fn entities(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('{', "&#123;")
        .replace(';', "&semi;")
}

fn base64(text: &str) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in text.as_bytes().chunks(3) {
        let bits = three
            .iter()
            .fold(0u32, |bits, it| (bits << 8) | u32::from(*it))
            << (8 * (3 - three.len()));
        for at in 0..4 {
            if at <= three.len() {
                out.push(char::from(LETTERS[(bits >> (18 - 6 * at)) as usize & 63]))
            } else {
                out.push('=')
            }
        }
    }
    out
}

fn hex(text: &str) -> String {
    text.bytes().map(|it| format!("{it:02x}")).collect()
}

fn full_width(text: &str) -> String {
    let wide = |c: char| match c {
        '!'..='~' => char::from_u32(u32::from(c) + 0xfee0).unwrap_or(c),
        _ => c,
    };
    text.chars().map(wide).collect()
}

#[test]
fn code_is_found_however_it_hides() {
    let plain = BODY.join("\n");
    let one_line = dressed(|_, line| line.trim().to_owned(), " ");
    let mut hidden: Vec<(&str, String)> = Vec::new();
    for (mark, each) in [
        ("> ", "quoted"),
        (">", "quoted tightly"),
        ("> > ", "quoted twice"),
        ("    ", "indented"),
        ("\t", "indented by tabs"),
        ("- ", "bullets"),
        ("* ", "stars"),
        ("• ", "dots"),
        ("+", "taken in"),
        ("-", "taken away"),
        ("+ ", "taken in, spaced"),
        ("// ", "remarks"),
        ("# ", "remarks of a shell"),
        ("> - ", "bullets, quoted"),
        ("- > ", "quotations in bullets"),
        ("- `", "ticked bullets"),
    ] {
        let end = if mark.ends_with('`') { "`" } else { "" };
        hidden.push((each, dressed(|_, line| format!("{mark}{line}{end}"), "\n")));
    }
    hidden.extend([
        (
            "cells of a notebook",
            "In [1]: x = f(1)\nIn [2]: y = g(x)\nIn [3]: print(y)".to_owned(),
        ),
        (
            "commas between",
            "let a = f(x);, let b = g(a);, let c = h(b);".to_owned(),
        ),
        (
            "code in ticks of three in a list",
            "- ```let a = f(x)```".to_owned(),
        ),
        (
            "a heading each",
            dressed(|_, line| format!("## {line}"), "\n"),
        ),
        (
            "a shell",
            "$ cd /tmp\n$ export A=1\n$ ./run --fast".to_owned(),
        ),
        (
            "a script",
            "for f in *.rs; do\n  wc -l \"$f\"\ndone".to_owned(),
        ),
        ("go", "if err != nil {\n\treturn nil, err\n}".to_owned()),
        ("a match arm", "Some(x) => x + 1,\nNone => 0,".to_owned()),
        (
            "chained calls",
            "items.iter()\n    .filter(|it| it.ok)\n    .map(|it| it.name)\n    .collect()"
                .to_owned(),
        ),
        (
            "toml",
            "[package]\nname = \"x\"\nversion = \"1\"\nedition = \"2024\"".to_owned(),
        ),
        (
            "fields",
            "pub hidden: u32,\npub media: Option<Media>,".to_owned(),
        ),
        (
            "bare fields",
            "exact: u32,\nname: String,\nleft: Vec<u8>,".to_owned(),
        ),
        (
            "ticked at once",
            "It does `a = f(x); b = g(a); c = h(b);` there.".to_owned(),
        ),
        (
            "breaks in a line",
            dressed(|_, line| line.to_owned(), "<br>"),
        ),
        (
            "signs of line ends",
            dressed(|_, line| line.replace(' ', "·"), "↵"),
        ),
        (
            "a prompt",
            ">>> x = f(1)\n>>> y = g(x)\n>>> print(y)".to_owned(),
        ),
        (
            "a resource",
            "resource \"bucket\" \"logs\" {\n  name = \"x\"\n}".to_owned(),
        ),
        (
            "a quiet query",
            "It runs select id, claim from engrams where seq > 10 each time.".to_owned(),
        ),
        (
            "numbered python",
            "1) def reserve(self, n):\n2) if n > self.left:\n3) raise Overdrawn(n)".to_owned(),
        ),
        (
            "items that compute",
            "Then:\n- total = 0\n- total += row.amount\n- return total".to_owned(),
        ),
        (
            "items that call",
            "1. data = load(path)\n2. rows = parse(data)\n3. print(len(rows))".to_owned(),
        ),
        (
            "labels",
            dressed(|at, line| format!("Line {at}: {line}"), "\n"),
        ),
        ("emoji", dressed(|_, line| format!("✅ {line}"), "\n")),
        ("arrows", dressed(|_, line| format!("→ {line}"), "\n")),
        ("brackets", dressed(|_, line| format!("({line})"), "\n")),
        (
            "a list of JSON",
            dressed(|_, line| format!("\"{line}\","), "\n"),
        ),
        ("sentences", dressed(|_, line| format!("{line}."), "\n")),
        (
            "paragraphs of HTML",
            dressed(|_, line| format!("<p>{line}</p>"), "\n"),
        ),
        (
            "branches on a line",
            "if left > limit: return None\nreturn left".to_owned(),
        ),
        (
            "lisp",
            "It is\n(define (area r)\n(define (twice x) (+ x x))".to_owned(),
        ),
        (
            "a style",
            "It has .row { color: red; margin: 0 } there.".to_owned(),
        ),
        (
            "a container",
            "FROM rust:1\nRUN cargo build\nCOPY . /app".to_owned(),
        ),
        (
            "numbered items",
            dressed(|at, line| format!("{}. {line}", at + 1), "\n"),
        ),
        (
            "numbered lines",
            dressed(|at, line| format!("{:>4}: {line}", at + 41), "\n"),
        ),
        (
            "lines of a listing",
            dressed(|at, line| format!("{:>4} | {line}", at + 41), "\n"),
        ),
        (
            "lines of cat",
            dressed(|at, line| format!("{:>6}\t{line}", at + 41), "\n"),
        ),
        (
            "lines of grep",
            dressed(|at, line| format!("src/a.rs:{}:{line}", at + 41), "\n"),
        ),
        (
            "cells",
            dressed(|at, line| format!("| {at} | {line} |"), "\n"),
        ),
        ("ticks", dressed(|_, line| format!("`{line}`"), "\n")),
        ("quotes", dressed(|_, line| format!("\"{line}\""), "\n")),
        ("bold", dressed(|_, line| format!("**{line}**"), "\n")),
        ("blank lines", dressed(|_, line| line.to_owned(), "\n\n")),
        (
            "prose between",
            dressed(
                |_, line| line.to_owned(),
                "\nand then, as one would expect,\n",
            ),
        ),
        (
            "line breaks of HTML",
            dressed(|_, line| format!("{line}<br>"), "\n"),
        ),
        (
            "escaped line ends",
            dressed(|_, line| line.to_owned(), "\\n"),
        ),
        ("one line", one_line.clone()),
        (
            "within a sentence",
            format!("The function {one_line} is what fails."),
        ),
        (
            "late in a long line",
            format!("{} {one_line}", "some words of prose, ".repeat(100)),
        ),
        ("entities", entities(&plain)),
        (
            "entities, numbered",
            plain
                .chars()
                .map(|c| format!("&#{};", u32::from(c)))
                .collect(),
        ),
        (
            "no width",
            plain
                .replace("fn", "f\u{200b}n")
                .replace("let", "l\u{200d}et")
                .replace(';', "\u{2060};"),
        ),
        ("full width", full_width(&plain)),
        (
            "another direction",
            format!("\u{202e}{}", plain.replace('\n', "\n\u{202d}")),
        ),
        (
            "tags",
            BODY.join("\n")
                .chars()
                .filter_map(|c| char::from_u32(u32::from(c) + 0xe0000))
                .map(String::from)
                .collect::<Vec<_>>()
                .join("")
                .replace('\u{e000a}', "\n"),
        ),
        (
            "unicode escapes",
            plain
                .replace('{', "\\u007b")
                .replace(';', "\\x3b")
                .replace('\n', "\\n"),
        ),
        (
            "percent",
            plain
                .replace('{', "%7B")
                .replace(';', "%3B")
                .replace('\n', "%0A")
                .replace(' ', "%20"),
        ),
        ("base64", format!("See {} for it.", base64(&plain))),
        (
            "base64 in lines",
            base64(&plain)
                .as_bytes()
                .chunks(40)
                .map(String::from_utf8_lossy)
                .collect::<Vec<_>>()
                .join("\n"),
        ),
        (
            "base64 without its end",
            base64(&plain).trim_end_matches('=').to_owned(),
        ),
        ("base64, twice", base64(&base64(&plain))),
        (
            "base64 in an address",
            format!("data:text/plain;base64,{}", base64(&plain)),
        ),
        ("hexadecimal", hex(&plain)),
        ("pre", format!("<pre>\n{plain}\n</pre>")),
        ("pre of anything", "<pre>anything\nat all</pre>".to_owned()),
        ("a fence, quoted", "> ```\n> anything\n> ```".to_owned()),
        (
            "a diff",
            "The fix:\n-    return self.left - n\n+    return self.left + n\nplease apply."
                .to_owned(),
        ),
        (
            "a diff of settings",
            "Changed so:\n-retries = 3\n+retries = 5\nand it works.".to_owned(),
        ),
        (
            "a diff in two lines of prose",
            "I changed\nlet a = 1;\ninto\nlet a = 2;\nand it works.".to_owned(),
        ),
        (
            "a diff with its head",
            "@@ -1,2 +1,2 @@\n-the cat sat\n+the dog sat".to_owned(),
        ),
        (
            "ticked statements",
            "First `let a = f(x);` runs, then `let b = g(a);` does.".to_owned(),
        ),
        (
            "statements in a sentence",
            "It reads: let a = f(x); let b = g(a); store(a, b); which is wrong.".to_owned(),
        ),
        (
            "two statements in a sentence",
            "It is computed so: let cap = BASE * 2u64.pow(n); Duration::from_millis((cap * rand) as u64)".to_owned(),
        ),
        (
            "a lambda",
            "Replace it by total = reduce(lambda a, b: a + b, rows) there.".to_owned(),
        ),
        (
            "a query",
            "It runs SELECT id, claim FROM engrams WHERE seq > 10 each time.".to_owned(),
        ),
        (
            "an object",
            r#"It answers {"id": 1, "name": "x", "left": 3} each time."#.to_owned(),
        ),
    ]);
    for end in [
        "\r\n", "\r", "\u{b}", "\u{c}", "\u{85}", "\u{2028}", "\u{2029}",
    ] {
        hidden.push(("another line end", BODY.join(end)));
    }
    let passed: Vec<_> = hidden.iter().filter(|it| code_chars(&it.1) == 0).collect();
    assert!(passed.is_empty(), "{passed:#?}");
}

#[test]
fn what_only_looks_like_a_disguise_is_prose() {
    let sha = "3f786850e387550fdab836ed7e6dc881de23001b";
    let digest = "sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08";
    let texts = [
        "> We agreed on this.\n> Retries stay bounded (3).".to_owned(),
        "+ fast\n+ small\n- hard to read\n- no tests".to_owned(),
        "+ fast (2 ms)\n- slow start; see below\n- 40 MB of memory".to_owned(),
        "Before: 3 retries.\nAfter: 5 retries.".to_owned(),
        "| path | owner | state |\n|------|-------|-------|\n| src/a.rs | ana | done; merged |\n| src/b.rs | bo | open |".to_owned(),
        "12: the budget of a turn\n13: the budget of a message".to_owned(),
        "10:30 start (room 2)\n11:00 review; then lunch".to_owned(),
        "1. `let` binds once.\n2. `mut` allows more.\n3. `const` is known early.".to_owned(),
        format!("Fixed in {sha}; the file reads as {digest}."),
        format!("Between {sha} and {sha} {sha} {sha} nothing changed."),
        format!("repo:crates/gateway/src/message.rs#L10-L20@{sha}"),
        format!("diff:{sha}..{sha}#crates/gateway/src/message.rs#L10-L20"),
        "artifact:docs/guide/Architecture Overview.md#sec=Rooms (and edges)@HEAD".to_owned(),
        "test:crates/gateway/src/message/tests.rs::inline_code_needs_a_grant_wherever_it_stands@HEAD".to_owned(),
        "url:https://example.com/a/very/long/path/with%20blanks%20and%2Fslashes?b=c&d=e;f=g".to_owned(),
        "com/example/services/gateway/reservation/ReservationServiceImplementationFactoryBean2".to_owned(),
        "Run `cargo test -p engram-gateway --lib -- message::tests` and then `git push`.".to_owned(),
        "Set `retries = 3`; `timeout_ms = 200` is too short.".to_owned(),
        "AT&amp;T pays 5 &lt; 6 and R&D; the rest follows.".to_owned(),
        "C:\\new\\table\\x64 is where it lies.".to_owned(),
        "100% of 50% is 50%; 7%AB is none.".to_owned(),
        "The signature `fn fit(text: &str, max: u32) -> Excerpt` stays.".to_owned(),
        "The lambda: it fails on a cold start.".to_owned(),
        "reserve(), release() and settle() take the lock in that order.".to_owned(),
        "We SELECT the newest row and UPDATE it later; CREATE is never used.".to_owned(),
        "“Use one connection for each run”, says the guide.".to_owned(),
        "# Risks\n## Lock order (see 3.1)\n# Next".to_owned(),
        "for each run: one connection\nif needed: two\nelse: none".to_owned(),
        "record the following:\nsome words\nobject of the change:\nmore words".to_owned(),
        "\u{feff}Naïve café 👨‍👩‍👧 and ﬁne print… “ok”.".to_owned(),
        "می‌خواهم این را بدانم.".to_owned(),
        "if (in doubt) ask; while (waiting) rest.".to_owned(),
        "The class of bugs (races) is known; the impl of it is not.".to_owned(),
        "p95 = 20 ms; p99 = 40 ms.".to_owned(),
        "Decisions:\n- SQLite (WAL), not Postgres;\n- one writer at a time;\n- no daemon (see decision 4).".to_owned(),
        "1. Run `cargo test`.\n2. Open src/lib.rs, line 40.\n3. Compare `fit(text, max)` with the spec: it cuts at the line end.".to_owned(),
        "The gateway returns 403 {\"code\": \"DEREF_DENIED\"} when a turn has used 3/3 spans.".to_owned(),
        "Latency: p50 = 3 ms, p95 = 20 ms (n = 1000). Memory: 40 MB -> 28 MB.".to_owned(),
        "Goal: migrate auth to JWT; constraint: no downtime; risk: clock skew > 30 s.".to_owned(),
        "Ask: deref repo:src/a.rs#L1-L20@HEAD (why: confirm that lock() precedes read()).".to_owned(),
        "while the index rebuilds (30 s), queries scan; for large homes: up to 2 min.".to_owned(),
        "In [3] the authors claim 20 %; see [4] and [5].".to_owned(),
        "Set ENGRAM_HOME=/tmp/x and RUST_LOG=debug, then start `engram serve --port 8080`.".to_owned(),
        "Files touched: src/a.rs, src/b.rs (new), tests/c.rs (renamed); +120/-30 lines.".to_owned(),
        "- fix(gateway): bound the brief\n- feat(cli): add `grant issue`\n- test: cover expiry".to_owned(),
        "States: `unchanged` = same path, lines and bytes; `moved` = same bytes; `renamed` = other path; `deleted` = gone.".to_owned(),
        "- `unchanged` = same path and bytes;\n- `moved` = other lines;\n- `deleted` = gone;".to_owned(),
        "`retries`: at most 3;\n`timeout`: 200 ms;\n`jitter`: full;".to_owned(),
        "We select everything from stock where possible; select the newest row from it.".to_owned(),
        "- max_retries = 3\n- timeout = 30\n- backoff = 2\n- jitter = full".to_owned(),
        "- reserve(n)\n- release(n)\n- settle(id)\n- close()".to_owned(),
        "- return early\n- import nothing\n- raise the limit".to_owned(),
        "1. a = b in both files\n2. share = tokens of the message".to_owned(),
        "✅ budgets hold\n✅ grants hold\n❌ briefs (see #3)".to_owned(),
        "Done: parse(). Open: fit(); check().\nNext: the ledger (src/a.rs).".to_owned(),
        "(let us see)\n(see 3.1; it holds)".to_owned(),
        "if the ledger is closed: return early\nelse: go on".to_owned(),
        "RUN of 12 November: 3 failures.\nADD what is missing.".to_owned(),
        "The header is {\"id\": 7} and nothing else.".to_owned(),
    ];
    let wrong: Vec<_> = texts.iter().filter(|it| code_chars(it) > 0).collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn digests_are_no_blobs_and_blobs_are_code() {
    let blob: String = (0..200u32)
        .map(|it| char::from(b"aZ3kQ9xW"[(it.wrapping_mul(2_654_435_761) >> 20) as usize % 8]))
        .collect();
    assert_eq!(code_chars(&blob), 200);
    assert_eq!(code_chars(&blob[..64]), 0);
}
