//! Servers in the table `mcp_servers` of a TOML file, edited in place.

use toml_edit::{Array, DocumentMut, Item, Table, TableLike, value};

use crate::{EntryOwner, NAME, Server, edit::EditError};

/// Adds our entry. An entry of another server under our name is replaced completely.
pub(crate) fn add(text: &str, server: &Server, replaces: bool) -> Result<String, EditError> {
    let mut document = parse(text)?;
    let servers = document
        .entry("mcp_servers")
        .or_insert_with(|| {
            let mut table = Table::new();
            table.set_implicit(true);
            Item::Table(table)
        })
        .as_table_like_mut()
        .ok_or(EditError::Shape("mcp_servers is not a table"))?;
    if !servers.contains_key(NAME) {
        servers.insert(NAME, Item::Table(Table::new()));
    }
    let entry = servers
        .get_mut(NAME)
        .and_then(Item::as_table_like_mut)
        .ok_or(EditError::Shape("mcp_servers.engram is not a table"))?;
    if replaces {
        entry.clear();
    }
    entry.insert("command", value(&server.command));
    entry.insert("args", value(server.args.iter().collect::<Array>()));
    Ok(document.to_string())
}

/// Removes the entry under our name and puts back that of `before`, if given.
pub(crate) fn remove(text: &str, before: Option<&str>) -> Result<String, EditError> {
    let mut document = parse(text)?;
    let servers = document
        .get_mut("mcp_servers")
        .and_then(Item::as_table_like_mut);
    let Some(servers) = servers.filter(|it| it.contains_key(NAME)) else {
        return Ok(text.to_owned());
    };
    let earlier = before.map(parse).transpose()?;
    if let Some(earlier) = earlier.as_ref().and_then(find_server) {
        servers.insert(NAME, earlier.clone());
        return Ok(document.to_string());
    }
    servers.remove(NAME);
    if servers.is_empty() {
        document.remove("mcp_servers");
    }
    Ok(document.to_string())
}

/// Returns the owner of the entry under our name.
pub(crate) fn entry_owner(text: &str) -> Result<EntryOwner, EditError> {
    let document = parse(text)?;
    let server = find_server(&document);
    Ok(server.map_or(EntryOwner::None, |it| {
        it.as_table_like().map_or(EntryOwner::Foreign, owner_of)
    }))
}

fn owner_of(server: &dyn TableLike) -> EntryOwner {
    let command = server.get("command").and_then(Item::as_str);
    let args = server.get("args").and_then(Item::as_array);
    let last = args.and_then(|it| it.iter().last()?.as_str());
    EntryOwner::of(command.unwrap_or_default(), last)
}

fn find_server(document: &DocumentMut) -> Option<&Item> {
    let servers = document.get("mcp_servers")?.as_table_like()?;
    servers.get(NAME)
}

fn parse(text: &str) -> Result<DocumentMut, EditError> {
    text.parse::<DocumentMut>()
        .map_err(|error| EditError::syntax(error.message()))
}
