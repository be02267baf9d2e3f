//! Hooks (docs/design.md#hooks): an orchestrator reports what happened, and Engram turns the report
//! into pointers.

use crate::{
    agents::{
        budgets,
        opening::{self, unknown_agent},
        served::prints_of_shown,
    },
    asking::deref,
    claims::{
        put::{self, Occasion},
        read,
    },
    context::{
        Context,
        caller::{kin_of, known_to},
        limits_for,
    },
    evidence::gather,
    messages::{brief, pack, parent_message, send},
};
use engram_consistency::mask;
use engram_gateway::{AgentNode, check_message, read_message, recipients, refuse_decision};
use engram_model::{
    AgentId, BriefPart, Caller, Code, Deref, Draft, EngramV01, FactType, Hook, HookEvent,
    HookReply, Kind, Limits, Lines, Pin, Pointer, PointerInput, ProvenanceV01, RagExcerpt,
    RagFound, RagReply, RagResult, Refusal, SamRead, SamReply, Scope, Sending, SentReply, Source,
    Target, Ttl, operation::Served, shorten,
};
use engram_pointers::resolve;
use serde::Deserialize;
use serde_json::{Value, json};

/// The most results that are examined, and the most of them that become claims.
const RESULTS: usize = 12;
const CLAIMS: usize = 3;
/// The most tokens of an excerpt.
const EXCERPT: u32 = 200;
/// The longest content that is located, in lines, and the most lines of a file that are searched
/// for it.
const CHUNK: usize = 400;
const FILE: usize = 100_000;
/// The longest question that a claim repeats, and the longest statement, in characters.
const QUESTION: usize = 200;
const STATEMENT: usize = 120;
/// How many days of events of one name are examined, newest first.
const DAYS: usize = 32;
/// The number of days for which an event may be relied on.
const RELIED_ON: u32 = 90;

/// Answers what an orchestrator reports about an agent, as if the agent called.
pub(crate) fn answer_hook(cx: &Context<'_>, hook: Hook) -> Result<HookReply, Refusal> {
    let caller = caller_of_hook(cx, hook.agent)?;
    let context = cx.for_caller(&caller);
    opening::refuse_unknown_caller(&context)
        .and_then(|()| answer_event(&context, hook.event))
        .inspect_err(|it| budgets::count_refusal(&context, it))
}

/// The agent that a hook concerns: the caller or its child; any agent for the user.
fn caller_of_hook(cx: &Context<'_>, agent: Option<AgentId>) -> Result<Caller, Refusal> {
    let agent = match (agent, cx.caller) {
        (None, Caller::User) => {
            return Err(Refusal::new(
                Code::NotFound,
                "the request names no agent",
                "Set agent to a handle that `engram agents` lists.",
            ));
        }
        (None, Caller::Agent(me)) => me.clone(),
        (Some(agent), _) => agent,
    };
    if !matches!(cx.caller, Caller::Agent(me) if *me == agent) {
        let project = cx.project()?;
        let store = &cx.engine.store;
        let found = store.read(|tx| known_to(cx.caller, tx, project, &agent))?;
        let found = found.ok_or_else(|| unknown_agent(&agent))?;
        refuse_decision(cx.caller, &kin_of(found))?;
    }
    Ok(Caller::Agent(agent))
}

fn answer_event(cx: &Context<'_>, event: HookEvent) -> Result<HookReply, Refusal> {
    match event {
        HookEvent::ChildResponse(message) => {
            let sending = Sending { message, to: None };
            send::send_message(cx, &sending).map(HookReply::Sent)
        }
        HookEvent::ParentBroadcast(message) => broadcast(cx, message).map(HookReply::Sent),
        HookEvent::RagResult(result) => answer_rag_result(cx, &result).map(HookReply::Rag),
        HookEvent::SamRead(read) => answer_sam_read(cx, &read).map(HookReply::Sam),
    }
}

/// Sends a parent's message. Adds a missing brief, pack and budgets, as far as they fit.
fn broadcast(cx: &Context<'_>, message: Value) -> Result<SentReply, Refusal> {
    let limits = cx.limits()?;
    let mut message = match message {
        Value::String(text) => read_message(text.as_bytes(), limits)?.value,
        message => message,
    };
    pin_pack(cx, &mut message)?;
    let brief = brief::shared_brief(cx)?.lines;
    let role = message["role"].as_str().unwrap_or_default().to_lowercase();
    let mut lines = Vec::new();
    let mut pack = Vec::new();
    for line in brief {
        match line.part {
            BriefPart::Pin | BriefPart::Matter | BriefPart::Constraint | BriefPart::Risk => {
                lines.push(json!(line.text));
            }
            BriefPart::Pointer if line.role.is_some_and(|it| it.to_lowercase() == role) => {
                pack.extend(line.pointers.into_iter().map(|it| json!(it)));
            }
            _ => {}
        }
    }
    if let Some(fields) = message.as_object_mut() {
        // A message without budgets changes none, so this adds the budgets that its recipients
        // already have.
        let least = limits_for_role(cx, &role, limits)?;
        let deref = &least.deref;
        let budgets = json!({
            "max_inline_tokens": least.message.inline_tokens,
            "max_engrams": least.message.engrams,
            "max_repo_spans": deref.repo_spans,
            "max_artifact_sections": deref.artifact_sections,
            "max_sam_items": deref.sam_items,
            "max_tokens": deref.tokens,
        });
        fields.entry("budgets").or_insert(budgets);
        add_fitting_list(fields, "target_pointer_pack", pack, limits);
        add_fitting_list(fields, "shared_brief_micro", lines, limits);
    }
    send::send_message(cx, &Sending { message, to: None })
}

/// The limits that every child in a role can keep.
fn limits_for_role(cx: &Context<'_>, role: &str, limits: &Limits) -> Result<Limits, Refusal> {
    let family = parent_message::reachable_agents(cx, None)?;
    let known: Vec<AgentNode> = family.into_iter().map(kin_of).collect();
    let Ok(to) = recipients(cx.caller, role, None, &known) else {
        // Sending the message reports the error.
        return Ok(limits.clone());
    };
    cx.engine.store.read(|tx| {
        let mut least = limits.clone();
        for child in &to {
            least = limits_for(tx, &least, tx.agent(child)?.as_ref())?;
        }
        Ok(least)
    })
}

/// Pins the pointers of the message's pack fully, so that the additions are measured against their
/// final length. Uncommitted files are pinned when the message is sent.
fn pin_pack(cx: &Context<'_>, message: &mut Value) -> Result<(), Refusal> {
    let pack = message.get_mut("target_pointer_pack");
    if let Some(pack) = pack
        && let Ok(inputs) = Vec::<PointerInput>::deserialize(&*pack)
    {
        let pinned = pack::resolve_pack(cx, "target_pointer_pack", &inputs)?;
        if pinned.is_of_commits() {
            *pack = pinned.pointers.iter().map(ToString::to_string).collect();
        }
    }
    Ok(())
}

/// Turns results of retrieval into pointers, short excerpts within the budget, and claims.
fn answer_rag_result(cx: &Context<'_>, result: &RagResult) -> Result<RagReply, Refusal> {
    let found = result.results.iter().take(RESULTS);
    let located = found.filter_map(|it| locate_result(cx, it).transpose());
    let pointers = located.collect::<Result<Vec<Pointer>, Refusal>>()?;
    if pointers.is_empty() && !result.results.is_empty() {
        return Err(Refusal::new(
            Code::PointerNotFound,
            "no result names a file in the current commit",
            "Give paths relative to the root of the repository; if they are, your retrieval index is out of date: rebuild it at the current commit.",
        ));
    }
    let mut reply = RagReply::default();
    for pointer in pointers.iter().take(CLAIMS) {
        let stored = put::put_claim(cx, answer_draft(cx, pointer, result)?, None, Occasion::Said)?;
        let mut stored = read::read_record(cx, stored.id)?;
        stored.derive_keys();
        reply.engrams.push(EngramV01::from(&stored));
    }
    reply.pointers = pointers.iter().map(ToString::to_string).collect();
    reply.pointers.dedup();
    for pointer in &reply.pointers {
        let read = deref::dereference(
            cx,
            Deref {
                pointer: PointerInput::Text(pointer.clone()),
                max_tokens: Some(EXCERPT),
                turn: None,
                budget_token: None,
                reason: None,
            },
        );
        match read {
            Ok(read) => reply.excerpts.push(RagExcerpt {
                pointer: read.pointer,
                excerpt: read.excerpt,
                content_digest: read.content_digest,
                tokens: read.tokens,
            }),
            // The agent can still request the pointers.
            Err(_) => break,
        }
    }
    Ok(reply)
}

/// Where a result is in the current commit: its lines, or its file if they are not found; `None`
/// if the commit has no such text.
fn locate_result(cx: &Context<'_>, found: &RagFound) -> Result<Option<Pointer>, Refusal> {
    let located = locate_chunk(cx, found.file_path.trim_start_matches("./"), &found.content);
    match located {
        Ok(pointer) => Ok(Some(pointer)),
        Err(refusal) if is_elsewhere(refusal.code) => Ok(None),
        Err(refusal) => Err(refusal),
    }
}

/// Whether a result cannot be found in the commit; any other refusal is a failure.
fn is_elsewhere(code: Code) -> bool {
    matches!(
        code,
        Code::PointerInvalid | Code::PointerNotFound | Code::SecretDetected
    )
}

fn locate_chunk(cx: &Context<'_>, path: &str, content: &str) -> Result<Pointer, Refusal> {
    let resolved = |lines| {
        let pointer = Pointer {
            target: Target::Repo {
                path: path.to_owned(),
                lines,
                pin: Pin::Rev("HEAD".to_owned()),
            },
            digest: None,
        };
        // The grammar decides which paths are valid.
        let pointer: Pointer = pointer.to_string().parse()?;
        let repo = gather::repo_for(cx, &pointer)?;
        let shelf = cx.shelf(cx.known_project()?)?;
        let resolved = resolve(repo, &shelf, &pointer)?;
        resolved.refuse_binary()?;
        Ok::<_, Refusal>(resolved)
    };
    let whole = resolved(None)?;
    let found = match find_chunk(&whole.text(), content) {
        Some(lines) => resolved(Some(lines))?,
        None => whole,
    };
    Ok(found.pointer)
}

fn answer_draft(cx: &Context<'_>, pointer: &Pointer, result: &RagResult) -> Result<Draft, Refusal> {
    let question = shorten(result.question.trim(), QUESTION).replace('"', "'");
    Ok(Draft {
        claim: format!("{} likely answers \"{question}\"", pointer.name()),
        pointers: vec![PointerInput::Text(pointer.to_string())],
        kind: Some(Kind::Fact),
        fact_type: Some(FactType::Inference),
        confidence: Some(0.3),
        ttl: Some("P1D".to_owned()),
        scope: Some(Scope::Run),
        provenance: Some(ProvenanceV01 {
            created_at: cx.journal_time()?.0,
            created_by: String::new(),
            source: Source::Rag,
        }),
        ..Draft::default()
    })
}

/// Turns an event into a pointer and the beginning of its text. The full text is read within the
/// budget.
fn answer_sam_read(cx: &Context<'_>, read: &SamRead) -> Result<SamReply, Refusal> {
    let project = cx.project()?;
    let days = cx
        .engine
        .store
        .read::<_, Refusal>(|tx| Ok(tx.events().days(project, &read.kind, &read.slug, DAYS)?))?;
    let shelf = cx.shelf(Some(project))?;
    let mut found = None;
    for day in days {
        let pointer: Pointer = format!("sam:{}:{}@{day}", read.kind, read.slug).parse()?;
        match resolve(None, &shelf, &pointer) {
            Ok(resolved) => {
                found = Some((pointer, resolved));
                break;
            }
            // The caller may not see it, or it was erased.
            Err(refusal) if refusal.code == Code::PointerNotFound => {}
            Err(refusal) => return Err(refusal),
        }
    }
    let (pointer, resolved) = found.ok_or_else(|| {
        Refusal::new(
            Code::PointerNotFound,
            "there is no event of this kind and slug",
            "Name a kind and a slug that `engram note` was given.",
        )
    })?;
    let statement = first_sentence(&mask(&resolved.text()).text);
    if let Some(agent) = cx.agent()? {
        let prints = prints_of_shown(&statement, [pointer.to_string()]);
        cx.engine
            .caches
            .served
            .add(Served::of_unasked(agent, prints));
    }
    Ok(SamReply {
        pointer: pointer.to_string(),
        statement,
        scope: Scope::Project,
        ttl: Ttl::days(RELIED_ON)?,
    })
}

/// Adds a list that a message lacks; drops its last items until the message fits.
fn add_fitting_list(
    fields: &mut serde_json::Map<String, Value>,
    key: &str,
    mut list: Vec<Value>,
    limits: &Limits,
) {
    if fields.contains_key(key) {
        return;
    }
    while !list.is_empty() {
        fields.insert(key.to_owned(), json!(list));
        let checked = check_message(&Value::Object(fields.clone()), limits);
        if !matches!(checked, Err(refusal) if refusal.code == Code::BudgetExceeded) {
            return;
        }
        list.pop();
    }
    fields.remove(key);
}

/// The lines of a text that match a chunk, if the chunk's whole lines appear exactly once. Its
/// first and last line may be cut. Only whole lines count, so that an agent that knows part of a
/// line cannot probe for the rest.
fn find_chunk(text: &str, chunk: &str) -> Option<Lines> {
    let chunk: Vec<&str> = chunk
        .trim_matches(['\n', '\r'])
        .lines()
        .take(CHUNK)
        .collect();
    let (whole, cut) = match chunk.as_slice() {
        [_, middle @ .., _] if !middle.is_empty() => (middle, 1),
        all => (all, 0),
    };
    if whole.iter().all(|it| it.trim().is_empty()) {
        return None;
    }
    let file: Vec<&str> = text.lines().take(FILE).collect();
    let mut found = file
        .windows(whole.len())
        .enumerate()
        .filter(|(_, it)| *it == whole);
    let at = found.next()?.0;
    if found.next().is_some() {
        return None;
    }
    let last = at + whole.len() + cut;
    let line = |it: usize| u32::try_from(it).ok();
    Some(Lines {
        start: line((at + 1).checked_sub(cut).filter(|it| *it > 0)?)?,
        end: line(last).filter(|_| last <= file.len())?,
    })
}

fn first_sentence(text: &str) -> String {
    let line = text.lines().next().unwrap_or_default();
    let end = line.find(". ").map_or(line.len(), |at| at + 1);
    shorten(line.get(..end).unwrap_or(line), STATEMENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_chunk_is_found_where_it_was_cut() {
        let text = "one\ntwo\nthree\nfour\n";
        for (chunk, lines) in [
            ("two\nthree\n", Some((2, 3))),
            ("wo\nthree\nfo", Some((2, 4))),
            ("\n\nthree", Some((3, 3))),
            ("two\nfour", None),
            ("five", None),
            ("thre", None),
            ("two\nthr", None),
            ("three\nfour\nmore", None),
            ("  \n ", None),
            ("", None),
            ("four\nfive", None),
        ] {
            let found = find_chunk(text, chunk).map(|it| (it.start, it.end));
            assert_eq!(found, lines, "{chunk:?}");
        }
    }

    #[test]
    fn a_statement_is_short() {
        assert_eq!(
            first_sentence("We publish. On Friday.\nMore."),
            "We publish."
        );
        assert_eq!(
            first_sentence(&"x".repeat(500)).chars().count(),
            STATEMENT + 1
        );
        assert_eq!(first_sentence(""), "");
    }
}
