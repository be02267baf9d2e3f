//! Runs a verb: most are one request, the others have a function each.

use std::{
    io::{self, IsTerminal},
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    sync::Arc,
};

use clap::CommandFactory;
use engram_engine::{Engine, Options, Treatment, World};
use engram_model::{
    AgentId, Caller, Code, ConflictFilter, EngramId, Evidence, Gate, MAX_CONFLICTS_ON_PAGE,
    Refusal, Reply, Request, Secret, ask,
};
use engram_server::{Certificate, HttpOptions, Pages, Toolset};
use serde_json::json;
use tokio::runtime::{Builder, Runtime};

use crate::{
    agent_names::resolve_names,
    args::{Cli, PointersVerb, ProjectMemory, ServeArgs, ToolsetArg, Verb},
    batch, conflicts, connect, dashboard, doctor,
    elsewhere::Elsewhere,
    feed, models, out, permission, pointers, print,
    request::{caller_of, filter_of, request_of},
};

pub(crate) fn run(cli: Cli) -> Result<ExitCode, Refusal> {
    let json = cli.json;
    match cli.verb {
        Verb::Completions { shell } => print_completions(shell),
        Verb::Connect(ref ask) => {
            connect::connect(ask, home_folder(&cli)?, cli.repo.as_deref(), json)
        }
        Verb::App => start_window(&cli),
        Verb::Pointers {
            verb:
                PointersVerb::Track {
                    ref from,
                    ref to,
                    ref spans,
                },
        } => pointers::track(cli.repo.as_deref(), from, to, spans),
        Verb::Models { ref verb } => models::models(verb.as_ref(), &cli, json),
        Verb::Detect { ref pairs } => batch::detect(pairs).map(|()| ExitCode::SUCCESS),
        Verb::Mcp { ref toolsets } => serve_mcp(Arc::new(open_engine(&cli)?), toolsets),
        Verb::Serve(ref ask) => serve_http(
            Arc::new(open_engine(&cli)?),
            http_options(ask, &home_folder(&cli)?)?,
            json,
        ),
        Verb::Feed(ref ask) if ask.follow => feed::follow(&Arc::new(open_engine(&cli)?), ask, json),
        Verb::Doctor {
            move_home: true, ..
        } => doctor::move_home(&cli),
        Verb::Doctor { recover: true, .. } => doctor::recover(&home_folder(&cli)?, json),
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
            doctor::require_home(&home_folder(&cli)?)?;
            doctor::doctor(&open_engine(&cli)?, treatment, json)
        }
        Verb::Put(ref ask) if ask.jsonl.is_some() => {
            let engine = open_engine(&cli)?;
            let file = ask.jsonl.as_deref().unwrap_or("-");
            let ran = batch::put(&engine, file);
            engine.leave_in_order()?;
            ran?;
            Ok(ExitCode::SUCCESS)
        }
        ref verb => answer_verb(&cli, verb),
    }
}

/// Asks the engine what a verb asks, and prints the answer.
fn answer_verb(cli: &Cli, verb: &Verb) -> Result<ExitCode, Refusal> {
    let json = cli.json;
    let (mut caller, mut request) = (caller_of(verb), request_of(verb, &World::system())?);
    let engine = open_engine(cli)?;
    resolve_names(&engine, &mut caller, &mut request)?;
    if let (Verb::Redact { yes: false, .. }, Request::Redact(id)) = (verb, &request)
        && !json
        && person_is_there()
        && !confirms_erasure(&engine, *id)
    {
        engine.leave_in_order()?;
        out::print_line("Nothing was erased.");
        return Ok(ExitCode::SUCCESS);
    }
    let elsewhere = Elsewhere {
        home: home_folder(cli)?,
        is_silent: json,
    };
    if matches!(request, Request::Explain(_)) && !json && person_is_there() {
        out::print_error_line("This may ask the language model, which can take a minute.");
    }
    let reply = elsewhere.answer(&engine, &caller, request)?;
    match (verb, &reply) {
        (Verb::Sample { remove: true }, Reply::Sample(sample)) if !json => {
            print::print_removed(sample);
        }
        (Verb::Project { how }, _) if !json => {
            out::print_line(match how {
                ProjectMemory::Own => "This repository has a memory of its own.",
                ProjectMemory::Share => "This repository uses the memory of the original.",
            });
            print::print_reply(&reply, json);
        }
        (Verb::Conflicts(asked), Reply::Conflicts(page)) if !json => {
            out::print_line(&conflicts::conflicts_text(page, &filter_of(asked)));
        }
        // Without words, nothing is better than something else.
        (Verb::Query(asked), Reply::Query(found))
            if !json
                && !found.engrams.is_empty()
                && asked.text.iter().all(|it| it.trim().is_empty()) =>
        {
            out::print_line(&print::query_text(found, "newest claims"));
        }
        (_, Reply::Grants(grants)) if !json => {
            let agents = engine.ask(&Caller::User, ask::Agents)?.agents;
            let named = |handle: &AgentId| {
                let known = agents.iter().find(|it| it.handle == *handle);
                let name = known.map_or(&handle.0, |it| &it.name);
                out::one_line(permission::agent_text(name, handle, None))
            };
            out::print_line(&permission::grants_text(grants, named));
        }
        (_, Reply::Feed(page)) if !json && !page.entries.is_empty() => {
            feed::print_entries(&engine, &page.entries);
        }
        (_, Reply::Gate(gate)) if !json => {
            let open = engine.ask(
                &caller,
                ask::Conflicts(ConflictFilter {
                    limit: Some(MAX_CONFLICTS_ON_PAGE),
                    ..ConflictFilter::default()
                }),
            )?;
            out::print_line(&conflicts::gate_text(gate, &open.conflicts));
        }
        _ => print::print_reply(&reply, json),
    }
    if !json && is_empty_list(&reply) {
        say_outside(&engine)?;
    }
    engine.leave_in_order()?;
    Ok(exit_code(verb, &reply))
}

/// Shows a claim, and asks whether to erase it; a note has no words here.
fn confirms_erasure(engine: &Engine, id: EngramId) -> bool {
    if let Ok(engram) = engine.ask(&Caller::User, ask::Get(id)) {
        out::print_line(&out::one_line(&engram.claim));
    }
    let answer = out::ask(&format!("Erase {id} for good? [y/N]"));
    matches!(answer.trim(), "y" | "Y" | "yes")
}

/// Whether a reply lists nothing of a project.
fn is_empty_list(reply: &Reply) -> bool {
    match reply {
        Reply::Query(found) => found.engrams.is_empty(),
        Reply::Feed(page) => page.entries.is_empty(),
        Reply::Conflicts(page) => page.conflicts.is_empty(),
        Reply::Agents(page) => page.agents.is_empty(),
        Reply::Budgets(page) => page.agents.is_empty(),
        Reply::Requests(page) => page.requests.is_empty(),
        Reply::Grants(page) => page.grants.is_empty(),
        Reply::Brief(brief) => brief.lines.is_empty(),
        _ => false,
    }
}

/// Says that an empty answer is not about the repository that the user may have meant.
fn say_outside(engine: &Engine) -> Result<(), Refusal> {
    if engine.ask(&Caller::User, ask::Status)?.project.is_none() {
        out::print_error_line(
            "You are outside a git repository. Change to your clone, or name it with --repo.",
        );
    }
    Ok(())
}

/// Returns the exit code for hooks: 1 if the reply to a check is a reason to stop.
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
    let must_stop = match reply {
        Reply::Checked(check) => {
            let mut engrams = check.engrams.iter();
            asked && engrams.any(|it| Evidence::DRIFTED.contains(&it.standing))
        }
        Reply::Gate(gate) => gate.gate == Gate::Shut,
        _ => false,
    };
    if must_stop {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

pub(crate) fn home_folder(cli: &Cli) -> Result<PathBuf, Refusal> {
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

pub(crate) fn open_engine(cli: &Cli) -> Result<Engine, Refusal> {
    Engine::open(Options {
        home: home_folder(cli)?,
        repo: cli.repo.clone(),
        from: std::env::current_dir().unwrap_or_default(),
    })
}

fn build_runtime(mut of: Builder) -> Result<Runtime, Refusal> {
    // Tokio ends the process if it gets only some of the file handles it needs. So try more than it
    // needs first, in pairs.
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

/// Serves the agent that a token in the environment proves; without a token, a new agent.
fn serve_mcp(engine: Arc<Engine>, toolsets: &[ToolsetArg]) -> Result<ExitCode, Refusal> {
    // A token that is not UTF-8 proves no agent either.
    let token = std::env::var_os("ENGRAM_AGENT").filter(|it| !it.is_empty());
    let token = token.map(|it| Secret(it.to_string_lossy().trim().to_owned()));
    let toolsets: Vec<Toolset> = toolsets.iter().map(|it| it.toolset()).collect();
    // There is one client on one pipe: a second thread would only pass messages to the first.
    let runtime = build_runtime(Builder::new_current_thread())?;
    let served = runtime.block_on(engram_server::mcp_stdio(
        Arc::clone(&engine),
        &toolsets,
        token,
    ));
    // A read of standard input may still be under way; the client is gone, so nothing waits for it.
    runtime.shutdown_background();
    served?;
    engine.store_before_exit()?;
    Ok(ExitCode::SUCCESS)
}

/// Returns the options of `engram serve`.
fn http_options(ask: &ServeArgs, home: &Path) -> Result<HttpOptions, Refusal> {
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
    engine.follow_with_models()?;
    let Err(refusal) = build_runtime(Builder::new_multi_thread())?.block_on(async {
        let server = engram_server::listen_http(engine, options).await?;
        if json {
            out::print_json(&json!({ "url": server.url }))
        } else {
            out::print_line(&server.url)
        };
        out::check_written()?;
        Ok(server.run().await)
    });
    Err(refusal)
}

/// The variables that name a display on Linux.
const DISPLAYS: [&str; 2] = ["WAYLAND_DISPLAY", "DISPLAY"];

fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some_and(|it| !it.is_empty())
}

/// Starts the window. Its program is beside this one or on PATH.
fn start_window(cli: &Cli) -> Result<ExitCode, Refusal> {
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

fn print_completions(shell: clap_complete::Shell) -> Result<ExitCode, Refusal> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "engram", &mut script);
    out::print_line(String::from_utf8_lossy(&script).trim_end());
    Ok(ExitCode::SUCCESS)
}

/// Whether a person can be asked.
pub(crate) fn person_is_there() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}
