//! The transport inside the window: Tauri commands, and a channel for the feed.

use engram_model::{Call, Code, Entry, Refusal};
use serde::{Serialize, de::DeserializeOwned};
use wasm_bindgen::prelude::*;

use super::backend::{News, from_js, to_js};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(catch, js_namespace = ["window", "__TAURI__", "core"])]
    async fn invoke(command: &str, args: JsValue) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(js_namespace = ["window", "__TAURI__", "core"])]
    type Channel;

    #[wasm_bindgen(constructor, js_namespace = ["window", "__TAURI__", "core"])]
    fn new() -> Channel;

    #[wasm_bindgen(method, setter)]
    fn set_onmessage(this: &Channel, each: &Closure<dyn FnMut(JsValue)>);
}

/// Whether this page runs in the window.
pub(crate) fn is_here() -> bool {
    let tauri = web_sys::window()
        .and_then(|window| js_sys::Reflect::get(&window, &JsValue::from_str("__TAURI__")).ok());
    tauri.is_some_and(|it| it.is_object())
}

/// Calls a command of the shell.
pub(crate) async fn call<T: DeserializeOwned>(
    call: Call,
    args: &impl Serialize,
) -> Result<T, Refusal> {
    match invoke(call.name(), to_js(args)?).await {
        Ok(answer) => from_js(&answer),
        Err(error) => Err(refusal(&error)),
    }
}

/// What a rejected command says: a refusal of ours, or a sentence of Tauri's.
fn refusal(error: &JsValue) -> Refusal {
    from_js(error).unwrap_or_else(|_| {
        Refusal::new(
            Code::Internal,
            error
                .as_string()
                .unwrap_or_else(|| "the window did not answer".to_owned()),
            "Restart the window; its log is in the folder logs of Engram's home.",
        )
    })
}

/// The feed of the shell; the shell drops its end when another one is started.
pub(crate) struct Live {
    _each: Closure<dyn FnMut(JsValue)>,
    _channel: Channel,
}

impl Live {
    pub(crate) async fn start(
        after: u64,
        mut each: impl FnMut(News) + 'static,
    ) -> Result<Self, Refusal> {
        let channel = Channel::new();
        let closure = Closure::<dyn FnMut(JsValue)>::new(move |batch: JsValue| {
            match from_js::<Vec<Entry>>(&batch) {
                Ok(entries) => each(News::Entries(entries)),
                Err(refusal) => {
                    super::dom::log(&refusal.to_string());
                    each(News::Lost);
                }
            }
        });
        channel.set_onmessage(&closure);
        let args = js_sys::Object::new();
        let set = |key: &str, value: &JsValue| js_sys::Reflect::set(&args, &key.into(), value);
        // Places in the journal stay below 2^53.
        let ready = set("after", &JsValue::from_f64(after as f64)).and(set("channel", &channel));
        ready.map_err(|error| refusal(&error))?;
        invoke(Call::Subscribe.name(), args.into())
            .await
            .map_err(|error| refusal(&error))?;
        Ok(Self {
            _each: closure,
            _channel: channel,
        })
    }
}

/// Hears the links that other programs hand to the window, for as long as the page lives.
pub(crate) async fn follow_links(mut each: impl FnMut(String) + 'static) -> Result<(), Refusal> {
    let channel = Channel::new();
    let closure = Closure::<dyn FnMut(JsValue)>::new(move |link: JsValue| {
        if let Some(link) = link.as_string() {
            each(link);
        }
    });
    channel.set_onmessage(&closure);
    closure.forget();
    let args = js_sys::Object::new();
    js_sys::Reflect::set(&args, &"channel".into(), &channel).map_err(|error| refusal(&error))?;
    invoke(Call::FollowLinks.name(), args.into())
        .await
        .map_err(|error| refusal(&error))?;
    Ok(())
}
