//! Stands in for the shell of the window: answers requests of components with made-up data, so that
//! the gallery needs neither a home nor a server.

use engram_model::{
    Call, Client, ConnectHint, Connected, Connection, Pointer, PointerInput, Refusal, Reply,
    Request,
};
use js_sys::{Object, Promise, Reflect};
use serde::Deserialize;
use wasm_bindgen::{JsValue, prelude::Closure};

use super::made_up;
use crate::app::{
    engine::backend::{from_js, to_js},
    views::conflicts,
};

/// The arguments of a call that reads or changes.
#[derive(Deserialize)]
struct CallArgs {
    request: Request,
}

/// Makes the page believe that it is in the window, and send its calls here.
pub(super) fn stand_in() {
    let invoke =
        Closure::<dyn FnMut(String, JsValue) -> Promise>::new(|command: String, args: JsValue| {
            match answer(&command, &args) {
                Ok(answer) => Promise::resolve(&answer),
                Err(refusal) => Promise::reject(&to_js(&refusal).unwrap_or_default()),
            }
        });
    let (core, tauri) = (Object::new(), Object::new());
    let within = [
        (&core, "invoke", invoke.as_ref()),
        (&tauri, "core", &core),
        (&leptos::prelude::window(), "__TAURI__", &tauri),
    ];
    for (object, name, value) in within {
        // If a property cannot be set, the page keeps the transport that it was served by.
        let _ = Reflect::set(object, &name.into(), value);
    }
    invoke.forget();
}

fn answer(command: &str, args: &JsValue) -> Result<JsValue, Refusal> {
    let call = Call::ALL.iter().find(|it| it.name() == command);
    match call {
        Some(Call::Read | Call::Change) => to_js(&reply(from_js::<CallArgs>(args)?.request)?),
        Some(Call::Surroundings) => to_js(&made_up::surroundings()),
        Some(Call::Repositories) => to_js(&made_up::repositories()),
        Some(Call::ConnectHint) => to_js(&ConnectHint::all("engram", None)),
        Some(Call::Connections) => to_js(&made_up_connections()),
        Some(Call::KeepSettings) => Ok(JsValue::NULL),
        _ => Err(made_up::refusal()),
    }
}

/// One connected agent among those that can be connected.
fn made_up_connections() -> Vec<Connection> {
    let connection = |client: &Client| Connection {
        client: *client,
        state: match client {
            Client::Claude => Connected::Here,
            _ => Connected::No,
        },
    };
    Client::ALL.iter().map(connection).collect()
}

fn reply(request: Request) -> Result<Reply, Refusal> {
    Ok(match request {
        Request::Source(view) => Reply::Source(Box::new(made_up::source(&meant(view.pointer)?)?)),
        Request::Standing(pointer) => {
            Reply::Standing(Box::new(made_up::standing(&meant(pointer)?)))
        }
        Request::Blame(_) => Reply::Blame(made_up::blame()),
        Request::Line(view) => Reply::Line(made_up::long_line(&view)),
        Request::Conflict(id) => {
            let found = conflicts::gallery::all().into_iter().find(|it| it.id == id);
            Reply::Conflict(Box::new(found.ok_or_else(made_up::refusal)?))
        }
        Request::Log(id) => Reply::Log(made_up::log(id)),
        _ => return Err(made_up::refusal()),
    })
}

fn meant(pointer: PointerInput) -> Result<Pointer, Refusal> {
    Pointer::try_from(pointer)
}
