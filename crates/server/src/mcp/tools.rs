//! The parts of a tool: its description, its argument and result types, and the request that it
//! becomes.

use std::sync::Arc;

use engram_model::{Ask, Code, Effect, Refusal};
use futures_util::{FutureExt, future::BoxFuture};
use rmcp::{
    RoleServer,
    model::{JsonObject, MetaObject, Tool, ToolAnnotations},
    service::RequestContext,
};
use schemars::JsonSchema;
use serde::{Serialize, de::DeserializeOwned};
use serde_json::{Value, json};

use super::{PermittedCaller, Server, arguments, schema};

/// The parts of a tool that do not depend on its types.
pub(super) struct ToolDescription {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: String,
    /// Whether repeating the call changes nothing more.
    pub(super) idempotent: bool,
    /// Whether the tool is in a model's context from the start. A client may otherwise let the
    /// model search for tools.
    pub(super) loaded: bool,
}

/// One call of a tool: its caller and its arguments.
pub(super) struct ToolCall<'a> {
    pub(super) server: &'a Server,
    pub(super) context: &'a RequestContext<RoleServer>,
    pub(super) by: &'a PermittedCaller,
    pub(super) tool: &'a Tool,
    pub(super) arguments: JsonObject,
}

type ToolAnswer<'a> = BoxFuture<'a, Result<Value, Refusal>>;

/// A tool as listed, with the function that answers it.
#[derive(Clone)]
pub(super) struct OfferedTool {
    pub(super) tool: Tool,
    pub(super) call: Arc<dyn for<'a> Fn(ToolCall<'a>) -> ToolAnswer<'a> + Send + Sync>,
}

/// Builds a row of the table of tools. `asks` turns the arguments into a request and a function
/// that turns its answer into the result. No tool destroys anything: a claim's window closes, and
/// its history is kept. None reaches beyond this machine, unless the user enabled `url:`.
pub(super) fn tool<Takes, A, Returns, Says>(
    about: ToolDescription,
    asks: impl Fn(Takes) -> Result<(A, Says), Refusal> + Send + Sync + 'static,
) -> OfferedTool
where
    Takes: DeserializeOwned + JsonSchema,
    A: Ask<Answer: Send> + Send + 'static,
    Returns: Serialize + JsonSchema,
    Says: FnOnce(A::Answer) -> Returns + Send + 'static,
{
    let annotations = ToolAnnotations::new()
        .read_only(A::TERMS.effect != Effect::Changes)
        .destructive(false)
        .idempotent(about.idempotent)
        .open_world(false);
    let mut tool = Tool::new(
        about.name,
        about.description,
        schema::arguments_schema::<Takes>(),
    )
    .with_title(about.title)
    .with_raw_output_schema(schema::result_schema::<Returns>().into())
    .with_annotations(annotations);
    if about.loaded {
        let mut meta = MetaObject::new();
        meta.0
            .insert("anthropic/alwaysLoad".to_owned(), json!(true));
        tool = tool.with_meta(meta);
    }
    OfferedTool {
        tool,
        call: Arc::new(move |call| {
            let asked = arguments::parse(call.tool, call.arguments).and_then(&asks);
            let (server, context, by) = (call.server, call.context, call.by);
            async move {
                let (ask, says) = asked?;
                let answer = server.ask(context, by, ask).await?;
                serde_json::to_value(says(answer)).map_err(|error| {
                    Refusal::new(Code::Internal, error.to_string(), "Please report this bug.")
                        .because(&error)
                })
            }
            .boxed()
        }),
    }
}
