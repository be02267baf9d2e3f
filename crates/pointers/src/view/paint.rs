//! Classifies each piece of a line of code, by the grammar of its language.
//!
//! Grammars are data (Sublime's, as compiled by two-face) run by syntect; none is loaded before a
//! source is shown. Painting never changes or hides a character.

use std::sync::LazyLock;

use engram_model::{Class, Piece};
use syntect::parsing::{ParseState, Scope, ScopeStack, SyntaxReference, SyntaxSet};

static GRAMMARS: LazyLock<SyntaxSet> = LazyLock::new(two_face::syntax::extra_newlines);

/// The first rule that matches a scope decides; inner scopes are tried before outer ones.
static RULES: LazyLock<Vec<(Scope, Class)>> = LazyLock::new(|| {
    let rules = [
        ("comment", Class::Comment),
        ("constant.character", Class::Text),
        ("string", Class::Text),
        ("constant", Class::Value),
        ("keyword.operator", Class::Plain),
        ("keyword", Class::Keyword),
        ("storage", Class::Keyword),
        ("variable.language", Class::Keyword),
        ("entity.name.function", Class::Function),
        ("support.function", Class::Function),
        ("support.macro", Class::Function),
        ("variable.function", Class::Function),
        ("entity.name.section", Class::Heading),
        ("markup.heading", Class::Heading),
        ("markup.raw", Class::Text),
        ("markup.underline.link", Class::Text),
        ("entity.name.tag", Class::Type),
        ("entity.name.lifetime", Class::Name),
        ("entity.name", Class::Type),
        ("entity.other.inherited-class", Class::Type),
        ("entity.other.attribute-name", Class::Name),
        ("support.type.property-name", Class::Name),
        ("meta.property-name", Class::Name),
        ("meta.mapping.key", Class::Name),
        ("variable.annotation", Class::Name),
        ("variable.other.key", Class::Name),
        ("support.type", Class::Type),
        ("support.class", Class::Type),
        // Code inside a string is code again.
        ("meta.interpolation", Class::Plain),
        ("source", Class::Plain),
    ];
    let parsed = rules
        .iter()
        .filter_map(|(scope, class)| Some((Scope::new(scope).ok()?, *class)));
    parsed.collect()
});

/// The bytes read before the shown lines, to know where comments and strings begin.
pub(crate) const BEFORE: usize = 128 << 10;
/// The most bytes that are painted; the rest is shown plain.
const MAX_PAINTED: usize = 384 << 10;
/// The most pieces of one line; the rest of a denser line is one piece.
const MAX_PIECES: usize = 80;

/// The grammar for a file.
pub(crate) struct Grammar(&'static SyntaxReference);

impl Grammar {
    /// Finds the grammar by the name of the file, or else by its first line.
    pub(crate) fn of(path: &str, first_line: &str) -> Option<Self> {
        let name = path.rsplit('/').next().unwrap_or(path);
        let extension = name.rsplit_once('.').map(|(_, extension)| extension);
        let by_name = [Some(name), extension]
            .into_iter()
            .flatten()
            .find_map(|it| GRAMMARS.find_syntax_by_extension(it));
        let found = by_name.or_else(|| {
            if first_line.len() <= 400 {
                GRAMMARS.find_syntax_by_first_line(first_line)
            } else {
                None
            }
        });
        found
            .filter(|it| it.name != GRAMMARS.find_syntax_plain_text().name)
            .map(Self)
    }

    /// Finds the grammar by the word after the fence of a code block.
    pub(crate) fn for_fence(word: &str) -> Option<Self> {
        let word = word
            .split([',', ' ', '{'])
            .next()
            .filter(|it| !it.is_empty())?;
        GRAMMARS.find_syntax_by_token(word).map(Self)
    }

    /// Returns the name that people use for the language.
    pub(crate) fn name(&self) -> &'static str {
        &self.0.name
    }

    pub(crate) fn painter(&self) -> Painter {
        Painter {
            parse: ParseState::new(self.0),
            scopes: ScopeStack::new(),
            left: MAX_PAINTED,
        }
    }
}

/// Paints the lines of one text in order.
pub(crate) struct Painter {
    parse: ParseState,
    scopes: ScopeStack,
    left: usize,
}

impl Painter {
    /// Reads the text before the shown lines, or only its end if it is long.
    pub(crate) fn skip<'a>(&mut self, lines: impl DoubleEndedIterator<Item = &'a str>) {
        let mut size = 0;
        let near: Vec<&str> = lines
            .rev()
            .take_while(|line| {
                size += line.len() + 1;
                size <= BEFORE
            })
            .collect();
        self.left = self.left.saturating_add(size);
        for line in near.into_iter().rev() {
            self.line(line);
        }
        self.left = MAX_PAINTED;
    }

    /// Returns the pieces of the next line, which cover all of it; none past the limit.
    pub(crate) fn line(&mut self, text: &str) -> Vec<Piece> {
        self.left = self.left.saturating_sub(text.len() + 1);
        if self.left == 0 {
            return Vec::new();
        }
        // These grammars expect the line feed.
        let line = format!("{text}\n");
        let Ok(changes) = self.parse.parse_line(&line, &GRAMMARS) else {
            self.left = 0;
            return Vec::new();
        };
        let mut pieces: Vec<Piece> = Vec::new();
        let mut from = 0;
        let mut push = |to: usize, class: Class| {
            let length = to.min(text.len()).saturating_sub(from);
            from += length;
            let is_full = pieces.len() >= MAX_PIECES;
            match pieces.last_mut() {
                _ if length == 0 => {}
                Some(last) if last.0 == class => last.1 += length as u32,
                Some(_) if is_full => {}
                _ => pieces.push(Piece(class, length as u32)),
            }
        };
        for (at, change) in changes {
            push(at, class_of(&self.scopes));
            if self.scopes.apply(&change).is_err() {
                self.left = 0;
                return Vec::new();
            }
        }
        push(text.len(), class_of(&self.scopes));
        match &pieces[..] {
            [Piece(Class::Plain, _)] => Vec::new(),
            _ => pieces,
        }
    }
}

fn class_of(scopes: &ScopeStack) -> Class {
    let decided = scopes.as_slice().iter().rev().find_map(|scope| {
        let rule = RULES.iter().find(|(rule, _)| rule.is_prefix_of(*scope));
        rule.map(|(_, class)| *class)
    });
    decided.unwrap_or(Class::Plain)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn painted(path: &str, text: &str) -> Vec<(Class, String)> {
        let mut painter = Grammar::of(path, text.lines().next().unwrap_or(""))
            .unwrap()
            .painter();
        let mut all = Vec::new();
        for line in text.lines() {
            let pieces = painter.line(line);
            let mut at = 0;
            for Piece(class, length) in &pieces {
                let end = at + *length as usize;
                all.push((*class, line[at..end].trim().to_owned()));
                at = end;
            }
            assert!(pieces.is_empty() || at == line.len(), "{path}: {line:?}");
        }
        all
    }

    #[test]
    fn many_languages_are_told_apart() {
        let mut wrong = Vec::new();
        for (path, text, class, piece) in [
            (
                "src/a.rs",
                "pub fn held(&self) -> u32 { 7 }",
                Class::Function,
                "held",
            ),
            (
                "src/a.rs",
                "/* a\n b */ let x = \"s\";",
                Class::Comment,
                "b */",
            ),
            (
                "a.py",
                "async def reserve(self):",
                Class::Function,
                "reserve",
            ),
            ("a.ts", "const n: number = 12;", Class::Value, "12"),
            (
                "a.tsx",
                "export const A = () => <p className=\"x\" />;",
                Class::Name,
                "className",
            ),
            ("a.go", "func main() { return }", Class::Function, "main"),
            ("A.java", "public class A {}", Class::Type, "A"),
            ("a.kt", "fun main() {}", Class::Keyword, "fun"),
            ("a.swift", "func run() {}", Class::Keyword, "func"),
            ("a.rb", "def call; end", Class::Function, "call"),
            ("a.cpp", "return 1; // why", Class::Comment, "// why"),
            ("a.cs", "return null;", Class::Value, "null"),
            ("a.php", "<?php echo 'x';", Class::Text, "'x'"),
            ("a.sql", "SELECT 1 FROM engram", Class::Keyword, "SELECT"),
            ("a.sh", "if true; then exit; fi", Class::Keyword, "if"),
            ("a.toml", "limit = 3 # why", Class::Comment, "# why"),
            ("a.yaml", "limit: true", Class::Value, "true"),
            ("a.json", "{\"a\": 12}", Class::Value, "12"),
            ("a.html", "<p>x</p>", Class::Type, "p"),
            ("a.css", "p { color: red; }", Class::Type, "p"),
            ("Dockerfile", "FROM debian", Class::Keyword, "FROM"),
            ("Makefile", "all: # x", Class::Comment, "# x"),
            ("a.md", "# Title", Class::Heading, "# Title"),
            ("a.zig", "const x = 1;", Class::Value, "1"),
            ("run", "#!/bin/sh\nexit # x", Class::Comment, "# x"),
        ] {
            let all = painted(path, text);
            if !all.iter().any(|(c, it)| *c == class && it == piece) {
                wrong.push(format!("{path} {text:?}: {all:?}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
        assert!(Grammar::of("notes.unknown", "x").is_none());
        assert!(Grammar::of("a.txt", "x").is_none());
    }

    #[test]
    fn whatever_stands_in_a_line_no_character_is_lost() {
        for line in [
            "",
            "\u{0}\u{202e}é🦀 \"",
            "'''",
            "/*",
            "\t\t",
            "{{{{(((",
            "r#\"#",
        ] {
            for path in ["a.rs", "a.py", "a.md", "a.html", "a.php", "a.sh"] {
                painted(path, &format!("{line}\n{line}\n"));
            }
        }
    }

    #[test]
    fn only_so_much_is_painted() {
        let mut painter = Grammar::of("a.rs", "").unwrap().painter();
        let line = "let a = 1; ".repeat(100);
        let painted = (0..1_000)
            .filter(|_| !painter.line(&line).is_empty())
            .count();
        assert!((100..500).contains(&painted), "{painted} lines");
    }
}
