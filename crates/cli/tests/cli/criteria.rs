//! The acceptance criteria (docs/design.md#acceptance-criteria), as a person or an agent with a
//! shell types them.

use engram_kit::criteria::{Answer, Bus, Surface};
use serde_json::Value;

use crate::fixture::{CommandOutput, POINTER, Sandbox};

struct CommandSurface(Sandbox);

impl CommandSurface {
    fn new() -> Self {
        let sandbox = Sandbox::new();
        sandbox.open_family(&["ada"]);
        Self(sandbox)
    }

    fn engrams_found(&self, query: &[&str]) -> Vec<Value> {
        let reply = self.0.json(query);
        reply["engrams"].as_array().unwrap().clone()
    }
}

fn answer(ran: CommandOutput) -> Answer {
    match ran.code {
        Some(0) => Ok(ran.json()),
        _ => Err(ran.error()),
    }
}

impl Surface for CommandSurface {
    fn pointer(&self) -> &str {
        POINTER
    }

    fn put(&mut self, draft: Value) -> Answer {
        let lines = self.0.feed(
            &["--json", "put", "--jsonl", "-"],
            draft.to_string().as_bytes(),
        );
        let line: Value = serde_json::from_str(lines.out.trim()).unwrap();
        match line.get("error") {
            Some(error) => Err(error.clone()),
            None => Ok(line),
        }
    }

    fn deref(&mut self, pointer: &str, token: Option<&str>) -> Answer {
        let mut args = vec!["--json", "deref", pointer, "--agent", "ada", "--turn", "t"];
        args.extend(token.iter().flat_map(|it| ["--budget-token", *it]));
        answer(self.0.run(&args))
    }

    fn query(&mut self, word: &str) -> Vec<Value> {
        self.engrams_found(&["query", word])
    }

    fn risks(&mut self, word: &str) -> Vec<Value> {
        self.engrams_found(&["query", word, "--kind", "risk"])
    }

    fn grant(&mut self, pointer: Option<&str>, code_chars: Option<u32>) -> Value {
        let chars = code_chars.unwrap_or_default().to_string();
        let of = match pointer {
            Some(pointer) => ["--pointer", pointer],
            None => ["--code", &chars],
        };
        self.0
            .json(&[&["grant", "issue", "--to", "ada"][..], &of].concat())
    }

    fn wait(&mut self, seconds: u64) {
        #[allow(
            clippy::disallowed_methods,
            reason = "an expiry by the clock sends no event"
        )]
        std::thread::sleep(std::time::Duration::from_secs(seconds));
    }
}

impl Bus for CommandSurface {
    fn send(&mut self, agent: &str, message: Value) -> Answer {
        let args = ["--json", "message", "send", "-", "--agent", agent];
        answer(self.0.feed(&args, message.to_string().as_bytes()))
    }

    fn brief(&mut self) -> Value {
        self.0.json(&["brief", "--agent", "lead"])
    }

    fn budget(&mut self) -> Value {
        self.0.json(&["budget", "--agent", "ada"])["agents"][0].clone()
    }
}

engram_kit::criteria_of_agents!(CommandSurface::new());
engram_kit::criteria_of_messages!(CommandSurface::new());
