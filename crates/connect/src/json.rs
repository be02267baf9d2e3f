//! Servers in JSON, edited in place so that comments, order and spacing survive.

use jsonc_parser::{
    ParseOptions,
    cst::{CstInputValue, CstNode, CstObject, CstObjectProp, CstRootNode},
};

use crate::{EntryOwner, NAME, Server, edit::EditError};

/// The servers of a JSON configuration.
pub(crate) struct JsonServers {
    /// The names of the objects around them, from the outside in.
    pub(crate) keys: &'static [&'static str],
    /// The same for another form of the file, if the client reads two: used where the file has that
    /// form.
    pub(crate) newer_keys: Option<&'static [&'static str]>,
    pub(crate) form: EntryForm,
}

/// The form of an entry.
#[derive(Clone, Copy)]
pub(crate) enum EntryForm {
    /// The command, and its arguments.
    Plain,
    /// The same, with `"type": "stdio"`.
    Typed,
    /// One list of both, with `"type": "local"`.
    Joined,
}

impl JsonServers {
    fn all_keys(&self) -> impl Iterator<Item = &'static [&'static str]> {
        self.newer_keys.into_iter().chain([self.keys])
    }

    /// Returns the names of the objects around the servers of this file.
    fn keys_in(&self, root: &CstRootNode) -> &'static [&'static str] {
        // In the older form, a server may have the name of the object.
        let is_server = |it: &CstObject| it.get("type").is_some() || it.get("command").is_some();
        let has = |keys: &&[&str]| servers_in(root, keys).is_some_and(|it| !is_server(&it));
        self.newer_keys.filter(has).unwrap_or(self.keys)
    }

    fn find_server(&self, root: &CstRootNode) -> Option<CstObjectProp> {
        servers_in(root, self.keys_in(root))?.get(NAME)
    }

    /// Parses the file. It refuses a name that appears twice, since agents differ in which one they
    /// take.
    fn parse(&self, text: &str) -> Result<CstRootNode, EditError> {
        let root = CstRootNode::parse(text, &ParseOptions::default())
            .map_err(|error| EditError::syntax(&error.to_string()))?;
        for keys in self.all_keys() {
            let mut object = root.object_value();
            for name in keys.iter().copied().chain([NAME]) {
                let Some(outer) = object else { break };
                refuse_repeated(&outer, name)?;
                object = outer.object_value(name);
            }
            if let Some(entry) = object {
                refuse_any_repeated(&entry)?;
            }
        }
        Ok(root)
    }
}

/// Adds our entry. An entry of another server under our name is replaced completely.
pub(crate) fn add(
    text: &str,
    servers: &JsonServers,
    server: &Server,
    replaces: bool,
) -> Result<String, EditError> {
    let text = match text.trim() {
        "" => "{}\n",
        _ => text,
    };
    let root = servers.parse(text)?;
    let keys = servers.keys_in(&root);
    let mut object = root
        .object_value_or_create()
        .ok_or(EditError::Shape("it does not contain an object"))?;
    for name in keys {
        object = object
            .object_value_or_create(name)
            .ok_or(EditError::NoObject(name))?;
    }
    let properties = properties_of(servers.form, server);
    let Some(there) = object.get(NAME) else {
        object.append(NAME, CstInputValue::Object(properties));
        return Ok(root.to_string());
    };
    let Some(ours) = there.object_value().filter(|_| !replaces) else {
        there.set_value(CstInputValue::Object(properties));
        return Ok(root.to_string());
    };
    // What the user added to our entry stays, such as its environment.
    for (name, value) in properties {
        match ours.get(&name) {
            Some(property) => property.set_value(value),
            None => {
                ours.append(&name, value);
            }
        }
    }
    Ok(root.to_string())
}

/// Removes the entry under our name and puts back that of `before`, if given.
pub(crate) fn remove(
    text: &str,
    servers: &JsonServers,
    before: Option<&str>,
) -> Result<String, EditError> {
    let root = servers.parse(text)?;
    if let Some(entry) = servers.find_server(&root) {
        let earlier = before.map(|it| servers.parse(it)).transpose()?;
        let earlier = earlier.and_then(|it| copy_of(&servers.find_server(&it)?.value()?));
        match earlier {
            Some(earlier) => entry.set_value(earlier),
            None => entry.remove(),
        }
    }
    Ok(root.to_string())
}

/// Returns the owner of the entry under our name.
pub(crate) fn entry_owner(text: &str, servers: &JsonServers) -> Result<EntryOwner, EditError> {
    if text.trim().is_empty() {
        return Ok(EntryOwner::None);
    }
    let Some(server) = servers.find_server(&servers.parse(text)?) else {
        return Ok(EntryOwner::None);
    };
    Ok(server
        .object_value()
        .map_or(EntryOwner::Foreign, |it| owner_of(&it)))
}

/// Whether a text is an object that holds nothing but the objects around the servers.
pub(crate) fn is_bare(text: &str, servers: &JsonServers) -> bool {
    let text: String = text.split_whitespace().collect();
    let around = |keys: &[&str]| {
        let objects = keys.iter().rev();
        objects.fold("{}".to_owned(), |it, name| format!("{{\"{name}\":{it}}}"))
    };
    text.is_empty() || text == "{}" || servers.all_keys().any(|it| around(it) == text)
}

fn owner_of(server: &CstObject) -> EntryOwner {
    let text = |it: CstNode| it.as_string_lit()?.decoded_value().ok();
    let value = |name: &str| server.get(name)?.value();
    let list = |name: &str| Some(value(name)?.as_array()?.elements());
    let joined = list("command").unwrap_or_default();
    let first = joined.first().cloned().or_else(|| value("command"));
    let arguments = list("args").unwrap_or(joined);
    let owner = EntryOwner::of(
        &first.and_then(text).unwrap_or_default(),
        arguments.last().cloned().and_then(text).as_deref(),
    );
    let mut names = server.properties().into_iter();
    let is_more = |name: String| !["type", "command", "args"].contains(&name.as_str());
    let has_more = names.any(|it| it.decoded_name().is_none_or(is_more));
    if owner == EntryOwner::Ours && has_more {
        EntryOwner::Extended
    } else {
        owner
    }
}

fn properties_of(form: EntryForm, server: &Server) -> Vec<(String, CstInputValue)> {
    let (command, args) = (&server.command, &server.args);
    let list = |all: &mut dyn Iterator<Item = &String>| {
        CstInputValue::Array(all.map(|it| it.as_str().into()).collect())
    };
    let (kind, command, args) = match form {
        EntryForm::Plain => (None, command.as_str().into(), Some(list(&mut args.iter()))),
        EntryForm::Typed => (
            Some("stdio"),
            command.as_str().into(),
            Some(list(&mut args.iter())),
        ),
        EntryForm::Joined => (
            Some("local"),
            list(&mut [command].into_iter().chain(args)),
            None,
        ),
    };
    let kind = kind.map(|it| ("type".to_owned(), it.into()));
    let args = args.map(|it| ("args".to_owned(), it));
    kind.into_iter()
        .chain([("command".to_owned(), command)])
        .chain(args)
        .collect()
}

fn servers_in(root: &CstRootNode, keys: &[&str]) -> Option<CstObject> {
    let object = root.object_value()?;
    keys.iter()
        .try_fold(object, |it, name| it.object_value(name))
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

/// Refuses an entry of ours in which any name appears twice: another reader may run the other one.
fn refuse_any_repeated(entry: &CstObject) -> Result<(), EditError> {
    let mut names = std::collections::HashSet::new();
    let mut all = entry.properties().into_iter();
    if all.all(|it| names.insert(it.decoded_name())) {
        Ok(())
    } else {
        Err(EditError::Repeated("a name in the entry engram"))
    }
}

fn refuse_repeated(object: &CstObject, name: &'static str) -> Result<(), EditError> {
    let named = object.properties().into_iter();
    let named = named.filter(|it| it.decoded_name().as_deref() == Some(name));
    match named.count() {
        0 | 1 => Ok(()),
        _ => Err(EditError::Repeated(name)),
    }
}
