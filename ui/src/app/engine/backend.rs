//! The only way to the engine: over Tauri's IPC in the window, over HTTP in a browser.

use engram_model::{
    Call, Client, Code, ConnectHint, ConnectReply, Connection, Entry, Handed, OpenedReply, Recent,
    Refusal, Reply, Request, Settings, Surroundings,
};
use serde::{Serialize, de::DeserializeOwned};
use wasm_bindgen::{JsCast, JsValue};

use super::{http, tauri};
use crate::{app::dom, words::say};

/// Where requests go.
#[derive(Clone, Debug)]
pub(crate) enum Backend {
    /// The window: commands of the shell around the page.
    Tauri,
    /// A browser: the local server that served this page.
    Http(http::Server),
    /// A test: a function that answers.
    #[cfg(all(test, feature = "gallery"))]
    Script(Script),
}

/// The function that answers in a test.
#[cfg(all(test, feature = "gallery"))]
#[derive(Clone)]
pub(crate) struct Script(
    pub(crate) std::sync::Arc<dyn Fn(Request) -> Result<Reply, Refusal> + Send + Sync>,
    /// Whether it can show another repository, as the window can.
    pub(crate) bool,
);

#[cfg(all(test, feature = "gallery"))]
impl std::fmt::Debug for Script {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Script")
    }
}

/// What a subscription reports.
pub(crate) enum News {
    /// The connection is established.
    Connected,
    /// The connection broke and is being retried.
    Lost,
    /// Journal entries, oldest first.
    Entries(Vec<Entry>),
}

/// A live feed of the journal; dropping it ends the feed.
pub(crate) enum Subscription {
    /// See [`tauri::IpcSubscription`].
    Tauri(#[expect(dead_code, reason = "kept alive")] tauri::IpcSubscription),
    /// See [`http::SseSubscription`].
    Http(#[expect(dead_code, reason = "kept alive")] http::SseSubscription),
}

impl Backend {
    /// The transport that this page was loaded with.
    pub(crate) fn here() -> Self {
        if tauri::is_here() {
            Self::Tauri
        } else {
            Self::Http(http::Server::from_location())
        }
    }

    /// Sends a request that changes nothing.
    pub(crate) async fn read(&self, request: Request) -> Result<Reply, Refusal> {
        match self {
            Self::Tauri => tauri::call(Call::Read, &RequestArgs { request }).await,
            Self::Http(server) => server.post(Call::Read, &request).await,
            #[cfg(all(test, feature = "gallery"))]
            Self::Script(script) => (script.0)(request),
        }
    }

    /// Sends a request that changes something.
    pub(crate) async fn change(&self, request: Request) -> Result<Reply, Refusal> {
        match self {
            Self::Tauri => tauri::call(Call::Change, &RequestArgs { request }).await,
            Self::Http(server) => server.post(Call::Change, &request).await,
            #[cfg(all(test, feature = "gallery"))]
            Self::Script(script) => (script.0)(request),
        }
    }

    /// Follows the journal after the entry `after`.
    pub(crate) async fn subscribe(
        &self,
        after: u64,
        each: impl FnMut(News) + 'static,
    ) -> Result<Subscription, Refusal> {
        match self {
            Self::Tauri => tauri::IpcSubscription::start(after, each)
                .await
                .map(Subscription::Tauri),
            Self::Http(server) => {
                http::SseSubscription::start(server, after, each).map(Subscription::Http)
            }
            #[cfg(all(test, feature = "gallery"))]
            Self::Script(_) => std::future::pending().await,
        }
    }

    /// Whether the server refused the last request because of its token.
    pub(crate) fn wants_token(&self) -> bool {
        match self {
            Self::Http(server) => server.wants_token(),
            _ => false,
        }
    }

    /// Whether the backend can open an editor: a page in a browser cannot.
    pub(crate) fn opens_editors(&self) -> bool {
        matches!(self, Self::Tauri)
    }

    /// Whether the backend zooms: a browser has its own keys and memory for that.
    pub(crate) fn zooms(&self) -> bool {
        matches!(self, Self::Tauri)
    }

    /// Opens a pointer's target, where it is now, in the person's editor; returns the editor's
    /// name.
    pub(crate) async fn open_editor(&self, pointer: &str) -> Result<String, Refusal> {
        #[derive(Serialize)]
        struct OpenEditorArgs<'a> {
            pointer: &'a str,
        }
        match self {
            Self::Tauri => tauri::call(Call::OpenEditor, &OpenEditorArgs { pointer }).await,
            _ => Err(Refusal::new(
                Code::Internal,
                say::notice::NO_EDITOR,
                say::notice::NO_EDITOR_HINT,
            )),
        }
    }

    /// Reads the person's settings.
    pub(crate) async fn settings(&self) -> Result<Settings, Refusal> {
        match self {
            Self::Tauri => tauri::call(Call::Settings, &NoArgs {}).await,
            _ => {
                let kept = dom::read_stored(SETTINGS);
                let kept = kept.and_then(|it| from_json(it.as_bytes()).ok());
                Ok(kept.unwrap_or_default())
            }
        }
    }

    /// Stores the person's settings.
    pub(crate) async fn keep_settings(&self, settings: &Settings) -> Result<(), Refusal> {
        #[derive(Serialize)]
        struct KeepSettingsArgs<'a> {
            settings: &'a Settings,
        }
        match self {
            Self::Tauri => tauri::call(Call::KeepSettings, &KeepSettingsArgs { settings }).await,
            _ => {
                let text =
                    serde_json::to_string(settings).map_err(|error| strange_answer(&error))?;
                if dom::write_stored(SETTINGS, &text) {
                    Ok(())
                } else {
                    Err(Refusal::new(
                        Code::Internal,
                        say::notice::NOT_KEPT,
                        say::notice::NOT_KEPT_HINT,
                    ))
                }
            }
        }
    }

    /// Returns the window's surroundings, such as installed editors; none in a browser.
    pub(crate) async fn surroundings(&self) -> Result<Option<Surroundings>, Refusal> {
        match self {
            Self::Tauri => tauri::call(Call::Surroundings, &NoArgs {}).await.map(Some),
            _ => Ok(None),
        }
    }

    /// Opens the window's log in the person's editor; returns the editor's name.
    pub(crate) async fn open_log(&self) -> Result<String, Refusal> {
        match self {
            Self::Tauri => tauri::call(Call::OpenLog, &NoArgs {}).await,
            _ => Err(in_window_only()),
        }
    }

    /// Makes the system open `engram://` links with the window.
    pub(crate) async fn bring_links(&self) -> Result<(), Refusal> {
        match self {
            Self::Tauri => tauri::call(Call::BringLinks, &NoArgs {}).await,
            _ => Err(in_window_only()),
        }
    }

    /// Whether the backend can show another repository.
    pub(crate) fn switches_repositories(&self) -> bool {
        match self {
            Self::Tauri => true,
            Self::Http(_) => false,
            #[cfg(all(test, feature = "gallery"))]
            Self::Script(script) => script.1,
        }
    }

    /// Lists the repositories that were open before.
    pub(crate) async fn repositories(&self) -> Result<Vec<Recent>, Refusal> {
        match self {
            Self::Tauri => tauri::call(Call::Repositories, &NoArgs {}).await,
            _ => Ok(Vec::new()),
        }
    }

    /// Waits for news after `after`; returns the repositories that are open in the window.
    pub(crate) async fn opened(&self, after: u64) -> Result<OpenedReply, Refusal> {
        #[derive(Serialize)]
        struct OpenedArgs {
            after: u64,
        }
        match self {
            Self::Tauri => tauri::call(Call::Opened, &OpenedArgs { after }).await,
            _ => Err(in_window_only()),
        }
    }

    /// Closes a repository that is open in the background.
    pub(crate) async fn close_repository(&self, path: &str) -> Result<(), Refusal> {
        match self {
            Self::Tauri => tauri::call(Call::CloseRepository, &PathArgs { path }).await,
            _ => Err(in_window_only()),
        }
    }

    /// Lets the person choose a folder in the system's dialog; returns none if they cancel.
    pub(crate) async fn choose_folder(&self) -> Result<Option<String>, Refusal> {
        match self {
            Self::Tauri => tauri::call(Call::ChooseFolder, &NoArgs {}).await,
            _ => Err(in_window_only()),
        }
    }

    /// Directs requests to another repository; returns its root.
    pub(crate) async fn open_repository(&self, path: &str) -> Result<String, Refusal> {
        match self {
            Self::Tauri => tauri::call(Call::OpenRepository, &PathArgs { path }).await,
            #[cfg(all(test, feature = "gallery"))]
            Self::Script(_) => Ok(path.to_owned()),
            _ => Err(in_window_only()),
        }
    }

    /// Calls `each` with what other programs hand to the window.
    pub(crate) async fn follow_handed(&self, each: impl FnMut(Handed) + 'static) {
        if let Self::Tauri = self
            && let Err(refusal) = tauri::follow_handed(each).await
        {
            dom::log(&refusal.to_string());
        }
    }

    /// Notifies the shell that something is on the screen.
    pub(crate) async fn ready(&self) {
        if let Self::Tauri = self {
            let done: Result<(), Refusal> = tauri::call(Call::Ready, &NoArgs {}).await;
            if let Err(refusal) = done {
                dom::log(&refusal.to_string());
            }
        }
    }

    /// Whether the backend can write an agent's configuration: a page in a browser cannot.
    pub(crate) fn connects(&self) -> bool {
        matches!(self, Self::Tauri)
    }

    /// Lists which agents are connected.
    pub(crate) async fn connections(&self) -> Result<Vec<Connection>, Refusal> {
        match self {
            Self::Tauri => tauri::call(Call::Connections, &NoArgs {}).await,
            _ => Err(in_window_only()),
        }
    }

    /// Returns the change to an agent's configuration. If it is the one that was `shown`, writes it
    /// instead.
    pub(crate) async fn connect(
        &self,
        client: Client,
        undo: bool,
        shown: Option<String>,
    ) -> Result<ConnectReply, Refusal> {
        #[derive(Serialize)]
        struct ConnectClientArgs {
            client: Client,
            undo: bool,
            shown: Option<String>,
        }
        let args = ConnectClientArgs {
            client,
            undo,
            shown,
        };
        match self {
            Self::Tauri => tauri::call(Call::Connect, &args).await,
            _ => Err(in_window_only()),
        }
    }

    /// Returns the command lines that connect an agent.
    pub(crate) async fn connect_hint(&self) -> Result<Vec<ConnectHint>, Refusal> {
        match self {
            Self::Tauri => tauri::call(Call::ConnectHint, &NoArgs {}).await,
            Self::Http(server) => server.post(Call::ConnectHint, &NoArgs {}).await,
            #[cfg(all(test, feature = "gallery"))]
            Self::Script(_) => Err(in_window_only()),
        }
    }
}

/// The key under which a browser keeps the settings.
const SETTINGS: &str = "settings";

/// The arguments of a call that takes none.
#[derive(Serialize)]
pub(crate) struct NoArgs {}

fn in_window_only() -> Refusal {
    Refusal::new(
        Code::ScopeDenied,
        say::notice::WINDOW_ONLY,
        say::notice::WINDOW_ONLY_HINT,
    )
}

#[derive(Serialize)]
struct RequestArgs {
    request: Request,
}

#[derive(Serialize)]
struct PathArgs<'a> {
    path: &'a str,
}

/// Converts a JavaScript value, or bytes of JSON, to one of our types.
pub(crate) fn from_js<T: DeserializeOwned>(value: &JsValue) -> Result<T, Refusal> {
    let bytes = match value.dyn_ref::<js_sys::ArrayBuffer>() {
        Some(bytes) => {
            let copied = js_sys::Uint8Array::new(bytes).to_vec();
            free_bytes(bytes);
            copied
        }
        None => {
            let text = js_sys::JSON::stringify(value).ok();
            let text = text.and_then(|it| it.as_string());
            // A command without an answer returns `undefined`, which has no JSON text.
            text.unwrap_or_else(|| "null".to_owned()).into_bytes()
        }
    };
    from_json(&bytes).map_err(|error| strange_answer(&error))
}

/// Frees the memory of an answer at once. As garbage, it would wait for the next collection, and
/// tens of megabytes would pile up while claims pour in.
fn free_bytes(bytes: &js_sys::ArrayBuffer) {
    let transfer = js_sys::Reflect::get(bytes, &"transfer".into()).ok();
    if let Some(transfer) = transfer.and_then(|it| it.dyn_into::<js_sys::Function>().ok()) {
        // Memory that cannot be freed this way waits for the collector.
        let _ = transfer.call1(bytes, &0.into());
    }
}

/// The only function that parses JSON here: any other would compile all types into the page again.
pub(crate) fn from_json<T: DeserializeOwned>(bytes: &[u8]) -> serde_json::Result<T> {
    serde_json::from_slice(bytes)
}

/// Converts one of our types to a JavaScript value.
pub(crate) fn to_js<T: Serialize>(value: &T) -> Result<JsValue, Refusal> {
    let text = serde_json::to_string(value).map_err(|error| strange_answer(&error))?;
    js_sys::JSON::parse(&text).map_err(|_| strange_answer(&"not JSON"))
}

/// Returns the refusal for an answer whose shape this page does not know.
pub(crate) fn strange_answer(what: &dyn std::fmt::Display) -> Refusal {
    Refusal::new(
        Code::Internal,
        say::notice::strange(what),
        say::notice::STRANGE_HINT,
    )
}
