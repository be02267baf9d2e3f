//! The agents.

use engram_model::{AgentRecord, format_count};

pub const TITLE: &str = "Agents";
pub const COUNTS: &str = "Agents that were opened here, or stored or read something";
pub const LABEL: &str = "Agents, most recent first";
pub const ONE: &str = "Agent";
pub const READING: &str = "Loading…";
pub const GONE: &str = "No agent listed here has that handle";
pub const NONE: &str = "No agent has used this memory yet";
pub const NONE_MEANS: &str = "An agent appears here once it stores a claim or reads a source.";
pub const CONNECT: &str = "To connect one, press `Ctrl K` and choose “Connect an agent…”, or run `engram connect` in a terminal.";
pub const STATE: &str = "state";
pub const IS_CLOSED: &str = "closed: its calls are refused";
pub const ROLE: &str = "role";
pub const PARENT: &str = "parent";
pub const FIRST: &str = "first seen";
pub const LAST: &str = "last active";
pub const STORED: &str = "stored";
pub const TURN: &str = "Spent this turn";
pub const LAST_TURN: &str = "Spent in its last turn";
pub const IDLE: &str = "no open turn";
pub const INLINE: &str = "sent in messages";
pub const CHILDREN: &str = "Children";
pub const GRANTS: &str = "grants";
pub const REFUSED: &str = "refused";
pub const TIMES: super::Noun = ("time", "times");
pub const OPEN_GRANTS: super::Noun = ("open grant", "open grants");
pub const REFUSALS: super::Noun = ("refusal", "refusals");
pub const TIMELINE: &str = "Timeline";
const CONTRADICTIONS: super::Noun = ("contradiction", "contradictions");
pub const READS: super::Noun = ("read", "reads");
pub const FILES: super::Noun = ("file", "files");
pub const DID_STORE: &str = "stored";
pub const DID_CONTRADICT: &str = "contradicted another claim";
pub const DID_SETTLE: &str = "settled a conflict";
pub const DID_REOPEN: &str = "took back a verdict";
pub const MESSAGE: &str = "sent a message";
pub const BY_GRANT: &str = "with a grant";
pub const NOT_ALLOWED: &str = "refused: not allowed";
pub const OVER: &str = "refused: over budget";
pub const SAID: &str = "Its newest claims that hold";
pub const SHOW: &str = "Show its claims";
pub const HIDDEN: &str = "hidden";
pub const CLOSED: &str = "closed";
pub const CONNECTIONS: &str = "connections";
pub const FORMERLY: &str = "earlier name";
pub const NAME: &str = "New name";
pub const RENAME: &str = "Rename";
pub const RENAME_MEANS: &str = "Edit the agent’s name";
pub const HIDE: &str = "Hide";
pub const SHOW_AGAIN: &str = "Show";
pub const HIDE_MEANS: &str = "Hide the agent, or show it again";
/// Beside [`hidden_now`].
pub const HIDDEN_HINT: &str = "Press F to list hidden agents.";
pub const CLOSE: &str = "Close…";
pub const CLOSE_MEANS_TO: &str = "Close the agent…";
pub const CLOSE_ASK: &str = "Close this agent?";
pub const CLOSE_MEANS: &str =
    "Its connection, token, open grants and requests end. Its claims stay. You cannot undo this.";
pub const CLOSE_YES: &str = "Close";
/// While a change is on its way.
pub const CHANGING: &str = "Changing";
pub const RECORD: &str = "Record";

pub fn renamed(name: &str) -> String {
    format!("Renamed {name}. Its earlier claims keep the old name")
}

pub fn hidden_now(name: &str) -> String {
    format!("Hid {name} from this list and the brief")
}

pub fn shown_again(name: &str) -> String {
    format!("Shown again: {name}")
}

pub fn closed_now(name: &str) -> String {
    format!("Closed {name}")
}

/// How the claims and answers of an agent fared; empty if there is nothing to tell.
pub fn record(record: &AgentRecord) -> String {
    let number = crate::words::thousands;
    let told = |count: u64, words: &str| (count > 0).then(|| format!("{} {words}", number(count)));
    let claims = (record.claims > 0).then(|| {
        let claims = format_count(record.claims, super::CLAIMS);
        format!("{} of {claims} verified", number(record.verified))
    });
    let reported = (record.reported > 0).then(|| {
        let fared = [
            told(record.upheld, "upheld"),
            told(record.dismissed, "dismissed"),
        ];
        let fared: Vec<String> = fared.into_iter().flatten().collect();
        let reported = format_count(record.reported, CONTRADICTIONS);
        match fared.as_slice() {
            [] => format!("{reported} reported"),
            _ => format!("{reported} reported: {}", fared.join(", ")),
        }
    });
    let conflicts = (record.conflicts > 0).then(|| {
        let settled = told(record.settled, "settled");
        let settled = settled.map(|it| format!(", {it}")).unwrap_or_default();
        format!(
            "in {}{settled}",
            format_count(record.conflicts, super::CONFLICTS)
        )
    });
    let all: Vec<String> = [claims, reported, conflicts]
        .into_iter()
        .flatten()
        .collect();
    crate::words::sentence(&all.join("; "))
}

pub fn close_ask(name: &str) -> String {
    format!("Close {name}?")
}

pub fn left_out(count: &str) -> String {
    format!("{count} hidden or closed")
}

pub fn parent(name: &str) -> String {
    format!("{PARENT} {name}")
}

pub fn not_listed(agents: &str) -> String {
    format!("Not listed: {agents} that called earlier.")
}

/// The grants of an agent: how many it can still use, and how many it used.
pub fn grants(open: u32, used: u32) -> String {
    format!("{open} open, {used} used")
}

pub fn read_source(what: &str) -> String {
    format!("read {what}")
}

/// A read whose excerpt ended before the span did.
pub fn read_part(what: &str) -> String {
    format!("read the beginning of {what}")
}

pub fn asked_for(what: &str) -> String {
    format!("asked to read {what}")
}

pub fn turn_began(when: &str) -> String {
    format!("Turn of {when}")
}

pub fn spent(tokens: &str, reads: &str) -> String {
    format!("{tokens} in {reads}")
}

/// What reading by pointers saved, compared with reading whole files once each.
pub fn saved(tokens: &str, files: &str) -> String {
    format!("Saved about {tokens} tokens, compared with reading {files} in full (estimate).")
}

/// What a budget refused, by what it counts and how much of it there was.
pub fn refused_for(figures: &str) -> String {
    format!("refused: {figures}")
}

/// What a budget counts, by its name on the wire.
pub fn name_of_count(name: &str) -> Option<&'static str> {
    Some(match name {
        "repo_spans" => "spans",
        "artifact_sections" => "sections",
        "sam_items" => "events",
        "tokens" => "tokens",
        "inline_tokens" => INLINE,
        "engrams" => "engrams in a message",
        "inline_code_chars" => "characters of code",
        "brief_lines" => "lines of a brief",
        _ => return None,
    })
}

/// The claims that a verdict ended, after what was done.
pub fn ended(claims: &[String]) -> String {
    let quoted: Vec<String> = claims.iter().map(|it| format!("“{it}”")).collect();
    format!(": this ended {}", quoted.join(" and "))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_leaves_out_what_is_zero() {
        let all = AgentRecord {
            claims: 14,
            verified: 12,
            reported: 3,
            upheld: 2,
            dismissed: 1,
            conflicts: 4,
            settled: 3,
        };
        let of = |change: fn(&mut AgentRecord)| {
            let mut changed = all;
            change(&mut changed);
            record(&changed)
        };
        for (told, want) in [
            (
                of(|_| {}),
                "12 of 14 claims verified; 3 contradictions reported: 2 upheld, 1 dismissed; in 4 conflicts, 3 settled",
            ),
            (
                of(|it| (it.reported, it.conflicts, it.claims, it.verified) = (0, 0, 1, 1)),
                "1 of 1 claim verified",
            ),
            (
                of(|it| (it.claims, it.upheld, it.settled) = (0, 0, 0)),
                "3 contradictions reported: 1 dismissed; in 4 conflicts",
            ),
            (
                of(|it| (it.claims, it.reported, it.conflicts) = (0, 0, 1)),
                "In 1 conflict, 3 settled",
            ),
            (record(&AgentRecord::default()), ""),
        ] {
            assert_eq!(told, want);
        }
    }
}
