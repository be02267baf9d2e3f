//! A valid request of each kind, for tests that send every kind over their surface.

use std::path::PathBuf;

use serde_json::{Value, json};

use crate::{Folder, Repository};

/// A pointer that resolves in a [`Sandbox`].
pub const POINTER: &str = "repo:src/lib.rs#L2@HEAD";

/// A home, and a repository that requests are about.
pub struct Sandbox(Folder);

impl Default for Sandbox {
    fn default() -> Self {
        Self::new()
    }
}

impl Sandbox {
    /// Makes an empty home beside a repository with one commit.
    pub fn new() -> Self {
        let folder = Folder::temporary();
        let file = b"fn first() {}\nfn second() {}\nfn third() {}\n";
        Repository::with(folder.path("repo"), &[("src/lib.rs", file)]);
        Self(folder)
    }

    /// Returns the home.
    pub fn home(&self) -> PathBuf {
        self.0.path("home")
    }

    /// Returns the working tree.
    pub fn repo(&self) -> PathBuf {
        self.0.path("repo")
    }

    /// Stores the claim that requests name, by calling `put`, and returns its id.
    pub fn claim(&self, put: impl FnOnce(Value) -> Value) -> String {
        let reply = put(json!({ "claim": "The first claim.", "pointers": [POINTER] }));
        let id = reply["with"]["id"].as_str();
        id.unwrap_or_else(|| panic!("nothing was stored: {reply}"))
            .to_owned()
    }
}

/// Returns the requests to send first, in this order, so that a request of this name succeeds.
pub fn first(name: &str, id: &str) -> Vec<Value> {
    let put = |claim: &str| {
        let draft = json!({ "claim": claim, "pointers": [POINTER], "topic": "wallet" });
        json!({ "do": "put", "with": draft })
    };
    match name {
        "restore" => vec![json!({ "do": "forget", "with": id })],
        "conflict" | "resolve" | "allow" => vec![
            put("The wallet lock lasts 3 minutes."),
            put("The wallet lock lasts 30 minutes."),
        ],
        "promote" => {
            let ephemeral = json!({
                "claim": "The first claim.", "pointers": [POINTER],
                "corrects_lineage": id, "durability": "ephemeral",
            });
            vec![json!({ "do": "put", "with": ephemeral })]
        }
        "next_turn" | "change_agent" | "budget" | "timeline" | "issue_grant" | "show_brief"
        | "hook" => {
            vec![good("open_agent", id)]
        }
        "revoke_grant" => vec![good("open_agent", id), good("issue_grant", id)],
        // Only a parent or the user may pin or send.
        "pin" | "send" => vec![good("open_agent", id)],
        "unpin" => vec![good("open_agent", id), good("pin", id)],
        _ => Vec::new(),
    }
}

/// Returns the id for the request to use after this reply to an earlier one: that of the conflict
/// which the earlier request found, or of what it made, or else `id`.
pub fn about(id: &str, reply: &Value) -> String {
    let found = reply["with"]["findings"].as_array();
    let mut found = found.into_iter().flatten();
    let conflict = found.find_map(|it| it["conflict"].as_str());
    let made = conflict.or(reply["with"]["id"].as_str());
    made.unwrap_or(id).to_owned()
}

/// Whether a request of this name succeeds only after another caller's request, or with a model. Other
/// tests cover it.
pub fn needs_more(name: &str) -> bool {
    matches!(name, "grant_request" | "deny_request" | "explain")
}

/// Returns a request of this name that succeeds, about the claim with this id.
pub fn good(name: &str, id: &str) -> Value {
    let claim = |words: &str| json!({ "claim": words, "pointers": [POINTER] });
    let with = match name {
        "status" | "agents" | "metrics" | "models" | "brief" | "grants" | "load_sample"
        | "remove_sample" => {
            return json!({ "do": name });
        }
        "put" => claim("A new claim."),
        "commit" => {
            json!({ "draft": { "claim": "A claim without evidence." }, "words": "seen in a log" })
        }
        "get" | "log" | "forget" | "restore" | "redact" | "repin" | "reverify" | "revoke_grant" => {
            json!(id)
        }
        "promote" => json!({ "id": id }),
        "locate" => json!({ "id": id }),
        "news" => json!({}),
        "adopt" => json!("shared"),
        "next_turn" | "budget" | "show_brief" => json!({ "agent": "child" }),
        "timeline" => json!({ "agents": ["child"] }),
        "change_agent" => json!({ "agent": "child", "what": { "rename": "backend" } }),
        "issue_grant" => json!({ "to": "child", "pointer": POINTER, "cap_tokens": 300 }),
        "request_deref" => json!({ "pointer": POINTER, "reason": "Is the lock held?" }),
        "requests" => json!({ "all": true }),
        "grant_request" => json!({ "id": id, "cap_tokens": 300 }),
        "deny_request" => json!({ "id": id, "why": "Ask the claims." }),
        "open_agent" => json!({ "name": "child", "role": "programmer" }),
        "query" => json!({ "text": "claim" }),
        "search" => json!({ "filter": { "text": "claim" } }),
        "deref" => json!({ "pointer": POINTER }),
        "note" => json!({ "kind": "decision", "slug": "domain", "text": "We publish." }),
        "feed" | "facets" | "check_pointers" | "conflicts" | "gate" => json!({}),
        "conflict" => json!(id),
        "resolve" => json!({ "conflict": id, "how": "newer", "why": "Read again." }),
        "allow" => json!({ "conflict": id, "why": "Known." }),
        "source" => json!({ "pointer": POINTER, "context": 3 }),
        "line" => json!({ "pointer": POINTER, "number": 2, "from": 0 }),
        "standing" | "track" | "blame" => json!(POINTER),
        "pin" => json!({ "engram": id }),
        "unpin" => json!(1),
        "send" => json!({ "message": { "role": "programmer", "instructions": ["Look."] } }),
        "hook" => {
            let report = json!({ "role": "programmer", "task_status": "done", "output": { "summary": "Done." } });
            json!({ "agent": "child", "event": { "child_response": report } })
        }
        "complete" => json!("lib"),
        "reword" => json!({ "id": id, "claim": "The first claim, in other words." }),
        "validate_message" => json!({ "role": "programmer", "instructions": [] }),
        other => panic!("the walk knows no request {other:?}: add a good one"),
    };
    json!({ "do": name, "with": with })
}
