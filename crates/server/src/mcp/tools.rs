//! What a tool is: what is told of it, what it takes and returns, and the request that it becomes.

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

/// A tool apart from its types.
pub(super) struct ToolDescription {
    pub(super) name: &'static str,
    pub(super) title: &'static str,
    pub(super) description: String,
    /// The same call again changes nothing more.
    pub(super) idempotent: bool,
    /// In a model's context from the start, where the client would else let it search for tools.
    pub(super) loaded: bool,
}

/// One call of a tool: by whom, and with what.
pub(super) struct ToolCall<'a> {
    pub(super) server: &'a Server,
    pub(super) context: &'a RequestContext<RoleServer>,
    pub(super) asking: &'a PermittedCaller,
    pub(super) tool: &'a Tool,
    pub(super) arguments: JsonObject,
}

type ToolAnswer<'a> = BoxFuture<'a, Result<Value, Refusal>>;

/// A tool as it is listed, and what answers it.
#[derive(Clone)]
pub(super) struct OfferedTool {
    pub(super) tool: Tool,
    pub(super) call: Arc<dyn for<'a> Fn(ToolCall<'a>) -> ToolAnswer<'a> + Send + Sync>,
}

/// A row of the table of tools. `asks` makes of the arguments the request, and what makes the result of its answer.
/// No tool destroys anything: a claim's window closes, and its history is kept. None reaches beyond
/// this machine, unless the user turned `url:` on.
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
    let mut tool = Tool::new(about.name, about.description, schema::taken::<Takes>())
        .with_title(about.title)
        .with_raw_output_schema(schema::returned::<Returns>().into())
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
            let (server, context, asking) = (call.server, call.context, call.asking);
            async move {
                let (ask, says) = asked?;
                let answer = server.ask(context, asking, ask).await?;
                serde_json::to_value(says(answer)).map_err(|error| {
                    Refusal::new(Code::Internal, error.to_string(), "Please report this bug.")
                })
            }
            .boxed()
        }),
    }
}
