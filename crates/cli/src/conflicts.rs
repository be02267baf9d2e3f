//! Conflicts as a person reads them.

use std::fmt::Write as _;

use engram_model::{
    Conflict, ConflictFilter, ConflictId, ConflictSide, ConflictStatus, ConflictsReply, Gate,
    GateReply, Listed, PairAnswer, ResolveReply, Tier, shell_quoted,
};

use crate::out::{in_quotes, one_line, time_text};

/// Renders a page of conflicts under the topic of the newer side, in the reply's order.
pub(crate) fn conflicts_text(page: &ConflictsReply, asked: &ConflictFilter) -> String {
    let mut out = heading(page, asked.status);
    let mut topic = None;
    for conflict in &page.conflicts {
        let is_possible = conflict.status == ConflictStatus::Possible;
        if is_possible {
            out.push('\n');
        } else if topic != Some(&conflict.b.topic) {
            topic = Some(&conflict.b.topic);
            let _ = write!(out, "\n\n{}", topic_of(conflict));
        }
        let allowed = match conflict.allowed {
            Some(_) if conflict.status == ConflictStatus::Open => ", allowed",
            _ => "",
        };
        let _ = write!(
            out,
            "\n{}  {}, {}{allowed}{}{}",
            conflict.id,
            conflict.status,
            if is_possible {
                topic_of(conflict)
            } else {
                severity_of(conflict)
            },
            score_suffix(conflict),
            why_line(conflict)
        );
        for (name, side) in [("a", &conflict.a), ("b", &conflict.b)] {
            let (claim, by) = (claim_text(side), one_line(&side.by));
            let _ = write!(out, "\n  {name} {claim} ({by})");
        }
        for judged in conflict.judged.iter().filter(|_| is_possible) {
            let (by, verdict) = (name_or_nobody(&judged.by), judged.verdict);
            let _ = write!(out, "\n  {by}: {verdict}{}", sure_suffix(judged));
        }
        if let Some(settled) = settled_line(conflict) {
            let _ = write!(out, "\n  {settled}");
        }
    }
    if let (Some(more), Some(next)) = (page.omitted, &page.next) {
        let _ = write!(out, "\n\n{more} more: {}", next_page_command(asked, next));
    }
    if page.possible > 0 && asked.status != Listed::Possible {
        let of_all = if asked.topic.is_some() {
            " of all topics"
        } else {
            ""
        };
        let possible = page.possible;
        let _ = write!(
            out,
            "\n\npossible conflicts{of_all}: {possible} (engram conflicts --status possible)"
        );
    }
    if page.due > 0 {
        let due = due_sentence(page.due);
        let _ = write!(out, "\n\n{due} The gate fails until nothing is due.");
    }
    out
}

/// Returns the command that prints the next page of the same list.
fn next_page_command(asked: &ConflictFilter, next: &str) -> String {
    let mut command = "engram conflicts".to_owned();
    let options = [
        ("topic", asked.topic.clone()),
        (
            "status",
            Some(asked.status)
                .filter(|it| *it != Listed::Open)
                .map(|it| it.to_string()),
        ),
        ("severity", asked.severity.map(|it| it.to_string())),
        ("limit", asked.limit.map(|it| it.to_string())),
        ("after", Some(next.to_owned())),
    ];
    for (name, value) in options {
        if let Some(value) = value {
            let _ = write!(command, " --{name}={}", shell_quoted(&one_line(value)));
        }
    }
    command
}

/// Returns the sentence about comparisons that are due.
fn due_sentence(due: u64) -> String {
    let comparisons = if due == 1 {
        "1 comparison is"
    } else {
        &format!("{due} comparisons are")
    };
    format!("{comparisons} still due.")
}

/// Returns the heading: how many conflicts are listed, and how many are open.
fn heading(page: &ConflictsReply, listed: Listed) -> String {
    let many = |number: u64, what: &str| match number {
        0 => format!("no {what}conflicts"),
        1 => format!("1 {what}conflict"),
        _ => format!("{number} {what}conflicts"),
    };
    let shown = page.conflicts.len() as u64;
    match listed {
        Listed::Open if shown == page.open => many(shown, "open "),
        Listed::Open => format!("{shown} of {}", many(page.open, "open ")),
        Listed::All => format!("{}; {} open", many(shown, ""), page.open),
        other => {
            let listed = many(shown, &format!("{other} "));
            format!("{listed}; {}", many(page.open, "open "))
        }
    }
}

/// Renders both claims with their authors, why they cannot both hold, and what was decided.
pub(crate) fn conflict_text(conflict: &Conflict) -> String {
    let mut out = format!(
        "{}  {}, {}{}, {}, found {}{}",
        conflict.id,
        conflict.status,
        severity_of(conflict),
        score_suffix(conflict),
        tier_in_words(conflict.tier),
        time_text(conflict.found_at),
        why_line(conflict)
    );
    for (name, side) in [("a", &conflict.a), ("b", &conflict.b)] {
        let _ = write!(
            out,
            "\n{name} {}  {}\n  {}\n  by {}, {}, {}, confidence {}",
            side.id,
            one_line(&side.topic),
            claim_text(side),
            one_line(&side.by),
            time_text(side.created_at),
            side.fact_type,
            side.confidence
        );
        for pointer in &side.pointers {
            let _ = write!(out, "\n  {}", one_line(pointer.to_string()));
        }
    }
    for judged in &conflict.judged {
        let _ = write!(
            out,
            "\n{}: {}{}, {}{}",
            name_or_nobody(&judged.by),
            judged.verdict,
            sure_suffix(judged),
            time_text(judged.at),
            reason_suffix(judged.why.as_deref())
        );
    }
    if conflict.status == ConflictStatus::Possible {
        let _ = write!(
            out,
            "\ndo they contradict each other? engram resolve {} --contradicts, --compatible or --merge TEXT",
            conflict.id
        );
    }
    if let Some(settled) = settled_line(conflict) {
        let _ = write!(out, "\n{settled}");
    }
    if let Some(allowed) = &conflict.allowed {
        let _ = write!(
            out,
            "\nallowed by {}, {}{}",
            name_or_nobody(&allowed.by),
            time_text(allowed.at),
            reason_suffix(Some(&allowed.why))
        );
    }
    out
}

/// The line that says how a conflict was settled, which side won, by whom and why; none while it is
/// open.
fn settled_line(conflict: &Conflict) -> Option<String> {
    let settled = conflict.settled.as_ref()?;
    Some(format!(
        "{}{}{}, {}{}",
        settled.how,
        match (conflict.winner(), settled.merged) {
            (Some(side), _) if side.id == conflict.a.id => ": a".to_owned(),
            (Some(_), _) => ": b".to_owned(),
            (None, Some(id)) => format!(": {id}"),
            (None, None) => String::new(),
        },
        match settled.by.as_str() {
            // Nobody decided: a ttl ended.
            "" => String::new(),
            by => format!(", by {}", one_line(by)),
        },
        time_text(settled.at),
        reason_suffix(settled.why.as_deref())
    ))
}

/// Returns what differs, in the words of the window.
fn tier_in_words(tier: Tier) -> &'static str {
    match tier {
        Tier::Entity => "values differ",
        Tier::Nli => "sentences contradict",
        Tier::Numeric => "quantities differ",
        Tier::Temporal => "times differ",
        Tier::CrossScope => "across topics",
        Tier::Llm => "judged by a model",
        Tier::Agent => "in other words",
    }
}

/// The severity, and whether anybody but the one who raised the conflict stands behind it.
fn severity_of(conflict: &Conflict) -> String {
    let unconfirmed = if conflict.is_unconfirmed() {
        ", unconfirmed"
    } else {
        ""
    };
    format!("{}{unconfirmed}", conflict.severity)
}

fn score_suffix(conflict: &Conflict) -> String {
    let score = conflict.score;
    score.map_or_else(String::new, |it| format!(", score {it:.2}"))
}

/// How sure a model is of its word.
fn sure_suffix(judged: &PairAnswer) -> String {
    let sure = judged.sure;
    sure.map_or_else(String::new, |it| format!(" (sure: {it:.2})"))
}

/// The line that says why both claims cannot hold, if that is known.
fn why_line(conflict: &Conflict) -> String {
    if conflict.why.is_empty() {
        return String::new();
    }
    format!("\n  {}", one_line(&conflict.why))
}

/// Renders the conflicts that shut the gate, with the details of those in `known`.
pub(crate) fn gate_text(gate: &GateReply, known: &[Conflict]) -> String {
    match gate.gate {
        Gate::Open => "passed: no conflict blocks".to_owned(),
        Gate::Shut => {
            let about = |id: &ConflictId| match known.iter().find(|it| it.id == *id) {
                None => id.to_string(),
                Some(conflict) => {
                    let (a, b) = (claim_text(&conflict.a), claim_text(&conflict.b));
                    let (topic, severity) = (topic_of(conflict), conflict.severity);
                    format!("{id}  {severity}  {topic}\n  a {a}\n  b {b}")
                }
            };
            let ids: Vec<String> = gate.blocking.iter().map(about).collect();
            let due = (gate.due > 0).then(|| due_sentence(gate.due));
            if let (Some(due), true) = (&due, ids.is_empty()) {
                return format!("failed: {due} Run this again in a moment.");
            }
            let due = due.map_or(String::new(), |due| {
                format!("\n{due} The gate fails until nothing is due.")
            });
            format!(
                "failed: {}\n{}\nSettle each with `engram resolve`, or let it pass with `engram conflicts allow ID --why REASON`.{due}",
                match ids.len() {
                    1 => "1 open conflict".to_owned(),
                    many => format!("{many} open conflicts"),
                },
                ids.join("\n")
            )
        }
    }
}

pub(crate) fn resolved_text(resolved: &ResolveReply) -> String {
    if resolved.repeated {
        return format!(
            "{}  {}: nothing changed, since entry {} did the same",
            resolved.conflict, resolved.status, resolved.seq
        );
    }
    let mut out = format!(
        "{}  {}, entry {}",
        resolved.conflict, resolved.status, resolved.seq
    );
    for (what, ids) in [("closed", &resolved.closed), ("stored", &resolved.stored)] {
        for id in ids {
            let _ = write!(out, "\n  {what} {id}");
        }
    }
    out
}

/// Returns the topic of the newer side.
fn topic_of(conflict: &Conflict) -> String {
    match conflict.b.topic.as_str() {
        "" => "(no topic)".to_owned(),
        name => one_line(name),
    }
}

fn claim_text(side: &ConflictSide) -> String {
    if side.claim.is_empty() {
        "(redacted)".to_owned()
    } else {
        one_line(&side.claim)
    }
}

fn name_or_nobody(by: &str) -> String {
    match by {
        "" => "nobody".to_owned(),
        by => one_line(by),
    }
}

fn reason_suffix(why: Option<&str>) -> String {
    why.filter(|it| !it.is_empty())
        .map_or_else(String::new, |why| format!(": {}", in_quotes(why)))
}
