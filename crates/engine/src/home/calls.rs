//! A log of agents' calls, for people who investigate: one line per call, in a file of the home
//! that is bounded and not part of the journal. It keeps the agent's name, and the numbers and
//! flags among the arguments, but only the length of texts and messages, so nothing in it would
//! need to be erased. Until something is stored, the window shows who called last.

use std::{
    collections::{BTreeMap, HashMap},
    fs::{self, File},
    io::{Read, Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use engram_model::{AgentId, Caller, Code, HookEvent, ProjectId, Refusal, Request, SignOfLife};
use engram_store::{Links, append_private, open_file, read_text, update_private};
use jiff::Timestamp;
use parking_lot::Mutex;
use serde::Deserialize;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

/// The files, the older one last.
pub(crate) const FILES: [&str; 2] = ["calls.jsonl", "calls.1.jsonl"];
/// The total number of queries, by project.
pub(crate) const QUERIES: &str = "queries.json";
/// The most bytes of a file. Then it becomes the older file, and the previous older file is
/// deleted.
const MAX_LOG_BYTES: u64 = 4 << 20;
/// A process checks the length of the file after this many calls.
const LOOK: u32 = 64;
/// The most bytes of the arguments of one call.
const ARGUMENTS: usize = 1_500;

/// The outcome of a call that was answered.
const OK: &str = "ok";

/// How much of the end of the log is read for a sign of life, in bytes.
const RECENT: u64 = 64 << 10;

/// The number of queries, by project.
type QueryCounts = BTreeMap<ProjectId, u64>;

/// The calls of a home.
pub(crate) struct Calls {
    home: PathBuf,
    open: Mutex<LogFile>,
    /// Queries that are not yet counted in the file.
    waiting: Mutex<QueryCounts>,
}

#[derive(Default)]
struct LogFile {
    file: Option<File>,
    since: u32,
}

/// A call that began.
pub(crate) struct BegunCall {
    agent: AgentId,
    name: &'static str,
    with: Value,
    at: Timestamp,
    /// The agent's own name for itself.
    label: Option<String>,
    /// A digest of the git folder of the repository that it called from.
    repository: Option<String>,
}

/// What is read of a logged call.
#[derive(Deserialize)]
struct LoggedCall {
    at: Timestamp,
    project: Option<ProjectId>,
    outcome: String,
    agent: Option<String>,
    label: Option<String>,
    repository: Option<String>,
    #[serde(rename = "do")]
    request: String,
}

impl BegunCall {
    /// `None` for the user, whose calls are not logged.
    pub(crate) fn of(caller: &Caller, request: &Request, at: Timestamp) -> Option<Self> {
        let Caller::Agent(agent) = caller else {
            return None;
        };
        let mut with = serde_json::to_value(request).unwrap_or_default()["with"].take();
        if let Some(message) = message_in(request, &mut with).filter(|it| !it.is_string()) {
            *message = json!(message.to_string());
        }
        texts_to_lengths(&mut with);
        if with.to_string().len() > ARGUMENTS {
            with = json!("long");
        }
        Some(Self {
            agent: agent.clone(),
            name: request.terms().name,
            with,
            at,
            label: None,
            repository: None,
        })
    }

    /// Adds who called, and the git folder of the repository that it called from.
    pub(crate) fn with_agent(self, label: &str, git_folder: Option<&Path>) -> Self {
        Self {
            label: Some(label.to_owned()),
            repository: git_folder.map(digest_of_path),
            ..self
        }
    }
}

fn digest_of_path(path: &Path) -> String {
    let digest = Sha256::digest(path.as_os_str().as_encoded_bytes());
    hex::encode(&digest[..8])
}

/// Replaces texts with their lengths.
fn texts_to_lengths(value: &mut Value) {
    match value {
        Value::String(text) => *value = json!(format!("{} characters", text.chars().count())),
        Value::Array(items) => items.iter_mut().for_each(texts_to_lengths),
        Value::Object(fields) => fields.values_mut().for_each(texts_to_lengths),
        _ => {}
    }
}

/// The message that a request contains, the only part whose keys its sender chooses.
fn message_in<'a>(request: &Request, with: &'a mut Value) -> Option<&'a mut Value> {
    match request {
        Request::ValidateMessage(_) => Some(with),
        Request::Send(_) => with.get_mut("message"),
        Request::Hook(hook) => match hook.event {
            HookEvent::ChildResponse(_) => with.pointer_mut("/event/child_response"),
            HookEvent::ParentBroadcast(_) => with.pointer_mut("/event/parent_broadcast"),
            HookEvent::RagResult(_) | HookEvent::SamRead(_) => None,
        },
        _ => None,
    }
}

impl Calls {
    pub(crate) fn of(home: &Path) -> Self {
        Self {
            home: home.to_owned(),
            open: Mutex::default(),
            waiting: Mutex::default(),
        }
    }

    /// Logs the end of a call. A failure to log does not change the answer.
    pub(crate) fn log_call(
        &self,
        begun: BegunCall,
        project: Option<ProjectId>,
        now: Timestamp,
        refusal: Option<&Refusal>,
    ) {
        // The handle itself may have been refused as a secret.
        let is_secret = refusal.is_some_and(|it| it.code == Code::SecretDetected);
        let agent = (!is_secret).then_some(begun.agent);
        let label = begun.label.filter(|_| !is_secret);
        let line = json!({
            "at": begun.at,
            "project": project,
            "agent": agent,
            "label": label,
            "repository": begun.repository,
            "do": begun.name,
            "with": begun.with,
            "outcome": refusal.map_or(OK, |it| it.code.as_str()),
            "micros": now.duration_since(begun.at).as_micros().max(0) as u64,
        });
        let written = self.append_line(&format!("{line}\n"));
        let counted = match project.filter(|_| begun.name == "query") {
            Some(project) => self.count_query(project),
            None => Ok(()),
        };
        if let Err(error) = written.and(counted) {
            tracing::debug!(%error, "cannot log a call");
        }
    }

    fn append_line(&self, line: &str) -> std::io::Result<()> {
        let mut open = self.open.lock();
        open.since += 1;
        if open.file.is_none() || open.since >= LOOK {
            let [now, before] = FILES.map(|it| self.home.join(it));
            if fs::metadata(&now).is_ok_and(|it| it.len() > MAX_LOG_BYTES) {
                fs::rename(&now, before)?;
            }
            *open = LogFile {
                file: Some(append_private(&now)?),
                since: 0,
            };
        }
        match &mut open.file {
            Some(file) => file.write_all(line.as_bytes()),
            None => Ok(()),
        }
    }

    /// Returns the agent that called last from the repository with this git folder, with the
    /// questions of that agent that the end of the log contains.
    pub(crate) fn last_caller(&self, git_folder: &Path) -> Option<SignOfLife> {
        let here = Some(digest_of_path(git_folder));
        let mut calls = self.recent_calls();
        calls.retain(|it| it.repository == here);
        let last = calls.last()?;
        let asked = |it: &&LoggedCall| it.request == "query" && it.agent == last.agent;
        Some(SignOfLife {
            agent: last.label.clone()?,
            at: last.at,
            questions: calls.iter().filter(asked).count() as u64,
        })
    }

    /// When each agent of a project last called and got an answer, as far as the end of the log
    /// tells: a query is recorded nowhere else. Ignores times after `now`.
    pub(crate) fn last_calls(
        &self,
        project: ProjectId,
        now: Timestamp,
    ) -> HashMap<String, Timestamp> {
        let mut last: HashMap<String, Timestamp> = HashMap::new();
        for call in self.recent_calls() {
            let is_answered = call.project == Some(project) && call.outcome == OK;
            if let Some(agent) = call.agent.filter(|_| is_answered && call.at <= now) {
                let known = last.entry(agent).or_insert(call.at);
                *known = call.at.max(*known);
            }
        }
        last
    }

    /// The calls in the end of the log, oldest first.
    fn recent_calls(&self) -> Vec<LoggedCall> {
        let read = || {
            let mut file = open_file(&self.home.join(FILES[0]), Links::Refused)?;
            let length = file.metadata()?.len();
            file.seek(SeekFrom::Start(length.saturating_sub(RECENT)))?;
            let mut end = Vec::new();
            file.take(RECENT).read_to_end(&mut end)?;
            Ok::<_, std::io::Error>(end)
        };
        let end = read().unwrap_or_default();
        // The first line may be cut.
        let lines = end.split(|it| *it == b'\n');
        let calls = lines.filter_map(|it| serde_json::from_slice(it).ok());
        calls.collect()
    }

    /// How many queries agents of a project have made since the home was created.
    pub(crate) fn queries(&self, project: ProjectId) -> u64 {
        let read = || {
            let file = open_file(&self.home.join(QUERIES), Links::Refused)?;
            // A process that counts holds the lock only briefly.
            file.lock_shared()?;
            read_text(&file, MAX_LOG_BYTES)
        };
        let text = read().unwrap_or_default();
        let counted: QueryCounts = serde_json::from_str(&text).unwrap_or_default();
        counted.get(&project).copied().unwrap_or_default()
    }

    /// Counts a query. The count is separate because lines are deleted with their file, but a count
    /// must never fall. If another process is counting, this one does not wait: it counts both
    /// queries next time.
    fn count_query(&self, project: ProjectId) -> std::io::Result<()> {
        let mut waiting = self.waiting.lock();
        *waiting.entry(project).or_default() += 1;
        let mut file = update_private(&self.home.join(QUERIES))?;
        if file.try_lock().is_err() {
            return Ok(());
        }
        let text = read_text(&file, MAX_LOG_BYTES).unwrap_or_default();
        let mut counted: QueryCounts = serde_json::from_str(&text).unwrap_or_default();
        for (project, queries) in waiting.iter() {
            *counted.entry(*project).or_default() += queries;
        }
        let text = json!(counted).to_string();
        file.rewind()?;
        file.write_all(text.as_bytes())?;
        file.set_len(text.len() as u64)?;
        waiting.clear();
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The log keeps the shape of each request with a message, but no word that its sender chose.
    #[test]
    fn nothing_that_was_said_is_kept() {
        let said = || json!({ "wallet": { "wallet": [4711, "wallet"] } });
        for (name, with, kept) in [
            (
                "query",
                json!({ "text": "wallet", "k": 5, "include_ephemeral": true }),
                json!({ "text": "6 characters", "k": 5, "include_ephemeral": true }),
            ),
            (
                "send",
                json!({ "message": said(), "to": "wallet" }),
                json!({ "message": "37 characters", "to": "6 characters" }),
            ),
            ("validate_message", said(), json!("37 characters")),
            (
                "hook",
                json!({ "event": { "child_response": said() } }),
                json!({ "event": { "child_response": "37 characters" } }),
            ),
            (
                "hook",
                json!({ "event": { "parent_broadcast": said() } }),
                json!({ "event": { "parent_broadcast": "37 characters" } }),
            ),
        ] {
            let request = serde_json::from_value(json!({ "do": name, "with": with })).unwrap();
            let caller = Caller::Agent(AgentId("ada".to_owned()));
            let begun = BegunCall::of(&caller, &request, Timestamp::UNIX_EPOCH).unwrap();
            for (key, value) in kept.as_object().into_iter().flatten() {
                assert_eq!(begun.with[key], *value, "{name}");
            }
            assert_eq!(begun.name, name);
            assert!(
                !begun.with.to_string().contains("wallet"),
                "{name}: {}",
                begun.with
            );
        }
    }

    /// Two processes count while log files are replaced.
    #[test]
    fn a_count_never_falls() {
        let home = tempfile::TempDir::new().unwrap();
        let processes = [(); 2].map(|()| Calls::of(home.path()));
        let (one, other) = (ProjectId(ulid::Ulid(1)), ProjectId(ulid::Ulid(2)));
        for nth in 1..=40 {
            for calls in &processes {
                calls.log_call(begun("query"), Some(one), Timestamp::UNIX_EPOCH, None);
            }
            let [calls, _] = &processes;
            calls.log_call(begun("deref"), Some(one), Timestamp::UNIX_EPOCH, None);
            calls.log_call(begun("query"), None, Timestamp::UNIX_EPOCH, None);
            assert_eq!((calls.queries(one), calls.queries(other)), (2 * nth, 0));
            for file in FILES {
                let _ = fs::remove_file(home.path().join(file));
            }
        }
        // A process that counts does not block another.
        let file = update_private(&home.path().join(QUERIES)).unwrap();
        file.lock().unwrap();
        let [calls, _] = &processes;
        calls.log_call(begun("query"), Some(other), Timestamp::UNIX_EPOCH, None);
        drop(file);
        assert_eq!(calls.queries(other), 0);
        calls.log_call(begun("query"), Some(one), Timestamp::UNIX_EPOCH, None);
        assert_eq!((calls.queries(one), calls.queries(other)), (81, 1));
    }

    fn begun(name: &'static str) -> BegunCall {
        BegunCall {
            agent: AgentId("ada".to_owned()),
            name,
            with: Value::Null,
            at: Timestamp::UNIX_EPOCH,
            label: None,
            repository: None,
        }
    }
}
