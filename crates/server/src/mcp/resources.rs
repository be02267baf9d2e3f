//! The brief and engrams as resources. The brief spends no budget. A listing shows claims. Reading
//! an engram dereferences its first pointer, which spends the agent's budget and is journalled like
//! any dereference.

use engram_model::{Change, Code, Deref, Engram, EngramId, EngramV01, Feed, Refusal, ask};
use rmcp::{ErrorData, RoleServer, model::*, service::RequestContext};
use serde_json::json;

use super::{Server, results::DerefResult, shorten};

const PREFIX: &str = "engram://engram/";
const BRIEF: &str = "engram://brief";
const MIME: &str = "application/json";

/// The number of engrams in a listing, newest first.
const MAX_RESOURCES: usize = 50;
/// The number of entries read at a time to find them.
const PAGE: usize = 200;

/// A code of our own, outside the range that JSON-RPC reserves: the engine refused.
const REFUSED: ErrorCode = ErrorCode(-31_000);

/// The reader's brief.
fn brief() -> Resource {
    Resource::new(BRIEF, "brief")
        .with_title("What matters now")
        .with_description(
            "Pins, to-dos, constraints and risks, each with its author. Reading it spends no budget.",
        )
        .with_mime_type(MIME)
}

/// The address template of every engram.
pub(super) fn template() -> ResourceTemplate {
    ResourceTemplate::new(format!("{PREFIX}{{id}}"), "engram")
        .with_title("One engram")
        .with_description(
            "An engram and an excerpt of its first pointer. Reading one spends the turn's budget like engram_deref.",
        )
        .with_mime_type(MIME)
}

impl Server {
    /// Lists the latest engrams that hold.
    pub(super) async fn latest_resources(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let by = self
            .permitted_caller(context)
            .await
            .map_err(refusal_error)?;
        let now = self.engine.now();
        let mut resources = Vec::new();
        let mut before = None;
        // Engrams that the caller may not see do not count towards the list.
        while resources.len() < MAX_RESOURCES {
            let feed = Feed {
                before,
                limit: Some(PAGE),
                ..Feed::default()
            };
            let page = self.ask(context, &by, ask::Feed(feed)).await;
            let page = page.map_err(refusal_error)?;
            let held = page
                .entries
                .into_iter()
                .filter_map(|entry| match entry.change {
                    Change::Stored(engram) if engram.holds_now(now) && !engram.redacted => {
                        Some(resource_of(&engram))
                    }
                    _ => None,
                });
            resources.extend(held);
            before = page.next;
            if before.is_none() {
                break;
            }
        }
        resources.truncate(MAX_RESOURCES);
        resources.insert(0, brief());
        Ok(ListResourcesResult::with_all_items(resources)
            .with_ttl_ms(0)
            .with_cache_scope(CacheScope::Private))
    }

    /// Returns the reader's brief, or one engram and what its first pointer addresses.
    pub(super) async fn read_one(
        &self,
        uri: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<ReadResourceResult, ErrorData> {
        if uri != BRIEF {
            return self.read_engram(uri, context).await;
        }
        let by = self
            .permitted_caller(context)
            .await
            .map_err(refusal_error)?;
        let brief = self.ask(context, &by, ask::Brief).await;
        let brief = brief.map_err(refusal_error)?;
        Ok(private_result(json!(brief).to_string(), uri))
    }

    /// Returns one engram and what its first pointer addresses.
    async fn read_engram(
        &self,
        uri: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<ReadResourceResult, ErrorData> {
        let id: EngramId = uri
            .strip_prefix(PREFIX)
            .and_then(|id| id.parse().ok())
            .ok_or_else(|| no_such_resource(uri))?;
        let by = self
            .permitted_caller(context)
            .await
            .map_err(refusal_error)?;
        let mut engram = match self.ask(context, &by, ask::Get(id)).await {
            Ok(engram) => engram,
            Err(refusal) if refusal.code == Code::NotFound => return Err(no_such_resource(uri)),
            Err(refusal) => return Err(refusal_error(refusal)),
        };
        let Some(pointer) = engram.pointers.first().cloned() else {
            return Err(no_such_resource(uri));
        };
        engram.derive_keys();
        let deref = ask::Deref(Deref {
            pointer: pointer.into(),
            max_tokens: None,
            turn: None,
            budget_token: None,
            reason: None,
        });
        let read = self.ask(context, &by, deref).await.map_err(refusal_error)?;
        let read = DerefResult::from(read);
        let text = json!({ "engram": EngramV01::from(&*engram), "dereferenced": read });
        Ok(private_result(text.to_string(), uri))
    }
}

fn private_result(text: String, uri: &str) -> ReadResourceResult {
    let contents = ResourceContents::text(text, uri).with_mime_type(MIME);
    ReadResourceResult::new(vec![contents])
        .with_ttl_ms(0)
        .with_cache_scope(CacheScope::Private)
}

fn resource_of(engram: &Engram) -> Resource {
    Resource::new(format!("{PREFIX}{}", engram.id), shorten(&engram.claim, 80)).with_mime_type(MIME)
}

fn no_such_resource(uri: &str) -> ErrorData {
    ErrorData::resource_not_found(
        format!("no resource {}", shorten(uri, 120)),
        Some(json!({
            "code": Code::NotFound,
            "message": "no such engram exists",
            "hint": "List the resources, or query for the engram.",
        })),
    )
}

/// Returns the whole refusal: a sentence for clients that show only the message, and the parts as
/// data.
fn refusal_error(refusal: Refusal) -> ErrorData {
    ErrorData::new(
        REFUSED,
        format!("{refusal} {}", refusal.hint),
        serde_json::to_value(refusal).ok(),
    )
}
