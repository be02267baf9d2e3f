//! The team, each member with its own token: tools over MCP and messages over HTTP, as with an
//! orchestrator.

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{clone::CloneAndHome, record::Member};
use crate::{
    bench::client::LineClient,
    http::{HttpConnection, RunningServer},
};
use xtask::shell::output;

/// The name of the parent.
pub(crate) const LEAD: &str = "lead";
const CHILDREN: [(&str, &str); 8] = [
    ("director", "director"),
    ("manager-1", "manager"),
    ("manager-2", "manager"),
    ("programmer-1", "programmer"),
    ("programmer-2", "programmer"),
    ("programmer-3", "programmer"),
    ("programmer-4", "programmer"),
    ("programmer-5", "programmer"),
];

/// An answer, or the refusal.
pub(crate) type AnswerOrRefusal = Result<Value, Value>;

pub(crate) struct Team {
    served: RunningServer,
    user: HttpConnection,
    /// The agents, the parent first.
    pub(crate) agents: Vec<ConnectedAgent>,
}

pub(crate) struct ConnectedAgent {
    pub(crate) name: String,
    pub(crate) role: &'static str,
    tools: LineClient,
    bus: HttpConnection,
}

impl Team {
    pub(crate) fn open(sandbox: &CloneAndHome) -> Result<Self> {
        let served = RunningServer::start(sandbox.engram().arg("serve"))?;
        let open =
            |name: &str, role: &'static str, parent: Option<&str>| -> Result<ConnectedAgent> {
                let mut open = sandbox.engram();
                open.args(["agents", "open", name, "--role", role]);
                open.args(parent.into_iter().flat_map(|it| ["--parent", it]));
                let opened: Value = serde_json::from_str(&output(&mut open)?)?;
                let token = opened["token"].as_str().context("an agent has no token")?;
                let mut tools = sandbox.engram();
                tools.args(["mcp", "--toolsets", "core,less"]);
                Ok(ConnectedAgent {
                    name: name.to_owned(),
                    role,
                    tools: LineClient::start_mcp(tools.env("ENGRAM_AGENT", token))?,
                    bus: served.connection_with(token),
                })
            };
        let mut agents = vec![open(LEAD, "architect", None)?];
        for (name, role) in CHILDREN {
            agents.push(open(name, role, Some(LEAD))?);
        }
        Ok(Self {
            user: served.connection_with(&served.token),
            served,
            agents,
        })
    }

    pub(crate) fn members(&self) -> Vec<Member> {
        let members = self.agents.iter().map(|it| Member {
            agent: it.name.clone(),
            role: it.role.to_owned(),
            parent: (it.name != LEAD).then(|| LEAD.to_owned()),
        });
        members.collect()
    }

    /// Begins an agent's turn, as its parent or, for the parent, as the user.
    pub(crate) fn begin(&mut self, agent: usize, turn: usize) -> Result<()> {
        let path = format!("/agent/{}/turn", self.agents[agent].name);
        let body = json!({ "turn": format!("turn {turn}") }).to_string();
        let by = match agent {
            0 => &mut self.user,
            _ => &mut self.agents[0].bus,
        };
        by.post(&path, &body)?.success_body().map(drop)
    }

    /// Answers a request, as the user or as the parent.
    pub(crate) fn answer(&mut self, request: &str, is_user: bool, verdict: &Value) -> Result<()> {
        let by = if is_user {
            &mut self.user
        } else {
            &mut self.agents[0].bus
        };
        let path = format!("/request/{request}");
        by.post(&path, &verdict.to_string())?
            .success_body()
            .map(drop)
    }

    /// Returns the tokens of everything that a pointer addresses, read by the user without a limit.
    pub(crate) fn tokens(&mut self, pointer: &str) -> Result<u64> {
        let body = json!({ "pointer": pointer }).to_string();
        let read = self.user.post("/pointer/deref", &body)?.success_body()?;
        ensure!(read["truncated"] == false, "{pointer} is too long to count");
        read["tokens"].as_u64().context("a read has no tokens")
    }

    /// What was delivered; asked until every file is counted, since one answer counts only some.
    pub(crate) fn delivered(&mut self) -> Result<Value> {
        let mut uncounted = Value::Null;
        loop {
            let said = self.user.get("/budget")?.success_body()?["delivered"].take();
            if said["uncounted"] == 0 || said["uncounted"] == uncounted {
                return Ok(said);
            }
            uncounted = said["uncounted"].clone();
        }
    }

    pub(crate) fn finish(self) -> Result<()> {
        for agent in self.agents {
            agent.tools.finish()?;
        }
        drop(self.served);
        Ok(())
    }
}

impl ConnectedAgent {
    /// Calls a tool.
    pub(crate) fn tool(&mut self, name: &str, arguments: Value) -> Result<AnswerOrRefusal> {
        let call = json!({ "name": name, "arguments": arguments });
        let mut result = self.tools.ask("tools/call", call)?.result;
        let mut said = result["structuredContent"].take();
        Ok(if result["isError"] == json!(true) {
            Err(said["error"].take())
        } else {
            Ok(said)
        })
    }

    /// Posts to the bus.
    pub(crate) fn post(&mut self, path: &str, body: &str) -> Result<AnswerOrRefusal> {
        let mut answer = self.bus.post(path, body)?;
        Ok(match answer.status {
            200..300 => Ok(answer.body),
            _ => Err(answer.body["error"].take()),
        })
    }

    pub(crate) fn get(&mut self, path: &str) -> Result<Value> {
        self.bus.get(path)?.success_body()
    }
}
