//! What is counted in the syntax of one file.

use std::collections::BTreeSet;

use proc_macro2::{Ident, Span, TokenStream, TokenTree};
use syn::{
    Arm, Attribute, Block, ExprClosure, ExprMatch, ImplItem, ImplItemFn, Item, ItemFn, ItemImpl,
    ItemMacro, ItemMod, ItemTrait, Lit, Macro, Pat, PatIdent, Signature, TraitItem, Type,
    Visibility, visit, visit::Visit,
};

use super::{macros, sources::File};

/// The number of lines that fit a screen.
const SCREEN: usize = 80;

/// The definition of a type, a trait or an alias.
pub struct Definition {
    pub of: usize,
    pub name: String,
    /// Whether only its own module sees it.
    pub is_private: bool,
    pub place: String,
}

/// A method: a function in an `impl` of a type, or in a trait.
pub struct Method {
    pub of: usize,
    pub owner: String,
    pub place: String,
}

#[derive(Default)]
pub struct Found {
    pub definitions: Vec<Definition>,
    pub methods: Vec<Method>,
    /// Bindings called `it`, except parameters of closures whose body is one expression.
    pub its: Vec<String>,
    /// Matches with `true` or `false` as an arm.
    pub bools: Vec<String>,
    /// Functions outside tests with more lines than a screen, from `fn` to the last bracket.
    pub long: Vec<String>,
}

impl Found {
    /// Adds the counts of a file.
    pub fn read(&mut self, file: &File) {
        let mut reader = Reader {
            file,
            found: self,
            within: Vec::new(),
            defined: BTreeSet::new(),
        };
        reader.visit_file(&file.syntax);
    }
}

struct Reader<'f> {
    file: &'f File,
    found: &'f mut Found,
    /// The modules and functions around the current place.
    within: Vec<String>,
    /// The types found so far, each with the modules and functions around it.
    defined: BTreeSet<(String, String)>,
}

impl Reader<'_> {
    /// Returns `path:line: what`, or `path:line` if `what` is empty.
    fn location(&self, at: Span, what: &str) -> String {
        let place = format!("{}:{}: {what}", self.file.path, at.start().line);
        place.trim_end_matches(": ").to_owned()
    }

    fn note_definition(&mut self, name: &Ident, visibility: &Visibility) {
        if self.file.is_test(name.span().start().line) {
            return;
        }
        let within = self.within.join("::");
        let place = self.location(name.span(), &within);
        if self.defined.insert((within, name.to_string())) {
            self.found.definitions.push(Definition {
                of: self.file.of,
                name: name.to_string(),
                is_private: matches!(visibility, Visibility::Inherited),
                place,
            });
        }
    }

    fn note_method(&mut self, owner: &Ident, signature: &Signature) {
        if self.file.is_test(signature.fn_token.span.start().line) {
            return;
        }
        let place = self.location(signature.fn_token.span, &signature.ident.to_string());
        self.found.methods.push(Method {
            of: self.file.of,
            owner: owner.to_string(),
            place,
        });
    }

    fn note_long_function(&mut self, signature: &Signature, body: &Block) {
        let first = signature.fn_token.span;
        let lines = body.brace_token.span.close().end().line + 1 - first.start().line;
        if lines > SCREEN && !self.file.is_test(first.start().line) {
            let what = format!("{} has {lines} lines", signature.ident);
            let place = self.location(first, &what);
            self.found.long.push(place);
        }
    }

    fn visit_inside(&mut self, name: &Ident, read: impl FnOnce(&mut Self)) {
        self.within.push(name.to_string());
        read(self);
        self.within.pop();
    }
}

impl<'a> Visit<'a> for Reader<'_> {
    fn visit_item(&mut self, item: &'a Item) {
        let defined = match item {
            Item::Enum(item) => Some((&item.ident, &item.vis, &item.attrs)),
            Item::Struct(item) => Some((&item.ident, &item.vis, &item.attrs)),
            Item::Trait(item) => Some((&item.ident, &item.vis, &item.attrs)),
            Item::Type(item) => Some((&item.ident, &item.vis, &item.attrs)),
            Item::Union(item) => Some((&item.ident, &item.vis, &item.attrs)),
            _ => None,
        };
        // A type with one definition per platform counts once.
        if let Some((name, visibility, attributes)) = defined
            && !attributes.iter().any(is_for_others)
        {
            self.note_definition(name, visibility);
        }
        visit::visit_item(self, item);
    }

    fn visit_item_trait(&mut self, item: &'a ItemTrait) {
        for function in &item.items {
            if let TraitItem::Fn(function) = function {
                self.note_method(&item.ident, &function.sig);
                if let Some(body) = &function.default {
                    self.note_long_function(&function.sig, body);
                }
            }
        }
        visit::visit_item_trait(self, item);
    }

    fn visit_item_impl(&mut self, item: &'a ItemImpl) {
        if let Some(owner) = owner(&item.self_ty) {
            for function in &item.items {
                if let ImplItem::Fn(function) = function {
                    self.note_method(owner, &function.sig);
                }
            }
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_item_mod(&mut self, item: &'a ItemMod) {
        self.visit_inside(&item.ident, |reader| visit::visit_item_mod(reader, item));
    }

    fn visit_item_fn(&mut self, item: &'a ItemFn) {
        self.note_long_function(&item.sig, &item.block);
        self.visit_inside(&item.sig.ident, |reader| visit::visit_item_fn(reader, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'a ImplItemFn) {
        self.note_long_function(&item.sig, &item.block);
        let name = &item.sig.ident;
        self.visit_inside(name, |reader| visit::visit_impl_item_fn(reader, item));
    }

    fn visit_item_macro(&mut self, item: &'a ItemMacro) {
        // Types that macros define count as public.
        let visibility = Visibility::Public(Default::default());
        let names = if item.ident.is_none() {
            defined_in(&item.mac)
        } else {
            named_in_rules(item.mac.tokens.clone())
        };
        for name in names {
            self.note_definition(&name, &visibility);
        }
        visit::visit_item_macro(self, item);
    }

    fn visit_macro(&mut self, found: &'a Macro) {
        macros::visit(found, self);
    }

    fn visit_pat_ident(&mut self, pattern: &'a PatIdent) {
        if pattern.ident == "it" {
            let place = self.location(pattern.ident.span(), &self.within.join("::"));
            self.found.its.push(place);
        }
        visit::visit_pat_ident(self, pattern);
    }

    fn visit_expr_closure(&mut self, closure: &'a ExprClosure) {
        let mut blocks = Blocks::default();
        blocks.visit_expr(&closure.body);
        if blocks.have_statements {
            visit::visit_expr_closure(self, closure);
        } else {
            self.visit_expr(&closure.body);
        }
    }

    fn visit_expr_match(&mut self, expression: &'a ExprMatch) {
        if expression.arms.iter().any(is_bool) {
            let place = self.location(expression.match_token.span, &self.within.join("::"));
            self.found.bools.push(place);
        }
        visit::visit_expr_match(self, expression);
    }
}

/// Finds out whether a block inside an expression has more than its final expression.
#[derive(Default)]
struct Blocks {
    have_statements: bool,
}

impl<'a> Visit<'a> for Blocks {
    fn visit_block(&mut self, block: &'a Block) {
        self.have_statements |= macros::has_statements(block);
        visit::visit_block(self, block);
    }

    fn visit_macro(&mut self, found: &'a Macro) {
        macros::visit(found, self);
    }
}

/// Returns the name of the type that an `impl` is for.
fn owner(of: &Type) -> Option<&Ident> {
    match of {
        Type::Path(path) => path.path.segments.last().map(|it| &it.ident),
        Type::Reference(inner) => owner(&inner.elem),
        _ => None,
    }
}

/// Whether an attribute is `#[cfg(not(...))]`.
fn is_for_others(attribute: &Attribute) -> bool {
    let condition = attribute.meta.require_list();
    let is_not = condition.is_ok_and(|it| it.tokens.to_string().starts_with("not"));
    attribute.path().is_ident("cfg") && is_not
}

fn is_bool(arm: &Arm) -> bool {
    fn is_bool(pattern: &Pat) -> bool {
        match pattern {
            Pat::Lit(literal) => matches!(literal.lit, Lit::Bool(_)),
            Pat::Or(any) => any.cases.iter().any(is_bool),
            Pat::Paren(inner) => is_bool(&inner.pat),
            _ => false,
        }
    }
    is_bool(&arm.pat)
}

/// Returns the types that a macro call defines: those after `struct`, `enum` or `type`, and a name
/// at its start, as in `words!(Kind { ... })`.
fn defined_in(call: &Macro) -> Vec<Ident> {
    const DEFINES: [&str; 3] = ["struct", "enum", "type"];
    let trees: Vec<TokenTree> = call.tokens.clone().into_iter().collect();
    let mut names = Vec::new();
    for pair in trees.windows(2) {
        if let [TokenTree::Ident(word), TokenTree::Ident(name)] = pair
            && DEFINES.iter().any(|it| word == it)
        {
            names.push(name.clone());
        }
    }
    let is_doc = |tree: &TokenTree| match tree {
        TokenTree::Punct(hash) => hash.as_char() == '#',
        TokenTree::Group(group) => group.delimiter() == proc_macro2::Delimiter::Bracket,
        _ => false,
    };
    let mut head = trees.iter().skip_while(|it| is_doc(it));
    if let Some(TokenTree::Ident(name)) = head.next()
        && name.to_string().starts_with(char::is_uppercase)
        && !matches!(head.next(), Some(TokenTree::Punct(_)))
    {
        names.push(name.clone());
    }
    names
}

/// Returns the types that a macro's rules name themselves; in `struct $name`, the call gives the
/// name.
fn named_in_rules(rules: TokenStream) -> Vec<Ident> {
    const DEFINES: [&str; 4] = ["struct", "enum", "union", "trait"];
    let trees: Vec<TokenTree> = rules.into_iter().collect();
    let mut names = Vec::new();
    for (at, tree) in trees.iter().enumerate() {
        match (tree, trees.get(at + 1)) {
            (TokenTree::Group(group), _) => names.extend(named_in_rules(group.stream())),
            (TokenTree::Ident(word), Some(TokenTree::Ident(name)))
                if DEFINES.iter().any(|it| word == it) =>
            {
                names.push(name.clone());
            }
            _ => {}
        }
    }
    names
}
