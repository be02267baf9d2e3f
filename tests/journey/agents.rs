//! Real coding agents, offline: Claude Code and Codex as their users run them, with a scripted
//! model in place of the hosted one.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use serde_json::Value;

use crate::{
    machine::{clean, npm, ok, system},
    model_stub::{ModelStub, Step, results},
};

/// Which agent runs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Agent {
    /// Claude Code, `claude -p`.
    Claude,
    /// Codex, `codex exec`.
    Codex,
}

/// An agent in a folder, with settings of its own.
pub struct Session {
    agent: Agent,
    home: PathBuf,
    repo: PathBuf,
    /// The token that proves to Engram which agent it is.
    token: Option<String>,
}

/// The result of one prompt.
pub struct Run {
    /// What the agent printed.
    pub printed: String,
    /// Every request that the model received.
    pub requests: Vec<Value>,
}

impl Run {
    /// The results of all tool calls, as the model saw them.
    pub fn results(&self) -> Vec<Value> {
        self.requests.last().map(results).unwrap_or_default()
    }

    /// Everything that the model saw, as text.
    pub fn text_seen(&self) -> String {
        self.requests.iter().map(Value::to_string).collect()
    }
}

impl Session {
    /// An agent in `repo` that was never started before.
    pub fn of(agent: Agent, repo: &Path, dir: &Path) -> Self {
        let home = dir.join(format!("{agent:?}"));
        fs::create_dir_all(&home).unwrap();
        Self {
            agent,
            home,
            repo: repo.to_owned(),
            token: None,
        }
    }

    /// Starts as [`Self::of`], after the user ran the `connect` command.
    pub fn connected(agent: Agent, connect: &str, repo: &Path, dir: &Path) -> Self {
        let session = Self::of(agent, repo, dir);
        let mut shell = session.command(system("sh"));
        ok(shell.args(["-c", &format!("{connect} --yes")]));
        session
    }

    /// Makes this the agent that the token proves.
    pub fn proved_by(mut self, token: &str) -> Self {
        self.token = Some(token.to_owned());
        self
    }

    fn command(&self, program: PathBuf) -> Command {
        let mut command = clean(program, &self.home);
        command.env("CODEX_HOME", self.home.join(".codex"));
        command.current_dir(&self.repo);
        command
    }

    /// Runs one prompt to its end.
    pub fn prompt(&self, script: Vec<Step>) -> Run {
        let model = ModelStub::start(script);
        let mut command = match self.agent {
            Agent::Claude => self.claude(&model.address()),
            Agent::Codex => self.codex(&model.address()),
        };
        let printed = ok(&mut command);
        Run {
            printed,
            requests: model.requests(),
        }
    }

    fn claude(&self, model: &str) -> Command {
        let mut command = self.command(npm("claude"));
        command.args([
            "-p",
            "Go on.",
            "--output-format",
            "json",
            "--allowedTools",
            "mcp__engram",
        ]);
        if let Some(token) = &self.token {
            command.env("ENGRAM_AGENT", token);
        }
        command
            .env("ANTHROPIC_BASE_URL", model)
            .env("ANTHROPIC_API_KEY", "none");
        command.env("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1");
        command
    }

    fn codex(&self, model: &str) -> Command {
        let mut command = self.command(npm("codex"));
        command.args([
            "exec",
            "--json",
            "--skip-git-repo-check",
            "--sandbox",
            "read-only",
        ]);
        let provider = format!(
            "model_providers.stub={{name=\"stub\", base_url=\"{model}/v1\", env_key=\"STUB_KEY\", wire_api=\"responses\"}}"
        );
        for setting in ["model_provider=\"stub\"", "model=\"stub\"", &provider] {
            command.args(["-c", setting]);
        }
        // Codex passes on none of its own environment.
        if let Some(token) = &self.token {
            let setting = format!("mcp_servers.engram.env={{ENGRAM_AGENT=\"{token}\"}}");
            command.args(["-c", &setting]);
        }
        command
            .env("CODEX_HOME", self.home.join(".codex"))
            .env("STUB_KEY", "none");
        command.arg("Go on.");
        command
    }
}
