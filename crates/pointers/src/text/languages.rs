//! The syntax of tests' definitions in common languages.

/// Where a definition ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Extent {
    /// At the brace that closes the first one opened, or at a `;` before any brace.
    Braces,
    /// At the closing parenthesis of the call that is the definition.
    Call,
    /// Before the next line that is indented no deeper.
    Indentation,
    /// At the `end` with the same indent.
    End,
}

/// How to skip strings and comments that look like code.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Lexis {
    pub(crate) line_comments: &'static [&'static str],
    pub(crate) block_comments: bool,
    pub(crate) quotes: &'static str,
    pub(crate) triple_quotes: bool,
    /// Whether `'a` and `r#".."#` are Rust lifetimes and raw strings.
    pub(crate) rust: bool,
}

/// Patterns of definitions, the likeliest first; `NAME` is replaced by the escaped name.
#[derive(Debug)]
pub(crate) struct Language {
    pub(crate) extensions: &'static [&'static str],
    pub(crate) definitions: &'static [(&'static str, Extent)],
    /// The beginnings of attributes or decorators above a definition.
    pub(crate) marks: &'static [&'static str],
    pub(crate) lexis: Lexis,
    /// Whether a definition without a body ends with its line.
    pub(crate) newline_ends: bool,
}

impl Language {
    /// Returns the language for the extension of a path.
    pub(crate) fn of(path: &str) -> Option<&'static Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let extension = name.rsplit_once('.')?.1.to_ascii_lowercase();
        LANGUAGES
            .iter()
            .find(|language| language.extensions.contains(&extension.as_str()))
    }
}

const C_LIKE: Lexis = Lexis {
    line_comments: &["//"],
    block_comments: true,
    quotes: "\"'",
    triple_quotes: false,
    rust: false,
};
const HASH: Lexis = Lexis {
    line_comments: &["#"],
    block_comments: false,
    ..C_LIKE
};

/// A method in C-like languages: words and types, then the name, then `(`. A call has no type
/// before it.
const METHOD: &str = r"^\s*(?:(?:[\w:<>\[\],.?&*~@]+|\([^()]*\))[\s&*]+)*?(?:[\w:<>\[\],.?]+[\s&*]+)(?:\w+::)*`?NAME`?\s*(?:<[^>(]*>)?\s*\(";
const TYPE: &str = r"\b(?:class|interface|object|record|struct|enum|trait|namespace|protocol|extension|actor|module)\s+(?:class\s+)?NAME\b";
/// A call whose first argument is the name, such as `it("works", ...)`.
const NAMED_CALL: &str = r#"\b(?:it|test|describe|suite|context|specify|scenario|feature|bench|step|Run|TEST_CASE|SCENARIO|SECTION|SUBCASE|BOOST_AUTO_TEST_CASE|should)\b[\w.]*(?:\s*\([^()]*\)|`[^`]*`)?\s*\(\s*(?:"NAME"|'NAME'|`NAME`)"#;
/// The last line of a table of cases, then the name.
const TABLE_CALL: &str = r#"^\s*[\])}`]+\s*\(\s*(?:"NAME"|'NAME'|`NAME`)"#;

pub(crate) static LANGUAGES: &[Language] = &[
    Language {
        extensions: &["rs"],
        definitions: &[
            (
                r#"^\s*(?:pub(?:\s*\([^)]*\))?\s+)?(?:(?:default|const|async|unsafe|extern(?:\s+"[^"]*")?)\s+)*fn\s+(?:r#)?NAME\b"#,
                Extent::Braces,
            ),
            (
                r"^\s*(?:pub(?:\s*\([^)]*\))?\s+)?(?:mod|struct|enum|trait|union)\s+NAME\b",
                Extent::Braces,
            ),
            (r"^\s*(?:unsafe\s+)?impl\b[^{]*\bNAME\b", Extent::Braces),
            (r"^\s*macro_rules!\s*NAME\b", Extent::Braces),
        ],
        marks: &["#["],
        lexis: Lexis {
            quotes: "\"",
            rust: true,
            ..C_LIKE
        },
        newline_ends: false,
    },
    Language {
        extensions: &["py", "pyi"],
        definitions: &[
            (r"^\s*(?:async\s+)?def\s+NAME\b", Extent::Indentation),
            (r"^\s*class\s+NAME\b", Extent::Indentation),
        ],
        marks: &["@"],
        lexis: Lexis {
            triple_quotes: true,
            ..HASH
        },
        newline_ends: false,
    },
    Language {
        extensions: &[
            "js", "jsx", "mjs", "cjs", "ts", "tsx", "mts", "cts", "vue", "svelte",
        ],
        definitions: &[
            (NAMED_CALL, Extent::Call),
            (TABLE_CALL, Extent::Call),
            (
                r"^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s*NAME\b",
                Extent::Braces,
            ),
            (
                r"^\s*(?:export\s+)?(?:default\s+)?(?:abstract\s+)?class\s+NAME\b",
                Extent::Braces,
            ),
            (
                r"^\s*(?:export\s+)?(?:const|let|var)\s+NAME\b",
                Extent::Braces,
            ),
            (
                r"^\s*(?:(?:public|private|protected|static|async|override|get|set)\s+)*[*#]?NAME\s*(?:<[^>(]*>)?\s*\([^;]*\{\s*$",
                Extent::Braces,
            ),
        ],
        marks: &["@"],
        lexis: Lexis {
            quotes: "\"'`",
            ..C_LIKE
        },
        newline_ends: true,
    },
    Language {
        extensions: &["go"],
        definitions: &[
            (r"^func\s+(?:\([^)]*\)\s*)?NAME\b", Extent::Braces),
            (r"^\s*type\s+NAME\b", Extent::Braces),
            (NAMED_CALL, Extent::Call),
        ],
        marks: &[],
        lexis: Lexis {
            quotes: "\"'`",
            ..C_LIKE
        },
        newline_ends: true,
    },
    Language {
        extensions: &["kt", "kts", "swift", "scala", "groovy", "php"],
        definitions: &[
            (
                r"\b(?:fun|func|def|function)\s+(?:<[^>]*>\s*)?(?:\w+\.)?[`'&]?NAME[`']?(?:\s*[(<\[{=:]|\s*$)",
                Extent::Braces,
            ),
            (TYPE, Extent::Braces),
            (METHOD, Extent::Braces),
            (
                r#"\b(?:test|it|describe|should)\s*\(\s*"NAME""#,
                Extent::Braces,
            ),
            (r#"^\s*"NAME"\s*(?:in|should|\{)"#, Extent::Braces),
        ],
        marks: &["@", "#["],
        lexis: Lexis {
            triple_quotes: true,
            ..C_LIKE
        },
        newline_ends: true,
    },
    Language {
        extensions: &["java", "cs"],
        definitions: &[(METHOD, Extent::Braces), (TYPE, Extent::Braces)],
        marks: &["@", "["],
        lexis: Lexis {
            triple_quotes: true,
            ..C_LIKE
        },
        newline_ends: false,
    },
    Language {
        extensions: &[
            "c", "h", "cc", "cpp", "cxx", "hh", "hpp", "hxx", "m", "mm", "cu",
        ],
        definitions: &[
            (
                r"^\s*(?:\w*TEST\w*)\s*\(\s*(?:\w+\s*,\s*)?NAME\s*(?:,[^)]*)?\)",
                Extent::Braces,
            ),
            (
                r#"^\s*(?:\w*TEST_CASE\w*|SCENARIO|SECTION|SUBCASE|WHEN|THEN|GIVEN)\s*\(\s*"NAME""#,
                Extent::Braces,
            ),
            (METHOD, Extent::Braces),
            (TYPE, Extent::Braces),
        ],
        marks: &["[["],
        lexis: C_LIKE,
        newline_ends: false,
    },
    Language {
        extensions: &["rb", "rake", "ex", "exs", "cr"],
        definitions: &[
            (r"^\s*defp?\s+(?:self\.)?NAME(?:[\s(!?=;,]|$)", Extent::End),
            (
                r#"^\s*(?:RSpec\.)?(?:it|specify|describe|context|test|should|scenario|feature|property)\b[^"']*["']NAME["']"#,
                Extent::End,
            ),
            (
                r"^\s*(?:class|module|defmodule|describe|RSpec\.describe|context)\s+NAME\b",
                Extent::End,
            ),
        ],
        marks: &["@tag", "@doc"],
        lexis: HASH,
        newline_ends: false,
    },
    Language {
        extensions: &["sh", "bash", "bats", "zsh"],
        definitions: &[
            (r#"^\s*@test\s+["']NAME["']"#, Extent::Braces),
            (r"^\s*(?:function\s+)?NAME\s*\(\s*\)", Extent::Braces),
            (r"^\s*function\s+NAME\b", Extent::Braces),
        ],
        marks: &[],
        lexis: HASH,
        newline_ends: false,
    },
];
