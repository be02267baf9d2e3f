//! Which agent is open.
#![allow(clippy::unwrap_used, clippy::panic)]

use engram_model::Request;
use leptos::prelude::*;
use serde_json::json;

use super::{VIEW, state};
use crate::app::views::stage::Stage;

#[test]
fn an_agent_that_there_is_not_is_said_to_be_gone() {
    let stage = Stage::open(&VIEW, |request| match request {
        Request::Agents => Ok(json!({"is": "agents", "with": {"agents": [], "more": 0}})),
        other => panic!("{other:?}"),
    });
    let app = stage.app;
    let open = app.views.agents.inbox.open;
    // Until the agents are read, any name may be one of theirs.
    (VIEW.address.open)(app, Some("ada"));
    assert!(open.get_untracked().is_some());
    state::read(app);
    stage.settle();
    assert_eq!(open.get_untracked(), None);
    let is_error = |app: crate::app::state::App| app.frame.toast.get_untracked().unwrap().is_error;
    assert!(is_error(app));
    // An address may also name one later.
    app.frame.toast.set(None);
    (VIEW.address.open)(app, Some("ada"));
    assert_eq!(open.get_untracked(), None);
    assert!(is_error(app));
}
