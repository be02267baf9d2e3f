//! The bus of seed 000, section 6, over HTTP: an orchestrator and its agents, each by its own token; the user by
//! the server's.

use std::sync::Arc;

use axum::{
    Extension, Json, Router,
    extract::{Path, Query, Request as Asked, State},
    http::StatusCode,
    middleware,
    response::{IntoResponse, Response},
    routing::{delete, get, post},
};
use engram_model::{
    AgentId, BudgetOf, Caller, Deref, Draft, EngramId, EngramV01, GrantAnswer, GrantWanted,
    NextTurn, Opening, PointerInput, Query as Search, Refusal, Reply, Request, Ttl, WhichRequests,
};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::Value;

use super::{Api, Guard, Refused, conflicts, guard, invalid};

/// Most engrams that the bus answers with (seed 000, 5.2).
const MOST: usize = 12;

pub(super) type Answer = Result<Response, Refused>;

pub(super) fn routes(api: Api, guard: Arc<Guard>) -> Router {
    let known = (guard, Arc::clone(&api.engine));
    Router::new()
        .route("/engram", post(put))
        .route("/engram/{id}", delete(forget))
        .route("/engram/query", get(query))
        .route("/engram/query_by_embedding", get(by_embedding))
        .route("/pointer/deref", post(deref))
        .route("/budget", get(budget))
        .route("/grant", post(grant))
        .route("/grant/{id}", delete(revoke))
        .route("/request", get(requests).post(ask_for))
        .route("/request/{id}", post(answer_request))
        .route("/agent", post(open))
        .route("/agent/{id}/turn", post(next_turn))
        .merge(conflicts::routes())
        .layer(middleware::from_fn_with_state(known, guard::caller))
        .with_state(api)
}

impl Api {
    /// A body of JSON, as what it has to be; nothing at all is an empty object.
    pub(super) async fn body<T: DeserializeOwned>(
        &self,
        asked: Asked,
        takes: &str,
    ) -> Result<T, Refused> {
        let bytes = self.whole(asked.into_body()).await?;
        let text: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        serde_json::from_slice(text).map_err(|error| {
            invalid(
                format!("the body is not valid: {error}"),
                &format!("Send {takes} as JSON."),
            )
        })
    }

    /// What the engine answers, without the name of the reply.
    pub(super) async fn tell(self, caller: Caller, request: Request) -> Answer {
        let Json(reply) = self.answer(caller, request).await?;
        let told = match reply {
            Reply::Query(it) => {
                let engrams = it.engrams.iter().map(EngramV01::from);
                serde_json::to_value(engrams.collect::<Vec<_>>())
            }
            other => serde_json::to_value(other).map(|mut it| it["with"].take()),
        };
        let told: Value = told.map_err(|error| {
            Refused(Refusal::new(
                engram_model::Code::Internal,
                format!("the answer cannot be written: {error}"),
                "This is a bug in Engram: please report it.",
            ))
        })?;
        Ok(Json(told).into_response())
    }
}

async fn put(State(api): State<Api>, Extension(who): Extension<Caller>, asked: Asked) -> Answer {
    let draft: Draft = api.body(asked, "an engram").await?;
    let stored = api.tell(who, Request::Put(Box::new(draft))).await?;
    Ok((StatusCode::CREATED, stored).into_response())
}

async fn forget(
    State(api): State<Api>,
    Extension(who): Extension<Caller>,
    Path(id): Path<String>,
) -> Answer {
    let id: EngramId = id.parse().map_err(Refused)?;
    api.tell(who, Request::Forget(id)).await
}

#[derive(Deserialize)]
struct Keys {
    keys: String,
    k: Option<usize>,
}

async fn query(
    State(api): State<Api>,
    Extension(who): Extension<Caller>,
    asked: Result<Query<Keys>, axum::extract::rejection::QueryRejection>,
) -> Answer {
    let wrong = || {
        invalid(
            "the query has no keys, or k is not between 1 and 12",
            "Ask for ?keys=gateway,retry&k=5.",
        )
    };
    let Query(asked) = asked.map_err(|_| wrong())?;
    let k = asked.k.unwrap_or(MOST);
    if !(1..=MOST).contains(&k) {
        return Err(wrong());
    }
    let search = Search {
        text: asked.keys.replace(',', " "),
        k: Some(k),
        ..Search::default()
    };
    api.tell(who, Request::Query(search)).await
}

async fn by_embedding() -> Refused {
    invalid(
        "engrams have no embeddings in this version",
        "Ask by keys: GET /engram/query?keys=gateway,retry&k=5.",
    )
}

async fn deref(State(api): State<Api>, Extension(who): Extension<Caller>, asked: Asked) -> Answer {
    let read: Deref = api
        .body(asked, "{pointer, budget_token?, max_tokens?}")
        .await?;
    // Whose turn it is, an agent does not say.
    let turn = read.turn.filter(|_| who == Caller::User);
    api.tell(who, Request::Deref(Deref { turn, ..read })).await
}

async fn budget(State(api): State<Api>, Extension(who): Extension<Caller>) -> Answer {
    api.tell(who, Request::Budget(BudgetOf::default())).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    to: AgentId,
    pointer: Option<PointerInput>,
    cap_tokens: Option<u32>,
    code_chars: Option<u32>,
    ttl: Option<Ttl>,
}

async fn grant(State(api): State<Api>, Extension(who): Extension<Caller>, asked: Asked) -> Answer {
    let it: Wanted = api.body(asked, "{to, pointer, cap_tokens?, ttl?}").await?;
    let wanted = GrantWanted {
        to: it.to,
        pointer: it.pointer,
        cap_tokens: it.cap_tokens,
        code_chars: it.code_chars,
        ttl: it.ttl,
        by: None,
    };
    api.tell(who, Request::IssueGrant(wanted)).await
}

async fn revoke(
    State(api): State<Api>,
    Extension(who): Extension<Caller>,
    Path(id): Path<String>,
) -> Answer {
    api.tell(who, Request::RevokeGrant(id)).await
}

#[derive(Deserialize)]
struct Which {
    all: Option<bool>,
}

async fn requests(
    State(api): State<Api>,
    Extension(who): Extension<Caller>,
    asked: Result<Query<Which>, axum::extract::rejection::QueryRejection>,
) -> Answer {
    let Query(which) =
        asked.map_err(|_| invalid("all must be true or false", "Ask for ?all=true."))?;
    let all = which.all.unwrap_or_default();
    api.tell(who, Request::Requests(WhichRequests { all }))
        .await
}

async fn ask_for(
    State(api): State<Api>,
    Extension(who): Extension<Caller>,
    asked: Asked,
) -> Answer {
    let wanted = api.body(asked, "{pointer, reason, intended_use?}").await?;
    api.tell(who, Request::RequestDeref(Box::new(wanted))).await
}

/// The answer to a request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Verdict {
    verdict: Says,
    cap_tokens: Option<u32>,
    ttl: Option<Ttl>,
    why: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Says {
    #[serde(alias = "granted")]
    Grant,
    #[serde(alias = "denied")]
    Deny,
}

async fn answer_request(
    State(api): State<Api>,
    Extension(who): Extension<Caller>,
    Path(id): Path<String>,
    asked: Asked,
) -> Answer {
    let it: Verdict = api
        .body(asked, "{verdict: grant or deny, cap_tokens?, ttl?, why?}")
        .await?;
    let request = match it.verdict {
        Says::Grant => Request::GrantRequest(GrantAnswer {
            id,
            cap_tokens: it.cap_tokens,
            ttl: it.ttl,
        }),
        Says::Deny => Request::DenyRequest(engram_model::DenyAnswer { id, why: it.why }),
    };
    api.tell(who, request).await
}

async fn open(State(api): State<Api>, Extension(who): Extension<Caller>, asked: Asked) -> Answer {
    let opening: Opening = api.body(asked, "{name, role?, read?, write?}").await?;
    api.tell(who, Request::OpenAgent(opening)).await
}

#[derive(Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
struct Turn {
    turn: Option<String>,
}

async fn next_turn(
    State(api): State<Api>,
    Extension(who): Extension<Caller>,
    Path(id): Path<String>,
    asked: Asked,
) -> Answer {
    let Turn { turn } = api.body(asked, "{turn?}").await?;
    let agent = AgentId(id);
    api.tell(who, Request::NextTurn(NextTurn { agent, turn }))
        .await
}
