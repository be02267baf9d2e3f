//! The shared brief (docs/design.md#the-shared-brief) that a parent sends its children, composed
//! rather than written by hand: what matters now, constraints, the worst risks, a pack of pointers
//! for each role, budgets and grants, within 30 lines and 800 tokens.
//!
//! The same material gives the same brief in any order. The engine passes in what the reader may
//! see and what recall ranked highest; this module selects from it.

mod pack;
mod pin;
mod quote;
mod sent;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;

use engram_model::{
    AgentId, BriefLine, BriefPart, BriefReply, EngramId, Evidence, Figure, Kind, Limits, RunId,
    Scope, thousands,
};
use jiff::Timestamp;

use crate::{code_chars, count_tokens};

pub use pin::{admit_pin, pin_text};
pub use quote::quoted;
pub use sent::{lines_that_fit, riding_lines};

/// A claim that may be included.
#[derive(Clone, Debug, PartialEq)]
pub struct BriefCandidate {
    /// Its current version.
    pub id: EngramId,
    /// The entry that stored this version.
    pub entry: u64,
    /// Its kind.
    pub kind: Kind,
    /// Its topic; empty if it has none.
    pub topic: String,
    /// Its text.
    pub claim: String,
    /// Its author's display name.
    pub author: String,
    /// The author's handle; `None` means the user, or Engram itself.
    pub agent: Option<AgentId>,
    /// Whether the user made it; Engram's own reports of conflicts have no agent either.
    pub is_users: bool,
    /// Who may see it.
    pub scope: Scope,
    /// The run it was made in.
    pub run: Option<RunId>,
    /// Whether its evidence resolved.
    pub verified: bool,
    /// 0 to 1.
    pub confidence: f64,
    /// When this home learned of it.
    pub recorded_at: Timestamp,
    /// How often earlier runs of this project read it.
    pub reads: u64,
    /// The state of its evidence; `None` if it was not checked.
    pub evidence: Option<Evidence>,
    /// Whether another claim contradicts it, and the conflict is open.
    pub is_disputed: bool,
    /// The canonical addresses of its evidence.
    pub pointers: Vec<String>,
    /// The words of the to-do that it answers, if the brief is to show it as an answer.
    pub answers: Option<String>,
}

/// What a parent or the user pinned.
#[derive(Clone, Debug, PartialEq)]
pub struct BriefLinePin {
    /// Its id.
    pub id: u64,
    /// Its position among the pins: the lowest comes first.
    pub order: u64,
    /// What it is.
    pub what: PinSubject,
    /// The display name of the agent that pinned it; `None` for the user.
    pub by: Option<String>,
}

/// A pin is a claim, or a line of free text.
#[derive(Clone, Debug, PartialEq)]
pub enum PinSubject {
    /// The claim with this id, which must be among the candidates.
    Claim(EngramId),
    /// A line that passed [`pin_text`].
    Text(String),
}

/// A role that the brief is for: a child, or the reader itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BriefRole {
    /// The role's name.
    pub role: String,
    /// Topics that it may read; none means all.
    pub reads: Vec<String>,
}

/// An open grant, without its token, which only its holder may know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenGrant {
    /// The display name of the agent that may use it.
    pub to: String,
    /// The canonical address that may be read; `None` for inline code.
    pub pointer: Option<String>,
    /// The maximum number of tokens of the excerpt, or of characters of code.
    pub cap: u32,
    /// When it expires.
    pub expires_at: Timestamp,
}

/// The material of a brief.
#[derive(Clone, Debug, PartialEq)]
pub struct BriefMaterial {
    /// The claims that its reader may see.
    pub candidates: Vec<BriefCandidate>,
    /// The pins.
    pub pins: Vec<BriefLinePin>,
    /// The roles it is for.
    pub roles: Vec<BriefRole>,
    /// What was and may be spent, by owner of the budget: names and figures, as in `budget`.
    pub budgets: Vec<(String, Vec<(String, Figure)>)>,
    /// What may be read beyond the budgets.
    pub grants: Vec<OpenGrant>,
    /// The reader's run: claims private to another run are left out.
    pub run: Option<RunId>,
    /// The reader's handle, whose own claims are included even if unverified; `None` means the
    /// user.
    pub reader: Option<AgentId>,
    /// The current time; newer claims weigh more.
    pub now: Timestamp,
}

/// The lines that each part gets before any other part gets more; pins do not count.
const TODOS: usize = 6;
const MATTERS: usize = 8;
const CONSTRAINTS: usize = 5;
const RISKS: usize = 5;
const GRANTS: usize = 4;
/// Claims that come before budgets and grants: two of each part.
const FIRST: usize = 8;

/// Composes the brief. It has at most `limits.message.brief_lines` lines, and as a list of texts at
/// most `tokens` tokens, which a caller lowers to what is left of a message.
pub fn compose_brief(material: &BriefMaterial, limits: &Limits, tokens: usize) -> BriefReply {
    let claims = ranked(material);
    let mut lines = pinned_lines(material, &claims);
    let is_said = |lines: &[BriefLine], claim: &BriefCandidate| {
        lines.iter().any(|it| it.engram == Some(claim.id))
    };
    let rest: Vec<&BriefCandidate> = claims
        .iter()
        .copied()
        .filter(|it| it.evidence != Some(Evidence::EvidenceGone) && !is_said(&lines, it))
        .collect();
    // A reader needs these, so they get their tokens before most claims, but come last in the
    // brief.
    let tail: Vec<BriefLine> = pack::pack_lines(&claims, &material.roles)
        .into_iter()
        .chain(budget_lines(material))
        .chain(grant_lines(material))
        .collect();
    let mut body = part_lines(&rest);
    // The worst risks and constraints are included, however many budgets there are.
    let more = body.split_off(FIRST.min(body.len()));
    let limit = Limit {
        lines: limits.message.brief_lines,
        tokens: tokens.min(limits.message.inline_tokens),
    };
    // Pins, a few claims, what the reader may do, then more claims: each while it fits.
    let mut kept: Vec<BriefLine> = Vec::new();
    for line in lines.drain(..).chain(body).chain(tail).chain(more) {
        limit.take(&mut kept, line);
    }
    kept.sort_by_key(|it| it.part);
    let tokens = cost_of(&kept);
    BriefReply {
        lines: kept,
        tokens: u64::try_from(tokens).unwrap_or(u64::MAX),
    }
}

/// The limits of a brief.
struct Limit {
    lines: usize,
    tokens: usize,
}

impl Limit {
    /// Adds a line if it still fits.
    fn take(&self, kept: &mut Vec<BriefLine>, line: BriefLine) {
        if kept.len() >= self.lines || kept.iter().any(|it| it.text == line.text) {
            return;
        }
        kept.push(line);
        if cost_of(kept) > self.tokens {
            kept.pop();
        }
    }
}

/// Returns the tokens of the texts as they appear in a message.
fn cost_of(lines: &[BriefLine]) -> usize {
    let texts: Vec<&str> = lines.iter().map(|it| it.text.as_str()).collect();
    serde_json::to_string(&texts).map_or(usize::MAX, |it| count_tokens(&it))
}

/// Returns the claims that may be included, best first, and each only once, even if several agents
/// made it.
fn ranked(material: &BriefMaterial) -> Vec<&BriefCandidate> {
    let is_pinned = |it: &BriefCandidate| {
        material
            .pins
            .iter()
            .any(|pin| pin.what == PinSubject::Claim(it.id))
    };
    let is_ours = |it: &BriefCandidate| {
        it.scope != Scope::Run || (it.run.is_some() && it.run == material.run)
    };
    // The user asked for an answer, whatever it rests on.
    let is_proven = |it: &BriefCandidate| {
        it.verified || it.agent.is_none() || it.agent == material.reader || it.answers.is_some()
    };
    let mut claims: Vec<&BriefCandidate> = material
        .candidates
        .iter()
        .filter(|it| is_ours(it) && (is_proven(it) || is_pinned(it)))
        .filter(|it| !it.claim.trim().is_empty() && code_chars(&it.claim) == 0)
        .collect();
    claims.sort_by_key(|it| order_of(it, material.now));
    let mut said = std::collections::BTreeSet::new();
    claims.retain(|it| said.insert(it.id));
    let mut words = std::collections::BTreeSet::new();
    claims.retain(|it| words.insert(it.claim.to_lowercase()) || is_pinned(it));
    claims
}

/// Orders claims by weight, then by time, then by id, so that no two are equal.
fn order_of(
    claim: &BriefCandidate,
    now: Timestamp,
) -> (Reverse<i64>, Reverse<Timestamp>, Reverse<EngramId>) {
    (
        Reverse(weight_of(claim, now)),
        Reverse(claim.recorded_at),
        Reverse(claim.id),
    )
}

/// Returns the weight of a claim, in thousandths, by its confidence, whether it is verified, how
/// often earlier runs read it, its age, and whether its evidence is unchanged. A claim of the user
/// outweighs all claims of agents, however many they commit.
fn weight_of(claim: &BriefCandidate, now: Timestamp) -> i64 {
    // NaN counts as no confidence.
    let sure = (claim.confidence.clamp(0.0, 1.0) * 1000.0) as i64;
    let proven = if claim.verified { 400 } else { 0 };
    // Each doubling of reads adds 100, up to 128 reads.
    let read = i64::from(claim.reads.saturating_add(1).ilog2().min(7)) * 100;
    let hours = now.duration_since(claim.recorded_at).as_hours();
    let new = match hours {
        ..1 => 300,
        1..24 => 200,
        24..168 => 100,
        _ => 0,
    };
    let drifted = match claim.evidence {
        Some(Evidence::NeedsReverification) => 500,
        Some(Evidence::EvidenceGone) => 900,
        _ => 0,
    };
    let users = if claim.is_users { 3000 } else { 0 };
    users + sure + proven + read + new - drifted
}

fn pinned_lines(material: &BriefMaterial, claims: &[&BriefCandidate]) -> Vec<BriefLine> {
    let mut pins: Vec<&BriefLinePin> = material.pins.iter().collect();
    pins.sort_by_cached_key(|it| match &it.what {
        PinSubject::Claim(id) => (it.order, it.id, id.to_string()),
        PinSubject::Text(text) => (it.order, it.id, text.clone()),
    });
    let lines = pins.into_iter().filter_map(|pin| match &pin.what {
        PinSubject::Claim(id) => {
            let claim = claims.iter().find(|it| it.id == *id)?;
            let line = claim_line(claim, BriefPart::Pin);
            Some(BriefLine {
                pinned: true,
                pin: Some(pin.id),
                pinned_by: pin.by.clone(),
                entry: Some(claim.entry.max(pin.id)),
                ..line
            })
        }
        PinSubject::Text(text) => Some(BriefLine {
            pinned: true,
            pin: Some(pin.id),
            pinned_by: pin.by.clone(),
            entry: Some(pin.id),
            ..text_line(quote::one_line(text, usize::MAX), BriefPart::Pin)
        }),
    });
    lines.filter(|it| !it.text.is_empty()).collect()
}

/// Returns the part of a claim: what is to be done, what must stay true, what may go wrong, what
/// matters now.
fn part_of(claim: &BriefCandidate) -> BriefPart {
    match claim.kind {
        _ if claim.answers.is_some() => BriefPart::Todo,
        Kind::Todo => BriefPart::Todo,
        Kind::Constraint | Kind::Policy => BriefPart::Constraint,
        Kind::Risk => BriefPart::Risk,
        _ => BriefPart::Matter,
    }
}

/// Returns the best of each part first, then the best of the rest.
fn part_lines(rest: &[&BriefCandidate]) -> Vec<BriefLine> {
    let best = |part: BriefPart, wanted: usize| {
        rest.iter()
            .copied()
            .filter(move |it| part_of(it) == part)
            .take(wanted)
    };
    let first: Vec<&BriefCandidate> = best(BriefPart::Todo, TODOS)
        .chain(best(BriefPart::Constraint, CONSTRAINTS))
        .chain(best(BriefPart::Risk, RISKS))
        .chain(best(BriefPart::Matter, MATTERS))
        .collect();
    // Takes one of each part in turn, so that a small budget leaves no part out.
    let place = |claim: &&BriefCandidate| {
        let same = first
            .iter()
            .filter(|other| part_of(other) == part_of(claim));
        same.take_while(|other| other.id != claim.id).count()
    };
    let mut turns: Vec<(usize, &BriefCandidate)> =
        first.iter().map(|it| (place(it), *it)).collect();
    turns.sort_by_key(|it| it.0);
    let more = rest
        .iter()
        .copied()
        .filter(|it| first.iter().all(|other| other.id != it.id));
    let all = turns.into_iter().map(|it| it.1).chain(more);
    // Skips lines beyond the most that a brief can have.
    all.take(64).map(|it| claim_line(it, part_of(it))).collect()
}

/// Returns a claim with its kind, author and caveats; its words are data.
fn claim_line(claim: &BriefCandidate, part: BriefPart) -> BriefLine {
    let mut marks: Vec<&str> = Vec::new();
    // A to-do says nothing that evidence could verify.
    if !claim.verified && claim.kind != Kind::Todo {
        marks.push("unverified");
    }
    if claim.is_disputed {
        marks.push("in conflict");
    }
    marks.extend(match claim.evidence {
        Some(drifted) if Evidence::DRIFTED.contains(&drifted) => Some(drifted.in_words()),
        _ => None,
    });
    let marks = if marks.is_empty() {
        String::new()
    } else {
        format!(" ({})", marks.join(", "))
    };
    let text = format!(
        "{} by {}{marks}: {}",
        claim.kind,
        quote::quoted_name(&claim.author),
        quote::quoted(&claim.claim)
    );
    let text = match &claim.answers {
        Some(todo) => format!("{text}, answering {}", quote::quoted(todo)),
        None => text,
    };
    BriefLine {
        engram: Some(claim.id),
        pointers: claim.pointers.clone(),
        entry: Some(claim.entry),
        is_todo: claim.kind == Kind::Todo && claim.is_users,
        ..text_line(text, part)
    }
}

/// A line that repeats no claim and is not pinned.
pub fn text_line(text: String, part: BriefPart) -> BriefLine {
    BriefLine {
        text,
        part,
        engram: None,
        pointers: Vec::new(),
        pinned: false,
        role: None,
        pin: None,
        pinned_by: None,
        sent: Vec::new(),
        entry: None,
        is_todo: false,
    }
}

fn budget_lines(material: &BriefMaterial) -> Vec<BriefLine> {
    let mut lines: Vec<BriefLine> = material
        .budgets
        .iter()
        .map(|(of, figures)| {
            let text = format!("{} has read {}", quote::quoted_name(of), used_of(figures));
            text_line(text, BriefPart::Budget)
        })
        .collect();
    lines.sort_by(|one, other| one.text.cmp(&other.text));
    lines
}

/// The tokens used in a turn, and whatever else of its budget was used.
fn used_of(figures: &[(String, Figure)]) -> String {
    let one = |name: &str, noun: &str| {
        let (_, figure) = figures.iter().find(|(of, _)| of == name)?;
        let is_told = figure.used > 0 || name == "tokens";
        let (used, limit) = (thousands(figure.used), thousands(figure.limit));
        is_told.then(|| format!("{used} of {limit} {noun}"))
    };
    let all = [
        one("tokens", "tokens"),
        one("repo_spans", "spans"),
        one("artifact_sections", "sections"),
        one("sam_items", "events"),
    ];
    let all: Vec<String> = all.into_iter().flatten().collect();
    all.join(", ")
}

fn grant_lines(material: &BriefMaterial) -> Vec<BriefLine> {
    let mut open: Vec<&OpenGrant> = material.grants.iter().collect();
    open.sort_by(|one, other| {
        (one.expires_at, &one.to, &one.pointer, one.cap).cmp(&(
            other.expires_at,
            &other.to,
            &other.pointer,
            other.cap,
        ))
    });
    let line = |grant: &OpenGrant| {
        let is_soon = grant.expires_at.duration_since(material.now).as_hours() < 12;
        let form = if is_soon {
            "%H:%M:%SZ"
        } else {
            "%Y-%m-%d %H:%MZ"
        };
        let (to, until) = (
            quote::quoted_name(&grant.to),
            grant.expires_at.strftime(form),
        );
        let text = match &grant.pointer {
            Some(pointer) => format!(
                "grant to {to}: {} up to {} tokens, until {until}",
                pack::short_address(pointer),
                grant.cap
            ),
            None => format!(
                "grant to {to}: inline code up to {} characters, until {until}",
                grant.cap
            ),
        };
        BriefLine {
            pointers: grant.pointer.iter().cloned().collect(),
            ..text_line(text, BriefPart::Grant)
        }
    };
    open.into_iter().take(GRANTS).map(line).collect()
}
