//! Replies as text for people, or as one JSON object.

use std::fmt::Write as _;

use engram_model::{
    AgentOpened, AgentRecord, AgentRow, AgentsReply, AnswerQuality, BriefReply, Budget, CheckReply,
    Durability, Engram, Evidence, ForgetReply, Meter, Noun, Outcome, PutReply, QueryReply, Reply,
    SampleReply, SentReply, StatusReply, agent_rows, format_count,
};
use serde_json::{Value, json};

use crate::{
    conflicts, entry,
    out::{self, one_line},
    permission,
};

pub(crate) const TOKENS: Noun = ("token", "tokens");
const CLAIMS: Noun = ("claim", "claims");
pub(crate) const SAMPLES: Noun = ("sample claim", "sample claims");

pub(crate) fn print_reply(reply: &Reply, as_json: bool) {
    if as_json {
        out::print_json(&reply_json(reply))
    } else {
        out::print_line(&reply_text(reply))
    };
}

/// Reports the removal of the samples.
pub(crate) fn print_removed(sample: &SampleReply) {
    let removed = format_count(sample.ids.len() as u64, SAMPLES);
    out::print_line(&format!("removed {removed}"));
}

/// Returns the JSON that a verb prints: the reply without its name. A list gets a key, since JSON
/// output is always an object.
fn reply_json(reply: &Reply) -> Value {
    match reply {
        Reply::Log(entries) => json!({ "entries": entries }),
        other => json!(other)["with"].take(),
    }
}

fn reply_text(reply: &Reply) -> String {
    match reply {
        Reply::Put(put) => put_text(put),
        Reply::Engram(engram) => engram_text(engram),
        Reply::Closed(closed) => closed_text(closed),
        Reply::Promoted(promoted) => format!(
            "{}  {}, scope {}, entry {}",
            promoted.id, promoted.durability, promoted.scope, promoted.seq
        ),
        Reply::Query(query) => query_text(query, match_in_words(query)),
        Reply::Deref(read) => {
            let cut = match &read.rest {
                Some(rest) => format!(", cut; read on at {rest}"),
                None if read.truncated => ", cut".to_owned(),
                None => String::new(),
            };
            let masked = match read.masked {
                None => String::new(),
                Some(masked) => {
                    let masked = format_count(masked.into(), ("credential", "credentials"));
                    format!(", {masked} masked")
                }
            };
            format!(
                "{}\n{}\n{}{masked}{cut}\n\n{}",
                read.pointer,
                read.content_digest,
                format_count(read.tokens.into(), TOKENS),
                read.excerpt
            )
        }
        Reply::Note(note) => format!("{}  {}  entry {}", note.pointer, note.id, note.seq),
        // `feed` prints the entries, if there are any.
        Reply::Feed(_) => {
            "no claims here yet: in a repository, connect an agent; `engram connect` lists the supported agents"
                .to_owned()
        }
        Reply::Log(all) => entry::entry_lines(all),
        Reply::Sample(sample) => format!("stored {}", format_count(sample.ids.len() as u64, SAMPLES)),
        Reply::Checked(check) => check_text(check),
        Reply::Status(summary) => status_text(summary),
        Reply::Agents(page) => agents_text(page),
        Reply::Budgets(budgets) => permission::budgets_text(budgets),
        Reply::Granted(grant) => permission::issued_grant_text(grant),
        Reply::Answered(request) => format!("{}  {}", one_line(&request.id), request.state),
        Reply::Requests(requests) => permission::requests_text(requests),
        Reply::Opened(opened) => opened_text(opened),
        Reply::Valid(message) => format!("ok, {}", format_count(message.tokens as u64, TOKENS)),
        Reply::Conflict(conflict) => conflicts::conflict_text(conflict),
        Reply::Resolved(resolved) => conflicts::resolved_text(resolved),
        Reply::Brief(lines) => brief_text(lines),
        Reply::Shown(shown) => brief_text(&shown.brief),
        Reply::Sent(message) => sent_text(message),
        // `run` prints the first three with what else it asks for; no verb asks for the others.
        Reply::Grants(_)
        | Reply::Conflicts(_)
        | Reply::Gate(_)
        | Reply::Source(_)
        | Reply::Line(_)
        | Reply::Located(_)
        | Reply::News(_)
        | Reply::Facets(_)
        | Reply::Search(_)
        | Reply::Standing(_)
        | Reply::Tracked(_)
        | Reply::Completions(_)
        | Reply::Blame(_)
        | Reply::Turned(_)
        | Reply::Metrics(_)
        | Reply::Models(_)
        | Reply::Timeline(_)
        | Reply::Hooked(_) => reply_json(reply).to_string(),
    }
}

/// Reports that a claim was ended or redacted.
fn closed_text(closed: &ForgetReply) -> String {
    let mut out = format!("{}  entry {}", closed.id, closed.seq);
    for what in &closed.also {
        let _ = write!(out, "\n  also redacted: {}", one_line(what));
    }
    for place in &closed.pending {
        let _ = write!(out, "\n  not redacted yet: {}", one_line(place));
    }
    out
}

/// Returns how well the results of a search match.
fn match_in_words(query: &QueryReply) -> &'static str {
    match (query.verdict, query.relaxed) {
        (AnswerQuality::None, _) => "no claims match: ask in other words",
        (AnswerQuality::Strong, false) => "strong",
        (AnswerQuality::Strong, true) => "strong, though no claim contains all these words",
        (AnswerQuality::Weak, _) => "weak: the claims may only be related",
    }
}

/// Lists the results of a search under a heading.
pub(crate) fn query_text(query: &QueryReply, heading: &str) -> String {
    let mut out = heading.to_owned();
    if let Some(unread) = query.unread {
        let _ = write!(
            out,
            "\nthere is no index, so {} not searched: run `engram doctor --reindex`",
            format_count(unread, ("older claim was", "older claims were"))
        );
    }
    if let Some(model) = &query.embedded_by {
        let _ = write!(out, "\nmeanings compared by {}", one_line(model));
    }
    for engram in &query.engrams {
        let _ = write!(out, "\n\n{}", engram_text(engram));
    }
    if let Some(more) = query.omitted {
        let more = format_count(more, ("more claim matches", "more claims match"));
        let _ = write!(
            out,
            "\n\n{more}: raise --k to see them, or narrow the query"
        );
    }
    out
}

/// Reports what was stored.
fn put_text(put: &PutReply) -> String {
    if !put.is_of_version() {
        return "nothing was stored".to_owned();
    }
    let mut out = format!(
        "{}  {}, entry {}",
        put.id,
        verified_word(put.verified),
        put.seq
    );
    for finding in &put.findings {
        let note = one_line(&finding.note);
        let Some(conflict) = finding.conflict else {
            let _ = write!(out, "\n  {}: {note} (engram {})", finding.what, finding.id);
            continue;
        };
        let _ = write!(out, "\n  conflict {conflict}: {note}");
        if let (Some(claim), Some(by)) = (&finding.claim, &finding.by) {
            let (by, claim) = (one_line(by), one_line(claim));
            let _ = write!(out, "\n    {by} says in engram {}: {claim}", finding.id);
        }
        let _ = write!(
            out,
            "\n    compare both: engram conflicts show {conflict}\n    settle it: engram resolve {conflict} --winner ENGRAM, --merge TEXT or --dismiss"
        );
    }
    for near in &put.near {
        let (by, claim) = (one_line(&near.by), one_line(&near.claim));
        let _ = write!(
            out,
            "\n  may be about the same: {by} says in engram {}: {claim}\n    do they contradict each other? engram resolve {} --contradicts or --compatible",
            near.id, near.conflict
        );
    }
    let told = put
        .findings
        .iter()
        .filter(|it| it.conflict.is_some())
        .count();
    if put.conflicts > told as u64 {
        let more = put.conflicts - told as u64;
        let _ = write!(out, "\n  and {more} more: engram conflicts");
    }
    if put.due > 0 {
        let due = put.due;
        let _ = write!(
            out,
            "\n  {due} more to compare; Engram does this automatically (see engram conflicts)"
        );
    }
    out
}

fn verified_word(is_verified: bool) -> &'static str {
    if is_verified {
        "verified"
    } else {
        "unverified"
    }
}

/// Renders one engram in a few lines.
fn engram_text(engram: &Engram) -> String {
    let mut out = format!("{}  {}", engram.id, engram.kind);
    if !engram.topic.is_empty() {
        let _ = write!(out, "  {}", one_line(&engram.topic));
    }
    let _ = write!(
        out,
        "\n  {}\n  by {}, confidence {}, {}",
        if engram.redacted {
            "(redacted)".to_owned()
        } else {
            one_line(&engram.claim)
        },
        match engram.provenance.created_by.as_str() {
            "" if engram.redacted => "(redacted)".to_owned(),
            name => one_line(name),
        },
        engram.confidence,
        verified_word(engram.verified)
    );
    if engram.durability == Durability::Ephemeral {
        out.push_str(", ephemeral");
    }
    if let Some(until) = engram.valid_until {
        let _ = write!(out, ", held until {}", out::time_text(until));
    }
    if let Some(end) = engram.expires_at {
        let _ = write!(out, ", expires {}", out::time_text(end));
    }
    let health = engram.health.as_ref();
    if let Some(health) = health.filter(|it| it.standing != Evidence::Holds) {
        let _ = write!(out, "\n  {}", health.standing.in_words());
    }
    for id in &engram.conflicts {
        let _ = write!(out, "\n  in conflict: engram conflicts show {id}");
    }
    for pointer in &engram.pointers {
        let text = pointer.to_string();
        let _ = write!(out, "\n  {}", one_line(&text));
        let found = health.and_then(|it| it.pointers.iter().find(|it| it.pointer == text));
        if let Some(found) = found.filter(|it| !it.is_unchanged()) {
            let _ = write!(out, "\n    {}", one_line(found.in_words()));
        }
    }
    out
}

/// Reports what became of a message.
fn sent_text(message: &SentReply) -> String {
    let mut out = format!(
        "message {}  {}",
        message.id,
        format_count(message.tokens as u64, TOKENS)
    );
    let mut is_granted = false;
    match &message.outcome {
        Outcome::Reported { engrams, requests } => {
            for engram in engrams {
                let _ = write!(out, "\n  engram {}", put_text(engram).replace('\n', "\n  "));
            }
            for id in requests {
                let _ = write!(out, "\n  request {}", one_line(id));
            }
        }
        Outcome::Told { sent } => {
            for delivery in sent {
                let _ = write!(out, "\n  to {}", one_line(&delivery.to.0));
                for grant in delivery.message["grants"].as_array().into_iter().flatten() {
                    let text = |name: &str| one_line(grant[name].as_str().unwrap_or_default());
                    let (pointer, token) = (text("pointer"), text("budget_token"));
                    let _ = write!(out, "\n    grant for {pointer}\n      token {token}");
                    is_granted = true;
                }
            }
        }
    }
    if is_granted {
        out.push_str("\nTokens are shown only once. Agents do not need them: when a budget refuses a read, the grant is used.");
    }
    for pointer in &message.stale {
        let (at, now) = (one_line(&pointer.pointer), one_line(pointer.in_words()));
        let _ = write!(out, "\n  stale: {at}: {now}");
    }
    out
}

/// Renders the brief with line numbers.
fn brief_text(brief: &BriefReply) -> String {
    let mut out = String::new();
    for (at, line) in brief.lines.iter().enumerate() {
        let pinned = if line.pinned {
            "pinned"
        } else {
            line.part.as_str()
        };
        let _ = writeln!(out, "{:>2}  {pinned:<10}  {}", at + 1, one_line(&line.text));
    }
    let lines = format_count(brief.lines.len() as u64, ("line", "lines"));
    let _ = write!(out, "{lines}, {}", format_count(brief.tokens, TOKENS));
    out
}

fn status_text(status: &StatusReply) -> String {
    let place = match &status.project {
        Some(project) => format!(
            "{} on {}",
            one_line(&project.name),
            one_line(project.branch.as_deref().unwrap_or("no branch"))
        ),
        None => "no repository here".to_owned(),
    };
    let spending = status.spending.as_ref();
    let spending = spending.map_or_else(String::new, |spending| {
        let (agent, spent) = (one_line(&spending.agent), spending_text(&spending.budget));
        format!("\n{agent} in this turn: {spent}")
    });
    let waiting = [
        (
            status.conflicts.unwrap_or(0),
            ("open conflict", "open conflicts"),
        ),
        (
            status.requests.unwrap_or(0),
            ("waiting request", "waiting requests"),
        ),
        (status.drifted, ("claim to review", "claims to review")),
    ];
    let waiting: Vec<String> = waiting
        .into_iter()
        .filter(|it| it.0 > 0)
        .map(|(count, noun)| format_count(count, noun))
        .collect();
    let waiting = if waiting.is_empty() {
        String::new()
    } else {
        format!("\n{}", waiting.join(", "))
    };
    format!(
        "{place}\n{}, {}, entry {} (index at {}){waiting}{spending}\nhome {}\n{}",
        format_count(status.engrams, ("engram", "engrams")),
        format_count(status.agents, ("agent", "agents")),
        status.head,
        status.indexed,
        one_line(status.home.as_deref().unwrap_or_default()),
        status.next
    )
}

/// Renders the use of each meter of a turn.
fn spending_text(budget: &Budget) -> String {
    let of = |(what, meter): (_, Meter)| format!("{}/{} {what}", meter.used, meter.limit);
    budget.meters().map(of).join(", ")
}

fn opened_text(opened: &AgentOpened) -> String {
    format!(
        "{}\ntoken {}\nThe token is shown only once, and replaces any earlier one. Start the agent with ENGRAM_AGENT set to it.",
        one_line(&opened.agent.0),
        opened.token.0
    )
}

/// Renders each agent on two lines: who it is, and what it spent in its latest turn. As in the
/// window, successive connections of one client are one agent.
fn agents_text(page: &AgentsReply) -> String {
    if page.agents.is_empty() {
        return "no agent has stored or read anything here yet".to_owned();
    }
    let line = |row: AgentRow| {
        let agent = &row.agent;
        let connections = match row.handles.len() {
            1 => String::new(),
            several => format!(", {several} connections"),
        };
        let parent = agent.parent.as_ref().map(|it| format!(", parent {}", it.0));
        let state = match (agent.is_closed, agent.is_hidden) {
            (true, _) => ", closed",
            (false, true) => ", hidden",
            (false, false) => "",
        };
        let who = format!(
            "{}{connections}{}{state}",
            permission::agent_text(&agent.name, &agent.handle, agent.role.as_deref()),
            parent.unwrap_or_default()
        );
        // An agent that was only opened never called.
        let (at, did) = match agent.did {
            Some(did) => (out::time_text(agent.last_call), did.act_in_words()),
            None => (format!("{:<23}", "has not called yet"), "nothing yet"),
        };
        format!(
            "{at}  {}\n  last: {did}, {} stored, {}; {}{}",
            one_line(&who),
            agent.stored,
            spending_text(&agent.budget),
            permission::end_of_turn(agent.until),
            record_text(&agent.record)
        )
    };
    let rows = agent_rows(page.agents.clone());
    let mut lines: Vec<String> = rows.into_iter().map(line).collect();
    if page.more > 0 {
        lines.push(format!("and {} more that called earlier", page.more));
    }
    lines.join("\n")
}

/// Renders how an agent's claims and answers fared, on a line of its own; nothing before its first
/// claim or answer.
fn record_text(record: &AgentRecord) -> String {
    let AgentRecord {
        claims,
        verified,
        reported,
        upheld,
        dismissed,
        conflicts,
        settled,
    } = record;
    let part = |count: u64, text: String| (count > 0).then_some(text);
    let parts = [
        part(*claims, format!("{verified} of {claims} verified")),
        part(
            *conflicts,
            format!(
                "in {} ({settled} settled)",
                format_count(*conflicts, ("conflict", "conflicts"))
            ),
        ),
        part(
            *reported,
            format!("reported {reported}: {upheld} upheld, {dismissed} dismissed"),
        ),
    ];
    let parts: Vec<String> = parts.into_iter().flatten().collect();
    if parts.is_empty() {
        return String::new();
    }
    format!("\n  record: {}", parts.join(", "))
}

/// Lists the claims whose evidence changed, then the totals.
fn check_text(check: &CheckReply) -> String {
    let mut out = String::new();
    for engram in check
        .engrams
        .iter()
        .filter(|it| it.standing != Evidence::Holds)
    {
        let _ = writeln!(
            out,
            "{}  {}\n  {}",
            engram.id,
            engram.standing.in_words(),
            one_line(&engram.claim)
        );
        for pointer in &engram.pointers {
            let _ = writeln!(
                out,
                "  {}  {}",
                one_line(&pointer.pointer),
                one_line(pointer.in_words())
            );
        }
    }
    let touched = check
        .engrams
        .iter()
        .filter(|it| it.standing != Evidence::Holds)
        .count();
    let unknown = check.engrams.iter();
    let unknown = unknown
        .filter(|it| it.standing == Evidence::Unknown)
        .count();
    let _ = write!(
        out,
        "{} checked; evidence changed for {}",
        format_count(check.checked, CLAIMS),
        touched - unknown
    );
    if unknown > 0 {
        let _ = write!(out, "; could not be checked for {unknown}");
    }
    out
}
