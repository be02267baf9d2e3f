//! The page's commands. `permissions/window.toml` lists each of them.

use std::{path::Path, sync::Arc};

use engram_model::{Call, Caller, Code, Entry, PointerInput, Refusal, Request, ask};
use serde::Serialize;
use tauri::{
    State, WebviewWindow,
    async_runtime::{Mutex, channel},
    ipc::Response,
};

use crate::{editor, shell::Shell, window};

/// Answers a request that changes nothing.
#[tauri::command]
pub(crate) async fn read(shell: State<'_, Shell>, request: Request) -> Result<Response, Refusal> {
    handle(&shell, Call::Read, request).await
}

/// Answers a request that changes something.
#[tauri::command]
pub(crate) async fn change(shell: State<'_, Shell>, request: Request) -> Result<Response, Refusal> {
    handle(&shell, Call::Change, request).await
}

async fn handle(shell: &Shell, call: Call, request: Request) -> Result<Response, Refusal> {
    request.refuse_wrong_call(call)?;
    shell
        .run(|engine| to_json(&engine.handle(&Caller::User, request)?))
        .await
        .map(Response::new)
}

/// Returns JSON as bytes, which the page parses itself; JavaScript creates no objects for them.
fn to_json(value: &impl Serialize) -> Result<Vec<u8>, Refusal> {
    serde_json::to_vec(value)
        .map_err(|error| Refusal::bug(format!("cannot write an answer: {error}")))
}

/// Follows the journal after this position, until the next call; [`entries`] returns what arrives.
#[tauri::command]
pub(crate) async fn subscribe(shell: State<'_, Shell>, after: u64) -> Result<(), Refusal> {
    let keeper = Shell::clone(&shell);
    shell
        .run(move |engine| {
            let (sender, coming) = channel(1);
            let mut sender = Some(sender);
            let send = move |entries: Vec<Entry>| match to_json(&entries) {
                // A page that is gone receives nothing; its successor subscribes again.
                Ok(json) => {
                    let sent = sender.as_ref().map(|it| it.blocking_send(json).is_ok());
                    tracing::trace!(?sent, "entries for the page");
                }
                // The page must not miss an entry: it notices that the sender is gone, and asks for
                // the entries again.
                Err(refusal) => {
                    tracing::error!(%refusal, "cannot send entries to the page");
                    sender = None;
                }
            };
            let subscription = engine.subscribe(after, send)?;
            keeper.keep(engine, subscription, Arc::new(Mutex::new(coming)));
            Ok(())
        })
        .await
}

/// Returns the entries that arrived, waiting for the first; then the page asks again. A message to
/// a Tauri channel would be a script, and WebKit keeps each of those.
#[tauri::command]
pub(crate) async fn entries(shell: State<'_, Shell>) -> Result<Response, Refusal> {
    shell.entries().await.map(Response::new)
}

/// Opens the file that a pointer addresses, where its lines are now; returns the editor's name.
#[tauri::command]
pub(crate) async fn open_editor(
    shell: State<'_, Shell>,
    pointer: String,
) -> Result<String, Refusal> {
    let asked = Shell::clone(&shell);
    shell
        .run(move |engine| {
            let root = asked
                .status()?
                .project
                .and_then(|it| it.root)
                .ok_or_else(no_tree)?;
            let found = engine.ask(&Caller::User, ask::Track(PointerInput::Text(pointer)))?;
            let path = found.path.ok_or_else(only_in_the_past)?;
            let line = found.start.unwrap_or(1);
            let place = editor::EditorLocation::inside(Path::new(&root), Path::new(&path), line)?;
            editor::open(&place, &editor::Choice::here(asked.home()))
        })
        .await
}

/// Reports that there is something to paint. The page calls it before the first frame: WebKit draws
/// none for a hidden window, and this window is hidden until now.
#[tauri::command]
pub(crate) async fn ready(shell: State<'_, Shell>, window: WebviewWindow) -> Result<(), Refusal> {
    tracing::info!("the page is ready");
    if shell.set_ready() {
        window::show_window(&window);
        let others = Shell::clone(&shell);
        std::thread::spawn(move || others.reopen());
        #[cfg(target_os = "linux")]
        crate::message::hide(&window);
    }
    Ok(())
}

/// Refuses to open a file that no longer holds the claim's evidence.
fn only_in_the_past() -> Refusal {
    Refusal::new(
        Code::PointerNotFound,
        "these lines are no longer in the working tree",
        "The card shows them as they were when the claim was made.",
    )
}

fn no_tree() -> Refusal {
    Refusal::new(
        Code::RepoUnavailable,
        "no working tree to open files from",
        "Open a clone that has a working tree.",
    )
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::{collections::BTreeSet, fs, path::Path};

    use engram_engine::Options;
    use engram_kit::{Sandbox, requests};
    use engram_model::{Call, Caller, Request, Who};
    use tauri::{
        async_runtime::block_on,
        ipc::{InvokeResponseBody, IpcResponse},
    };

    use super::handle;
    use crate::shell::Shell;

    /// Each row of the table of requests works through its own command alone.
    #[test]
    fn each_request_is_taken_by_its_own_call_alone() {
        for terms in Request::TABLE {
            if requests::needs_more(terms.name) {
                continue;
            }
            let place = Sandbox::new();
            let shell = Shell::new(Options {
                home: place.home(),
                repo: Some(place.repo()),
                from: place.repo(),
            });
            let mut id = place.claim(|draft| {
                let put = Request::Put(serde_json::from_value(draft).unwrap());
                serde_json::to_value(shell.engine().unwrap().handle(&Caller::User, put).unwrap())
                    .unwrap()
            });
            for first in requests::first(terms.name, &id) {
                let first = serde_json::from_value(first).unwrap();
                let reply = block_on(handle(&shell, Call::Change, first)).unwrap();
                let reply = match reply.body().unwrap() {
                    InvokeResponseBody::Json(text) => text.into_bytes(),
                    InvokeResponseBody::Raw(bytes) => bytes,
                };
                id = requests::about(&id, &serde_json::from_slice(&reply).unwrap());
            }
            let request: Request = serde_json::from_value(requests::good(terms.name, &id)).unwrap();
            let (right, wrong) = if request.changes() {
                (Call::Change, Call::Read)
            } else {
                (Call::Read, Call::Change)
            };
            let refused = block_on(handle(&shell, wrong, request.clone()))
                .err()
                .unwrap();
            assert!(refused.hint.contains(right.name()), "{}", terms.name);
            let answer = block_on(handle(&shell, right, request));
            // The user may not send requests that are for agents only.
            let is_refused = terms.who == Who::Agent;
            assert_eq!(
                answer.is_err(),
                is_refused,
                "{}: {:?}",
                terms.name,
                answer.err()
            );
        }
    }

    #[test]
    fn every_command_has_exactly_one_permission_and_every_permission_is_in_a_set() {
        let manifest =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("src-tauri/permissions/window.toml");
        let manifest: toml::Table = fs::read_to_string(manifest).unwrap().parse().unwrap();
        let texts = |value: &toml::Value| -> Vec<String> {
            value
                .as_array()
                .unwrap()
                .iter()
                .map(|it| it.as_str().unwrap().to_owned())
                .collect()
        };
        let mut allowed = Vec::new();
        let mut permissions = BTreeSet::new();
        for permission in manifest["permission"].as_array().unwrap() {
            allowed.extend(texts(&permission["commands"]["allow"]));
            permissions.insert(permission["identifier"].as_str().unwrap().to_owned());
        }
        allowed.sort();
        let mut commands: Vec<_> = Call::ALL.iter().map(|it| it.name()).collect();
        commands.sort_unstable();
        assert_eq!(allowed, commands);

        let sets = manifest["set"].as_array().unwrap();
        let in_sets: BTreeSet<_> = sets
            .iter()
            .flat_map(|it| texts(&it["permissions"]))
            .collect();
        assert_eq!(in_sets, permissions);

        let capability =
            Path::new(env!("CARGO_MANIFEST_DIR")).join("src-tauri/capabilities/window.json");
        let capability: serde_json::Value =
            serde_json::from_str(&fs::read_to_string(capability).unwrap()).unwrap();
        let granted: Vec<_> = capability["permissions"]
            .as_array()
            .unwrap()
            .iter()
            .map(|it| it.as_str().unwrap())
            .collect();
        let names: Vec<_> = sets
            .iter()
            .map(|it| it["identifier"].as_str().unwrap())
            .collect();
        assert_eq!(
            granted, names,
            "the window is granted the sets, and nothing of Tauri's own"
        );
    }
}
