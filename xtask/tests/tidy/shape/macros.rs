//! Parses the contents of a macro where possible: a list of expressions, statements, a pattern, or
//! closures and `let`s among the macro's own tokens.

use proc_macro2::{Delimiter, TokenStream, TokenTree};
use syn::{
    Block, Expr, Macro, Pat, Result, Stmt, Token,
    parse::{ParseStream, Parser},
    punctuated::Punctuated,
    visit::Visit,
};

/// Shows a visitor the code inside a macro.
pub fn visit(found: &Macro, visitor: &mut impl for<'a> Visit<'a>) {
    if found
        .path
        .segments
        .last()
        .is_some_and(|it| it.ident == "matches")
        && let Ok((value, pattern, guard)) = parse_matches.parse2(found.tokens.clone())
    {
        visitor.visit_expr(&value);
        visitor.visit_pat(&pattern);
        guard.iter().for_each(|it| visitor.visit_expr(it));
        return;
    }
    visit_tokens(found.tokens.clone(), visitor);
}

/// Parses the arguments of `matches!(value, pattern if guard)`.
fn parse_matches(input: ParseStream) -> Result<(Expr, Pat, Option<Expr>)> {
    let value = input.parse()?;
    input.parse::<Token![,]>()?;
    let pattern = Pat::parse_multi_with_leading_vert(input)?;
    let mut guard = None;
    if input.parse::<Option<Token![if]>>()?.is_some() {
        guard = Some(input.parse()?);
    }
    input.parse::<Option<Token![,]>>()?;
    Ok((value, pattern, guard))
}

fn visit_tokens(stream: TokenStream, visitor: &mut impl for<'a> Visit<'a>) {
    let list = Punctuated::<Expr, Token![,]>::parse_terminated;
    if let Ok(list) = list.parse2(stream.clone()) {
        list.iter().for_each(|it| visitor.visit_expr(it));
    } else if let Ok(statements) = Block::parse_within.parse2(stream.clone()) {
        statements.iter().for_each(|it| visitor.visit_stmt(it));
    } else {
        visit_scattered(stream.into_iter().collect(), visitor);
    }
}

/// Tries to parse at each token that may start a closure, a `let` or an expression with blocks.
fn visit_scattered(trees: Vec<TokenTree>, visitor: &mut impl for<'a> Visit<'a>) {
    let mut at = 0;
    while let Some(tree) = trees.get(at) {
        let part = |end: usize| trees[at..end].iter().cloned().collect::<TokenStream>();
        match tree {
            TokenTree::Group(group) => visit_tokens(group.stream(), visitor),
            tree if ["|", "move", "match", "for", "if", "while"].contains(&&*tree.to_string()) => {
                // In a tag that follows a block, `>` is not a comparison.
                let block = trees[at..].iter().position(is_block);
                let ends = [Some(trees.len()), block.map(|it| at + it + 1)];
                let mut found = ends.into_iter().flatten().filter_map(|end| {
                    let (found, left) = expression.parse2(part(end)).ok()?;
                    Some((found, end - left))
                });
                if let Some((found, next)) = found.next() {
                    visitor.visit_expr(&found);
                    at = next;
                    continue;
                }
            }
            TokenTree::Ident(word) if word == "let" => {
                if let Ok(pattern) = parse_let_pattern.parse2(part(trees.len())) {
                    visitor.visit_pat(&pattern);
                }
            }
            _ => {}
        }
        at += 1;
    }
}

fn is_block(tree: &TokenTree) -> bool {
    matches!(tree, TokenTree::Group(group) if group.delimiter() == Delimiter::Brace)
}

/// Parses an expression; also returns how many tokens follow it.
fn expression(input: ParseStream) -> Result<(Expr, usize)> {
    let found = input.parse()?;
    let left: TokenStream = input.parse()?;
    Ok((found, left.into_iter().count()))
}

/// Parses the pattern of a `let`.
fn parse_let_pattern(input: ParseStream) -> Result<Pat> {
    input.parse::<Token![let]>()?;
    let pattern = Pat::parse_single(input)?;
    input.parse::<TokenStream>()?;
    Ok(pattern)
}

/// Whether a block has more than its final expression.
pub fn has_statements(block: &Block) -> bool {
    match block.stmts.as_slice() {
        [] | [Stmt::Expr(_, None)] => false,
        [Stmt::Macro(only)] => only.semi_token.is_some(),
        _ => true,
    }
}
