//! A parent and its children at work. The person opens them, each with its own token, and they call
//! the server as an orchestrator does.

use serde_json::{Value, json};

use super::{server::Server, shop::Shop};

/// The lines that a child wants to read once its budget is spent: 7 lines.
pub(crate) const WANTED: &str = "repo:src/retry.rs#L9-L15@HEAD";
pub(crate) const REASON: &str = "Need to confirm that the jitter is full.";
const USE: &str = "The claim on retries rests on it.";

/// An agent with its token, and the address of its server.
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) token: String,
    address: String,
}

impl Member {
    /// Opens a programmer under this parent, or a parent.
    pub(crate) fn open(shop: &Shop, server: &Server, name: &str, parent: Option<&str>) -> Self {
        let mut args = vec!["agents", "open", name];
        let role = if parent.is_some() {
            "programmer"
        } else {
            "manager"
        };
        args.extend(["--role", role]);
        if let Some(parent) = parent {
            args.extend(["--parent", parent]);
        }
        let opened = shop.engram().json(&args);
        let (address, _) = server.url.split_once("/#").expect("an address");
        Self {
            name: opened["agent"].as_str().unwrap().to_owned(),
            token: opened["token"].as_str().unwrap().to_owned(),
            address: address.to_owned(),
        }
    }

    /// Calls the server; returns the status and the answer.
    pub(crate) fn post(&self, path: &str, body: &Value) -> (u16, Value) {
        let agent = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .build()
            .new_agent();
        let mut answer = agent
            .post(format!("{}{path}", self.address))
            .header("authorization", &format!("Bearer {}", self.token))
            .header("content-type", "application/json")
            .send(body.to_string())
            .expect("an answer");
        let text = answer.body_mut().read_to_string().unwrap();
        let status = answer.status().as_u16();
        (
            status,
            serde_json::from_str(&text).unwrap_or(Value::String(text)),
        )
    }

    /// Reads a source; returns the answer, or the code of the refusal.
    pub(crate) fn read(&self, pointer: &str) -> Result<Value, String> {
        match self.post("/pointer/deref", &json!({"pointer": pointer})) {
            (200, read) => Ok(read),
            (_, refused) => Err(refused["error"]["code"]
                .as_str()
                .unwrap_or_default()
                .to_owned()),
        }
    }

    /// Spends all spans of the turn.
    pub(crate) fn spend(&self) {
        for line in 1..=3 {
            let read = self.read(&format!("repo:src/ledger.rs#L{line}@HEAD"));
            assert!(read.is_ok(), "{read:?}");
        }
        let fourth = self.read(WANTED);
        assert_eq!(
            fourth,
            Err("DEREF_DENIED".to_owned()),
            "a fourth span is refused"
        );
    }

    /// Asks to read; returns the id of the request.
    pub(crate) fn ask(&self, pointer: &str) -> String {
        let body = json!({"pointer": pointer, "reason": REASON, "intended_use": USE});
        let (_, asked) = self.post("/request", &body);
        asked["id"]
            .as_str()
            .unwrap_or_else(|| panic!("{asked}"))
            .to_owned()
    }
}
