//! Hands on a grant that its agent did not use before its connection ended.

use engram_model::{
    AgentId, AgentStatus, GrantWanted, PointerInput, Refusal, RequestTold, ask, successor_of,
};
use leptos::{prelude::*, task::spawn_local};

use super::{answer::undo_of, state};
use crate::{
    app::{state::App, views::requests::request::can_transfer},
    tags::Tag,
    words::{self, say},
};

/// Whether the open request's grant can be transferred now.
pub(super) fn can_hand_on(app: App) -> bool {
    let (agents, now) = (app.views.requests.agents, app.clock.get().now);
    let request = state::current_request(app);
    request.is_some_and(|it| agents.with(|agents| can_transfer(&it, agents, now)))
}

/// Gives the open request's grant to the newest connection of the same client.
pub(super) fn hand_on(app: App) {
    let Some(request) = untrack(|| state::current_request(app)) else {
        return;
    };
    if !app.batch.begin(say::requests::ANSWERING, 1) {
        return;
    }
    app.views.requests.answer_refused.set(None);
    spawn_local(async move {
        let handed = send(app, &request).await;
        app.batch.end();
        app.stale.touch(Tag::Requests);
        match handed {
            Ok(Some((to, grant))) => {
                let name = words::visible(&to.name);
                let text = say::requests::handed_on(&name);
                let undo = vec![undo_of(grant)];
                app.frame.say_all_done(&text, "", false, undo);
            }
            Ok(None) => app
                .frame
                .warn(say::requests::NO_NEWER, say::requests::NO_NEWER_HINT),
            Err(refusal) => app.views.requests.answer_refused.set(Some(refusal)),
        }
    });
}

/// Returns who has the grant now, and its new id.
async fn send(app: App, request: &RequestTold) -> Result<Option<(AgentStatus, String)>, Refusal> {
    let agents = app.ask(ask::Agents).await?.agents;
    let Some(grant) = &request.grant else {
        return Ok(None);
    };
    let Some(to) = successor_of(agents, &grant.to) else {
        return Ok(None);
    };
    let wanted = GrantWanted {
        to: to.handle.clone(),
        pointer: Some(PointerInput::Text(request.pointer.clone())),
        cap_tokens: grant.cap_tokens,
        code_chars: None,
        ttl: None,
        by: None,
        replaces: Some(grant.id.clone()),
    };
    let grant = app.ask(ask::IssueGrant(wanted)).await?;
    Ok(Some((to, grant.id)))
}

/// Whether the client of this connection has connected again, so that this connection has ended.
pub(super) async fn has_newer_connection(app: App, agent: &AgentId) -> bool {
    let agents = app.ask(ask::Agents).await;
    agents.is_ok_and(|it| successor_of(it.agents, agent).is_some())
}
