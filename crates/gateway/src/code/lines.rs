//! Judges one line: prose, possible code, or unmistakable code.

use std::sync::LazyLock;

use regex::RegexSet;

use super::dress::{self, Dress};

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
pub(super) enum LineKind {
    Prose,
    /// A list item that may be a setting or a call: code only beside lines that are more clearly
    /// code.
    Item,
    Possibly,
    Surely,
}

/// Judges a line; [`is_hard`] reports whether it has a shape that prose never has.
pub(super) fn judge(trimmed: &str) -> LineKind {
    let (dress, bare) = dress::undressed(trimmed);
    if defines(bare) {
        return LineKind::Prose;
    }
    let line = without_ticks(bare);
    let line = line.as_str();
    if !may_be_code(line) {
        return LineKind::Prose;
    }
    if SURE.is_match(line) {
        // Comments and table cells contain headings that end with a colon.
        return if dress < Dress::Remark || is_hard(line) {
            LineKind::Surely
        } else {
            LineKind::Prose
        };
    }
    match dress {
        Dress::None if POSSIBLE.is_match(line) => LineKind::Possibly,
        Dress::Item if COMPUTES.is_match(line) => LineKind::Possibly,
        Dress::Item if SETS.is_match(line) => LineKind::Item,
        _ => LineKind::Prose,
    }
}

/// Whether an unmistakable line also has characters that prose never has.
pub(super) fn is_hard(line: &str) -> bool {
    let line = line.trim_end();
    line.ends_with([';', '{', '}'])
        || [" = ", ":=", "=>", "->", " += ", " -= "]
            .iter()
            .any(|it| line.contains(it))
        || [
            "def ",
            "fn ",
            "pub ",
            "func ",
            "function ",
            "#include",
            "@@ -",
        ]
        .iter()
        .any(|it| line.starts_with(it))
}

/// Whether a line explains a name in backticks: `` `moved` = the same bytes; ``.
fn defines(line: &str) -> bool {
    let named = line.strip_prefix('`').and_then(|it| it.split_once('`'));
    named.is_some_and(|(name, rest)| {
        !name.contains(' ') && rest.trim_start().starts_with(['=', ':']) && !rest.contains('(')
    })
}

/// Whether a line needs the patterns. Most lines are words and punctuation, and need them only if
/// their first or only word is one that lines of code start with.
fn may_be_code(line: &str) -> bool {
    let signs = |it: u8| {
        matches!(
            it,
            b'(' | b')'
                | b'{'
                | b'}'
                | b'['
                | b']'
                | b'<'
                | b'>'
                | b'='
                | b';'
                | b'@'
                | b'#'
                | b'/'
                | b'"'
                | b'$'
                | b'\\'
                | b'+'
                | b'!'
                | b'_'
        )
    };
    if line.bytes().any(signs) || line.ends_with([':', ',']) || line.starts_with('\'') {
        return true;
    }
    begins_code(line)
}

/// Whether the first word of a line is one that lines of code start with.
pub(super) fn begins_code(line: &str) -> bool {
    let first = line
        .split(|it: char| !it.is_alphanumeric())
        .next()
        .unwrap_or_default();
    FIRST.contains(&first)
}

/// First words of lines that are code without any special character.
#[rustfmt::skip]
const FIRST: &[&str] = &[
    "def", "class", "from", "import", "use", "require", "package", "if", "elif", "while", "for", "case",
    "switch", "end", "fi", "done", "esac", "pass", "else", "break", "continue", "begin", "then", "do", "return",
    "raise", "throw", "yield", "await", "puts", "print", "echo", "export", "set", "SELECT", "FROM", "WHERE",
    "INSERT", "UPDATE", "DELETE", "CREATE", "ALTER", "JOIN", "GROUP", "ORDER", "LEFT", "INNER", "RIGHT", "pub",
    "RUN", "COPY", "ENTRYPOINT", "CMD", "WORKDIR", "EXPOSE", "ENV", "ADD",
];

/// Replaces names in backticks with a word. For a line entirely in backticks, returns its content.
pub(super) fn without_ticks(line: &str) -> String {
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

/// A single line that matches is unmistakable code.
pub(super) static SURE: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        // Opens a block
        r#"(?:\)|=>|=|\w|"|->.*|\]|>)\s*\{$"#,
        r"^[\})\]]+\s*(?:else|catch|finally|while)\b.*$",
        // A statement with its semicolon
        r"^[\w.$:>*&\[\]!<-]+(?:\([^;]*\)|\+\+|--)[?!]*;$",
        r"^(?:[\w.$*&<>:\[\]]+\s+){0,4}[\w.$*&>\[\]()-]+\s*(?:[-+*/|&^%]|<<|>>)?=\s*[^=].*;$",
        r"^(?:return|throw|break|continue|goto|yield)(?:\s+[^\s;]+(?:\s*[-+*/.<>=&|?:(,]+\s*[^;]*)?)?;$",
        r"^(?:import|export|use|using|package|namespace|typedef|extern|mod)\s+[\w.:*{}<>,'@/ ]+;$",
        r#"^import\s.*\bfrom\s+["'][^"']+["'];?$"#,
        // A declaration
        r"^(?:async\s+)?def\s+\w+[?!]?\s*(?:\(.*|:|)$",
        r"^(?:pub(?:\([\w:]+\))?\s+|export\s+|default\s+|async\s+|static\s+|const\s+|unsafe\s+|public\s+|private\s+|protected\s+|final\s+|override\s+)*(?:fn|fun|func|function\*?)\s*(?:\([^)]*\)\s*)?\w*\s*(?:<[^>]*>)?\(.*$",
        r"^(?:pub\s+|export\s+|public\s+|private\s+|abstract\s+|final\s+|data\s+)*(?:class|struct|enum|trait|interface|impl|module|object|record)\b[^.;!?]*[{:]$",
        r"^pub(?:\([\w:]+\))?\s+\w+:\s*[\w:<>&\[\](), ']+,$",
        r"^class\s+[A-Z]\w*(?:\(.*\):?|\s*<\s*[A-Z]\w*(?:::\w+)*)?$",
        r"^(?:public|private|protected|internal|static)\s+(?:\w+[\w<>\[\],?]*\s+)+\w+\s*(?:\(|=|;).*$",
        r"^(?:let|const|var|val)\s+(?:mut\s+)?[\w{}\[\],: ]+?(?::\s*[\w<>&\[\]| ]+)?\s*=\s*\S.*$",
        r"^[\w, .]+\s:=\s\S.*$",
        r#"^#\s*(?:include\s*[<"]|define\s+\w+|ifdef\s|ifndef\s|endif\b|pragma\s)"#,
        r"^#!/",
        r"^from\s+[\w.]+\s+import\s+[\w*(]",
        // A branch
        r"^(?:if|elif|while)\s+(?:[^.!?]|\.\w)*(?:[=!<>]=|\bnot\b|\bin\b|\bis\b|\(|[<>])(?:[^.!?]|\.\w)*:$",
        r"^[\w:]+(?:\([\w, .&]*\))?(?:\s*\|\s*[\w:]+)*\s=>\s\S.*,$",
        r"^[)\]]+\s*->\s*\S.*[:{]$",
        r"^(?:if|elif|while)\s+(?:not\s+)?[\w.\[\]]+:$",
        r"^for\s+[\w, ()]+\s+in\s+[\w.\[\](){}, *+'-]+:$",
        r"^(?:else|try|finally|except(?:\s+[\w.(), ]+)?)\s*:$",
        r"^with\s+[\w.]+\(.*\)(?:\s+as\s+\w+)?:$",
        r"^(?:if|for|while|switch|catch|else if)\s*\(.*\)\s*(?:\{.*|[^.!?{}]*;)?$",
        r"^(?:if|while)\s.*;\s*then$|^for\s.*;\s*do$",
        r"^case\s+\S+:$|^switch\s*\(",
        r"^(?:if|elif|while|for)\s.*(?:[=!<>]=|[<>(\[]).*:\s*(?:return|raise|break|continue|pass|yield)\b.*$",
        r"^\((?:define|defun|defn|defmacro|lambda|setq|setf)\s+[(\w*-].*$",
        // SQL, markup, diffs, shells, decorators with arguments
        r"^(?:SELECT\s.+|FROM\s+\w+.*|WHERE\s+\w.*[=<>].*|INSERT\s+INTO\s.*|UPDATE\s+\w+\s+SET\b.*|DELETE\s+FROM\s.*|CREATE\s+(?:TABLE|INDEX|UNIQUE|VIEW)\b.*|ALTER\s+TABLE\b.*|(?:LEFT |INNER |RIGHT )?JOIN\s+\w+\s.*|(?:GROUP|ORDER)\s+BY\s.*)$",
        r"^</?[A-Za-z][\w.-]*(?:\s+[\w:@.-]+=.*|\s*/)>.*$|^</[A-Za-z][\w.-]*>$|^<([a-z][\w-]*)>.*</[a-z][\w-]*>$",
        r"^@@ -\d+(?:,\d+)? \+\d+|^diff --git |^(?:---|\+\+\+) [ab]/",
        r"^@[\w.]+\(.*\)$",
        r"^\.\w+\([^ ]*\)?.*[);]$",
    ])
});

/// A line that matches may be code; three in a row are, or two if one is unmistakable.
pub(super) static POSSIBLE: LazyLock<RegexSet> = LazyLock::new(|| {
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
        r"^(?:RUN|COPY|ENTRYPOINT|CMD|WORKDIR|EXPOSE|ENV|ADD)\s+\S.*$",
        r"^\w+:\s*(?:&|Option<|Vec<|Box<|String\b|bool\b|usize\b|[uif](?:8|16|32|64)\b)[\w:<>&\[\](), ']*,$",
        r#"^["'][^"'\s]*["'],$"#,
        r"^\(.*\),$",
        r"^@[A-Z]\w+$",
        r"^[-+]\s*.*[;{}]$",
        r"^<[a-z][\w-]*>$",
        r"^\$ \S",
        r#"^(?:export\s+\w+=.*|set\s+-\w.*|echo\s+["'$].*)$"#,
    ])
});

/// A list item that computes something, which no setting does.
static COMPUTES: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        r"^[A-Za-z_$][\w.$\[\]'>-]*\s*(?:[-+*/|&%]=|:=)\s*\S.*$",
        r"^[A-Za-z_$][\w.$\[\]'>-]*\s*=\s*[\w.$\[\]]+(?:\(.*\)|\s+[-+*/%|&]\s+\S.*|\[.*\])$",
        r"^(?:return|raise|yield|await)\s+[\w.$\[\]]*(?:[_.(\[]|\s[-+*/%]\s).*$",
        r"^print\w*\(.*\)$",
    ])
});

/// A list item that is only a setting or a call.
static SETS: LazyLock<RegexSet> = LazyLock::new(|| {
    set(&[
        r"^[A-Za-z_$][\w.$\[\]'>-]*\s*=\s*[^=\s].*$",
        r"^[\w.$:]+\([^()]*\);?$",
        r"^return\s+[\w.]+$",
    ])
});

#[expect(
    clippy::expect_used,
    reason = "constants; every test of this crate builds them"
)]
pub(super) fn set(patterns: &[&str]) -> RegexSet {
    RegexSet::new(patterns).expect("the patterns are constants")
}
