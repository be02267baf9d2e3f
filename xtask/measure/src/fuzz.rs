//! `cargo xtask fuzz`: runs schemathesis against a server according to the server's description,
//! once as the user and once as an agent. Each finding is a bug in the server or in the
//! description.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use clap::Args;
use serde_json::Value;

use crate::{
    http::RunningServer,
    sandbox::{NO_RATE, Sandbox, commit_all},
};
use xtask::{
    shell::{self, command, output, run},
    tools,
};

#[derive(Args)]
pub(crate) struct Fuzz {
    /// Another engram binary than the debug build
    #[arg(long)]
    binary: Option<PathBuf>,
    /// Cases for each call
    #[arg(long, default_value_t = 50)]
    cases: u32,
    /// Chooses the cases
    #[arg(long, default_value_t = 1)]
    seed: u64,
}

impl Fuzz {
    pub(crate) fn perform(self, root: &Path) -> Result<()> {
        let engram = match &self.binary {
            Some(binary) => binary.clone(),
            None => shell::build_program(root, &["--package", "engram-cli"], "engram")?,
        };
        let schemathesis = tools::schemathesis()?;
        let sandbox = sandbox()?;
        let engram = || {
            let mut engram = sandbox.engram(&engram);
            engram.arg("--json");
            engram
        };
        for (name, open) in [("the user", None), ("an agent", Some("lead"))] {
            let served = RunningServer::start(engram().arg("serve"))?;
            let token = match open {
                None => served.token.clone(),
                Some(name) => open_family(&engram, name)?,
            };
            println!("schemathesis as {name}");
            let mut fuzz = command(&schemathesis);
            fuzz.current_dir(&sandbox.folder)
                .args(["run", "--no-color", "--checks", "all"])
                .arg(format!("--seed={}", self.seed))
                .arg(format!("--max-examples={}", self.cases))
                .arg(format!("--header=Authorization: Bearer {token}"))
                .arg(format!("{}/openapi.json", served.address));
            run(&mut fuzz)?;
        }
        Ok(())
    }
}

/// Creates a repository and a home without a rate limit, since there are many writes.
fn sandbox() -> Result<Sandbox> {
    let sandbox = Sandbox::new("fuzz", NO_RATE)?;
    fs::write(
        sandbox.repo().join("lib.rs"),
        "fn first() {}\nfn second() {}\n",
    )?;
    run(sandbox.git().args(["init", "--quiet"]))?;
    commit_all(&sandbox.repo())?;
    Ok(sandbox)
}

/// Opens an agent with a child; returns its token.
fn open_family(engram: &dyn Fn() -> Command, name: &str) -> Result<String> {
    let open = |what: &str| {
        let words = format!("agents open {what}");
        output(engram().args(words.split(' ')))
    };
    let opened = open(&format!("{name} --role architect"))?;
    open(&format!("ada --role programmer --parent {name}"))?;
    let opened: Value = serde_json::from_str(&opened)?;
    Ok(opened["token"].as_str().context("no token")?.to_owned())
}
