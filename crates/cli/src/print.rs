//! Replies as a person reads them, or as one JSON object.

use std::{collections::HashMap, fmt::Write as _};

use engram_model::{
    AgentStatus, AgentsReply, BriefReply, Budget, Change, CheckReply, ConflictFilter, Did, Engram,
    EngramId, Entry, Evidence, Listed, Meter, Noun, OperationKind, Outcome, PutReply, Reply,
    SampleReply, SentReply, StatusReply, Verdict, count,
};
use serde_json::{Value, json};

use crate::{
    conflicts,
    out::{self, one_line},
    permission,
};

const TOKENS: Noun = ("token", "tokens");
const CLAIMS: Noun = ("claim", "claims");
const SAMPLES: Noun = ("sample claim", "sample claims");

pub(crate) fn reply(reply: &Reply, as_json: bool) {
    if as_json {
        out::json(&object(reply))
    } else {
        out::line(&words(reply))
    };
}

/// What became of a sample that was removed.
pub(crate) fn removed(it: &SampleReply) {
    let removed = count(it.ids.len() as u64, SAMPLES);
    out::line(&format!("removed {removed}"));
}

/// What a verb prints with `--json`: the reply without its name. A list is no object, so it gets a key.
fn object(reply: &Reply) -> Value {
    match reply {
        Reply::Log(entries) => json!({ "entries": entries }),
        other => json!(other)["with"].take(),
    }
}

fn words(reply: &Reply) -> String {
    match reply {
        Reply::Put(it) => stored(it),
        Reply::Engram(it) => record(it),
        Reply::Closed(it) => {
            let mut out = format!("{}  entry {}", it.id, it.seq);
            for what in &it.also {
                let _ = write!(out, "\n  also redacted: {}", one_line(what));
            }
            for place in &it.pending {
                let _ = write!(out, "\n  not redacted yet: {}", one_line(place));
            }
            out
        }
        Reply::Promoted(it) => format!(
            "{}  {}, scope {}, entry {}",
            it.id, it.durability, it.scope, it.seq
        ),
        Reply::Query(it) => {
            let mut out = match (it.verdict, it.relaxed) {
                (Verdict::None, _) => "no claims match".to_owned(),
                (Verdict::Strong, false) => "strong".to_owned(),
                (Verdict::Strong, true) => {
                    "strong, though no claim contains all these words".to_owned()
                }
                (Verdict::Weak, _) => "weak: only related claims".to_owned(),
            };
            if let Some(unread) = it.unread {
                let _ = write!(
                    out,
                    "\nthere is no index, so {} not searched: run `engram doctor --reindex`",
                    count(unread, ("older claim was", "older claims were"))
                );
            }
            for engram in &it.engrams {
                let _ = write!(out, "\n\n{}", record(engram));
            }
            if let Some(more) = it.omitted {
                let more = count(more, ("more claim matches", "more claims match"));
                let _ = write!(
                    out,
                    "\n\n{more}: raise --k to see them, or narrow the query"
                );
            }
            out
        }
        Reply::Deref(it) => {
            let cut = if it.truncated { ", cut" } else { "" };
            let masked = match it.masked {
                None => String::new(),
                Some(1) => ", 1 credential masked".to_owned(),
                Some(masked) => format!(", {masked} credentials masked"),
            };
            format!(
                "{}\n{}\n{}{cut}{masked}\n\n{}",
                it.pointer,
                it.content_digest,
                count(it.tokens.into(), TOKENS),
                it.excerpt
            )
        }
        Reply::Note(it) => format!("{}  {}  entry {}", it.pointer, it.id, it.seq),
        Reply::Feed(it) => {
            if it.entries.is_empty() {
                "no claims here yet: in a repository, connect an agent with `engram connect claude` or `engram connect codex`"
                    .to_owned()
            } else {
                entries(&it.entries)
            }
        }
        Reply::Log(it) => entries(it),
        Reply::Source(it) => it.label.clone(),
        Reply::Line(it) => it.text.clone(),
        Reply::Sample(it) => format!("stored {}", count(it.ids.len() as u64, SAMPLES)),
        Reply::Checked(it) => checked(it),
        // Only the window asks these.
        Reply::Facets(it) => it.total.to_string(),
        Reply::Standing(it) => format!("{:?}", it.reading).to_lowercase(),
        Reply::Tracked(it) => it.words(),
        Reply::Blame(it) => {
            let lines = it.parts.iter().map(|part| {
                format!(
                    "{} {} {}",
                    &part.commit.get(..7).unwrap_or_default(),
                    part.author,
                    part.summary
                )
            });
            lines.collect::<Vec<_>>().join("\n")
        }
        Reply::Status(it) => status(it),
        Reply::Agents(it) => agents(it),
        Reply::Turned(it) => format!(
            "{} is in turn {}",
            one_line(&it.agent.0),
            one_line(&it.turn)
        ),
        Reply::Budgets(it) => permission::budgets(it),
        Reply::Metrics(it) => json!(it).to_string(),
        Reply::Hooked(it) => json!(it).to_string(),
        Reply::Granted(it) => permission::issued(it),
        Reply::Grants(it) => permission::grants(it),
        Reply::Answered(it) => format!("{}  {}", one_line(&it.id), it.state),
        Reply::Requests(it) => permission::requests(it),
        Reply::Opened(it) => format!(
            "{}\ntoken {}\nThe token is shown only once. Start the agent with ENGRAM_AGENT set to it.",
            one_line(&it.agent.0),
            it.token.0
        ),
        Reply::Valid(it) => format!("ok, {}", count(it.tokens as u64, TOKENS)),
        Reply::Conflicts(it) => conflicts::list(
            it,
            &ConflictFilter {
                status: Listed::All,
                ..ConflictFilter::default()
            },
        ),
        Reply::Conflict(it) => conflicts::one(it),
        Reply::Gate(it) => conflicts::gate(it, &[]),
        Reply::Resolved(it) => conflicts::resolved(it),
        Reply::Brief(it) => brief(it),
        Reply::Shown(it) => brief(&it.brief),
        Reply::Sent(it) => sent(it),
    }
}

/// What became of a claim that somebody stored.
fn stored(it: &PutReply) -> String {
    if !it.is_of_version() {
        return "nothing was stored".to_owned();
    }
    let mut out = format!("{}  {}, entry {}", it.id, verified(it.verified), it.seq);
    for finding in &it.findings {
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
    let told = it
        .findings
        .iter()
        .filter(|it| it.conflict.is_some())
        .count();
    if it.conflicts > told as u64 {
        let more = it.conflicts - told as u64;
        let _ = write!(out, "\n  and {more} more: engram conflicts");
    }
    if it.due > 0 {
        let due = it.due;
        let _ = write!(
            out,
            "\n  {due} more to compare, which happens by itself (engram conflicts)"
        );
    }
    out
}

fn verified(is_verified: bool) -> &'static str {
    if is_verified {
        "verified"
    } else {
        "unverified"
    }
}

/// One engram in a few lines.
fn record(it: &Engram) -> String {
    let mut out = format!("{}  {}", it.id, it.kind);
    if !it.topic.is_empty() {
        let _ = write!(out, "  {}", one_line(&it.topic));
    }
    let _ = write!(
        out,
        "\n  {}\n  by {}, confidence {}, {}",
        if it.redacted {
            "(redacted)".to_owned()
        } else {
            one_line(&it.claim)
        },
        match it.provenance.created_by.as_str() {
            "" if it.redacted => "(redacted)".to_owned(),
            name => one_line(name),
        },
        it.confidence,
        verified(it.verified)
    );
    if let Some(until) = it.valid_until {
        let _ = write!(out, ", held until {until}");
    }
    if let Some(end) = it.expires_at {
        let _ = write!(out, ", expires {end}");
    }
    let health = it.health.as_ref();
    if let Some(health) = health.filter(|it| it.standing != Evidence::Holds) {
        let _ = write!(out, "\n  {}", health.standing.words());
    }
    for id in &it.conflicts {
        let _ = write!(out, "\n  in conflict: engram conflicts show {id}");
    }
    for pointer in &it.pointers {
        let text = pointer.to_string();
        let _ = write!(out, "\n  {}", one_line(&text));
        let found = health.and_then(|it| it.pointers.iter().find(|it| it.pointer == text));
        if let Some(found) = found.filter(|it| !it.is_unchanged()) {
            let _ = write!(out, "\n    {}", one_line(found.words()));
        }
    }
    out
}

/// One entry on one line; `find` has the versions that are at hand.
pub(crate) fn entry<'e>(it: &Entry, find: impl Fn(EngramId) -> Option<&'e Engram>) -> String {
    let time = it.at.strftime("%Y-%m-%d %H:%M:%S");
    let did = Did::of(&it.change, &find);
    let what = match &it.change {
        Change::Stored(engram) => said(engram),
        Change::Corroborated(id)
        | Change::Forgotten(id)
        | Change::Redacted(id)
        | Change::Promoted { id, .. } => find(*id).map_or_else(|| id.to_string(), said),
        Change::Dereferenced {
            pointer, tokens, ..
        } => {
            let tokens = count((*tokens).into(), TOKENS);
            format!("{:<10} {}, {tokens}", "read", one_line(pointer))
        }
        Change::Noted { pointer, .. } => format!("{:<10} {}", "noted", one_line(pointer)),
        Change::Anchored { engrams, .. } => {
            let counts = Evidence::ALL.iter().filter_map(|standing| {
                let count = engrams
                    .iter()
                    .filter(|it| it.health.standing == *standing)
                    .count();
                (count > 0).then(|| format!("{count} {}", standing.words()))
            });
            format!(
                "{:<10} {}",
                "evidence",
                counts.collect::<Vec<_>>().join(", ")
            )
        }
        Change::Conflict {
            id,
            engrams: [a, b],
            severity,
            ..
        } => format!("{:<10} {id}  {severity}: {a} against {b}", "conflict"),
        Change::Resolved {
            id, how: Some(how), ..
        } => format!("{:<10} {id}  {how}", "resolved"),
        Change::Resolved { id, .. } => format!("{:<10} {id}  undone", "resolved"),
        Change::Allowed(id) => format!("{:<10} {id}", "allowed"),
        Change::Unlisted(all) => format!("{:<10} {}", "unlisted", count(all.len() as u64, SAMPLES)),
        Change::Disallowed(id) => format!("{:<10} {id}  undone", "allowed"),
        Change::Between { what, about } => {
            let about: Vec<String> = about.iter().map(one_line).collect();
            let to = match what {
                OperationKind::Sent | OperationKind::Granted if !about.is_empty() => "to ",
                _ => "",
            };
            format!("{:<10} {to}{}", what.as_str(), about.join(", "))
                .trim_end()
                .to_owned()
        }
    };
    let what = match did {
        None => what,
        Some(did @ Did::Lost(it)) => {
            format!("{:<10} {what}  (conflict {})", did.verb(), it.conflict)
        }
        Some(did) => format!("{:<10} {what}", did.verb()),
    };
    format!("{time}  {:<14} {what}", one_line(who(it)))
}

/// Who did it, as the window names them: what no agent did, the person at the terminal did.
fn who(it: &Entry) -> &str {
    match (it.by.as_str(), &it.agent) {
        ("" | "user", None) => "you",
        ("", Some(agent)) => &agent.0,
        (by, _) => by,
    }
}

/// A version: its id, kind, claim and first evidence.
fn said(it: &Engram) -> String {
    if it.redacted {
        return format!("{}  (redacted)", it.id);
    }
    let evidence = it.pointers.first().map(|it| one_line(it.label()));
    format!(
        "{}  {}  {}  [{}]",
        it.id,
        it.kind,
        one_line(&it.claim),
        evidence.unwrap_or_default()
    )
}

/// Entries on one line each.
fn entries(all: &[Entry]) -> String {
    let stored = all.iter().filter_map(|it| it.change.stored());
    let versions: HashMap<EngramId, &Engram> = stored.map(|it| (it.id, it)).collect();
    let line = |it: &Entry| entry(it, |id| versions.get(&id).copied());
    all.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// What became of a message.
fn sent(it: &SentReply) -> String {
    let mut out = format!("message {}  {} tokens", it.id, it.tokens);
    let mut is_granted = false;
    match &it.outcome {
        Outcome::Reported { engrams, requests } => {
            for engram in engrams {
                let _ = write!(out, "\n  engram {}", stored(engram).replace('\n', "\n  "));
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
    for pointer in &it.stale {
        let (at, now) = (one_line(&pointer.pointer), one_line(pointer.words()));
        let _ = write!(out, "\n  stale: {at}: {now}");
    }
    out
}

/// The brief with the numbers of its lines.
fn brief(it: &BriefReply) -> String {
    let mut out = String::new();
    for (at, line) in it.lines.iter().enumerate() {
        let pinned = if line.pinned {
            "pinned"
        } else {
            line.part.as_str()
        };
        let _ = writeln!(out, "{:>2}  {pinned:<10}  {}", at + 1, one_line(&line.text));
    }
    let lines = match it.lines.len() {
        1 => "1 line".to_owned(),
        many => format!("{many} lines"),
    };
    let _ = write!(out, "{lines}, {} tokens", it.tokens);
    out
}

fn status(it: &StatusReply) -> String {
    let place = match &it.project {
        Some(project) => format!(
            "{} on {}",
            one_line(&project.name),
            one_line(project.branch.as_deref().unwrap_or("no branch"))
        ),
        None => "no repository here".to_owned(),
    };
    let spending = it.spending.as_ref().map_or_else(String::new, |it| {
        let (agent, spent) = (one_line(&it.agent), spent(&it.budget));
        format!("\n{agent} in this turn: {spent}")
    });
    format!(
        "{place}\n{}, {}, entry {} (index at {}){spending}\nhome {}\n{}",
        count(it.engrams, ("engram", "engrams")),
        count(it.agents, ("agent", "agents")),
        it.head,
        it.indexed,
        one_line(it.home.as_deref().unwrap_or_default()),
        it.next
    )
}

/// The use of each meter of a turn.
fn spent(it: &Budget) -> String {
    let of = |(what, it): (_, Meter)| format!("{}/{} {what}", it.used, it.limit);
    it.meters().map(of).join(", ")
}

/// An agent on two lines: who, and what it spent in its latest turn.
fn agents(it: &AgentsReply) -> String {
    if it.agents.is_empty() {
        return "no agent has stored or read anything here yet".to_owned();
    }
    let agent = |it: &AgentStatus| {
        let parent = it.parent.as_ref().map(|it| format!(", parent {}", it.0));
        let who = format!(
            "{}{}",
            permission::agent(&it.name, &it.handle, it.role.as_deref()),
            parent.unwrap_or_default()
        );
        let did = it.did.map_or("nothing yet".to_owned(), |it| it.to_string());
        format!(
            "{}  {}\n  last: {did}, {} stored, {}",
            it.last_call.strftime("%Y-%m-%d %H:%M:%S"),
            one_line(&who),
            it.stored,
            spent(&it.budget)
        )
    };
    let mut lines: Vec<String> = it.agents.iter().map(agent).collect();
    if it.more > 0 {
        lines.push(format!("and {} more that called earlier", it.more));
    }
    lines.join("\n")
}

/// What needs a look, then how many there were.
fn checked(it: &CheckReply) -> String {
    let mut out = String::new();
    for engram in it
        .engrams
        .iter()
        .filter(|it| it.standing != Evidence::Holds)
    {
        let _ = writeln!(
            out,
            "{}  {}\n  {}",
            engram.id,
            engram.standing.words(),
            one_line(&engram.claim)
        );
        for pointer in &engram.pointers {
            let _ = writeln!(
                out,
                "  {}  {}",
                one_line(&pointer.pointer),
                one_line(pointer.words())
            );
        }
    }
    let touched = it
        .engrams
        .iter()
        .filter(|it| it.standing != Evidence::Holds)
        .count();
    let unknown = it.engrams.iter();
    let unknown = unknown
        .filter(|it| it.standing == Evidence::Unknown)
        .count();
    let _ = write!(
        out,
        "{} checked; the evidence of {} changed",
        count(it.checked, CLAIMS),
        touched - unknown
    );
    if unknown > 0 {
        let _ = write!(out, "; that of {unknown} could not be checked");
    }
    out
}
