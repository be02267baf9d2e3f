//! Claude Code: `.mcp.json` at the root of the project, edited in place so that comments, order and
//! spacing of what is there survive.

use jsonc_parser::{ParseOptions, cst::CstInputValue, cst::CstRootNode};

use super::{NAME, Server};

pub(super) fn add(text: &str, server: &Server) -> Result<String, String> {
    let text = match text.trim() {
        "" => "{}\n",
        _ => text,
    };
    let root = parse(text)?;
    let servers = root
        .object_value_or_create()
        .ok_or("it does not contain an object")?
        .object_value_or_create("mcpServers")
        .ok_or("mcpServers is not an object")?;
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

pub(super) fn remove(text: &str) -> Result<String, String> {
    let root = parse(text)?;
    let servers = root
        .object_value()
        .and_then(|it| it.object_value("mcpServers"));
    if let Some(entry) = servers.and_then(|it| it.get(NAME)) {
        entry.remove();
    }
    Ok(root.to_string())
}

fn parse(text: &str) -> Result<CstRootNode, String> {
    CstRootNode::parse(text, &ParseOptions::default())
        .map_err(|error| error.to_string().replace('\n', " "))
}
