//! Budgets, grants and requests as a person reads them.

use std::fmt::Write as _;

use engram_model::{
    AgentBudget, AgentId, BudgetsReply, GrantIssued, GrantTold, GrantsReply, Meter, RequestState,
    RequestTold, RequestsReply, count,
};

use crate::out::one_line;

pub(crate) fn budgets(it: &BudgetsReply) -> String {
    if it.agents.is_empty() {
        return "no agent has called here yet".to_owned();
    }
    let of = |what: &str, it: Meter| format!("{}/{} {what}", it.used, it.limit);
    let spent = |it: &AgentBudget| {
        let meters = [
            of("tokens", it.tokens),
            of("spans", it.repo_spans),
            of("sections", it.artifact_sections),
            of("events", it.sam_items),
        ];
        format!(
            "{}\n  {}; grants: {} open, {} spent; refused {}",
            one_line(agent(&it.label, &it.agent, it.role.as_deref())),
            meters.join(", "),
            it.grants.open,
            it.grants.spent,
            count(it.refusals.into(), ("time", "times"))
        )
    };
    let lines: Vec<String> = it.agents.iter().map(spent).collect();
    lines.join("\n")
}

/// Who an agent is: its name, the handle by which it is called where that is another, and its role.
pub(crate) fn agent(name: &str, handle: &AgentId, role: Option<&str>) -> String {
    let handle = if handle.0 == name {
        String::new()
    } else {
        format!(" (handle {})", handle.0)
    };
    let role = role.map(|it| format!(", {it}"));
    format!("{name}{handle}{}", role.unwrap_or_default())
}

pub(crate) fn issued(it: &GrantIssued) -> String {
    let what = what(it.pointer.as_deref(), it.cap_tokens, it.code_chars);
    let needs = match it.code_chars {
        Some(_) => "one message of it with that much code spends this grant",
        None => "when its budget refuses a read, this grant is used",
    };
    format!(
        "{}  {what} for {}, until {}\ntoken {}\nThe token is shown only once. The agent does not need it: {needs}.",
        it.id,
        one_line(&it.to.0),
        it.expires_at,
        it.budget_token.0
    )
}

pub(crate) fn grants(it: &GrantsReply) -> String {
    if it.grants.is_empty() {
        return "no grants yet".to_owned();
    }
    let grant = |it: &GrantTold| {
        format!(
            "{}  {:<7} {} for {}, by {}",
            it.id,
            it.state,
            what(it.pointer.as_deref(), it.cap_tokens, it.code_chars),
            one_line(&it.to.0),
            giver(it.by.as_ref())
        )
    };
    let lines: Vec<String> = it.grants.iter().map(grant).collect();
    lines.join("\n")
}

fn what(pointer: Option<&str>, cap: Option<u32>, code: Option<u32>) -> String {
    match (pointer, cap, code) {
        (Some(pointer), Some(cap), _) => format!("{}, {cap} tokens", one_line(pointer)),
        (_, _, code) => format!("{} characters of inline code", code.unwrap_or_default()),
    }
}

fn giver(by: Option<&AgentId>) -> String {
    by.map_or_else(|| "you".to_owned(), |it| one_line(&it.0))
}

pub(crate) fn requests(it: &RequestsReply) -> String {
    if it.requests.is_empty() {
        return "no requests are waiting".to_owned();
    }
    let request = |it: &RequestTold| {
        let state = match it.state {
            RequestState::Waiting => String::new(),
            state => format!(", {state}"),
        };
        let mut out = format!(
            "{}  {}{state}\n  {}, {} tokens",
            it.id,
            one_line(&it.agent.0),
            one_line(&it.pointer),
            it.tokens
        );
        for (what, words) in [
            ("reason", it.reason.as_str()),
            ("intended use", &it.intended_use),
            ("answer", it.why.as_deref().unwrap_or_default()),
        ] {
            if !words.is_empty() {
                let _ = write!(out, "\n  {what}: {}", one_line(words));
            }
        }
        out
    };
    let mut lines: Vec<String> = it.requests.iter().map(request).collect();
    if let Some(omitted) = it.omitted {
        lines.push(format!("and {omitted} older"));
    }
    lines.join("\n")
}
