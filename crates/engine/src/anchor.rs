//! Anchors: where the evidence of claims is now, and a new version of a claim that points there.
//! Answered from git when it is asked; nothing is stored but by repin.

use std::collections::BTreeMap;

use engram_model::{
    Caller, CheckReply, CheckedEngram, CheckedPointer, Code, Draft, Engram, EngramId, Evidence,
    Lines, Pin, Pointer, PointerInput, PutReply, Refusal, Target,
};
use engram_pointers::{
    Repo, resolve,
    track::{Anchor, Side, Span, State, track},
};

use crate::{Engine, HomeShelf, project, read::Eyes};

/// Most claims that are looked at; the newest count.
const MOST: usize = 100_000;

/// A pointer of a claim that addresses source at a commit.
struct Asked {
    engram: usize,
    pointer: usize,
    commit: String,
    span: Result<Span, Refusal>,
}

/// Where a pointer's lines are, or why nobody could look.
type Found = Result<Anchor, Refusal>;

impl Engine {
    pub(crate) fn check_pointers(
        &self,
        caller: &Caller,
        changed: bool,
    ) -> Result<CheckReply, Refusal> {
        let repo = self.repository()?;
        let eyes = self.eyes(caller)?;
        let engrams = self.holding(&repo, &eyes)?;
        let here = match repo.workdir() {
            Some(_) => Side::Worktree,
            None => Side::Commit("HEAD".to_owned()),
        };
        let asked = self.ask(&repo, &engrams)?;
        let found = match changed {
            false => follow(&repo, &asked, &here)?,
            true => since_head(&repo, &asked, &here)?,
        };
        let mut checked: Vec<CheckedEngram> = Vec::new();
        let mut last = None;
        for (asked, found) in asked.iter().zip(found) {
            let engram = &engrams[asked.engram];
            if last != Some(asked.engram) {
                last = Some(asked.engram);
                checked.push(CheckedEngram {
                    id: engram.id,
                    claim: engram.claim.clone(),
                    standing: Evidence::Unknown,
                    pointers: Vec::new(),
                });
            }
            if let Some(it) = checked.last_mut() {
                it.pointers
                    .push(answer(&engram.pointers[asked.pointer], found));
            }
        }
        for it in &mut checked {
            it.standing = standing(&it.pointers);
        }
        let count = checked.len() as u64;
        if changed {
            checked.retain(|it| !matches!(it.standing, Evidence::Holds | Evidence::Unknown));
        }
        Ok(CheckReply {
            checked: count,
            engrams: checked,
        })
    }

    /// A new version in the lineage whose pointers are where their lines are at the current commit.
    pub(crate) fn repin(&self, caller: &Caller, id: EngramId) -> Result<PutReply, Refusal> {
        let engram = self.get(caller, id)?;
        let repo = self.repository()?;
        let head = repo.head().1.ok_or_else(|| {
            Refusal::new(
                Code::PointerNotFound,
                "the repository has no commit to pin to",
                "Commit first, then repin.",
            )
        })?;
        let engrams = [engram];
        let asked = self.ask(&repo, &engrams)?;
        let found = follow(&repo, &asked, &Side::Commit(head.clone()))?;
        let [engram] = engrams;
        let mut pointers: Vec<Pointer> = engram.pointers.clone();
        for (asked, found) in asked.iter().zip(found) {
            let pointer = &mut pointers[asked.pointer];
            *pointer = moved(pointer, found?, &head)?;
        }
        let draft = Draft {
            claim: engram.claim,
            pointers: pointers
                .iter()
                .map(|it| PointerInput::Text(it.to_string()))
                .collect(),
            kind: Some(engram.kind),
            fact_type: Some(engram.fact_type),
            confidence: Some(engram.confidence),
            ttl: engram.ttl.map(|ttl| ttl.to_string()),
            scope: Some(engram.scope),
            topic: Some(engram.topic),
            tags: engram.tags,
            agent: Some(engram.provenance.created_by),
            durability: Some(engram.durability),
            corrects_lineage: Some(engram.id.to_string()),
            ..Draft::default()
        };
        self.put(caller, draft)
    }

    fn repository(&self) -> Result<Repo, Refusal> {
        self.repo()?.ok_or_else(|| {
            Refusal::new(
                Code::RepoUnavailable,
                "there is no git repository here",
                "Change into your clone, or name it with --repo.",
            )
        })
    }

    fn holding(&self, repo: &Repo, eyes: &Eyes) -> Result<Vec<Engram>, Refusal> {
        let Some(project) = project::find(&self.store, Some(repo))? else {
            return Ok(Vec::new());
        };
        let now = self.now();
        let mut engrams = self
            .store
            .read::<_, Refusal>(|it| Ok(it.newest_holding(project, now, MOST)?))?;
        engrams.retain(|engram| eyes.may_see(engram));
        Ok(engrams)
    }

    /// The spans that pointers address at their commits; sections and tests are found there first.
    fn ask(&self, repo: &Repo, engrams: &[Engram]) -> Result<Vec<Asked>, Refusal> {
        let shelf = HomeShelf {
            store: &self.store,
            project: project::find(&self.store, Some(repo))?,
            urls: false,
        };
        let mut asked = Vec::new();
        for (engram, it) in engrams.iter().enumerate() {
            for (at, pointer) in it.pointers.iter().enumerate() {
                let (Target::Repo { path, pin, .. }
                | Target::Artifact {
                    name: path, pin, ..
                }
                | Target::Test { path, pin, .. }) = &pointer.target
                else {
                    continue;
                };
                let Pin::Rev(commit) = pin else {
                    continue;
                };
                let span = match pointer.lines() {
                    Some(lines) => Ok(lines),
                    None => resolve(Some(repo), &shelf, pointer).map(|it| {
                        it.lines.unwrap_or(Lines {
                            start: 1,
                            end: count_lines(&it.bytes),
                        })
                    }),
                };
                asked.push(Asked {
                    engram,
                    pointer: at,
                    commit: commit.clone(),
                    span: span.map(|lines| Span {
                        path: path.clone(),
                        start: lines.start,
                        end: lines.end,
                    }),
                });
            }
        }
        Ok(asked)
    }
}

/// Where each span is at `to`: one pass for each commit that spans are pinned to.
fn follow(repo: &Repo, asked: &[Asked], to: &Side) -> Result<Vec<Found>, Refusal> {
    let mut groups: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
    for (at, it) in asked.iter().enumerate() {
        groups.entry(&it.commit).or_default().push(at);
    }
    let mut found: Vec<Option<Found>> = asked.iter().map(|_| None).collect();
    for (commit, members) in groups {
        let spans: Vec<(usize, Span)> = members
            .iter()
            .filter_map(|at| Some((*at, asked[*at].span.clone().ok()?)))
            .collect();
        let only: Vec<Span> = spans.iter().map(|(_, span)| span.clone()).collect();
        match track(repo, &Side::Commit(commit.to_owned()), to, &only) {
            Ok(anchors) => {
                for ((at, _), anchor) in spans.iter().zip(anchors) {
                    found[*at] = Some(anchor);
                }
            }
            // A commit that is out of reach says nothing about the others.
            Err(error) => {
                for (at, _) in &spans {
                    found[*at] = Some(Err(error.clone()));
                }
            }
        }
    }
    Ok(found
        .into_iter()
        .zip(asked)
        .map(|(found, asked)| match (found, &asked.span) {
            (Some(found), _) => found,
            (None, Err(error)) => Err(error.clone()),
            (None, Ok(_)) => Err(not_answered()),
        })
        .collect())
}

/// What became since the last commit of the lines that each span has at it.
fn since_head(repo: &Repo, asked: &[Asked], here: &Side) -> Result<Vec<Found>, Refusal> {
    let head = "HEAD".to_owned();
    let committed = follow(repo, asked, &Side::Commit(head.clone()))?;
    let again: Vec<Asked> = asked
        .iter()
        .zip(&committed)
        .map(|(it, found)| Asked {
            engram: it.engram,
            pointer: it.pointer,
            commit: head.clone(),
            span: match found {
                Ok(anchor) => anchor.place.clone().ok_or_else(not_answered),
                Err(error) => Err(error.clone()),
            },
        })
        .collect();
    follow(repo, &again, here)
}

fn not_answered() -> Refusal {
    Refusal::new(
        Code::PointerNotFound,
        "the evidence was gone before",
        "Look at the claim: retire it, or point it at evidence that is there.",
    )
}

fn count_lines(bytes: &[u8]) -> u32 {
    let ends = bytes.iter().filter(|byte| **byte == b'\n').count();
    let open = usize::from(bytes.last().is_some_and(|byte| *byte != b'\n'));
    (ends + open).max(1) as u32
}

fn answer(pointer: &Pointer, found: Found) -> CheckedPointer {
    let mut checked = CheckedPointer {
        pointer: pointer.to_string(),
        state: None,
        path: None,
        start: None,
        end: None,
        change: None,
        confidence: None,
        error: None,
    };
    match found {
        Err(error) => checked.error = Some(error),
        Ok(anchor) => {
            checked.state = Some(anchor.state.as_str().to_owned());
            if let State::Edited(edit) = anchor.state {
                checked.change = Some(edit.as_str().to_owned());
            }
            checked.confidence = Some(anchor.confidence);
            if let Some(place) = anchor.place {
                checked.path = Some(place.path);
                checked.start = Some(place.start);
                checked.end = Some(place.end);
            }
        }
    }
    checked
}

/// The worst of what could be looked at.
fn standing(pointers: &[CheckedPointer]) -> Evidence {
    let any = |state: &str, change: Option<&str>| {
        pointers.iter().any(|it| {
            it.state.as_deref() == Some(state)
                && change.is_none_or(|change| it.change.as_deref() == Some(change))
        })
    };
    if any("deleted", None) {
        Evidence::EvidenceGone
    } else if any("edited", Some("text")) {
        Evidence::NeedsReverification
    } else if pointers.iter().any(|it| it.state.is_some()) {
        Evidence::Holds
    } else {
        Evidence::Unknown
    }
}

/// The same address at another commit, where its lines are there.
fn moved(pointer: &Pointer, anchor: Anchor, head: &str) -> Result<Pointer, Refusal> {
    let Some(place) = anchor.place else {
        return Err(Refusal::new(
            Code::PointerNotFound,
            format!("{} is gone at the current commit", pointer.label()),
            "Retire the claim with `engram forget`, or correct it with evidence that is there.",
        ));
    };
    let mut target = pointer.target.clone();
    match &mut target {
        Target::Repo { path, lines, pin } => {
            *path = place.path;
            if lines.is_some() {
                *lines = Some(Lines {
                    start: place.start,
                    end: place.end,
                });
            }
            *pin = Pin::Rev(head.to_owned());
        }
        Target::Artifact {
            name: path, pin, ..
        }
        | Target::Test { path, pin, .. } => {
            *path = place.path;
            *pin = Pin::Rev(head.to_owned());
        }
        _ => {}
    }
    Ok(Pointer {
        target,
        digest: None,
    })
}
