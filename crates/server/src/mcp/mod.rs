//! The MCP server: the official SDK over our own line transport, or over HTTP. It speaks both
//! versions of the protocol: with `initialize`, and with stateless requests that carry their version
//! in `_meta`.

mod arguments;
mod definitions;
mod less;
mod lines;
mod near;
mod new_lines;
mod over_http;
mod resources;
mod results;
mod schema;
mod tools;
mod transport;

use std::{
    panic::{AssertUnwindSafe, catch_unwind},
    sync::Arc,
};

use axum::http::request::Parts;
use engram_engine::Engine;
use engram_model::{AgentId, Ask, Caller, Code, Effect, Refusal, Secret, shorten};
pub(crate) use over_http::OverHttp;
use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::*,
    service::{QuitReason, RequestContext, ServerInitializeError, serve_server},
};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    sync::OnceCell,
    task::spawn_blocking,
};
use tools::{OfferedTool, ToolCall};

use crate::{
    http_caller::HttpCaller,
    permits::{EACH, RequestPermit, RequestPermits, WAIT},
};

/// How long a client may cache the list of tools. It is the same for all agents while this process
/// lives.
const LIST_TTL_MS: u64 = 3_600_000;

/// What all tools share, and when to call which tool.
const INSTRUCTIONS: &str = "\
Engram is the memory shared by all agents in this repository. \
Call engram_status once at the start and follow its next_prompt. Follow the user's pins and to-dos in its brief, and in new_in_brief of any answer. \
Before you work on an area, call engram_query with a specific question. \
After each discovery worth keeping (a constraint, a side effect, a decision, a failed approach), call engram_commit: \
one short claim plus pointers to its evidence, never pasted code. A claim without a pointer, or with only sam: pointers, is stored as verified: false. \
engram_deref reads what a pointer addresses and spends your turn's small budget (budget: what is left): read only narrow line spans.\n\
A pointer is an address with a pin: repo:src/auth.rs#L10-L42@HEAD, test:PATH::NAME@HEAD, diff:BASE..HEAD#PATH, artifact:docs/a.md#sec=Heading@HEAD, sam:KIND:SLUG@DATE. \
A pin is a commit, branch or tag, or @worktree for uncommitted lines. Answers carry full pins: pass them on unchanged.\n\
In engram_commit, operation update replaces the claim whose id or lineage_id is corrects_lineage (default: by subject and attribute), delete retires it; durability ephemeral: kept for a day; provenance: evidence in words.\n\
In engram_query answers, evidence needs_reverification: the source was edited; evidence_gone: it was deleted; now: what became of each changed pointer. relaxed: no claim contains all your words. omitted: how many more matched.\n\
A refusal is {error: {code, message, hint}}: follow the hint, then call again. \
CLAIM_TOO_LONG: shorten or split it. POINTER_UNPINNED: add @HEAD. POINTER_INVALID: see above. POINTER_NOT_FOUND: check path, lines and pin. \
SECRET_DETECTED: leave it out. In excerpts, [masked: ..] replaces a credential; masked counts them. RATE_LIMITED: wait, or ask for less. DEREF_DENIED: the budget is spent; go on, or retry with reason. SCHEMA_INVALID: check arguments. NOT_FOUND: take ids from answers. SCOPE_DENIED: follow the hint, or tell the user. STORE_GONE, STORE_CORRUPT: tell the user.";

/// A group of tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Toolset {
    /// The `engram_*` tools (docs/design.md#the-bus-and-its-tools).
    Core,
    /// The `less_*` tools (docs/design.md#the-bus-and-its-tools).
    Less,
}

/// Serves MCP on standard input and output until the input ends.
/// `token` is the one that the connection was started with; without one, it opens a new root.
pub async fn mcp_stdio(
    engine: Arc<Engine>,
    toolsets: &[Toolset],
    token: Option<Secret>,
) -> Result<(), Refusal> {
    let (input, output) = rmcp::transport::stdio_pipes();
    let hung_up: Option<fn()> = if cfg!(unix) {
        Some(block_until_hang_up)
    } else {
        None
    };
    let pipe = transport::Pipe::new(input, output, hung_up);
    serve(engine, toolsets, token, pipe).await
}

/// Returns once nobody can write to standard input any more, even if part of it is still unread.
fn block_until_hang_up() {
    #[cfg(unix)]
    {
        use rustix::{
            event::{PollFd, PollFlags, poll},
            io::Errno,
        };
        // `poll` always reports a hang-up, but for a socket only with this flag.
        #[cfg(target_os = "linux")]
        let also = PollFlags::RDHUP;
        #[cfg(not(target_os = "linux"))]
        let also = PollFlags::empty();
        let input = std::io::stdin();
        while poll(&mut [PollFd::new(&input, also)], None) == Err(Errno::INTR) {}
    }
}

/// Serves MCP on any pair of streams until the input ends, then answers the requests received by
/// then.
pub async fn mcp_over<R, W>(
    engine: Arc<Engine>,
    toolsets: &[Toolset],
    token: Option<Secret>,
    input: R,
    output: W,
) -> Result<(), Refusal>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let pipe = transport::Pipe::new(input, output, None);
    serve(engine, toolsets, token, pipe).await
}

async fn serve<R>(
    engine: Arc<Engine>,
    toolsets: &[Toolset],
    token: Option<Secret>,
    pipe: transport::Pipe<R>,
) -> Result<(), Refusal>
where
    R: AsyncRead + Send + Unpin + 'static,
{
    // One connection is one agent.
    let permits = Some(Arc::new(RequestPermits::new(EACH, EACH, WAIT)));
    let server = Server::new(engine, toolsets, token, permits);
    server.engine.follow()?;
    let running = match serve_server(server, pipe).await {
        Ok(running) => running,
        Err(ServerInitializeError::ConnectionClosed(_)) => return Ok(()),
        Err(error) => return Err(server_stopped_refusal(&error)),
    };
    match running.waiting().await {
        Ok(QuitReason::JoinError(error)) | Err(error) => Err(server_stopped_refusal(&error)),
        Ok(_) => Ok(()),
    }
}

/// The refusal for a request that failed because of a bug; the server continues.
fn defect_refusal() -> Refusal {
    Refusal::new(
        Code::Internal,
        "the request failed because of a bug in Engram",
        "Try again; if it fails again, please report it.",
    )
}

/// The refusal for a cancelled request, which nobody waits for.
fn cancelled_refusal() -> Refusal {
    Refusal::new(
        Code::Internal,
        "the request was cancelled before it began",
        "Send it again if you still need it.",
    )
}

/// The refusal for a bug in Engram or a broken stream.
fn server_stopped_refusal(error: &dyn std::error::Error) -> Refusal {
    Refusal::new(
        Code::Internal,
        format!("the MCP server stopped: {error}"),
        "Restart the client; if it happens again, run engram doctor.",
    )
}

/// One connection, which is one agent. Its token proves which agent; without a token, the first
/// call that needs an agent registers a root.
#[derive(Clone)]
struct Server {
    engine: Arc<Engine>,
    token: Option<Secret>,
    agent: Arc<OnceCell<AgentId>>,
    tools: Arc<[OfferedTool]>,
    instructions: Arc<str>,
    /// None over HTTP: there, each request carries its permit, and no request is answered on the
    /// thread that serves it, since that thread serves others too.
    permits: Option<Arc<RequestPermits>>,
}

/// The caller of a request; for an agent, with its permit.
#[derive(Clone)]
struct PermittedCaller {
    caller: Caller,
    permit: Option<RequestPermit>,
}

impl Server {
    fn new(
        engine: Arc<Engine>,
        toolsets: &[Toolset],
        token: Option<Secret>,
        permits: Option<Arc<RequestPermits>>,
    ) -> Self {
        let limits = engine.limits();
        let (mut tools, mut instructions) = (Vec::new(), Vec::new());
        if toolsets.contains(&Toolset::Core) {
            tools.extend(definitions::core_tools(limits));
            instructions.push(INSTRUCTIONS);
        }
        if toolsets.contains(&Toolset::Less) {
            tools.extend(less::less_tools(limits));
            instructions.push(less::INSTRUCTIONS);
        }
        Self {
            tools: tools.into(),
            instructions: instructions.join("\n").into(),
            engine,
            token,
            agent: Arc::default(),
            permits,
        }
    }

    /// Returns the caller of a request, once an agent has a permit. A request that is cancelled
    /// before that never begins. Over HTTP, each request carries its caller.
    async fn permitted_caller(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<PermittedCaller, Refusal> {
        if context.ct.is_cancelled() {
            return Err(cancelled_refusal());
        }
        if let Some(parts) = context.extensions.get::<Parts>() {
            let who = parts
                .extensions
                .get::<HttpCaller>()
                .ok_or_else(defect_refusal)?;
            let (permit, who, engine) = (who.permit(), who.clone(), Arc::clone(&self.engine));
            let caller = spawn_blocking(move || who.prove(&engine)).await;
            let caller = caller.map_err(|_| defect_refusal())??;
            return Ok(PermittedCaller { caller, permit });
        }
        let permits = self.permits.as_ref().ok_or_else(defect_refusal)?;
        let agent = self.connection_agent(context).await?;
        let permit = tokio::select! {
            biased;
            () = context.ct.cancelled() => return Err(cancelled_refusal()),
            permit = permits.wait_for_permit(&agent, &agent) => Some(permit?),
        };
        let caller = Caller::Agent(agent);
        Ok(PermittedCaller { caller, permit })
    }

    /// Returns the agent of this connection, for a request that begins now. The engine chooses its
    /// handle; the client's name is for display.
    async fn connection_agent(
        &self,
        context: &RequestContext<RoleServer>,
    ) -> Result<AgentId, Refusal> {
        // Each request asks, since a newer token of the same agent ends this one.
        if let Some(token) = &self.token {
            return self.engine.agent_by_token(&token.0);
        }
        let label = context.client_info().map_or_else(
            || "agent".to_owned(),
            |client| client.title.unwrap_or(client.name),
        );
        let register = || async { self.engine.register_agent(&label) };
        self.agent.get_or_try_init(register).await.cloned()
    }

    /// Sends one request to the engine. On standard streams, the thread that read the request
    /// answers it, since the client waits and a handover to another thread takes longer than most
    /// answers; the exceptions are requests that may take long and changes while another process
    /// holds the write lock. In a handover, cancelling the request stops its lookups.
    async fn ask<A>(
        &self,
        context: &RequestContext<RoleServer>,
        by: &PermittedCaller,
        ask: A,
    ) -> Result<A::Answer, Refusal>
    where
        A: Ask<Answer: Send> + Send + 'static,
    {
        let is_short = match A::TERMS.effect {
            Effect::Reads => true,
            Effect::Spends => false,
            Effect::Changes => self.engine.is_free(),
        };
        if is_short && self.permits.is_some() {
            // A panic must not leave the client without an answer.
            return catch_unwind(AssertUnwindSafe(|| self.engine.ask(&by.caller, ask)))
                .unwrap_or_else(|_| Err(defect_refusal()));
        }
        let (engine, cancelled) = (Arc::clone(&self.engine), context.ct.clone());
        let PermittedCaller { caller, permit } = by.clone();
        let asked = move || {
            // The permit is held until the work is done, even if the client has left.
            let _permit = permit;
            engine.ask_until(&caller, ask, move || cancelled.is_cancelled())
        };
        spawn_blocking(asked)
            .await
            .unwrap_or_else(|_| Err(defect_refusal()))
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .build();
        let info = Implementation::new("engram", env!("CARGO_PKG_VERSION")).with_title("Engram");
        ServerConfig::new(capabilities)
            .with_server_info(info)
            .with_instructions(&*self.instructions)
    }

    async fn list_tools(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        refuse_cursor(request)?;
        let tools = self.tools.iter().map(|it| it.tool.clone());
        Ok(ListToolsResult::with_all_items(tools.collect())
            .with_ttl_ms(LIST_TTL_MS)
            .with_cache_scope(CacheScope::Public))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        let found = self.tools.iter().find(|it| it.tool.name == name);
        found.map(|it| it.tool.clone())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let found = self.tools.iter().find(|it| it.tool.name == request.name);
        let Some(OfferedTool { tool, call }) = found else {
            return Err(ErrorData::invalid_params(
                format!("unknown tool {:?}", shorten(&request.name, 80)),
                None,
            ));
        };
        let arguments = request.arguments.unwrap_or_default();
        let by = self.permitted_caller(&context).await;
        let answer = match &by {
            Ok(by) => {
                call(ToolCall {
                    server: self,
                    context: &context,
                    by,
                    tool,
                    arguments,
                })
                .await
            }
            Err(refusal) => Err(refusal.clone()),
        };
        let is_less = tool.name.starts_with(less::PREFIX);
        let prefix = if is_less { "LESS_" } else { "" };
        let by = by.as_ref().ok();
        let most = new_lines::most_tokens(&tool.name);
        Ok(CallToolResponse::Complete(match answer {
            Ok(value) => CallToolResult::structured(self.with_new_lines(value, by, most).await),
            Err(refusal) => {
                let error = results::refusal_value(&refusal, prefix);
                CallToolResult::structured_error(self.with_new_lines(error, by, most).await)
            }
        }))
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        refuse_cursor(request)?;
        self.latest_resources(&context).await
    }

    async fn list_resource_templates(
        &self,
        request: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        refuse_cursor(request)?;
        Ok(
            ListResourceTemplatesResult::with_all_items(vec![resources::template()])
                .with_ttl_ms(LIST_TTL_MS)
                .with_cache_scope(CacheScope::Public),
        )
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        self.read_one(&request.uri, &context).await.map(Into::into)
    }

    /// Calls to known methods arrive here too, if their parameters have the wrong shape.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let method = shorten(&request.method, 80);
        Err(if lines::takes_params(&request.method) {
            ErrorData::invalid_params(format!("malformed params of {method}"), None)
        } else {
            ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                format!("unknown method {method}"),
                None,
            )
        })
    }
}

/// Every list fits on one page, so the server never issues a cursor.
fn refuse_cursor(request: Option<PaginatedRequestParams>) -> Result<(), ErrorData> {
    match request.and_then(|it| it.cursor) {
        None => Ok(()),
        Some(_) => Err(ErrorData::invalid_params("unknown cursor", None)),
    }
}
