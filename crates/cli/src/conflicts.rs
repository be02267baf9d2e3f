//! Conflicts as a person reads them.

use std::fmt::Write as _;

use engram_model::{
    Conflict, ConflictFilter, ConflictId, ConflictSide, ConflictStatus, ConflictsReply, Gate,
    GateReply, Listed, ResolveReply, quoted,
};

use crate::out::one_line;

/// Grouped by the topic of the newer side, as the reply is.
pub(crate) fn list(it: &ConflictsReply, asked: &ConflictFilter) -> String {
    let mut out = heading(it, asked.status);
    let mut topic = None;
    for conflict in &it.conflicts {
        if topic != Some(&conflict.b.topic) {
            topic = Some(&conflict.b.topic);
            let _ = write!(out, "\n\n{}", topic_of(conflict));
        }
        let allowed = match conflict.allowed {
            Some(_) if conflict.status == ConflictStatus::Open => ", allowed",
            _ => "",
        };
        let _ = write!(
            out,
            "\n{}  {}, {}{allowed}\n  a {}\n  b {}",
            conflict.id,
            conflict.status,
            conflict.severity,
            claim(&conflict.a),
            claim(&conflict.b)
        );
    }
    if let (Some(more), Some(next)) = (it.omitted, &it.next) {
        let _ = write!(out, "\n\n{more} more: {}", next_page(asked, next));
    }
    if it.due > 0 {
        let due = still_due(it.due);
        let _ = write!(out, "\n\n{due} Meanwhile, the gate stays shut.");
    }
    out
}

/// The command that prints the next page of the same list.
fn next_page(asked: &ConflictFilter, next: &str) -> String {
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
            let _ = write!(command, " --{name}={}", quoted(&one_line(value)));
        }
    }
    command
}

/// What is said of comparisons that are due.
fn still_due(due: u64) -> String {
    let comparisons = if due == 1 {
        "1 comparison is"
    } else {
        &format!("{due} comparisons are")
    };
    format!("{comparisons} still due.")
}

/// How many are listed, and how many are open.
fn heading(it: &ConflictsReply, listed: Listed) -> String {
    let many = |number: u64, what: &str| match number {
        0 => format!("no {what}conflicts"),
        1 => format!("1 {what}conflict"),
        _ => format!("{number} {what}conflicts"),
    };
    let shown = it.conflicts.len() as u64;
    match listed {
        Listed::Open if shown == it.open => many(shown, "open "),
        Listed::Open => format!("{shown} of {}", many(it.open, "open ")),
        Listed::All => format!("{}; {} open", many(shown, ""), it.open),
        other => format!("{}; {} open", many(shown, &format!("{other} ")), it.open),
    }
}

/// Both claims with their source, why they cannot both hold, and what was decided.
pub(crate) fn one(it: &Conflict) -> String {
    let mut out = format!(
        "{}  {}, {}, {}, found {}",
        it.id,
        it.status,
        it.severity,
        it.tier,
        it.found_at.strftime("%Y-%m-%d %H:%M:%S")
    );
    if !it.why.is_empty() {
        let _ = write!(out, "\n  {}", one_line(&it.why));
    }
    for (name, side) in [("a", &it.a), ("b", &it.b)] {
        let _ = write!(
            out,
            "\n{name} {}  {}\n  {}\n  by {}, {}, {}, confidence {}",
            side.id,
            one_line(&side.topic),
            claim(side),
            one_line(&side.by),
            side.created_at.strftime("%Y-%m-%d %H:%M:%S"),
            side.fact_type,
            side.confidence
        );
        for pointer in &side.pointers {
            let _ = write!(out, "\n  {}", one_line(pointer.to_string()));
        }
    }
    if let Some(settled) = &it.settled {
        let _ = write!(
            out,
            "\n{}{}{}, {}{}",
            settled.how,
            match (it.winner(), settled.merged) {
                (Some(side), _) if side.id == it.a.id => ": a".to_owned(),
                (Some(_), _) => ": b".to_owned(),
                (None, Some(id)) => format!(": {id}"),
                (None, None) => String::new(),
            },
            match settled.by.as_str() {
                // Nobody did it: a term ended.
                "" => String::new(),
                by => format!(", by {}", one_line(by)),
            },
            settled.at.strftime("%Y-%m-%d %H:%M:%S"),
            reason(settled.why.as_deref())
        );
    }
    if let Some(allowed) = &it.allowed {
        let _ = write!(
            out,
            "\nallowed by {}, {}{}",
            who(&allowed.by),
            allowed.at.strftime("%Y-%m-%d %H:%M:%S"),
            reason(Some(&allowed.why))
        );
    }
    out
}

/// What blocks, with what is known of it.
pub(crate) fn gate(it: &GateReply, known: &[Conflict]) -> String {
    match it.gate {
        Gate::Open => "the gate is open".to_owned(),
        Gate::Shut => {
            let about = |id: &ConflictId| match known.iter().find(|it| it.id == *id) {
                None => id.to_string(),
                Some(it) => {
                    let (topic, a, b) = (topic_of(it), claim(&it.a), claim(&it.b));
                    format!("{id}  {}  {topic}\n  a {a}\n  b {b}", it.severity)
                }
            };
            let ids: Vec<String> = it.blocking.iter().map(about).collect();
            let due = (it.due > 0).then(|| still_due(it.due));
            if let (Some(due), true) = (&due, ids.is_empty()) {
                return format!("the gate is shut: {due} Run this again in a moment.");
            }
            let due = due.map_or(String::new(), |due| {
                format!("\n{due} Meanwhile, the gate stays shut.")
            });
            format!(
                "the gate is shut: {}\n{}\nSettle each with `engram resolve`, or let it pass with `engram conflicts allow ID --why REASON`.{due}",
                match ids.len() {
                    1 => "1 open conflict".to_owned(),
                    many => format!("{many} open conflicts"),
                },
                ids.join("\n")
            )
        }
    }
}

pub(crate) fn resolved(it: &ResolveReply) -> String {
    let mut out = format!("{}  {}, entry {}", it.conflict, it.status, it.seq);
    for (what, ids) in [("closed", &it.closed), ("stored", &it.stored)] {
        for id in ids {
            let _ = write!(out, "\n  {what} {id}");
        }
    }
    out
}

/// The topic of the newer side.
fn topic_of(it: &Conflict) -> String {
    match it.b.topic.as_str() {
        "" => "(no topic)".to_owned(),
        name => one_line(name),
    }
}

fn claim(side: &ConflictSide) -> String {
    if side.claim.is_empty() {
        "(redacted)".to_owned()
    } else {
        one_line(&side.claim)
    }
}

fn who(by: &str) -> String {
    match by {
        "" => "nobody".to_owned(),
        by => one_line(by),
    }
}

fn reason(why: Option<&str>) -> String {
    why.filter(|it| !it.is_empty())
        .map_or_else(String::new, |why| format!(": {}", one_line(why)))
}
