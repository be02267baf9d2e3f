//! The parsed sources of a checkout: the crate of each file, its lines of code, and which of those
//! are tests.

use std::{collections::BTreeSet, path::Path};

use cargo_metadata::{DependencyKind, MetadataCommand, Package};
use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{Attribute, ImplItem, Item, spanned::Spanned, visit::Visit};

use crate::workspace::files_of;

/// One crate of the checkout.
#[derive(Default)]
pub struct Crate {
    pub name: String,
    /// Its folder, with `/` at the end; empty for the root package.
    folder: String,
    /// The crates of the checkout that it depends on, directly or not, apart from its tests.
    pub below: BTreeSet<String>,
    /// Whether it ships as part of the product.
    pub is_product: bool,
}

/// One source file.
pub struct File {
    /// The index of its crate.
    pub of: usize,
    /// Relative to the root of the checkout, with `/`.
    pub path: String,
    pub syntax: syn::File,
    pub lines: usize,
    /// Whether the whole file is test code: in a folder of tests, benches or examples, in a module
    /// compiled only for tests, or in the crate that only tests use.
    pub is_test: bool,
    /// The first and last line of each item that is compiled only for tests.
    tests: Vec<(usize, usize)>,
    pub tokens: Tokens,
}

/// What is counted in the tokens of a file, including those in macros.
#[derive(Default)]
pub struct Tokens {
    /// The lines with a token that is not a comment.
    pub code: BTreeSet<usize>,
    /// Attributes that make a function a test.
    pub tests: usize,
    /// The lines on which an assertion starts.
    pub assertions: Vec<usize>,
}

impl File {
    pub fn is_test(&self, line: usize) -> bool {
        self.is_test || self.tests.iter().any(|it| (it.0..=it.1).contains(&line))
    }
}

/// Crates that only tests and developers use.
const NOT_SHIPPED: &[&str] = &["engram-kit", "engram-measure", "xtask"];
const FOR_TESTS: &str = "engram-kit";

/// Reads the crates of both workspaces, and every Rust source.
pub fn read(root: &Path) -> (Vec<Crate>, Vec<File>) {
    let crates = crates(root);
    let mut files: Vec<File> = files_of(root, &["."], &[".rs"])
        .into_iter()
        .map(|it| parse_source(&crates, it.path, &it.text))
        .collect();
    let stems: Vec<String> = files.iter().flat_map(test_modules).collect();
    for file in &mut files {
        file.is_test |= stems.iter().any(|stem| {
            file.path
                .strip_prefix(stem.as_str())
                .is_some_and(|it| it.is_empty() || it == ".rs" || it.starts_with('/'))
        });
    }
    (crates, files)
}

fn crates(root: &Path) -> Vec<Crate> {
    let packages: Vec<Package> = ["Cargo.toml", "ui/Cargo.toml"]
        .iter()
        .flat_map(|manifest| {
            let mut command = MetadataCommand::new();
            let command = command.manifest_path(root.join(manifest)).no_deps();
            let options = ["--offline", "--locked"].map(str::to_owned);
            command.other_options(options).exec().unwrap().packages
        })
        .collect();
    let root = root.canonicalize().unwrap();
    let mut crates: Vec<Crate> = packages
        .iter()
        .map(|package| {
            let folder = package.manifest_path.parent().unwrap();
            let folder = folder.as_std_path().strip_prefix(&root).unwrap();
            let folder = folder.to_string_lossy().replace('\\', "/");
            Crate {
                name: package.name.clone(),
                folder: if folder.is_empty() {
                    folder
                } else {
                    folder + "/"
                },
                below: crates_below(package, &packages),
                is_product: !NOT_SHIPPED.contains(&package.name.as_str()),
            }
        })
        .collect();
    crates.sort_by(|one, other| one.folder.cmp(&other.folder));
    crates
}

/// Returns those of `packages` that a package depends on, directly or not.
fn crates_below(package: &Package, packages: &[Package]) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut open = vec![package];
    while let Some(package) = open.pop() {
        let used = package.dependencies.iter();
        for used in used.filter(|it| it.kind == DependencyKind::Normal) {
            let Some(used) = packages.iter().find(|it| it.name == used.name) else {
                continue;
            };
            if found.insert(used.name.clone()) {
                open.push(used);
            }
        }
    }
    found
}

/// Parses one source file of these crates.
pub fn parse_source(crates: &[Crate], path: String, text: &str) -> File {
    let stream: TokenStream = text
        .parse()
        .unwrap_or_else(|error| panic!("{path}: {error}"));
    let mut tokens = Tokens::default();
    tokens.read(stream.clone());
    let syntax = syn::parse2(stream).unwrap_or_else(|error| panic!("{path}: {error}"));
    let tests = lines_of_tests(&syntax);
    // The longest matching folder, since `xtask/measure` is inside `xtask`.
    let of = crates.iter().enumerate();
    let of = of.filter(|it| path.starts_with(&it.1.folder));
    let of = of.max_by_key(|it| it.1.folder.len()).unwrap().0;
    File {
        of,
        is_test: crates[of].name == FOR_TESTS
            || path
                .split('/')
                .any(|it| ["tests", "benches", "examples"].contains(&it)),
        lines: text.lines().count(),
        path,
        syntax,
        tests,
        tokens,
    }
}

/// Returns the first and last line of each item that is compiled only for tests.
pub fn lines_of_tests(syntax: &syn::File) -> Vec<(usize, usize)> {
    let mut tests = TestItems::default();
    tests.visit_file(syntax);
    tests.0
}

impl Tokens {
    fn read(&mut self, stream: TokenStream) {
        let tokens: Vec<TokenTree> = stream.into_iter().collect();
        let mut at = 0;
        while at < tokens.len() {
            at += comment_length(&tokens[at..]);
            let Some(token) = tokens.get(at) else { break };
            match (token, tokens.get(at + 1)) {
                (TokenTree::Punct(hash), Some(TokenTree::Group(group)))
                    if hash.as_char() == '#' && last_of_path(group.stream()) == "test" =>
                {
                    self.tests += 1;
                }
                (TokenTree::Ident(name), Some(TokenTree::Punct(mark))) if mark.as_char() == '!' => {
                    let name = name.to_string();
                    if name.starts_with("assert") || name.starts_with("prop_assert") {
                        self.assertions.push(token.span().start().line);
                    }
                }
                _ => {}
            }
            match token {
                TokenTree::Group(group) => {
                    if group.delimiter() != Delimiter::None {
                        self.code.insert(group.span_open().start().line);
                        self.code.insert(group.span_close().start().line);
                    }
                    self.read(group.stream());
                }
                token => {
                    let span = token.span();
                    self.code.extend(span.start().line..=span.end().line);
                }
            }
            at += 1;
        }
    }
}

/// Returns how many tokens a comment takes: `///` and `//!` are parsed as attributes.
fn comment_length(tokens: &[TokenTree]) -> usize {
    let mut rest = tokens.iter();
    let Some(TokenTree::Punct(hash)) = rest.next() else {
        return 0;
    };
    let mut length = 2;
    let mut next = rest.next();
    if let Some(TokenTree::Punct(bang)) = next
        && bang.as_char() == '!'
    {
        length += 1;
        next = rest.next();
    }
    let is_comment = |group: TokenStream| {
        let mut inside = group.into_iter();
        let is_doc = inside.next().is_some_and(|it| it.to_string() == "doc");
        is_doc && matches!(inside.next(), Some(TokenTree::Punct(mark)) if mark.as_char() == '=')
    };
    match next {
        Some(TokenTree::Group(group)) if hash.as_char() == '#' && is_comment(group.stream()) => {
            length + comment_length(&tokens[length..])
        }
        _ => 0,
    }
}

/// Returns the last segment of the path at the start of an attribute.
fn last_of_path(attribute: TokenStream) -> String {
    let path = attribute.into_iter().take_while(|it| match it {
        TokenTree::Ident(_) => true,
        TokenTree::Punct(mark) => mark.as_char() == ':',
        _ => false,
    });
    path.last().map(|it| it.to_string()).unwrap_or_default()
}

/// The first and last line of each item that is compiled only for tests.
#[derive(Default)]
struct TestItems(Vec<(usize, usize)>);

impl Visit<'_> for TestItems {
    fn visit_item(&mut self, item: &Item) {
        self.note(attributes(item), item);
        syn::visit::visit_item(self, item);
    }

    fn visit_impl_item(&mut self, item: &ImplItem) {
        if let ImplItem::Fn(function) = item {
            self.note(&function.attrs, item);
        }
        syn::visit::visit_impl_item(self, item);
    }
}

impl TestItems {
    fn note(&mut self, attributes: &[Attribute], item: &impl Spanned) {
        if attributes.iter().any(is_for_tests) {
            let span = item.span();
            self.0.push((span.start().line, span.end().line));
        }
    }
}

fn attributes(item: &Item) -> &[Attribute] {
    match item {
        Item::Const(item) => &item.attrs,
        Item::Enum(item) => &item.attrs,
        Item::Fn(item) => &item.attrs,
        Item::Impl(item) => &item.attrs,
        Item::Macro(item) => &item.attrs,
        Item::Mod(item) => &item.attrs,
        Item::Static(item) => &item.attrs,
        Item::Struct(item) => &item.attrs,
        Item::Trait(item) => &item.attrs,
        Item::Type(item) => &item.attrs,
        Item::Use(item) => &item.attrs,
        _ => &[],
    }
}

/// Whether an attribute is `#[test]`, or a `#[cfg(...)]` that includes `test` and not `not(test)`.
fn is_for_tests(attribute: &Attribute) -> bool {
    let path = attribute.path();
    if path.segments.last().is_some_and(|it| it.ident == "test") {
        return true;
    }
    let condition = || {
        let list = attribute.meta.require_list();
        list.map(|it| it.tokens.to_string().replace(' ', ""))
            .unwrap_or_default()
    };
    let is_test = |condition: &str| {
        let mut words = condition.split(|c: char| !c.is_alphanumeric() && c != '_');
        words.any(|word| word == "test")
    };
    path.is_ident("cfg") && is_test(&condition().replace("not(test)", ""))
}

/// Returns the paths, without extension, of the modules that a file declares only for tests.
fn test_modules(file: &File) -> Vec<String> {
    let (folder, name) = file.path.rsplit_once('/').unwrap_or(("", &file.path));
    let stem = name.trim_end_matches(".rs");
    let below = match stem {
        "mod" | "lib" | "main" => folder.to_owned(),
        stem => format!("{folder}/{stem}"),
    };
    let modules = file.syntax.items.iter().filter_map(|item| match item {
        Item::Mod(module) if module.content.is_none() => Some(module),
        _ => None,
    });
    modules
        .filter(|it| it.attrs.iter().any(is_for_tests))
        .map(|module| match module.attrs.iter().find_map(given_path) {
            Some(path) => format!("{folder}/{path}"),
            None => format!("{below}/{}", module.ident),
        })
        .collect()
}

/// Returns the path of `#[path = "..."]`.
fn given_path(attribute: &Attribute) -> Option<String> {
    let given = attribute.meta.require_name_value().ok()?;
    let syn::Expr::Lit(value) = &given.value else {
        return None;
    };
    match &value.lit {
        syn::Lit::Str(path) if given.path.is_ident("path") => Some(path.value()),
        _ => None,
    }
}
