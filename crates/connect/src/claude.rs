//! Claude Code: `.mcp.json` at the root of the project, edited in place so that comments, order and
//! spacing survive.

use jsonc_parser::{
    ParseOptions,
    cst::{CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode},
};

use crate::{EntryOwner, NAME, Server, edit::EditError};

pub(crate) fn add(text: &str, server: &Server) -> Result<String, EditError> {
    let text = match text.trim() {
        "" => "{}\n",
        _ => text,
    };
    let root = parse(text)?;
    let servers = root
        .object_value_or_create()
        .ok_or(EditError::Shape("it does not contain an object"))?
        .object_value_or_create("mcpServers")
        .ok_or(EditError::Shape("mcpServers is not an object"))?;
    let entry = CstInputValue::Object(vec![
        ("type".to_owned(), "stdio".into()),
        ("command".to_owned(), server.command.as_str().into()),
        (
            "args".to_owned(),
            CstInputValue::Array(server.args.iter().map(|it| it.as_str().into()).collect()),
        ),
    ]);
    match servers.get(NAME) {
        Some(there) => there.set_value(entry),
        None => {
            servers.append(NAME, entry);
        }
    }
    Ok(root.to_string())
}

/// Removes the entry under our name and puts back that of `before`, if given.
pub(crate) fn remove(text: &str, before: Option<&str>) -> Result<String, EditError> {
    let root = parse(text)?;
    if let Some(entry) = find_server(&root) {
        let earlier = before.map(parse).transpose()?;
        let earlier = earlier.and_then(|it| copy_of(&find_server(&it)?.value()?));
        match earlier {
            Some(earlier) => entry.set_value(earlier),
            None => entry.remove(),
        }
    }
    Ok(root.to_string())
}

/// Returns the owner of the entry under our name.
pub(crate) fn entry_owner(text: &str) -> Result<EntryOwner, EditError> {
    if text.trim().is_empty() {
        return Ok(EntryOwner::None);
    }
    let Some(server) = find_server(&parse(text)?) else {
        return Ok(EntryOwner::None);
    };
    let text = |it: CstNode| it.as_string_lit()?.decoded_value().ok();
    let server = server.value().and_then(|it| it.as_object());
    let value = |name: &str| server.as_ref()?.get(name)?.value();
    let last = || text(value("args")?.as_array()?.elements().pop()?);
    let command = value("command").and_then(text);
    Ok(EntryOwner::of(
        command.as_deref().unwrap_or_default(),
        last().as_deref(),
    ))
}

fn find_server(root: &CstRootNode) -> Option<CstObjectProp> {
    root.object_value()?.object_value("mcpServers")?.get(NAME)
}

/// Copies a value for another document, without its comments.
fn copy_of(node: &CstNode) -> Option<CstInputValue> {
    if let Some(object) = node.as_object() {
        let property = |it: CstObjectProp| Some((it.decoded_name()?, copy_of(&it.value()?)?));
        let all: Option<Vec<_>> = object.properties().into_iter().map(property).collect();
        return all.map(CstInputValue::Object);
    }
    if let Some(array) = node.as_array() {
        let all: Option<Vec<_>> = array.elements().iter().map(copy_of).collect();
        return all.map(CstInputValue::Array);
    }
    if let Some(text) = node.as_string_lit() {
        return text.decoded_value().ok().map(CstInputValue::String);
    }
    if let Some(is) = node.as_boolean_lit() {
        return Some(CstInputValue::Bool(is.value()));
    }
    match node.as_number_lit() {
        Some(number) => Some(CstInputValue::Number(number.to_string())),
        None => node.as_null_keyword().map(|_| CstInputValue::Null),
    }
}

/// Parses the file. It refuses a name that appears twice, since agents differ in which one they
/// take.
fn parse(text: &str) -> Result<CstRootNode, EditError> {
    let root = CstRootNode::parse(text, &ParseOptions::default())
        .map_err(|error| EditError::syntax(&error.to_string()))?;
    if let Some(object) = root.object_value() {
        is_single(&object, "mcpServers")?;
        if let Some(servers) = object.object_value("mcpServers") {
            is_single(&servers, NAME)?;
        }
    }
    Ok(root)
}

fn is_single(object: &CstObject, name: &'static str) -> Result<(), EditError> {
    let named = object.properties().into_iter();
    let named = named.filter(|it| it.decoded_name().as_deref() == Some(name));
    match named.count() {
        0 | 1 => Ok(()),
        _ => Err(EditError::Repeated(name)),
    }
}
