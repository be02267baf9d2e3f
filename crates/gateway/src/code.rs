//! Inline code in a message, by a rule that can be read.
//!
//! Code is (1) what stands in a fence of three backticks or tildes; (2) indented blocks: lines
//! four blanks or a tab in, after a blank line, that hold code; (3) runs of lines that read as
//! code: two lines of which one is unmistakable, or three that may be; (4) a whole body on one
//! line, `{ ..; }`, and a text that is nothing but one unmistakable line. Lines are judged so:
//! - *unmistakable*: ends with `{` or `;` and has the shape of a statement, declares (`def f(`,
//!   `fn f`, `class X:`, `#include <`), branches (`if x:`, `else:`), is SQL, markup or a diff;
//! - *possible*: assigns, calls, only closes brackets, is a pair of a data file, or stands indented
//!   under an unmistakable one.
//!
//! Not code: `identifiers` in ticks, one configuration key, prose and lists of any kind. Lines
//! with a list marker, and prose that begins with a word such as "return" or "import", only count
//! where their whole shape is a statement's.

use std::sync::LazyLock;

use regex::RegexSet;

/// Longest part of a line that is judged, in bytes.
const LINE_BYTES: usize = 1000;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
enum Reads {
    Prose,
    Possibly,
    Surely,
}

/// Characters of code in a text; 0 for prose.
pub fn code_chars(text: &str) -> usize {
    let mut scan = Scan::default();
    for line in text.lines() {
        scan.line(line);
    }
    scan.alone = scan.lines == 1;
    scan.close_run();
    scan.chars
}

/// A run of lines that may turn out to be code.
#[derive(Default)]
struct Scan {
    chars: usize,
    fence: Option<char>,
    run_chars: usize,
    run_lines: usize,
    run_sure: usize,
    run_indented: bool,
    run_opens: bool,
    after_blank: Option<bool>,
    lines: usize,
    alone: bool,
}

impl Scan {
    fn line(&mut self, line: &str) {
        let trimmed = line.trim();
        self.lines += usize::from(!trimmed.is_empty());
        if let Some(mark) = fence(trimmed) {
            self.close_run();
            match self.fence {
                None => self.open_fence(trimmed, mark),
                Some(open) if open == mark => self.fence = None,
                Some(_) => self.chars += trimmed.chars().count(),
            }
            return;
        }
        if self.fence.is_some() {
            self.chars += trimmed.chars().count();
            return;
        }
        if trimmed.is_empty() {
            self.after_blank = Some(true);
            return;
        }
        let begins_block = self.after_blank.replace(false).unwrap_or(true);
        let indented = line.starts_with("    ") || line.starts_with('\t');
        let within = self.run_opens && line.starts_with([' ', '\t']);
        match judge(head(trimmed)) {
            Reads::Prose if !within => self.close_run(),
            reads => {
                self.run_lines += 1;
                self.run_sure += usize::from(reads == Reads::Surely);
                self.run_chars += trimmed.chars().count();
                self.run_indented |= indented && begins_block;
                self.run_opens = reads == Reads::Surely || (self.run_opens && within);
            }
        }
        if is_body(head(trimmed)) || inline_fence(trimmed) {
            self.run_sure += 2;
            self.run_lines += 2;
            self.run_chars = self.run_chars.max(trimmed.chars().count());
            self.close_run();
        }
    }

    /// A fence that opens; code may follow it on the same line.
    fn open_fence(&mut self, trimmed: &str, mark: char) {
        let rest = trimmed.trim_start_matches(mark);
        match rest.find("```").filter(|_| mark == '`') {
            Some(_) => self.chars += rest.trim_end_matches(mark).trim().chars().count(),
            None => self.fence = Some(mark),
        }
    }

    fn close_run(&mut self) {
        let code = match self.run_lines {
            0 => false,
            1 => (self.run_indented || self.alone) && self.run_sure > 0,
            2 => self.run_indented || self.run_sure > 0,
            _ => true,
        };
        if code {
            self.chars += self.run_chars;
        }
        (self.run_chars, self.run_lines, self.run_sure) = (0, 0, 0);
        (self.run_indented, self.run_opens) = (false, false);
    }
}

fn head(line: &str) -> &str {
    &line[..line.floor_char_boundary(LINE_BYTES)]
}

/// Three backticks or tildes at the beginning of a line.
fn fence(trimmed: &str) -> Option<char> {
    ["```", "~~~"]
        .iter()
        .find(|mark| trimmed.starts_with(**mark))
        .and_then(|mark| mark.chars().next())
}

/// Code between triple backticks inside a line of prose.
fn inline_fence(trimmed: &str) -> bool {
    trimmed
        .split_once("```")
        .and_then(|(_, after)| after.split_once("```"))
        .is_some_and(|(inside, _)| !inside.trim().is_empty())
}

/// `fn main() { let x = 1; run(x); }`
fn is_body(line: &str) -> bool {
    let line = without_ticks(line);
    let Some((before, rest)) = line.split_once('{') else {
        return false;
    };
    rest.rsplit_once('}').is_some_and(|(body, _)| {
        body.contains(';') && (body.contains(['(', '=']) || before.trim_end().ends_with([')', '>']))
    })
}

fn judge(trimmed: &str) -> Reads {
    let item = LIST.iter().find_map(|marker| trimmed.strip_prefix(marker));
    let numbered = trimmed
        .split_once(['.', ')'])
        .filter(|(number, rest)| number.parse::<u16>().is_ok() && rest.starts_with(' '));
    let listed = item.or(numbered.map(|(_, rest)| rest));
    let line = without_ticks(listed.unwrap_or(trimmed).trim());
    let line = line.as_str();
    if SURE.is_match(line) {
        return Reads::Surely;
    }
    match listed.is_none() && POSSIBLE.is_match(line) {
        true => Reads::Possibly,
        false => Reads::Prose,
    }
}

const LIST: [&str; 4] = ["- ", "* ", "+ ", "• "];

/// Ticked names become a word. A line that is nothing but ticked is what stands between the ticks.
fn without_ticks(line: &str) -> String {
    let whole = line.strip_prefix('`').and_then(|it| it.strip_suffix('`'));
    if let Some(inside) = whole.filter(|it| !it.contains('`')) {
        return inside.to_owned();
    }
    let parts: Vec<&str> = line.split('`').collect();
    match parts.len() % 2 {
        0 => line.to_owned(),
        _ => {
            let mut out = String::with_capacity(line.len());
            for (at, part) in parts.iter().enumerate() {
                out.push_str(if at % 2 == 0 { part } else { "it" });
            }
            out
        }
    }
}

/// One line is code beyond doubt.
static SURE: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        // opens a block
        r"(?:\)|=>|=|\w|->.*|\]|>)\s*\{$",
        r"^[\})\]]+\s*(?:else|catch|finally|while)\b.*$",
        // a statement with its semicolon
        r"^[\w.$:>*&\[\]!<-]+(?:\([^;]*\)|\+\+|--)[?!]*;$",
        r"^(?:[\w.$*&<>:\[\]]+\s+){0,4}[\w.$*&>\[\]()-]+\s*(?:[-+*/|&^%]|<<|>>)?=\s*[^=].*;$",
        r"^(?:return|throw|break|continue|goto|yield)(?:\s+[^\s;]+(?:\s*[-+*/.<>=&|?:(,]+\s*[^;]*)?)?;$",
        r"^(?:import|export|use|using|package|namespace|typedef|extern|mod)\s+[\w.:*{}<>,'@/ ]+;$",
        r#"^import\s.*\bfrom\s+["'][^"']+["'];?$"#,
        // declares
        r"^(?:async\s+)?def\s+\w+[?!]?\s*(?:\(.*|:|)$",
        r"^(?:pub(?:\([\w:]+\))?\s+|export\s+|default\s+|async\s+|static\s+|const\s+|unsafe\s+|public\s+|private\s+|protected\s+|final\s+|override\s+)*(?:fn|fun|func|function\*?)\s*(?:\([^)]*\)\s*)?\w*\s*(?:<[^>]*>)?\(.*$",
        r"^(?:pub\s+|export\s+|public\s+|private\s+|abstract\s+|final\s+|data\s+)*(?:class|struct|enum|trait|interface|impl|module|object|record)\b[^.;!?]*[{:]$",
        r"^class\s+[A-Z]\w*(?:\(.*\):?|\s*<\s*[A-Z]\w*(?:::\w+)*)?$",
        r"^(?:public|private|protected|internal|static)\s+(?:\w+[\w<>\[\],?]*\s+)+\w+\s*(?:\(|=|;).*$",
        r"^(?:let|const|var|val)\s+(?:mut\s+)?[\w{}\[\],: ]+?(?::\s*[\w<>&\[\]| ]+)?\s*=\s*\S.*$",
        r"^[\w, .]+\s:=\s\S.*$",
        r#"^#\s*(?:include\s*[<"]|define\s+\w+|ifdef\s|ifndef\s|endif\b|pragma\s)"#,
        r"^#!/",
        r"^from\s+[\w.]+\s+import\s+[\w*(]",
        // branches
        r"^(?:if|elif|while)\s+(?:[^.!?]|\.\w)*(?:[=!<>]=|\bnot\b|\bin\b|\bis\b|\(|[<>])(?:[^.!?]|\.\w)*:$",
        r"^[)\]]+\s*->\s*\S.*[:{]$",
        r"^(?:if|elif|while)\s+(?:not\s+)?[\w.\[\]]+:$",
        r"^for\s+[\w, ()]+\s+in\s+[\w.\[\](){}, *+'-]+:$",
        r"^(?:else|try|finally|except(?:\s+[\w.(), ]+)?)\s*:$",
        r"^with\s+[\w.]+\(.*\)(?:\s+as\s+\w+)?:$",
        r"^(?:if|for|while|switch|catch|else if)\s*\(.*\)\s*(?:\{.*|[^.!?{}]*;)?$",
        r"^(?:if|while)\s.*;\s*then$|^for\s.*;\s*do$",
        r"^case\s+\S+:$|^switch\s*\(",
        // SQL, markup, diffs, shells, decorators with arguments
        r"^(?:SELECT\s.+|FROM\s+\w+.*|WHERE\s+\w.*[=<>].*|INSERT\s+INTO\s.*|UPDATE\s+\w+\s+SET\b.*|DELETE\s+FROM\s.*|CREATE\s+(?:TABLE|INDEX|UNIQUE|VIEW)\b.*|ALTER\s+TABLE\b.*|(?:LEFT |INNER |RIGHT )?JOIN\s+\w+\s.*|(?:GROUP|ORDER)\s+BY\s.*)$",
        r"^</?[A-Za-z][\w.-]*(?:\s+[\w:@.-]+=.*|\s*/)>.*$|^</[A-Za-z][\w.-]*>$|^<([a-z][\w-]*)>.*</[a-z][\w-]*>$",
        r"^@@ -\d+(?:,\d+)? \+\d+|^diff --git |^(?:---|\+\+\+) [ab]/",
        r"^@[\w.]+\(.*\)$",
        r"^\.\w+\([^ ]*\)?.*[);]$",
    ])
});

/// One line may be code; three in a row are, or two with one that is.
static POSSIBLE: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        r"^[\[\](){},;]+$",
        r"^(?:end|fi|done|esac|pass|else|break|continue|begin|then|do)$",
        r"^[A-Za-z_$][\w.$\[\]'->]*\s*(?:[-+*/|&%]?=|<-)\s*\S.*$",
        r"^[\w.$:!]+\(.*\)[?,;]*$",
        r"^[\w.$:!]+\($",
        r"^\S+(?:\s\S+){0,3};$",
        r#"^["'][\w .-]+["']\s*[:=]\s*\S.*,?$"#,
        r"^(?:return|raise|throw|yield|await|puts|print|echo)\s+[\w.$\[\]]+(?:\(.*\)|\s+[-+*/%<>=!|&]+\s+\S.*)?$",
        r"^return\s.*[\])}]$",
        r"^(?:import|use|require|package)\s+[\w.:]+(?:\s+as\s+\w+)?$",
        r"^(?://|/\*|\*/|\* @)",
        r"^@[A-Z]\w+$",
        r"^[-+]\s*.*[;{}]$",
        r"^<[a-z][\w-]*>$",
        r"^\$ \w",
        r#"^(?:export\s+\w+=.*|set\s+-\w.*|echo\s+["'$].*)$"#,
    ])
});

#[expect(
    clippy::expect_used,
    reason = "constants; every test of this room builds them"
)]
fn set(patterns: &[&str]) -> RegexSet {
    RegexSet::new(patterns).expect("the patterns are constants")
}

#[cfg(test)]
#[path = "code_tests.rs"]
mod tests;
