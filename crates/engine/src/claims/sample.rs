//! A sample to explore: claims that the repository's history proves, one for each thing that can
//! happen to a claim. One request forgets them all.

use std::{collections::BTreeSet, time::Duration};

use crate::{
    claims::put::{self, Occasion, end_todos},
    context::{
        ActiveProject, Context, author,
        plan::{Plan, Planned},
    },
    decide,
};
use engram_model::{
    Change, Code, Draft, Engram, Feed, Filter, Kind, LineageId, Lines, Operation, Pin, Pointer,
    PointerInput, ProjectId, PutReply, Refusal, SAMPLE, SampleReply, Scope, Target, format_count,
};
use engram_pointers::{
    LargeFile,
    track::{Became, Trace, lately},
};
use engram_store::Reader;
use jiff::Timestamp;

/// How long the history is searched.
const PATIENCE: Duration = Duration::from_secs(2);
/// How many lines of a file are shown.
const LINES: u32 = 24;
/// The most claims that are searched for those of a sample.
const MAX_ENGRAMS: usize = 10_000;
/// The author of the sample's claims, and a second agent that says the same.
const AUTHORS: [&str; 2] = ["sample agent", "second sample agent"];

/// Stores the sample, unless there is one. Leaves out claims that this history cannot prove.
pub(crate) fn store_sample(cx: &Context<'_>) -> Result<SampleReply, Refusal> {
    let mut held = held_sample(cx)?;
    if !held.is_empty() {
        // Oldest first, in the order of storing.
        held.reverse();
        return Ok(sample_reply(&held));
    }
    let longest = cx.require_repo()?.largest_files(1)?;
    let mut traces = cx.with_repo_within(PATIENCE, lately)?;
    // The window opens the newest claim first, so store one that needs review last.
    traces.sort_by_key(|it| match it.became {
        Became::Ends(_) => 0,
        Became::Renamed(_) => 1,
        Became::Moved(_) => 2,
        Became::Edited => 3,
    });
    let voices = longest.first().map(|it| put_corroborated(cx, it));
    let others = traces.iter().map(|it| put_traced(cx, it));
    let (mut ids, mut refused) = (Vec::new(), None);
    for stored in voices.into_iter().chain(others) {
        // Some paths and commits fit no claim or pointer.
        match stored {
            Ok(stored) => ids.push(stored.id),
            Err(refusal) => refused = Some(refusal),
        }
    }
    match (ids.is_empty(), refused) {
        (true, Some(refusal)) => Err(refusal),
        (true, None) => Err(Refusal::new(
            Code::PointerNotFound,
            "this repository has no committed source file to sample",
            "Commit something, then try again.",
        )),
        (false, _) => Ok(SampleReply { ids }),
    }
}

/// Makes one claim by two agents, in one commit. The last lines of the file show its length.
fn put_corroborated(cx: &Context<'_>, file: &LargeFile) -> Result<PutReply, Refusal> {
    let claim = format!(
        "`{}` is the longest source file here: {}.",
        file.path,
        format_count(file.lines, ("line", "lines"))
    );
    let end = u32::try_from(file.lines).unwrap_or(u32::MAX).max(1);
    let shown = Lines {
        start: end.saturating_sub(LINES - 1).max(1),
        end,
    };
    let said = sample_draft("files", claim, sample_pointer(&file.path, shown, "HEAD"));
    put::put_claim(cx, said, None, Occasion::SaidWith(AUTHORS[1]))
}

/// Makes a claim about what a commit did; for the end of a file, a claim and its correction.
fn put_traced(cx: &Context<'_>, trace: &Trace) -> Result<PutReply, Refusal> {
    let pinned = sample_pointer(&trace.path, trace.lines, &trace.parent);
    let commit = trace.commit.get(..7).unwrap_or(&trace.commit);
    let claim = match &trace.became {
        Became::Moved(now) => format!(
            "Commit {commit} moved {} of `{}` to {}.",
            describe_lines(trace.lines),
            trace.path,
            describe_lines(*now)
        ),
        Became::Renamed(name) => {
            format!("Commit {commit} renamed `{}` to `{name}`.", trace.path)
        }
        Became::Edited => {
            format!(
                "Commit {commit} edited {} of `{}`.",
                describe_lines(trace.lines),
                trace.path
            )
        }
        Became::Ends(_) => end_claim(&trace.path, trace.lines.end),
    };
    let stored = put::put_claim(
        cx,
        sample_draft("history", claim, pinned),
        None,
        Occasion::Said,
    )?;
    let Became::Ends(last) = trace.became else {
        return Ok(stored);
    };
    let now = Lines {
        start: last,
        end: last,
    };
    let correction = Draft {
        corrects_lineage: Some(stored.id.to_string()),
        ..sample_draft(
            "history",
            end_claim(&trace.path, last),
            sample_pointer(&trace.path, now, "HEAD"),
        )
    };
    put::put_claim(cx, correction, None, Occasion::Said)
}

/// Forgets every claim of the sample that still holds, and takes all of them off the list.
pub(crate) fn forget_sample(cx: &Context<'_>) -> Result<SampleReply, Refusal> {
    let (project, by) = (cx.project()?, author::author_of(cx, None)?);
    let sample = decide::plan_and_commit(cx, &ActiveProject::of(project), |tx, _| {
        let sample = listed_sample(tx, project, cx.engine.world.now())?;
        let mut entries = Vec::new();
        for engram in sample.iter().filter(|it| it.valid_until.is_none()) {
            entries.extend(end_todos(tx, engram.lineage_id, &by)?);
            entries.push(Planned::ended(engram, &by));
        }
        let lineages: BTreeSet<LineageId> = sample.iter().map(|it| it.lineage_id).collect();
        if !lineages.is_empty() {
            let lineages = lineages.into_iter().collect();
            entries.push(Planned::private(Operation::Unlisted(lineages), &by));
        }
        Ok(Plan::of(entries, sample))
    })?
    .answer;
    let mut held = sample;
    held.retain(|it| it.valid_until.is_none());
    Ok(sample_reply(&held))
}

/// The claims of a sample that hold.
fn held_sample(cx: &Context<'_>) -> Result<Vec<Engram>, Refusal> {
    let (project, now) = (cx.project()?, cx.engine.world.now());
    let store = &cx.engine.store;
    let mut sample =
        store.read::<_, Refusal>(|tx| Ok(tx.newest_holding(project, now, None, MAX_ENGRAMS)?))?;
    sample.retain(Engram::is_sample);
    Ok(sample)
}

/// The claims of a sample in the list, including ended ones.
fn listed_sample(
    tx: &Reader<'_>,
    project: ProjectId,
    now: Timestamp,
) -> Result<Vec<Engram>, Refusal> {
    let of_sample = Feed {
        limit: Some(MAX_ENGRAMS),
        listed: true,
        filter: Filter {
            topic: SAMPLE.to_owned(),
            ..Filter::default()
        },
        ..Feed::default()
    };
    let (entries, _) = tx.feed(project, "", &of_sample, now)?;
    let stored = entries.into_iter().filter_map(|it| match it.change {
        Change::Stored(engram) => Some(*engram),
        _ => None,
    });
    Ok(stored.filter(Engram::is_sample).collect())
}

fn sample_reply(sample: &[Engram]) -> SampleReply {
    SampleReply {
        ids: sample.iter().map(|it| it.id).collect(),
    }
}

fn sample_draft(topic: &str, claim: String, pointer: Pointer) -> Draft {
    Draft {
        claim,
        pointers: vec![PointerInput::Text(pointer.to_string())],
        kind: Some(Kind::Fact),
        // In the user's own run, so that no agent sees the sample.
        scope: Some(Scope::Run),
        confidence: Some(1.0),
        topic: Some(format!("{SAMPLE}/{topic}")),
        tags: vec![SAMPLE.to_owned()],
        agent: Some(AUTHORS[0].to_owned()),
        ..Draft::default()
    }
}

fn sample_pointer(path: &str, lines: Lines, rev: &str) -> Pointer {
    Pointer {
        target: Target::Repo {
            path: path.to_owned(),
            lines: Some(lines),
            pin: Pin::Rev(rev.to_owned()),
        },
        digest: None,
    }
}

fn end_claim(path: &str, line: u32) -> String {
    format!("`{path}` ends at line {line}.")
}

fn describe_lines(lines: Lines) -> String {
    if lines.start == lines.end {
        format!("line {}", lines.start)
    } else {
        format!("lines {}–{}", lines.start, lines.end)
    }
}
