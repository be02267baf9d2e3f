//! What agents asked, for people who look into it: a line for each call, in a file of the home that is bounded
//! and no part of the truth. Of arguments it has numbers and switches, of texts only their length: nothing that
//! would have to be erased.

use std::{
    fs::{self, File},
    io::Write,
    path::{Path, PathBuf},
    sync::{Mutex, PoisonError},
};

use engram_model::{AgentId, Caller, Code, ProjectId, Refusal, Request};
use engram_store::{append_private, read_file};
use jiff::Timestamp;
use serde_json::{Value, json};

/// The files, the older one last.
pub(crate) const FILES: [&str; 2] = ["calls.jsonl", "calls.1.jsonl"];
/// Most bytes of a file; then it is the older one, and the one before is deleted.
const MOST: u64 = 4 << 20;
/// Calls after which a process looks how long the file is.
const LOOK: u32 = 64;
/// Most bytes of the arguments of one call.
const ARGUMENTS: usize = 1_500;

/// The calls of a home.
pub(crate) struct Calls {
    home: PathBuf,
    open: Mutex<Open>,
}

#[derive(Default)]
struct Open {
    file: Option<File>,
    since: u32,
}

/// A call that began.
pub(crate) struct Begun {
    agent: AgentId,
    name: &'static str,
    with: Value,
    at: Timestamp,
}

impl Begun {
    /// None for the user, whose calls are nobody's business.
    pub(crate) fn of(caller: &Caller, request: &Request, at: Timestamp) -> Option<Self> {
        let Caller::Agent(agent) = caller else {
            return None;
        };
        let mut with = serde_json::to_value(request).unwrap_or_default()["with"].take();
        redact(&mut with);
        if with.to_string().len() > ARGUMENTS {
            with = json!("long");
        }
        Some(Self {
            agent: agent.clone(),
            name: request.terms().name,
            with,
            at,
        })
    }
}

/// Texts become their lengths.
fn redact(value: &mut Value) {
    match value {
        Value::String(text) => *value = json!(format!("{} characters", text.chars().count())),
        Value::Array(items) => items.iter_mut().for_each(redact),
        Value::Object(fields) if fields.keys().any(|it| !is_field(it)) => {
            *value = json!("an object")
        }
        Value::Object(fields) => fields.values_mut().for_each(redact),
        _ => {}
    }
}

/// A sender names the keys of a message, too.
fn is_field(key: &str) -> bool {
    key.len() <= 24 && key.bytes().all(|it| it.is_ascii_lowercase() || it == b'_')
}

impl Calls {
    pub(crate) fn of(home: &Path) -> Self {
        Self {
            home: home.to_owned(),
            open: Mutex::default(),
        }
    }

    /// Keeps how a call ended. What cannot be kept changes no answer.
    pub(crate) fn keep(
        &self,
        begun: Begun,
        project: Option<ProjectId>,
        now: Timestamp,
        refusal: Option<&Refusal>,
    ) {
        // The handle itself may be what was refused as a secret.
        let is_secret = refusal.is_some_and(|it| it.code == Code::SecretDetected);
        let agent = (!is_secret).then_some(begun.agent);
        let line = json!({
            "at": begun.at,
            "project": project,
            "agent": agent,
            "do": begun.name,
            "with": begun.with,
            "outcome": refusal.map_or("ok", |it| it.code.as_str()),
            "micros": now.duration_since(begun.at).as_micros().max(0) as u64,
        });
        if let Err(error) = self.write(&format!("{line}\n")) {
            tracing::debug!(%error, "a call is not kept");
        }
    }

    fn write(&self, line: &str) -> std::io::Result<()> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.since += 1;
        if open.file.is_none() || open.since >= LOOK {
            let [now, before] = FILES.map(|it| self.home.join(it));
            if fs::metadata(&now).is_ok_and(|it| it.len() > MOST) {
                fs::rename(&now, before)?;
            }
            *open = Open {
                file: Some(append_private(&now)?),
                since: 0,
            };
        }
        match &mut open.file {
            Some(file) => file.write_all(line.as_bytes()),
            None => Ok(()),
        }
    }

    /// How many calls of this name are kept.
    pub(crate) fn count(&self, project: ProjectId, name: &str) -> u64 {
        let (project, name) = (format!("\"{project}\""), format!("\"do\":\"{name}\""));
        let count = |file: &str| {
            let text = read_file(&self.home.join(file), 2 * MOST).unwrap_or_default();
            let lines = text.lines();
            lines
                .filter(|it| it.contains(&name) && it.contains(&project))
                .count() as u64
        };
        FILES.map(count).iter().sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_that_was_said_is_kept() {
        let mut value = json!({ "claim": "A secret.", "k": 5, "all": true, "tags": ["one"], "none": null,
            "budgets": { "Max": 1 } });
        redact(&mut value);
        let kept = json!({ "claim": "9 characters", "k": 5, "all": true, "tags": ["3 characters"], "none": null,
            "budgets": "an object" });
        assert_eq!(value, kept);
    }
}
