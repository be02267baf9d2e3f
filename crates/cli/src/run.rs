//! One function a verb.

use std::{
    fmt::Display,
    io::{self, IsTerminal, Read},
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    sync::{Arc, mpsc},
};

use clap::CommandFactory;
use engram_engine::{Engine, MESSAGE_BYTES, Options, Treatment};
use engram_model::{
    Adoption, AgentId, Allow, BudgetOf, Caller, Check, Code, ConflictFilter, DenyAnswer, Draft,
    EngramId, Evidence, Feed, Gate, GateCheck, GrantAnswer, GrantWanted, Listed, Note, Opening,
    Pinning, PointerInput, Promote, Query, Refusal, Reply, Request, Resolve, Secret, Sending,
    Settle, Unpinning, WhichRequests, ask, parse_time,
};
use engram_server::{Certificate, HttpOptions, Pages, Toolset};
use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};

use crate::{
    args::{
        self, AgentsVerb, BriefVerb, Cli, ConflictsVerb, GrantVerb, MessageVerb, PointersVerb,
        RequestsVerb, Verb, Whose,
    },
    batch, conflicts, connect, dashboard, doctor, out, pointers, print,
};

pub(crate) fn run(cli: Cli) -> Result<ExitCode, Refusal> {
    let json = cli.json;
    match cli.verb {
        Verb::Completions { shell } => completions(shell),
        Verb::Connect(ref ask) => connect::connect(ask, home(&cli)?, cli.repo.as_deref(), json),
        Verb::App => app(&cli),
        Verb::Pointers {
            verb:
                PointersVerb::Track {
                    ref from,
                    ref to,
                    ref spans,
                },
        } => pointers::track(cli.repo.as_deref(), from, to, spans),
        Verb::Detect { ref pairs } => batch::detect(pairs).map(|()| ExitCode::SUCCESS),
        Verb::Mcp { ref toolsets } => serve_mcp(Arc::new(open(&cli)?), toolsets),
        Verb::Serve(ref ask) => serve_http(
            Arc::new(open(&cli)?),
            http_options(ask, &home(&cli)?)?,
            json,
        ),
        Verb::Feed(ref ask) if ask.follow => follow(Arc::new(open(&cli)?), ask, json),
        Verb::Doctor {
            move_home: true, ..
        } => doctor::move_home(&cli),
        Verb::Doctor { recover: true, .. } => doctor::recover(&home(&cli)?, json),
        Verb::Doctor {
            reindex,
            replay,
            rebuild,
            ..
        } => {
            let treatment = Treatment {
                reindex,
                replay,
                rebuild,
            };
            doctor::look_for(&home(&cli)?)?;
            doctor::doctor(&open(&cli)?, treatment, json)
        }
        Verb::Put(ref ask) if ask.jsonl.is_some() => {
            let engine = open(&cli)?;
            let file = ask.jsonl.as_deref().unwrap_or("-");
            let ran = batch::put(&engine, file);
            engine.help_index()?;
            ran?;
            Ok(ExitCode::SUCCESS)
        }
        ref verb => {
            let (caller, request) = request_of(verb)?;
            let engine = open(&cli)?;
            let reply = engine.handle(&caller, request)?;
            match (verb, &reply) {
                (Verb::Sample { remove: true }, Reply::Sample(it)) if !json => print::removed(it),
                (Verb::Conflicts(asked), Reply::Conflicts(it)) if !json => {
                    out::line(&conflicts::list(it, &filter_of(asked)));
                }
                (_, Reply::Gate(it)) if !json => {
                    let open = engine.ask(
                        &caller,
                        ask::Conflicts(ConflictFilter {
                            limit: Some(200),
                            ..ConflictFilter::default()
                        }),
                    )?;
                    out::line(&conflicts::gate(it, &open.conflicts));
                }
                _ => print::reply(&reply, json),
            }
            engine.help_index()?;
            Ok(exit_code(verb, &reply))
        }
    }
}

/// For hooks: whether what was asked for is a reason to stop.
fn exit_code(verb: &Verb, reply: &Reply) -> ExitCode {
    let asked = matches!(
        verb,
        Verb::Pointers {
            verb: PointersVerb::Check {
                exit_code: true,
                ..
            },
        }
    );
    match reply {
        Reply::Checked(it)
            if asked
                && it
                    .engrams
                    .iter()
                    .any(|it| Evidence::DRIFTED.contains(&it.standing)) =>
        {
            ExitCode::FAILURE
        }
        Reply::Gate(it) if it.gate == Gate::Shut => ExitCode::FAILURE,
        _ => ExitCode::SUCCESS,
    }
}

/// Verbs that are one request.
fn request_of(verb: &Verb) -> Result<(Caller, Request), Refusal> {
    let request = match verb {
        Verb::Put(put) => Request::Put(Box::new(draft(put)?)),
        Verb::Get { id } => Request::Get(id.parse()?),
        Verb::Log { id } => Request::Log(id.parse()?),
        Verb::Restore { id } => Request::Restore(id.parse()?),
        Verb::Forget { id } => Request::Forget(id.parse::<EngramId>()?),
        Verb::Redact { id } => Request::Redact(id.parse()?),
        Verb::Promote { id, scope } => Request::Promote(Promote {
            id: id.parse()?,
            scope: *scope,
        }),
        Verb::Sample { remove: false } => Request::LoadSample,
        Verb::Sample { remove: true } => Request::RemoveSample,
        Verb::Query(query) => Request::Query(query_of(query)?),
        Verb::Deref(deref) => {
            return Ok((
                caller(deref.agent.as_deref()),
                Request::Deref(engram_model::Deref {
                    pointer: pointer(&deref.pointer)?,
                    max_tokens: deref.max_tokens,
                    turn: deref.turn.clone(),
                    budget_token: deref.budget_token.clone(),
                }),
            ));
        }
        Verb::Note(note) => Request::Note(Note {
            kind: note.kind.clone(),
            slug: note.slug.clone(),
            text: note.text.clone(),
            agent: note.agent.clone(),
        }),
        Verb::Feed(feed) => Request::Feed(Feed {
            before: feed.before,
            limit: Some(feed.limit),
            all: feed.all,
            ..Feed::default()
        }),
        Verb::Pointers {
            verb:
                PointersVerb::Check {
                    changed,
                    since,
                    exit_code,
                },
        } => Request::CheckPointers(Check {
            since: since.clone().or(changed.then(|| "HEAD".to_owned())),
            gate: *exit_code,
        }),
        Verb::Pointers {
            verb: PointersVerb::Repin { id },
        } => Request::Repin(id.parse()?),
        Verb::Message {
            verb: MessageVerb::Validate { file, agent },
        } => {
            let message = Value::String(message_of(file)?);
            return Ok((caller(agent.as_deref()), Request::ValidateMessage(message)));
        }
        Verb::Message {
            verb: MessageVerb::Send { file, agent, to },
        } => {
            let sending = Sending {
                message: Value::String(message_of(file)?),
                to: to.clone().map(AgentId),
            };
            return Ok((caller(agent.as_deref()), Request::Send(sending)));
        }
        Verb::Brief { verb, agent } => {
            let request = match verb {
                None => Request::Brief,
                Some(BriefVerb::Pin { what }) => Request::Pin(match what.trim().parse() {
                    Ok(id) => Pinning::Engram(id),
                    Err(_) => Pinning::Text(what.clone()),
                }),
                Some(BriefVerb::Unpin { line, pin }) => Request::Unpin(match pin {
                    Some(pin) => Unpinning::Pin { pin: *pin },
                    None => Unpinning::Line(line.unwrap_or_default()),
                }),
            };
            return Ok((caller(agent.as_deref()), request));
        }
        Verb::Conflicts(asked) => about_conflicts(asked)?,
        Verb::Resolve(asked) => Request::Resolve(Box::new(resolve(asked)?)),
        Verb::Status => Request::Status,
        Verb::Agents { verb: None } => Request::Agents,
        Verb::Agents {
            verb: Some(AgentsVerb::Open(it)),
        } => Request::OpenAgent(Opening {
            name: it.name.clone(),
            role: it.role.clone(),
            parent: it.parent.clone().map(AgentId),
            read: it.read.clone(),
            write: it.write.clone(),
        }),
        Verb::Budget { agent } => Request::Budget(BudgetOf {
            costs: false,
            agent: agent.clone().map(AgentId),
        }),
        Verb::Grant { verb } => match verb {
            GrantVerb::Issue(it) => Request::IssueGrant(GrantWanted {
                to: AgentId(it.to.clone()),
                pointer: it.pointer.as_deref().map(pointer).transpose()?,
                cap_tokens: it.cap,
                code_chars: it.code,
                ttl: it.ttl.clone(),
                by: it.by.clone().map(AgentId),
            }),
            GrantVerb::List => Request::Grants,
            GrantVerb::Revoke { id } => Request::RevokeGrant(id.clone()),
        },
        Verb::Requests { all, verb: None } => Request::Requests(WhichRequests { all: *all }),
        Verb::Requests {
            verb: Some(verb), ..
        } => match verb {
            RequestsVerb::Grant { id, cap, ttl } => Request::GrantRequest(GrantAnswer {
                id: id.clone(),
                cap_tokens: *cap,
                ttl: ttl.clone(),
            }),
            RequestsVerb::Deny { id, why } => Request::DenyRequest(DenyAnswer {
                id: id.clone(),
                why: why.clone(),
            }),
        },
        Verb::Project { how } => Request::Adopt(match how {
            Whose::Own => Adoption::Own,
            Whose::Share => Adoption::Shared,
        }),
        Verb::Completions { .. }
        | Verb::Connect(_)
        | Verb::App
        | Verb::Detect { .. }
        | Verb::Mcp { .. }
        | Verb::Serve(_)
        | Verb::Doctor { .. }
        | Verb::Pointers {
            verb: PointersVerb::Track { .. },
        } => {
            return Err(Refusal::new(
                Code::Internal,
                "this command is not a single request",
                "This is a bug in Engram: please report it.",
            ));
        }
    };
    Ok((Caller::User, request))
}

/// Which conflicts a list is of.
fn filter_of(asked: &args::Conflicts) -> ConflictFilter {
    let list = match &asked.verb {
        Some(ConflictsVerb::List(list)) => list,
        _ => &asked.list,
    };
    ConflictFilter {
        topic: list.topic.clone(),
        status: list.status.unwrap_or(Listed::Open),
        severity: list.severity,
        after: list.after.clone(),
        limit: list.limit,
    }
}

fn about_conflicts(asked: &args::Conflicts) -> Result<Request, Refusal> {
    Ok(match &asked.verb {
        Some(ConflictsVerb::List(_)) => Request::Conflicts(filter_of(asked)),
        Some(ConflictsVerb::Show { id }) => Request::Conflict(id.parse()?),
        Some(ConflictsVerb::Allow { id, why, undo }) => Request::Allow(Allow {
            conflict: id.parse()?,
            why: why.clone().unwrap_or_default(),
            undo: *undo,
        }),
        None if asked.gate => Request::Gate(match asked.list.severity {
            Some(severity) => GateCheck { severity },
            None => GateCheck::default(),
        }),
        None => Request::Conflicts(filter_of(asked)),
    })
}

fn resolve(asked: &args::Resolve) -> Result<Resolve, Refusal> {
    let how = match (&asked.winner, &asked.merge) {
        (Some(winner), _) => match winner.as_str() {
            "newer" => Settle::Newer,
            "surer" => Settle::Surer,
            id => Settle::Winner(id.parse()?),
        },
        (_, Some(text)) => Settle::Merge(text.clone()),
        _ if asked.dismiss => Settle::Dismiss,
        _ => Settle::Undo,
    };
    Ok(Resolve {
        conflict: asked.id.parse()?,
        how,
        why: asked.why.clone(),
    })
}

/// In whose name a verb asks.
fn caller(agent: Option<&str>) -> Caller {
    match agent {
        Some(agent) => Caller::Agent(AgentId(agent.to_owned())),
        None => Caller::User,
    }
}

fn draft(put: &args::Put) -> Result<Draft, Refusal> {
    Ok(Draft {
        claim: put.claim.clone().unwrap_or_default(),
        pointers: put
            .pointers
            .iter()
            .map(|it| pointer(it))
            .collect::<Result<_, _>>()?,
        kind: put.kind,
        fact_type: put.fact_type,
        confidence: put.confidence,
        ttl: put.ttl.clone(),
        scope: put.scope,
        topic: put.topic.clone(),
        tags: put.tags.clone(),
        agent: put.agent.clone(),
        durability: put.durability,
        operation: put.operation,
        corrects_lineage: put.corrects.clone(),
        ..Draft::default()
    })
}

/// A string, or the object form (docs/design.md#the-published-forms).
fn pointer(text: &str) -> Result<PointerInput, Refusal> {
    if text.trim_start().starts_with('{') {
        serde_json::from_str(text).map_err(|error| {
            Refusal::new(
                Code::PointerInvalid,
                format!("cannot parse the pointer object: {error}"),
                "Use {\"type\":\"repo\",\"ref\":\"src/main.rs@HEAD\",\"span\":\"L1-L9\"}, or the address as a string.",
            )
        })
    } else {
        Ok(PointerInput::Text(text.to_owned()))
    }
}

fn query_of(query: &args::Query) -> Result<Query, Refusal> {
    Ok(Query {
        text: query.text.join(" "),
        k: query.k,
        scope: query.scope,
        topic: query.topic.clone(),
        kind: query.kind,
        fact_type: query.fact_type,
        as_of: query.as_of.as_deref().map(parse_time).transpose()?,
        include_ephemeral: query.include_ephemeral,
    })
}

/// A message as it was written, from a file or standard input for `-`. Of one that is longer than any may
/// be, no more is read than it takes to be refused.
fn message_of(file: &str) -> Result<String, Refusal> {
    let most = MESSAGE_BYTES as u64 + 1;
    let read = match file {
        "-" => bytes_of(io::stdin(), most),
        // The named file may be a pipe: wait for it.
        path => std::fs::File::open(path).and_then(|it| bytes_of(it, most)),
    };
    let refused = |why: &dyn Display| {
        Refusal::new(
            Code::SchemaInvalid,
            format!("cannot read {file}: {why}"),
            "Pass a UTF-8 text file, or - for standard input.",
        )
    };
    let bytes = read.map_err(|error| refused(&error))?;
    match String::from_utf8(bytes) {
        Ok(text) => Ok(text),
        Err(error) if error.as_bytes().len() as u64 == most => {
            Ok(String::from_utf8_lossy(error.as_bytes()).into_owned())
        }
        Err(_) => Err(refused(&"it is not UTF-8 text")),
    }
}

fn bytes_of(from: impl Read, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(most).read_to_end(&mut bytes)?;
    Ok(bytes)
}

pub(crate) fn home(cli: &Cli) -> Result<PathBuf, Refusal> {
    cli.home
        .clone()
        .or_else(engram_engine::default_home)
        .ok_or_else(|| {
            Refusal::new(
                Code::StoreReadOnly,
                "this account has no home folder, or HOME is not an absolute path",
                "Choose where to keep data with --home or ENGRAM_HOME.",
            )
        })
}

fn open(cli: &Cli) -> Result<Engine, Refusal> {
    Engine::open(Options {
        home: home(cli)?,
        repo: cli.repo.clone(),
        from: std::env::current_dir().unwrap_or_default(),
    })
}

fn runtime(mut of: Builder) -> Result<Runtime, Refusal> {
    // A runtime that gets only some of the handles that it needs ends the process: they are tried
    // first. One more than it has asked for so far, by pairs.
    let handles = (0..4).map(|_| io::pipe()).collect::<io::Result<Vec<_>>>();
    let built = handles.map(drop).and_then(|()| of.enable_all().build());
    built.map_err(|error| {
        Refusal::new(
            Code::Internal,
            format!("cannot start threads: {error}"),
            "Raise the limits on threads and open files (`ulimit -u`, `ulimit -n`), or close programs that use many.",
        )
    })
}

/// Serves the agent that a token in the environment proves; a new one without a token.
fn serve_mcp(engine: Arc<Engine>, toolsets: &[args::Toolset]) -> Result<ExitCode, Refusal> {
    // What is no text proves nobody either.
    let token = std::env::var_os("ENGRAM_AGENT").filter(|it| !it.is_empty());
    let token = token.map(|it| Secret(it.to_string_lossy().trim().to_owned()));
    let toolsets: Vec<Toolset> = toolsets.iter().map(|it| it.of_server()).collect();
    engine.follow()?;
    // One client, one pipe: a second thread would only hand messages to the first.
    let runtime = runtime(Builder::new_current_thread())?;
    let served = runtime.block_on(engram_server::mcp_stdio(
        Arc::clone(&engine),
        &toolsets,
        token,
    ));
    // A read of standard input may still be under way; the client is gone, so nothing waits for it.
    runtime.shutdown_background();
    served?;
    engine.keep_shown()?;
    Ok(ExitCode::SUCCESS)
}

/// Prints the address to open, with its token, and answers until it is stopped.
fn http_options(ask: &args::Serve, home: &Path) -> Result<HttpOptions, Refusal> {
    let files = ask.tls_cert.clone().zip(ask.tls_key.clone());
    Ok(HttpOptions {
        listen: ask.listen,
        hosts: ask.host.clone(),
        certificate: files.map(|(chain, key)| Certificate { chain, key }),
        token_file: ask.token_file.clone(),
        pages: match &ask.ui {
            Some(folder) => Pages::Folder(folder.clone()),
            None => dashboard::pages(),
        },
        connect: connect::hints(home)?,
    })
}

fn serve_http(engine: Arc<Engine>, options: HttpOptions, json: bool) -> Result<ExitCode, Refusal> {
    engine.follow()?;
    let Err(refusal) = runtime(Builder::new_multi_thread())?.block_on(async {
        let server = engram_server::http(engine, options).await?;
        if json {
            out::json(&json!({ "url": server.url }))
        } else {
            out::line(&server.url)
        };
        out::delivered()?;
        Ok(server.run().await)
    });
    Err(refusal)
}

/// Prints existing and new entries, oldest first, until the reader goes away.
fn follow(engine: Arc<Engine>, asked: &args::Feed, json: bool) -> Result<ExitCode, Refusal> {
    let newest = Feed {
        limit: Some(asked.limit),
        all: asked.all,
        ..Feed::default()
    };
    let page = engine.ask(&Caller::User, ask::Feed(newest))?;
    let (lines, printed) = mpsc::channel();
    for entry in page.entries.into_iter().rev() {
        let _ = lines.send(entry);
    }
    let _subscription = engine.subscribe(page.head, move |entries| {
        for entry in entries {
            let _ = lines.send(entry);
        }
    })?;
    for entry in printed {
        let is_read = if json {
            out::json(&entry)
        } else {
            out::line(&print::entry(&entry, |_| None))
        };
        if !is_read {
            return Ok(ExitCode::SUCCESS);
        }
    }
    // The feed ends only if its home does.
    engine.ask(&Caller::User, ask::Status)?;
    Err(Refusal::new(
        Code::StoreGone,
        "the home was replaced while it was being followed",
        "Run the command again to follow the new one.",
    ))
}

/// What names a display on Linux.
const DISPLAYS: [&str; 2] = ["WAYLAND_DISPLAY", "DISPLAY"];

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|it| !it.is_empty())
}

/// Starts the window, which is beside this program or on PATH.
fn app(cli: &Cli) -> Result<ExitCode, Refusal> {
    if cfg!(target_os = "linux") && !DISPLAYS.iter().any(|it| is_set(it)) {
        return Err(Refusal::new(
            Code::NotFound,
            "there is no display to open the window on",
            "Use `engram serve`, and open the address that it prints in a browser.",
        ));
    }
    let name = format!("engram-desktop{}", std::env::consts::EXE_SUFFIX);
    let beside = std::env::current_exe()
        .ok()
        .and_then(|it| Some(it.parent()?.join(&name)))
        .filter(|it| it.exists());
    let mut command = Command::new(beside.unwrap_or_else(|| name.into()));
    if let Some(home) = &cli.home {
        command.arg("--home").arg(home);
    }
    if let Some(repo) = &cli.repo {
        command.arg("--repo").arg(repo);
    }
    match command.spawn() {
        Ok(_) => Ok(ExitCode::SUCCESS),
        Err(error) => Err(Refusal::new(
            Code::NotFound,
            format!("cannot start the window: {error}"),
            "Install engram-desktop beside engram; in a clone, `cargo xtask run` builds and opens it.",
        )),
    }
}

fn completions(shell: clap_complete::Shell) -> Result<ExitCode, Refusal> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "engram", &mut script);
    out::line(String::from_utf8_lossy(&script).trim_end());
    Ok(ExitCode::SUCCESS)
}

/// Whether there is a person to ask.
pub(crate) fn person_is_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}
