//! The acceptance criteria (docs/design.md#acceptance-criteria) over the bus.

use engram_kit::{
    criteria::{self, Answer, Surface},
    requests::POINTER,
};
use tokio::runtime::Runtime;

use super::{bus::Bus, bus_mcp::ERAS, *};

struct Called {
    runtime: Runtime,
    bus: Bus,
    lead: String,
    ada: String,
}

impl Called {
    fn new() -> Self {
        let runtime = Runtime::new().unwrap();
        let (bus, lead, ada) = runtime.block_on(async {
            let bus = Bus::new().await;
            let (lead, ada) = bus.family().await;
            (bus, lead, ada)
        });
        Self {
            runtime,
            bus,
            lead,
            ada,
        }
    }

    fn call(&self, token: &str, to: &str, body: Value) -> Answer {
        let (status, reply) = self.runtime.block_on(self.bus.call(token, to, body));
        match status {
            200..300 => Ok(reply),
            _ => Err(reply["error"].clone()),
        }
    }
}

impl Surface for Called {
    fn pointer(&self) -> &str {
        POINTER
    }

    fn put(&mut self, draft: Value) -> Answer {
        self.call(&self.ada, "POST /engram", draft)
    }

    fn deref(&mut self, pointer: &str, token: Option<&str>) -> Answer {
        let read = json!({ "pointer": pointer, "budget_token": token });
        self.call(&self.ada, "POST /pointer/deref", read)
    }

    fn query(&mut self, word: &str) -> Vec<Value> {
        let to = format!("GET /engram/query?keys={word}&k=12");
        let found = self.call(&self.ada, &to, Value::Null).unwrap();
        found.as_array().unwrap().clone()
    }

    /// The calls of the bus cannot filter by kind; its tools can.
    fn risks(&mut self, word: &str) -> Vec<Value> {
        let query = json!({ "keys": [word], "kind": "risk" });
        let tool = "less_query_engrams";
        let called = self
            .bus
            .tool(&self.ada, "?toolsets=less", ERAS[0], tool, query);
        let reply = self.runtime.block_on(called);
        reply["engrams"].as_array().unwrap().clone()
    }

    fn grant(&mut self, pointer: Option<&str>, code_chars: Option<u32>) -> Value {
        let wanted = json!({ "to": "ada", "pointer": pointer, "code_chars": code_chars });
        self.call("TOKEN", "POST /grant", wanted).unwrap()
    }

    fn wait(&mut self, seconds: u64) {
        self.bus.clock.turn(seconds as i64);
    }
}

impl criteria::Bus for Called {
    fn send(&mut self, agent: &str, message: Value) -> Answer {
        let token = if agent == "lead" {
            &self.lead
        } else {
            &self.ada
        };
        self.call(token, "POST /message", message)
    }

    fn brief(&mut self) -> Value {
        self.call(&self.lead, "GET /brief", Value::Null).unwrap()
    }

    fn budget(&mut self) -> Value {
        let reply = self.call(&self.ada, "GET /budget", Value::Null).unwrap();
        reply["agents"][0].clone()
    }
}

engram_kit::criteria_of_agents!(Called::new());
engram_kit::criteria_of_messages!(Called::new());
