//! Requests to read beyond a budget: their order, what became of each, and what a person answers.

use engram_model::{AgentStatus, GrantState, RequestState, RequestTold, successor_of};
use jiff::Timestamp;

use crate::words::{self, say};

/// The cap of a grant, in tokens, if the person sets no other (docs/design.md#grants-and-requests).
pub const DEFAULT_CAP: u32 = 500;
/// The largest cap that can be typed; the home may allow less.
const MAX_CAP: u32 = 100_000;

/// A person's answer to a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// The agent may read it once.
    Grant,
    /// The agent may not read it.
    Deny,
    /// The agent may no longer read it.
    Revoke,
}

impl Answer {
    /// The name of the command that gives it.
    pub const fn id(self) -> &'static str {
        match self {
            Self::Grant => "grant",
            Self::Deny => "deny",
            Self::Revoke => "revoke",
        }
    }

    /// Whether it can be given to this request at this time.
    pub fn fits(self, request: &RequestTold, now: Timestamp) -> bool {
        match self {
            Self::Grant | Self::Deny => request.state == RequestState::Waiting,
            Self::Revoke => standing_of(request, now).is_open(),
        }
    }
}

/// What became of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RequestStanding {
    /// Not answered yet.
    Waiting,
    /// Granted, and not used yet.
    Open,
    /// Granted and used.
    Read,
    /// Granted, but expired.
    Expired,
    /// Granted, then revoked.
    Revoked,
    /// Granted, transferred to a newer connection, and not used yet.
    Transferred,
    /// Denied.
    Denied,
}

/// Returns what became of a request. A grant expires without an entry in the journal.
pub fn standing_of(request: &RequestTold, now: Timestamp) -> RequestStanding {
    match (request.state, &request.grant) {
        (RequestState::Waiting, _) => RequestStanding::Waiting,
        (RequestState::Denied, _) => RequestStanding::Denied,
        (RequestState::Granted, None) => RequestStanding::Read,
        (RequestState::Granted, Some(grant)) => match grant.state {
            GrantState::Open if grant.expires_at <= now => RequestStanding::Expired,
            GrantState::Open if grant.holder.is_some() => RequestStanding::Transferred,
            GrantState::Open => RequestStanding::Open,
            GrantState::Spent => RequestStanding::Read,
            GrantState::Expired => RequestStanding::Expired,
            GrantState::Revoked => RequestStanding::Revoked,
        },
    }
}

impl RequestStanding {
    /// Whether a grant can be used.
    pub fn is_open(self) -> bool {
        matches!(self, Self::Open | Self::Transferred)
    }

    /// A word for it, and the word's CSS class.
    pub fn word(self) -> (&'static str, &'static str) {
        match self {
            Self::Waiting => (say::requests::state::WAITING, "word warn"),
            Self::Open => (say::requests::state::OPEN, "word ok"),
            Self::Read => (say::requests::state::READ, "word quiet"),
            Self::Expired => (say::requests::state::EXPIRED, "word gone"),
            Self::Revoked => (say::requests::state::REVOKED, "word gone"),
            Self::Transferred => (say::requests::state::TRANSFERRED, "word ok"),
            Self::Denied => (say::requests::state::DENIED, "word bad"),
        }
    }
}

/// Sorts requests as they are listed: the longest wait first, then the last answer first. A new
/// request moves no waiting one.
pub fn sort_requests(mut all: Vec<RequestTold>) -> Vec<RequestTold> {
    let answered = |it: &RequestTold| it.answer.as_ref().map_or(it.asked_at, |it| it.at);
    all.sort_by(|a, b| match (a.state, b.state) {
        (RequestState::Waiting, RequestState::Waiting) => {
            (a.asked_at, &a.id).cmp(&(b.asked_at, &b.id))
        }
        (RequestState::Waiting, _) => std::cmp::Ordering::Less,
        (_, RequestState::Waiting) => std::cmp::Ordering::Greater,
        _ => (answered(b), &b.id).cmp(&(answered(a), &a.id)),
    });
    all
}

/// The request to open once this one has been answered: the next that waits, else the one before
/// it.
pub fn next_waiting(all: &[RequestTold], after: &str) -> Option<String> {
    // Once the list is read again, it may stand among the answered ones.
    let answered = all.iter().find(|it| it.id == after)?;
    let place = |it: &RequestTold| (it.asked_at, it.id.clone());
    let waits = |it: &&RequestTold| it.state == RequestState::Waiting && it.id != after;
    let mut behind = all.iter().filter(|it| place(it) > place(answered));
    let next = behind.find(waits);
    next.or_else(|| all.iter().rev().find(waits))
        .map(|it| it.id.clone())
}

/// Parses a cap that somebody typed; none if it is not a number of tokens.
pub fn parse_cap(typed: &str) -> Option<u32> {
    let digits: String = typed
        .chars()
        .filter(|it| !matches!(it, ',' | ' '))
        .collect();
    digits.parse().ok().filter(|it| (1..=MAX_CAP).contains(it))
}

/// Why the agent that waits for an answer may never use it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OutOfReach {
    /// The person closed the agent.
    Closed,
    /// Its client has connected again, so its own connection has ended.
    Reconnected,
    /// It has not called since this time, and its turn is over: it may have disconnected.
    Quiet(Timestamp),
}

/// Why the agent of a waiting request may be out of reach; none if it seems to be there.
pub fn out_of_reach(
    request: &RequestTold,
    agents: &[AgentStatus],
    now: Timestamp,
) -> Option<OutOfReach> {
    if request.state != RequestState::Waiting {
        return None;
    }
    let agent = agents.iter().find(|it| it.handle == request.agent)?;
    if agent.is_closed {
        Some(OutOfReach::Closed)
    } else if successor_of(agents.to_vec(), &request.agent).is_some() {
        Some(OutOfReach::Reconnected)
    } else {
        (agent.until <= now).then_some(OutOfReach::Quiet(agent.last_call))
    }
}

/// Whether the grant of a request can still be used, and the client of the connection that has it
/// has a newer one.
pub fn can_transfer(request: &RequestTold, agents: &[AgentStatus], now: Timestamp) -> bool {
    let grant = request.grant.as_ref();
    let grant = grant.filter(|_| standing_of(request, now).is_open());
    grant.is_some_and(|it| successor_of(agents.to_vec(), &it.to).is_some())
}

/// The name of the agent that asks.
pub fn asker_name(request: &RequestTold) -> String {
    if request.label.is_empty() {
        words::visible(&request.agent.0)
    } else {
        words::visible(&request.label)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use serde_json::{Value, json};

    use super::*;

    fn request(id: &str, minute: u32, state: &str, more: &Value) -> RequestTold {
        let mut request = json!({
            "id": id, "agent": "ada", "label": "ada", "role": "programmer",
            "asked_at": format!("2026-11-20T10:{minute:02}:00Z"),
            "pointer": "repo:src/a.rs#L1-L9@HEAD", "reason": "Why.", "intended_use": "", "tokens": 90,
            "state": state,
        });
        for (name, value) in more.as_object().unwrap() {
            request[name] = value.clone();
        }
        serde_json::from_value(request).unwrap()
    }

    fn grant(state: &str) -> Value {
        json!({"grant": {
            "id": "g", "to": "ada", "pointer": "repo:src/a.rs@HEAD", "cap_tokens": 500,
            "expires_at": "2026-11-20T10:20:00Z", "by": null, "state": state,
        }})
    }

    #[test]
    fn those_that_wait_come_first_the_longest_waiting_before_others() {
        let at = |minute: u32| json!({"answer": {"by": "user", "at": format!("2026-11-20T11:{minute:02}:00Z")}});
        let all = vec![
            request("new", 9, "waiting", &json!({})),
            request("denied", 1, "denied", &at(5)),
            request("old", 2, "waiting", &json!({})),
            request("granted", 3, "granted", &at(7)),
        ];
        let ordered = sort_requests(all);
        let ids: Vec<&str> = ordered.iter().map(|it| it.id.as_str()).collect();
        assert_eq!(ids, ["old", "new", "granted", "denied"]);
        assert_eq!(next_waiting(&ordered, "old").as_deref(), Some("new"));
        assert_eq!(next_waiting(&ordered, "new").as_deref(), Some("old"));
        // One that was answered is followed by what was asked after it, though it moved to the end.
        assert_eq!(next_waiting(&ordered, "denied").as_deref(), Some("old"));
        assert_eq!(next_waiting(&ordered, "granted").as_deref(), Some("new"));
        assert_eq!(next_waiting(&ordered, "none"), None);
    }

    #[test]
    fn a_grant_is_revoked_until_it_is_used_or_over() {
        let before: Timestamp = "2026-11-20T10:19:59Z".parse().unwrap();
        let after: Timestamp = "2026-11-20T10:20:00Z".parse().unwrap();
        let mut transferred = grant("open");
        transferred["grant"]["holder"] = json!("bob");
        for (state, more, now, want) in [
            ("waiting", json!({}), before, RequestStanding::Waiting),
            ("granted", grant("open"), before, RequestStanding::Open),
            ("granted", grant("open"), after, RequestStanding::Expired),
            ("granted", grant("spent"), before, RequestStanding::Read),
            (
                "granted",
                grant("expired"),
                before,
                RequestStanding::Expired,
            ),
            (
                "granted",
                grant("revoked"),
                before,
                RequestStanding::Revoked,
            ),
            ("granted", transferred, before, RequestStanding::Transferred),
            ("denied", json!({}), before, RequestStanding::Denied),
        ] {
            let request = request("a", 0, state, &more);
            assert_eq!(standing_of(&request, now), want, "{state} {more}");
            let fits = |answer: Answer| answer.fits(&request, now);
            assert_eq!(
                fits(Answer::Grant),
                want == RequestStanding::Waiting,
                "{state}"
            );
            assert_eq!(
                fits(Answer::Deny),
                want == RequestStanding::Waiting,
                "{state}"
            );
            assert_eq!(fits(Answer::Revoke), want.is_open(), "{state}");
        }
    }

    /// A connection of one client, by the last letter of its handle, from one minute to another;
    /// its turn ends ten minutes later.
    fn connection(letter: &str, (from, to): (u32, u32), is_closed: bool) -> AgentStatus {
        let at = |minute: u32| format!("2026-11-20T10:{minute:02}:00Z");
        let meter = json!({"used": 0, "limit": 1});
        let budget = json!({
            "turn": "", "repo_spans": meter, "artifact_sections": meter, "sam_items": meter, "tokens": meter,
        });
        serde_json::from_value(json!({
            "agent": format!("01arz3ndektsv4rrffq69g5fa{letter}"), "label": "codex", "is_closed": is_closed,
            "role": null, "parent": null, "run": "01ARZ3NDEKTSV4RRFFQ69G5FAV", "turn": "",
            "first_seen": at(from), "last_call": at(to), "stored": 0, "budget": budget,
            "inline_tokens": meter, "grants": {"open": 0, "spent": 0}, "refusals": 0, "until": at(to + 10),
        }))
        .unwrap()
    }

    #[test]
    fn it_is_said_before_the_answer_that_its_agent_is_out_of_reach() {
        let now: Timestamp = "2026-11-20T10:20:00Z".parse().unwrap();
        let last: Timestamp = "2026-11-20T10:05:00Z".parse().unwrap();
        let asks = json!({"agent": "01arz3ndektsv4rrffq69g5faa"});
        let b = || connection("b", (8, 15), false);
        for (agents, state, want) in [
            (vec![connection("a", (1, 15), false)], "waiting", None),
            (
                vec![connection("a", (1, 5), false)],
                "waiting",
                Some(OutOfReach::Quiet(last)),
            ),
            (
                vec![connection("a", (1, 5), false), b()],
                "waiting",
                Some(OutOfReach::Reconnected),
            ),
            (
                vec![connection("a", (1, 15), true)],
                "waiting",
                Some(OutOfReach::Closed),
            ),
            (vec![connection("a", (1, 5), false), b()], "denied", None),
            (vec![b()], "waiting", None),
        ] {
            let request = request("r", 1, state, &asks);
            assert_eq!(out_of_reach(&request, &agents, now), want, "{state}");
        }
    }

    #[test]
    fn a_grant_is_transferred_only_to_a_newer_connection() {
        let now: Timestamp = "2026-11-20T10:19:00Z".parse().unwrap();
        let b = |is_closed| connection("b", (8, 15), is_closed);
        let a = || connection("a", (1, 5), false);
        let to = |letter: &str, state: &str| {
            let mut grant = grant(state);
            grant["grant"]["to"] = json!(format!("01arz3ndektsv4rrffq69g5fa{letter}"));
            grant
        };
        for (agents, grant, want) in [
            (vec![a(), b(false)], to("a", "open"), true),
            (vec![a()], to("a", "open"), false),
            (vec![a(), b(true)], to("a", "open"), false),
            // Transferred already: the newest connection has it.
            (vec![a(), b(false)], to("b", "open"), false),
            (vec![a(), b(false)], to("a", "spent"), false),
            (vec![a(), b(false)], to("a", "revoked"), false),
            (vec![a(), b(false)], json!({}), false),
        ] {
            let request = request("r", 1, "granted", &grant);
            assert_eq!(can_transfer(&request, &agents, now), want, "{grant}");
        }
    }

    #[test]
    fn a_cap_is_a_number_of_tokens() {
        for (typed, want) in [
            ("500", Some(500)),
            (" 1,200 ", Some(1200)),
            ("0", None),
            ("-3", None),
            ("", None),
            ("lots", None),
            ("100001", None),
            ("99999999999999", None),
        ] {
            assert_eq!(parse_cap(typed), want, "{typed:?}");
        }
    }
}
