//! The transport inside the window: Tauri commands.

use std::{cell::Cell, rc::Rc};

use engram_model::{Call, Code, Handed, Refusal};
use leptos::task::spawn_local;
use serde::{Serialize, de::DeserializeOwned};
use wasm_bindgen::prelude::*;

use super::backend::{News, NoArgs, from_js, to_js};
use crate::{app::dom, words::say};

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
        Err(error) => Err(refusal_of(&error)),
    }
}

/// Reads the error of a rejected command: one of our refusals, or a message from Tauri.
fn refusal_of(error: &JsValue) -> Refusal {
    from_js(error).unwrap_or_else(|_| {
        Refusal::new(
            Code::Internal,
            error
                .as_string()
                .unwrap_or_else(|| say::notice::NO_SHELL.to_owned()),
            say::notice::NO_SHELL_HINT,
        )
    })
}

/// The feed of the shell; dropping it ends the feed.
pub(crate) struct IpcSubscription(Rc<Cell<bool>>);

impl IpcSubscription {
    pub(crate) async fn start(
        after: u64,
        mut each: impl FnMut(News) + 'static,
    ) -> Result<Self, Refusal> {
        #[derive(Serialize)]
        struct SubscribeArgs {
            after: u64,
        }
        let _: () = call(Call::Subscribe, &SubscribeArgs { after }).await?;
        let is_open = Rc::new(Cell::new(true));
        let is_wanted = is_open.clone();
        spawn_local(async move {
            while is_wanted.get() {
                let news = match call(Call::Entries, &NoArgs {}).await {
                    Ok(entries) => News::Entries(entries),
                    Err(refusal) => {
                        dom::log(&refusal.to_string());
                        News::Lost
                    }
                };
                let is_lost = matches!(news, News::Lost);
                if is_wanted.get() {
                    each(news);
                }
                if is_lost {
                    return;
                }
            }
        });
        Ok(Self(is_open))
    }
}

impl Drop for IpcSubscription {
    fn drop(&mut self) {
        self.0.set(false);
    }
}

/// Calls `each` with what other programs hand to the window, for as long as the page lives.
pub(crate) async fn follow_handed(mut each: impl FnMut(Handed) + 'static) -> Result<(), Refusal> {
    let channel = Channel::new();
    let closure =
        Closure::<dyn FnMut(JsValue)>::new(move |handed: JsValue| match from_js(&handed) {
            Ok(handed) => each(handed),
            Err(refusal) => dom::log(&refusal.to_string()),
        });
    channel.set_onmessage(&closure);
    closure.forget();
    let args = js_sys::Object::new();
    js_sys::Reflect::set(&args, &"channel".into(), &channel).map_err(|error| refusal_of(&error))?;
    invoke(Call::FollowHanded.name(), args.into())
        .await
        .map_err(|error| refusal_of(&error))?;
    Ok(())
}
