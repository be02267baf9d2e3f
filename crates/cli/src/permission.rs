//! Budgets, grants and requests as text for people.

use std::fmt::Write as _;

use engram_model::{
    AgentBudget, AgentId, BudgetsReply, GrantReply, GrantState, GrantTold, GrantsReply, Meter,
    RequestState, RequestTold, RequestsReply, format_count,
};

use jiff::Timestamp;

use crate::out::{in_quotes, one_line, time_text};

pub(crate) fn budgets_text(reply: &BudgetsReply) -> String {
    if reply.agents.is_empty() {
        return "no agent has called here yet".to_owned();
    }
    let of = |what: &str, it: Meter| format!("{}/{} {what}", it.used, it.limit);
    let line = |budget: &AgentBudget| {
        let meters = [
            of("tokens", budget.tokens),
            of("spans", budget.repo_spans),
            of("sections", budget.artifact_sections),
            of("events", budget.sam_items),
        ];
        format!(
            "{}\n  {}; grants: {} open, {} spent; refused {}; {}",
            one_line(agent_text(
                &budget.label,
                &budget.agent,
                budget.role.as_deref()
            )),
            meters.join(", "),
            budget.grants.open,
            budget.grants.spent,
            format_count(budget.refusals.into(), ("time", "times")),
            end_of_turn(budget.until)
        )
    };
    let mut lines: Vec<String> = reply.agents.iter().map(line).collect();
    lines.push(
        "Change what a turn may read under [limits.deref] in config.toml, in the home that `engram status` names."
            .to_owned(),
    );
    lines.join("\n")
}

/// Says when a turn ends, or ended, unless the agent calls again.
pub(crate) fn end_of_turn(until: Timestamp) -> String {
    if until == Timestamp::MAX {
        return "its turn does not end".to_owned();
    }
    format!("turn until {}", time_text(until))
}

/// Describes an agent: its name, its handle if that differs, and its role.
pub(crate) fn agent_text(name: &str, handle: &AgentId, role: Option<&str>) -> String {
    let handle = if handle.0 == name {
        String::new()
    } else {
        format!(" (handle {})", handle.0)
    };
    let role = role.map(|it| format!(", {it}"));
    format!("{name}{handle}{}", role.unwrap_or_default())
}

pub(crate) fn issued_grant_text(grant: &GrantReply) -> String {
    let what = permitted_text(grant.pointer.as_deref(), grant.cap_tokens, grant.code_chars);
    let needs = match grant.code_chars {
        Some(_) => "its first message with inline code within this limit spends the grant",
        None => "when its budget refuses a read, this grant is used",
    };
    format!(
        "{}  {what} for {}, until {}\ntoken {}\nThe token is shown only once. The agent does not need it: {needs}.",
        grant.id,
        one_line(&grant.to.0),
        time_text(grant.expires_at),
        grant.budget_token.0
    )
}

/// Lists grants; `named` returns how to name an agent.
pub(crate) fn grants_text(reply: &GrantsReply, named: impl Fn(&AgentId) -> String) -> String {
    if reply.grants.is_empty() {
        return "no grants yet".to_owned();
    }
    let line = |grant: &GrantTold| {
        format!(
            "{}  {:<7}  {} for {}, by {}",
            grant.id,
            grant.state,
            permitted_text(grant.pointer.as_deref(), grant.cap_tokens, grant.code_chars),
            named(&grant.to),
            grant.by.as_ref().map_or_else(|| "you".to_owned(), &named)
        )
    };
    let lines: Vec<String> = reply.grants.iter().map(line).collect();
    lines.join("\n")
}

fn permitted_text(pointer: Option<&str>, cap: Option<u32>, code: Option<u32>) -> String {
    match (pointer, cap, code) {
        (Some(pointer), Some(cap), _) => format!("{}, {cap} tokens", one_line(pointer)),
        (_, _, code) => format!("{} characters of inline code", code.unwrap_or_default()),
    }
}

pub(crate) fn requests_text(reply: &RequestsReply) -> String {
    if reply.requests.is_empty() {
        return "no requests are waiting".to_owned();
    }
    let line = |request: &RequestTold| {
        let state = match (request.state, &request.grant) {
            (RequestState::Waiting, _) => String::new(),
            // What became of the grant, as in the window.
            (RequestState::Granted, Some(grant)) => match grant.state {
                GrantState::Open if grant.holder.is_some() => ", transferred".to_owned(),
                GrantState::Revoked | GrantState::Expired => format!(", {}", grant.state),
                GrantState::Open | GrantState::Spent => format!(", {}", request.state),
            },
            (state, _) => format!(", {state}"),
        };
        let mut out = format!(
            "{}  {}  {}{state}\n  {}, {} tokens",
            request.id,
            time_text(request.asked_at),
            one_line(agent_text(&request.label, &request.agent, None)),
            one_line(&request.pointer),
            request.tokens
        );
        let answer = request.answer.as_ref();
        let answered = answer.map(|it| format!("answer by {}", one_line(&it.by)));
        for (what, words) in [
            ("reason", request.reason.as_str()),
            ("intended use", &request.intended_use),
            (
                answered.as_deref().unwrap_or("answer"),
                request.why.as_deref().unwrap_or_default(),
            ),
        ] {
            if !words.is_empty() {
                let _ = write!(out, "\n  {what}: {}", in_quotes(words));
            }
        }
        out
    };
    // Oldest first, as in the window.
    let omitted = reply.omitted.map(|it| format!("{it} older, and"));
    let requests = reply.requests.iter().rev().map(line);
    let lines: Vec<String> = omitted.into_iter().chain(requests).collect();
    lines.join("\n")
}
