//! The transport in a browser: JSON over HTTP, and server-sent events for the feed.

use std::{
    cell::RefCell,
    rc::Rc,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
};

use engram_model::{Call, Code, Entry, Refusal};
use serde::{Serialize, de::DeserializeOwned};
use wasm_bindgen::{JsCast, prelude::*};
use wasm_bindgen_futures::JsFuture;
use web_sys::{EventSource, Headers, MessageEvent, RequestInit, Response};

use super::backend::{News, from_js, from_json, strange_answer};
use crate::{app::dom, words::say};

/// The key under which the tab keeps the token.
const TOKEN: &str = "token";
/// The HTTP status for a wrong token; other refusals have other statuses.
const UNAUTHORIZED: u16 = 401;

/// The local server that served this page, and its token.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    token: String,
    /// Whether the last request was refused because of its token.
    is_refused: Arc<AtomicBool>,
}

impl Server {
    /// Takes the token out of the address (`#token=..`), where it would stay in the history. The
    /// tab keeps it, so that the page can be reloaded.
    pub(crate) fn from_location() -> Self {
        let window = leptos::prelude::window();
        let store = window.session_storage().ok().flatten();
        let hash = dom::hash();
        let token = match hash.strip_prefix("#token=") {
            Some(token) => {
                // If the tab cannot keep the token, it stays in the address.
                let kept = store.is_some_and(|it| it.set_item(TOKEN, token).is_ok());
                if kept && let Ok(history) = window.history() {
                    let query = window.location().search().unwrap_or_default();
                    let address = format!("./{query}");
                    let _ = history.replace_state_with_url(&JsValue::NULL, "", Some(&address));
                }
                token.to_owned()
            }
            None => store
                .and_then(|it| it.get_item(TOKEN).ok().flatten())
                .unwrap_or_default(),
        };
        Self {
            token,
            is_refused: Arc::default(),
        }
    }

    /// Sends one request; returns its answer or a refusal.
    pub(crate) async fn post<T: DeserializeOwned>(
        &self,
        call: Call,
        body: &impl Serialize,
    ) -> Result<T, Refusal> {
        let text = serde_json::to_string(body).map_err(|error| strange_answer(&error))?;
        let response = self
            .send(&path_of(call), &text)
            .await
            .map_err(|_| no_server())?;
        self.is_refused
            .store(response.status() == UNAUTHORIZED, Ordering::Relaxed);
        let json = response.json().map_err(|_| strange_answer(&"not JSON"))?;
        let answer = JsFuture::from(json)
            .await
            .map_err(|_| strange_answer(&response.status()))?;
        if response.ok() {
            return from_js(&answer);
        }
        let error = js_sys::Reflect::get(&answer, &"error".into()).unwrap_or_default();
        Err(from_js(&error).unwrap_or_else(|_| strange_answer(&response.status())))
    }

    /// Whether the last request was refused because of its token.
    pub(crate) fn wants_token(&self) -> bool {
        self.is_refused.load(Ordering::Relaxed)
    }

    async fn send(&self, path: &str, text: &str) -> Result<Response, JsValue> {
        let window = web_sys::window().ok_or(JsValue::NULL)?;
        let headers = Headers::new()?;
        headers.set("content-type", "application/json")?;
        headers.set("authorization", &format!("Bearer {}", self.token))?;
        let init = RequestInit::new();
        init.set_method("POST");
        init.set_headers(&headers);
        init.set_body(&JsValue::from_str(text));
        JsFuture::from(window.fetch_with_str_and_init(path, &init))
            .await?
            .dyn_into()
    }
}

fn path_of(call: Call) -> String {
    format!("/api/{}", call.name())
}

fn no_server() -> Refusal {
    Refusal::new(
        Code::Internal,
        say::notice::NO_SERVER,
        say::notice::NO_SERVER_HINT,
    )
}

/// Server-sent events; the browser reconnects by itself, after the last entry that it received.
pub(crate) struct SseSubscription {
    source: EventSource,
    _closures: [Closure<dyn FnMut(MessageEvent)>; 3],
}

impl SseSubscription {
    pub(crate) fn start(
        server: &Server,
        after: u64,
        each: impl FnMut(News) + 'static,
    ) -> Result<Self, Refusal> {
        let token = String::from(js_sys::encode_uri_component(&server.token));
        // An event source cannot send headers, so the token is in the address.
        let source = EventSource::new(&format!(
            "{}?after={after}&token={token}",
            path_of(Call::Subscribe)
        ))
        .map_err(|_| no_server())?;
        let each = Rc::new(RefCell::new(each));
        let tell = move |news: fn(&MessageEvent) -> News| {
            let each = each.clone();
            Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
                if let Ok(mut each) = each.try_borrow_mut() {
                    each(news(&event));
                }
            })
        };
        let closures = [
            tell(news_of),
            tell(|_| News::Connected),
            tell(|_| News::Lost),
        ];
        source.set_onmessage(Some(closures[0].as_ref().unchecked_ref()));
        source.set_onopen(Some(closures[1].as_ref().unchecked_ref()));
        source.set_onerror(Some(closures[2].as_ref().unchecked_ref()));
        Ok(Self {
            source,
            _closures: closures,
        })
    }
}

impl Drop for SseSubscription {
    fn drop(&mut self) {
        self.source.close();
    }
}

/// Reads an event, which carries one entry or a list of them.
fn news_of(event: &MessageEvent) -> News {
    let text = event.data().as_string().unwrap_or_default();
    let list = from_json::<Vec<Entry>>(text.as_bytes())
        .or_else(|_| from_json::<Entry>(text.as_bytes()).map(|it| vec![it]));
    match list {
        Ok(entries) => News::Entries(entries),
        Err(_) => News::Lost,
    }
}
