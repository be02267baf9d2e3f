//! The rows of a list of agents. Successive connections of one client are one row; simultaneous ones
//! have a row each, and so has the first one after the user closed the row. Budgets and rights stay
//! with each handle.

use std::collections::HashMap;

use jiff::Timestamp;

use crate::{AgentId, AgentStatus, EngramId};

/// A row: an agent, or the connections of one client.
#[derive(Clone, Debug, PartialEq)]
pub struct AgentRow {
    /// The newest agent of the row, with what all of them stored, and since when.
    pub agent: AgentStatus,
    /// Their handles, oldest first.
    pub handles: Vec<AgentId>,
}

/// Groups agents into rows, in the order in which their newest handles come.
pub fn agent_rows(agents: Vec<AgentStatus>) -> Vec<AgentRow> {
    let order: Vec<AgentId> = agents.iter().map(|it| it.handle.clone()).collect();
    let mut by_age = agents;
    by_age.sort_by_key(first_seen);
    let mut rows: Vec<AgentRow> = Vec::new();
    for agent in by_age {
        let follows = |row: &&mut AgentRow| {
            is_connection(&agent)
                && is_connection(&row.agent)
                && client_of(&row.agent) == client_of(&agent)
                && is_of_row(row, &agent)
                && row.agent.last_call < first_seen(&agent)
        };
        let before = rows.iter_mut().filter(follows);
        match before.max_by_key(|row| row.agent.last_call) {
            Some(row) => join(row, agent),
            None => rows.push(AgentRow {
                handles: vec![agent.handle.clone()],
                agent,
            }),
        }
    }
    let places: HashMap<&AgentId, usize> = order.iter().zip(0..).collect();
    rows.sort_by_key(|row| places.get(&row.agent.handle).copied());
    rows
}

/// The newest agent of each row.
pub fn newest_of_rows(agents: Vec<AgentStatus>) -> Vec<AgentStatus> {
    agent_rows(agents).into_iter().map(|it| it.agent).collect()
}

/// The newest connection of the row that this agent is in; none if that is the agent itself, or
/// closed.
pub fn successor_of(agents: Vec<AgentStatus>, handle: &AgentId) -> Option<AgentStatus> {
    let rows = agent_rows(agents);
    let row = rows.into_iter().find(|it| it.handles.contains(handle))?;
    let newest = Some(row.agent);
    newest.filter(|it| it.handle != *handle && !it.is_closed)
}

/// The handles of the row that this agent is in, oldest first; its own if it is in none.
pub fn handles_of_row(agents: Vec<AgentStatus>, handle: &AgentId) -> Vec<AgentId> {
    let rows = agent_rows(agents);
    let row = rows.into_iter().find(|it| it.handles.contains(handle));
    row.map_or_else(|| vec![handle.clone()], |it| it.handles)
}

/// Whether the user has not closed a row without this connection of its client. Closing a row closes
/// all its connections: all have the name that the user gave the row, or none has a given name.
fn is_of_row(row: &AgentRow, agent: &AgentStatus) -> bool {
    let is_named = |it: &AgentStatus| !it.earlier_names.is_empty();
    let is_alike = agent.name == row.agent.name || (!is_named(agent) && !is_named(&row.agent));
    !row.agent.is_closed || (agent.is_closed && is_alike)
}

/// Adds a newer connection to a row. A name that the user gave the row stays.
fn join(row: &mut AgentRow, newer: AgentStatus) {
    let before = std::mem::replace(&mut row.agent, newer);
    let agent = &mut row.agent;
    row.handles.push(agent.handle.clone());
    agent.stored += before.stored;
    agent.record += before.record;
    agent.first_seen = before.first_seen.or(agent.first_seen);
    if agent.earlier_names.is_empty() && !before.earlier_names.is_empty() {
        agent.earlier_names = before.earlier_names;
        let own = std::mem::replace(&mut agent.name, before.name);
        if !agent.earlier_names.contains(&own) {
            agent.earlier_names.push(own);
        }
    }
}

fn first_seen(agent: &AgentStatus) -> Timestamp {
    agent.first_seen.unwrap_or(agent.last_call)
}

/// Whether nobody opened the agent: its handle is one that Engram makes for a connection, written
/// like the id of an engram.
fn is_connection(agent: &AgentStatus) -> bool {
    agent.parent.is_none() && agent.role.is_none() && agent.handle.0.parse::<EngramId>().is_ok()
}

/// What the client calls itself, without the end of the handle that tells two of the same name
/// apart.
fn client_of(agent: &AgentStatus) -> &str {
    let name = agent.earlier_names.first().unwrap_or(&agent.name);
    let ending = agent.handle.0.get(20..).unwrap_or_default();
    let own = name
        .strip_suffix(')')
        .and_then(|it| it.strip_suffix(ending));
    own.and_then(|it| it.strip_suffix(" (")).unwrap_or(name)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::{from_value, json};

    use super::*;

    fn at(minute: i64) -> Timestamp {
        Timestamp::from_second(minute * 60).unwrap_or_default()
    }

    /// `HANDLE NAME FROM-TO`, of a closed one with `x` at the end; a handle of one letter is that of a
    /// connection.
    fn agent(text: &str) -> AgentStatus {
        let words: Vec<&str> = text.split(' ').collect();
        let (from, to) = words[2].trim_end_matches('x').split_once('-').unwrap();
        let minute = |it: &str| at(it.parse().unwrap());
        let handle = if words[0].len() == 1 {
            format!("01arz3ndektsv4rrffq69g5fa{}", words[0])
        } else {
            words[0].to_owned()
        };
        let names: Vec<String> = words[1].split('<').map(|it| it.replace('_', " ")).collect();
        let meter = json!({ "used": 0, "limit": 1 });
        let budget = json!({
            "turn": "", "repo_spans": meter, "artifact_sections": meter, "sam_items": meter, "tokens": meter,
        });
        let status = json!({
            "agent": handle, "label": names[0], "earlier_names": names[1..], "role": null, "parent": null,
            "run": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "turn": "", "first_seen": minute(from), "last_call": minute(to),
            "stored": 1, "is_closed": words[2].ends_with('x'), "budget": budget, "inline_tokens": meter, "grants": { "open": 0, "spent": 0 },
            "refusals": 0, "until": minute(to),
        });
        from_value(status).unwrap()
    }

    #[test]
    fn the_connections_of_a_client_are_a_row_unless_they_are_at_once() {
        for (agents, want) in [
            // It reconnects twice.
            ("c codex 7-8; b codex 4-5; a codex 1-2", "codex abc"),
            // Two at once.
            ("b codex 2-5; a codex 1-3", "codex b, codex a"),
            // The third follows the one that ended last.
            ("c codex 7-8; b codex 2-5; a codex 1-3", "codex bc, codex a"),
            // Two clients.
            ("b zed 4-5; a codex 1-2", "zed b, codex a"),
            // An opened agent always has a row of its own.
            ("ada codex 4-5; a codex 1-2", "codex ada, codex a"),
            // A name that the user gave stays with the row.
            ("b codex 4-5; a backend<codex 1-2", "backend ab"),
            (
                "c codex 6-7; b api<codex 4-5; a backend<codex 1-2",
                "api abc",
            ),
            // The user closed the row: who connects next is somebody else, under the client's name.
            ("b codex 4-5; a codex 1-2x", "codex b, codex a"),
            (
                "c codex 7-8; b codex 4-5x; a codex 1-2x",
                "codex c, codex ab",
            ),
            ("b codex 4-5x; a api<codex 1-2x", "codex b, api a"),
            (
                "b codex_(9g5fab) 4-5x; a codex_(9g5faa) 1-2x",
                "codex (9g5fab) ab",
            ),
            (
                "c codex 7-8; b codex 4-5; a api<codex 1-2x",
                "codex bc, api a",
            ),
            // A client that calls itself by that name is another.
            ("b backend 4-5; a backend<codex 1-2", "backend b, backend a"),
            // What tells two of the same name apart does not separate them.
            (
                "b codex_(9g5fab) 4-5; a codex_(9g5faa) 1-2",
                "codex (9g5fab) ab",
            ),
        ] {
            let rows = agent_rows(agents.split("; ").map(agent).collect());
            let told = rows.iter().map(|row| {
                let end = |it: &AgentId| match it.0.len() {
                    26 => it.0.chars().last().map(String::from),
                    _ => Some(it.0.clone()),
                };
                let handles: String = row.handles.iter().filter_map(end).collect();
                assert_eq!(row.agent.stored, row.handles.len() as u64);
                format!("{} {handles}", row.agent.name)
            });
            assert_eq!(told.collect::<Vec<_>>().join(", "), want, "{agents}");
        }
    }
}
