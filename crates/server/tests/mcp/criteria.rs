//! The acceptance criteria (docs/design.md#acceptance-criteria) that agents can check over MCP,
//! with the `less_*` tools.

use engram_kit::criteria::{Answer, Surface};
use engram_model::{Caller, GrantWanted, Opening, PointerInput, ask};
use engram_server::Toolset;
use serde_json::{Value, json};
use tokio::runtime::Runtime;

use crate::client::{Client, Sandbox};

struct Spoken {
    runtime: Runtime,
    sandbox: Sandbox,
    ada: Client,
}

impl Spoken {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        let open = |who: &Caller, name: &str| {
            let name = name.to_owned();
            let opening = Opening {
                name,
                ..Opening::default()
            };
            sandbox.engine.ask(who, ask::OpenAgent(opening)).unwrap()
        };
        let lead = open(&Caller::User, "lead");
        let ada = open(&Caller::Agent(lead.agent), "ada");
        let runtime = Runtime::new().unwrap();
        let ada =
            runtime.block_on(async { Client::with(&sandbox, &[Toolset::Less], Some(ada.token)) });
        Self {
            runtime,
            sandbox,
            ada,
        }
    }

    fn call(&mut self, tool: &str, arguments: Value) -> Answer {
        let result = self.runtime.block_on(self.ada.call(tool, arguments));
        let seen = &result["structuredContent"];
        if result["isError"] == true {
            Err(seen["error"].clone())
        } else {
            Ok(seen.clone())
        }
    }

    fn engrams_found(&mut self, query: Value) -> Vec<Value> {
        let reply = self.call("less_query_engrams", query).unwrap();
        reply["engrams"].as_array().unwrap().clone()
    }
}

impl Surface for Spoken {
    fn pointer(&self) -> &str {
        "repo:src/ledger.rs#L2-L3@HEAD"
    }

    fn put(&mut self, draft: Value) -> Answer {
        self.call("less_put_engram", draft)
    }

    fn deref(&mut self, pointer: &str, token: Option<&str>) -> Answer {
        let read = json!({ "pointer": pointer, "budget_token": token });
        self.call("less_deref_pointer", read)
    }

    fn query(&mut self, word: &str) -> Vec<Value> {
        self.engrams_found(json!({ "keys": [word] }))
    }

    fn risks(&mut self, word: &str) -> Vec<Value> {
        self.engrams_found(json!({ "keys": [word], "kind": "risk" }))
    }

    fn grant(&mut self, pointer: Option<&str>, code_chars: Option<u32>) -> Value {
        let wanted = GrantWanted {
            to: engram_model::AgentId("ada".to_owned()),
            pointer: pointer.map(|it| PointerInput::Text(it.to_owned())),
            cap_tokens: None,
            code_chars,
            ttl: None,
            by: None,
            replaces: None,
        };
        let issued = self
            .sandbox
            .engine
            .ask(&Caller::User, ask::IssueGrant(wanted));
        serde_json::to_value(issued.unwrap()).unwrap()
    }

    fn wait(&mut self, seconds: u64) {
        #[allow(
            clippy::disallowed_methods,
            reason = "an expiry by the clock sends no event"
        )]
        std::thread::sleep(std::time::Duration::from_secs(seconds));
    }
}

engram_kit::criteria_of_agents!(Spoken::new());
