//! Colours of code: comments, strings and keywords, found line by line without a grammar.
//!
//! An excerpt begins anywhere, so this guesses; it never changes or hides a character.

/// What a piece of a line is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// Anything else.
    Plain,
    /// A word of the language.
    Keyword,
    /// A literal text.
    Text,
    /// A comment.
    Comment,
}

/// How a language writes comments and strings.
#[derive(Debug)]
pub struct Language {
    line: &'static [&'static str],
    block: Option<(&'static str, &'static str)>,
    quotes: &'static str,
    /// `'` holds one character (Rust, C), so that a lifetime opens no string.
    chars: bool,
    keywords: &'static [&'static str],
}

const C_LIKE: &[&str] = &[
    "abstract",
    "as",
    "async",
    "await",
    "bool",
    "break",
    "case",
    "catch",
    "char",
    "class",
    "const",
    "continue",
    "crate",
    "default",
    "defer",
    "delete",
    "do",
    "double",
    "dyn",
    "else",
    "enum",
    "export",
    "extends",
    "extern",
    "false",
    "final",
    "finally",
    "float",
    "fn",
    "for",
    "from",
    "fun",
    "func",
    "function",
    "go",
    "if",
    "impl",
    "implements",
    "import",
    "in",
    "inline",
    "int",
    "interface",
    "internal",
    "is",
    "let",
    "long",
    "loop",
    "match",
    "mod",
    "mut",
    "namespace",
    "new",
    "nil",
    "null",
    "of",
    "operator",
    "override",
    "package",
    "private",
    "protected",
    "pub",
    "public",
    "range",
    "ref",
    "return",
    "select",
    "self",
    "Self",
    "short",
    "signed",
    "sizeof",
    "static",
    "struct",
    "super",
    "switch",
    "template",
    "this",
    "throw",
    "trait",
    "true",
    "try",
    "type",
    "typedef",
    "typeof",
    "union",
    "unsafe",
    "unsigned",
    "use",
    "using",
    "val",
    "var",
    "virtual",
    "void",
    "when",
    "where",
    "while",
    "yield",
];
const SCRIPT: &[&str] = &[
    "and", "as", "assert", "async", "await", "begin", "break", "case", "class", "continue", "def",
    "del", "do", "done", "elif", "else", "elsif", "end", "ensure", "esac", "except", "export",
    "False", "false", "fi", "finally", "for", "from", "function", "global", "if", "import", "in",
    "is", "lambda", "local", "match", "module", "nil", "None", "nonlocal", "not", "null", "or",
    "pass", "raise", "require", "rescue", "return", "self", "then", "True", "true", "try",
    "unless", "until", "when", "while", "with", "yield",
];
const SQL: &[&str] = &[
    "add",
    "alter",
    "and",
    "as",
    "begin",
    "by",
    "case",
    "commit",
    "constraint",
    "create",
    "default",
    "delete",
    "distinct",
    "drop",
    "else",
    "end",
    "exists",
    "foreign",
    "from",
    "group",
    "having",
    "in",
    "index",
    "inner",
    "insert",
    "into",
    "is",
    "join",
    "key",
    "left",
    "limit",
    "not",
    "null",
    "on",
    "or",
    "order",
    "primary",
    "references",
    "right",
    "select",
    "set",
    "table",
    "then",
    "trigger",
    "unique",
    "update",
    "values",
    "view",
    "when",
    "where",
    "with",
];

static CHARS: Language = Language {
    line: &["//"],
    block: Some(("/*", "*/")),
    quotes: "\"",
    chars: true,
    keywords: C_LIKE,
};
static BRACES: Language = Language {
    line: &["//"],
    block: Some(("/*", "*/")),
    quotes: "\"'`",
    chars: false,
    keywords: C_LIKE,
};
static HASH: Language = Language {
    line: &["#"],
    block: None,
    quotes: "\"'",
    chars: false,
    keywords: SCRIPT,
};
static STRUCTURED_QUERY: Language = Language {
    line: &["--"],
    block: Some(("/*", "*/")),
    quotes: "'",
    chars: false,
    keywords: SQL,
};
static MARKUP: Language = Language {
    line: &[],
    block: Some(("<!--", "-->")),
    quotes: "",
    chars: false,
    keywords: &[],
};
static DATA: Language = Language {
    line: &["#", "//"],
    block: None,
    quotes: "\"",
    chars: false,
    keywords: &["true", "false", "null"],
};
static STYLE: Language = Language {
    line: &[],
    block: Some(("/*", "*/")),
    quotes: "\"'",
    chars: false,
    keywords: &[],
};

impl Language {
    /// By the end of the file's name; nothing where only plain text is safe.
    pub fn of(path: &str) -> Option<&'static Language> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let language = match name.rsplit('.').next().unwrap_or_default() {
            "rs" | "c" | "h" | "cc" | "cpp" | "hpp" | "cs" | "zig" => &CHARS,
            "js" | "jsx" | "mjs" | "cjs" | "ts" | "tsx" | "go" | "java" | "kt" | "kts"
            | "swift" | "scala" | "dart" | "php" | "proto" | "groovy" => &BRACES,
            "py" | "pyi" | "rb" | "sh" | "bash" | "zsh" | "fish" | "pl" | "r" | "ex" | "exs"
            | "nix" | "mk" | "Makefile" | "Dockerfile" | "cmake" => &HASH,
            "sql" | "lua" | "hs" | "elm" => &STRUCTURED_QUERY,
            "html" | "xml" | "svg" | "vue" => &MARKUP,
            "toml" | "yaml" | "yml" | "json" | "jsonc" | "ini" | "cfg" => &DATA,
            "css" | "scss" | "less" => &STYLE,
            _ => return None,
        };
        Some(language)
    }

    fn is_keyword(&self, word: &str) -> bool {
        self.keywords.contains(&word)
            || (std::ptr::eq(self, &STRUCTURED_QUERY)
                && self.keywords.contains(&word.to_lowercase().as_str()))
    }
}

/// Cuts lines one after the other, remembering an open block comment.
#[derive(Debug, Default)]
pub struct Painter {
    in_block: bool,
}

impl Painter {
    /// The pieces of a line; together they are the line.
    pub fn line<'a>(&mut self, language: &Language, line: &'a str) -> Vec<(Class, &'a str)> {
        let mut out: Vec<(Class, &'a str)> = Vec::new();
        let (mut at, mut plain) = (0, 0);
        while at < line.len() {
            let rest = &line[at..];
            let (class, length) =
                self.piece(language, rest, plain < at && ends_in_word(&line[plain..at]));
            if class != Class::Plain {
                if plain < at {
                    out.push((Class::Plain, &line[plain..at]));
                }
                out.push((class, &rest[..length]));
                plain = at + length;
            }
            at += length;
        }
        if plain < line.len() {
            out.push((Class::Plain, &line[plain..]));
        }
        out
    }

    fn piece(&mut self, language: &Language, rest: &str, inside_word: bool) -> (Class, usize) {
        if let Some((open, close)) = language.block
            && (self.in_block || rest.starts_with(open))
        {
            let from = if self.in_block { 0 } else { open.len() };
            let end = rest[from..].find(close).map(|at| from + at + close.len());
            self.in_block = end.is_none();
            return (Class::Comment, end.unwrap_or(rest.len()));
        }
        if !inside_word && language.line.iter().any(|mark| rest.starts_with(mark)) {
            return (Class::Comment, rest.len());
        }
        let first = rest.chars().next().unwrap_or(' ');
        if language.quotes.contains(first) {
            return (Class::Text, quoted(rest, first));
        }
        if language.chars && first == '\'' {
            return match character(rest) {
                Some(length) => (Class::Text, length),
                None => (Class::Plain, 1),
            };
        }
        if !inside_word && (first.is_alphabetic() || first == '_') {
            let length = rest
                .find(|c: char| !(c.is_alphanumeric() || c == '_'))
                .unwrap_or(rest.len());
            let class = if language.is_keyword(&rest[..length]) {
                Class::Keyword
            } else {
                Class::Plain
            };
            return (class, length);
        }
        (Class::Plain, first.len_utf8())
    }
}

fn ends_in_word(text: &str) -> bool {
    text.chars()
        .next_back()
        .is_some_and(|c| c.is_alphanumeric() || c == '_')
}

/// Bytes of a string from its quote to the closing one, or to the end of the line.
fn quoted(rest: &str, quote: char) -> usize {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if c == quote => return at + c.len_utf8(),
            _ => {}
        }
    }
    rest.len()
}

/// Bytes of a character literal; nothing for a lifetime or an apostrophe.
fn character(rest: &str) -> Option<usize> {
    let mut inside = rest.chars().skip(1);
    match inside.next()? {
        '\\' => rest
            .get(2..)?
            .char_indices()
            .skip(1)
            .take(10)
            .find(|(_, c)| *c == '\'')
            .map(|(at, _)| at + 3),
        c if inside.next() == Some('\'') => Some(2 + c.len_utf8()),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn painted(path: &str, lines: &[&str]) -> String {
        let mut painter = Painter::default();
        let mut out = String::new();
        for line in lines {
            let pieces = match Language::of(path) {
                Some(language) => painter.line(language, line),
                None => vec![(Class::Plain, *line)],
            };
            assert_eq!(
                pieces.iter().map(|(_, text)| *text).collect::<String>(),
                *line,
                "nothing is lost"
            );
            for (class, text) in pieces {
                match class {
                    Class::Plain => out.push_str(text),
                    Class::Keyword => out.push_str(&format!("<k>{text}</>")),
                    Class::Text => out.push_str(&format!("<s>{text}</>")),
                    Class::Comment => out.push_str(&format!("<c>{text}</>")),
                }
            }
            out.push('|');
        }
        out
    }

    #[test]
    fn pieces_are_recognised() {
        for (path, lines, want) in [
            (
                "a.rs",
                &["fn f<'a>(x: &'a str) -> char { 'x' }"][..],
                "<k>fn</> f<'a>(x: &'a str) -> char { <s>'x'</> }|".replace("char", "<k>char</>"),
            ),
            (
                "a.rs",
                &[r"let c = '\''; // it's"],
                r"<k>let</> c = <s>'\''</>; <c>// it's</>|".to_owned(),
            ),
            (
                "a.rs",
                &["/* one", "two */ let x;"],
                "<c>/* one</>|<c>two */</> <k>let</> x;|".to_owned(),
            ),
            (
                "b.py",
                &["x = 'a\\'b' # no"],
                "x = <s>'a\\'b'</> <c># no</>|".to_owned(),
            ),
            (
                "b.py",
                &["selfish = self.x"],
                "selfish = <k>self</>.x|".to_owned(),
            ),
            ("x/Makefile", &["# all"], "<c># all</>|".to_owned()),
            (
                "q.sql",
                &["SELECT a -- why"],
                "<k>SELECT</> a <c>-- why</>|".to_owned(),
            ),
            ("notes.md", &["if it's so"], "if it's so|".to_owned()),
            (
                "c.ts",
                &["const é = `open"],
                "<k>const</> é = <s>`open</>|".to_owned(),
            ),
            (
                "c.toml",
                &["url = \"https://x\""],
                "url = <s>\"https://x\"</>|".to_owned(),
            ),
            (
                "a.rs",
                &["'", "'\\", "\"\\"],
                "'|'\\|<s>\"\\</>|".to_owned(),
            ),
        ] {
            assert_eq!(painted(path, lines), want, "{path} {lines:?}");
        }
    }
}
