//! Translates each call of the bus to one request to the engine. Clients know the names in
//! `schemars(rename)` from `/openapi.json`, so these names stay.

use axum::{
    Extension, Json,
    extract::{
        FromRequestParts, Path, Query, Request as Asked,
        rejection::{ExtensionRejection, QueryRejection},
    },
    http::{StatusCode, header, request::Parts},
    response::{IntoResponse, Response},
};
use engram_model::{
    AgentId, Ask, BudgetOf, DenyAnswer, Deref, Draft, EngramId, EngramV01, GrantAnswer,
    GrantWanted, Hook, HookEvent, NextTurn, Opening, PointerInput, Query as Search, RagFound,
    RagResult, Refusal, Reply, Request, SamRead, Sending, Ttl, WhichRequests, ask,
};
use schemars::JsonSchema;
use serde::{
    Deserialize,
    de::{DeserializeOwned, Error},
};
use serde_json::Value;

use super::super::{Api, RefusalResponse, schema_invalid};
use crate::http_caller::HttpCaller;

/// Floating point represents whole numbers up to this one exactly.
const MAX_EXACT: f64 = 9_007_199_254_740_992.0;

pub(super) type BusResponse = Result<Response, RefusalResponse>;

/// The caller and the API that answers it.
pub(super) struct BusCaller {
    api: Api,
    who: HttpCaller,
}

impl FromRequestParts<Api> for BusCaller {
    type Rejection = ExtensionRejection;

    async fn from_request_parts(parts: &mut Parts, api: &Api) -> Result<Self, ExtensionRejection> {
        let Extension(who) = Extension::from_request_parts(parts, api).await?;
        let api = api.clone();
        Ok(Self { api, who })
    }
}

impl BusCaller {
    /// Parses a body of JSON as a `T`. An empty body counts as an empty object.
    pub(super) async fn parse_body<T: DeserializeOwned>(
        &self,
        asked: Asked,
        takes: &str,
    ) -> Result<T, RefusalResponse> {
        let bytes = self.api.read_body(asked.into_body()).await?;
        let text: &[u8] = if bytes.is_empty() { b"{}" } else { &bytes };
        let read = serde_json::from_slice(text).and_then(|mut body: Value| {
            rewrite_whole_floats(&mut body);
            if body.is_object() {
                T::deserialize(body)
            } else {
                Err(serde_json::Error::custom("it is not an object"))
            }
        });
        read.map_err(|error| {
            schema_invalid(
                format!("the body is not valid: {error}"),
                &format!("Send {takes} as JSON."),
            )
        })
    }

    /// Returns the engine's answer without the name of the reply.
    pub(super) async fn answer(self, request: Request) -> BusResponse {
        let Json(reply) = self.api.answer(self.who, request).await?;
        let value = match reply {
            Reply::Query(query) => {
                let engrams = query.engrams.iter().map(EngramV01::from);
                serde_json::to_value(engrams.collect::<Vec<_>>())
            }
            other => serde_json::to_value(other).map(|mut it| it["with"].take()),
        };
        let value: Value = value
            .map_err(|error| Refusal::bug(format!("the answer cannot be written: {error}")))?;
        Ok(Json(value).into_response())
    }
}

pub(super) async fn put(by: BusCaller, asked: Asked) -> BusResponse {
    let draft: Draft = by.parse_body(asked, "an engram").await?;
    let stored = by.answer(Request::Put(Box::new(draft))).await?;
    Ok((StatusCode::CREATED, stored).into_response())
}

pub(super) async fn forget(by: BusCaller, Path(id): Path<String>) -> BusResponse {
    let id: EngramId = id.parse()?;
    by.answer(Request::Forget(id)).await
}

#[derive(Deserialize)]
pub(super) struct KeysQuery {
    keys: String,
    k: Option<usize>,
}

pub(super) async fn query(
    by: BusCaller,
    asked: Result<Query<KeysQuery>, QueryRejection>,
) -> BusResponse {
    let wrong = || {
        schema_invalid(
            "the query has no keys, or k is not between 1 and 12",
            "Ask for ?keys=gateway,retry&k=5.",
        )
    };
    let Query(asked) = asked.map_err(|_| wrong())?;
    let k = asked.k.unwrap_or(crate::MAX_ENGRAMS);
    if !(1..=crate::MAX_ENGRAMS).contains(&k) || asked.keys.is_empty() {
        return Err(wrong());
    }
    let search = Search {
        text: asked.keys.replace(',', " "),
        k: Some(k),
        ..Search::default()
    };
    by.answer(Request::Query(search)).await
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct EmbeddingQuery {
    embedding_ref: String,
    k: Option<usize>,
}

pub(super) async fn query_by_embedding(
    by: BusCaller,
    asked: Result<Query<EmbeddingQuery>, QueryRejection>,
) -> BusResponse {
    let wrong = || {
        schema_invalid(
            "the query has no embedding_ref, or k is not between 1 and 12",
            "Ask for ?embedding_ref=REF&k=5, with `embedding_ref` of an engram, URL-encoded.",
        )
    };
    let Query(asked) = asked.map_err(|_| wrong())?;
    let k = asked.k.unwrap_or(crate::MAX_ENGRAMS);
    if !(1..=crate::MAX_ENGRAMS).contains(&k) {
        return Err(wrong());
    }
    let search = Search {
        embedding_ref: Some(asked.embedding_ref),
        k: Some(k),
        ..Search::default()
    };
    by.answer(Request::Query(search)).await
}

pub(super) async fn deref(by: BusCaller, asked: Asked) -> BusResponse {
    let read: Deref = by
        .parse_body(asked, "{pointer, budget_token?, max_tokens?, reason?}")
        .await?;
    // An agent does not choose whose turn pays.
    let turn = read.turn.filter(|_| matches!(by.who, HttpCaller::User));
    by.answer(Request::Deref(Deref { turn, ..read })).await
}

/// Sends a message in JSON or the text form, either alone or together with its recipient.
pub(super) async fn send_message(by: BusCaller, asked: Asked) -> BusResponse {
    let bytes = by.api.read_body(asked.into_body()).await?;
    let as_written = || utf8_text(&bytes).map(|it| Value::String(it.to_owned()));
    let sending = match serde_json::from_slice::<Value>(&bytes) {
        Ok(mut body) => {
            let is_made_whole = rewrite_whole_floats(&mut body);
            match Sending::deserialize(&body) {
                Ok(sending) => sending,
                Err(_) if is_made_whole => without_recipient(body),
                Err(_) => without_recipient(as_written()?),
            }
        }
        Err(_) => without_recipient(as_written()?),
    };
    by.answer(Request::Send(sending)).await
}

fn without_recipient(message: Value) -> Sending {
    Sending { message, to: None }
}

/// Rewrites floating-point numbers without a fraction as integers, since in JSON 67.0 and 67 are
/// the same number. Returns whether it rewrote any.
fn rewrite_whole_floats(value: &mut Value) -> bool {
    match value {
        Value::Array(items) => items
            .iter_mut()
            .fold(false, |any, it| rewrite_whole_floats(it) | any),
        Value::Object(fields) => fields
            .values_mut()
            .fold(false, |any, it| rewrite_whole_floats(it) | any),
        Value::Number(number) => match number.as_f64().filter(|_| number.is_f64()) {
            Some(whole) if whole.fract() == 0.0 && whole.abs() <= MAX_EXACT => {
                *value = Value::from(whole as i64);
                true
            }
            _ => false,
        },
        _ => false,
    }
}

fn utf8_text(bytes: &[u8]) -> Result<&str, RefusalResponse> {
    std::str::from_utf8(bytes).map_err(|_| {
        schema_invalid(
            "the message is not UTF-8",
            "Send JSON or the text form in UTF-8.",
        )
    })
}

pub(super) async fn brief(by: BusCaller) -> BusResponse {
    by.answer(Request::Brief).await
}

pub(super) async fn budget(by: BusCaller) -> BusResponse {
    by.answer(Request::Budget(BudgetOf::default())).await
}

pub(super) async fn metrics(by: BusCaller) -> BusResponse {
    let Json(reply) = by.api.answer(by.who, Request::Metrics).await?;
    let metrics = ask::Metrics::answer(reply);
    let metrics = metrics.ok_or_else(|| Refusal::bug("the engine gave an unexpected answer"))?;
    let form = [(
        header::CONTENT_TYPE,
        "text/plain; version=0.0.4; charset=utf-8",
    )];
    Ok((form, super::metrics::prometheus_text(&metrics)).into_response())
}

/// A grant: a read of a pointer, or characters of inline code in one message.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Wanted")]
#[serde(deny_unknown_fields)]
pub(super) struct GrantBody {
    /// The handle of the agent that may use it.
    to: AgentId,
    /// What may be read.
    pointer: Option<PointerInput>,
    /// Maximum number of tokens in the excerpt; by default the home's cap.
    cap_tokens: Option<u32>,
    /// In place of a pointer: the maximum number of characters of inline code.
    code_chars: Option<u32>,
    /// How long the grant stays open; by default the home's time.
    ttl: Option<Ttl>,
}

pub(super) async fn grant_to_child(by: BusCaller, asked: Asked) -> BusResponse {
    let grant: GrantBody = by
        .parse_body(asked, "{to, pointer?, code_chars?, cap_tokens?, ttl?}")
        .await?;
    let wanted = GrantWanted {
        to: grant.to,
        pointer: grant.pointer,
        cap_tokens: grant.cap_tokens,
        code_chars: grant.code_chars,
        ttl: grant.ttl,
        by: None,
        replaces: None,
    };
    by.answer(Request::IssueGrant(wanted)).await
}

pub(super) async fn revoke_grant(by: BusCaller, Path(id): Path<String>) -> BusResponse {
    by.answer(Request::RevokeGrant(id)).await
}

#[derive(Deserialize)]
pub(super) struct RequestsQuery {
    all: Option<bool>,
}

pub(super) async fn list_requests(
    by: BusCaller,
    asked: Result<Query<RequestsQuery>, QueryRejection>,
) -> BusResponse {
    let Query(which) =
        asked.map_err(|_| schema_invalid("all must be true or false", "Ask for ?all=true."))?;
    let all = which.all.unwrap_or_default();
    by.answer(Request::Requests(WhichRequests { all })).await
}

pub(super) async fn request_deref(by: BusCaller, asked: Asked) -> BusResponse {
    let wanted = by
        .parse_body(asked, "{pointer, reason, intended_use?}")
        .await?;
    by.answer(Request::RequestDeref(Box::new(wanted))).await
}

/// The answer to a request.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Verdict")]
#[serde(deny_unknown_fields)]
pub(super) struct RequestVerdict {
    /// Whether it is granted.
    verdict: VerdictWord,
    /// Of a grant: the maximum number of tokens.
    cap_tokens: Option<u32>,
    /// Of a grant: how long it stays open.
    ttl: Option<Ttl>,
    /// Of a denial: why.
    why: Option<String>,
}

#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Says")]
#[serde(rename_all = "lowercase")]
enum VerdictWord {
    #[serde(alias = "granted")]
    Grant,
    #[serde(alias = "denied")]
    Deny,
}

pub(super) async fn answer_request(
    by: BusCaller,
    Path(id): Path<String>,
    asked: Asked,
) -> BusResponse {
    let answer: RequestVerdict = by
        .parse_body(asked, "{verdict: grant or deny, cap_tokens?, ttl?, why?}")
        .await?;
    let request = match answer.verdict {
        VerdictWord::Grant => Request::GrantRequest(GrantAnswer {
            id,
            cap_tokens: answer.cap_tokens,
            ttl: answer.ttl,
        }),
        VerdictWord::Deny => Request::DenyRequest(DenyAnswer {
            id,
            why: answer.why,
        }),
    };
    by.answer(request).await
}

pub(super) async fn open_agent(by: BusCaller, asked: Asked) -> BusResponse {
    let opening: Opening = by.parse_body(asked, "{name, role?, read?, write?}").await?;
    by.answer(Request::OpenAgent(opening)).await
}

/// The turn that begins.
#[derive(Default, Deserialize, JsonSchema)]
#[schemars(rename = "Turn")]
#[serde(default, deny_unknown_fields)]
pub(super) struct TurnBody {
    /// Its name; by default a new one.
    turn: Option<String>,
}

pub(super) async fn next_turn(by: BusCaller, Path(id): Path<String>, asked: Asked) -> BusResponse {
    let TurnBody { turn } = by.parse_body(asked, "{turn?}").await?;
    let agent = AgentId(id);
    by.answer(Request::NextTurn(NextTurn { agent, turn })).await
}

/// A message of an agent: the caller or its child; for the user, any agent.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct MessageBody {
    agent: Option<AgentId>,
    message: Value,
}

/// What retrieval found for an agent.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Retrieved")]
#[serde(deny_unknown_fields)]
pub(super) struct RagResultBody {
    /// The agent that asked; by default the caller.
    agent: Option<AgentId>,
    /// What was asked.
    question: String,
    /// The best first.
    results: Vec<RagFound>,
}

/// An event that an agent reads.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "Recalled")]
#[serde(deny_unknown_fields)]
pub(super) struct SamReadBody {
    /// The agent that reads; by default the caller.
    agent: Option<AgentId>,
    /// Its kind.
    kind: String,
    /// Its slug; of several events, the newest.
    slug: String,
}

impl BusCaller {
    async fn pass_hook_on(self, agent: Option<AgentId>, event: HookEvent) -> BusResponse {
        let hook = Hook { agent, event };
        self.answer(Request::Hook(Box::new(hook))).await
    }
}

pub(super) async fn on_child_response(by: BusCaller, asked: Asked) -> BusResponse {
    let MessageBody { agent, message } = by.parse_body(asked, "{agent?, message}").await?;
    by.pass_hook_on(agent, HookEvent::ChildResponse(message))
        .await
}

pub(super) async fn on_parent_broadcast(by: BusCaller, asked: Asked) -> BusResponse {
    let MessageBody { agent, message } = by.parse_body(asked, "{agent?, message}").await?;
    by.pass_hook_on(agent, HookEvent::ParentBroadcast(message))
        .await
}

pub(super) async fn on_rag_result(by: BusCaller, asked: Asked) -> BusResponse {
    let found: RagResultBody = by
        .parse_body(asked, "{agent?, question, results: [{file_path, content}]}")
        .await?;
    let event = HookEvent::RagResult(RagResult {
        question: found.question,
        results: found.results,
    });
    by.pass_hook_on(found.agent, event).await
}

pub(super) async fn on_sam_read(by: BusCaller, asked: Asked) -> BusResponse {
    let read: SamReadBody = by.parse_body(asked, "{agent?, kind, slug}").await?;
    let event = HookEvent::SamRead(SamRead {
        kind: read.kind,
        slug: read.slug,
    });
    by.pass_hook_on(read.agent, event).await
}
