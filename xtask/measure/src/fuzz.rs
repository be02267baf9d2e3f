//! `cargo xtask fuzz`: schemathesis against a running server, by its own description, once as the user and once as
//! an agent. What it finds is a bug of the server or of the description.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use clap::Args;
use serde_json::Value;

use crate::http::Served;
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
            None => shell::build(root, &["--package", "engram-cli"])?
                .remove("engram")
                .context("cargo built no engram")?,
        };
        let schemathesis = tools::schemathesis()?;
        let ground = Ground::new(engram)?;
        for (name, open) in [("the user", None), ("an agent", Some("lead"))] {
            let served = Served::start(ground.command().arg("serve"))?;
            let token = match open {
                None => served.token.clone(),
                Some(name) => ground.family(name)?,
            };
            println!("schemathesis as {name}");
            let mut fuzz = command(&schemathesis);
            fuzz.current_dir(&ground.folder)
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

/// A repository with a home beside it.
struct Ground {
    folder: PathBuf,
    engram: PathBuf,
}

impl Ground {
    fn new(engram: PathBuf) -> Result<Self> {
        let folder = std::env::temp_dir().join(format!("engram-fuzz-{}", std::process::id()));
        let repo = folder.join("repo");
        fs::create_dir_all(&repo)?;
        fs::write(repo.join("lib.rs"), "fn first() {}\nfn second() {}\n")?;
        // Writes are many here: no rate stands in their way.
        fs::create_dir_all(folder.join("home"))?;
        let rates = "[limits.rate]\nper_minute = 1000000\nper_hour = 1000000\n";
        fs::write(folder.join("home/config.toml"), rates)?;
        for args in [
            &["init", "--quiet"][..],
            &["add", "."],
            &[
                "-c",
                "user.name=t",
                "-c",
                "user.email=t@t",
                "commit",
                "--quiet",
                "-m",
                "lib",
            ],
        ] {
            run(command("git").arg("-C").arg(&repo).args(args))?;
        }
        Ok(Self { folder, engram })
    }

    fn command(&self) -> Command {
        let mut engram = command(&self.engram);
        engram
            .arg("--home")
            .arg(self.folder.join("home"))
            .arg("--repo")
            .arg(self.folder.join("repo"))
            .arg("--json");
        engram
    }

    /// The token of an agent, which has a child.
    fn family(&self, name: &str) -> Result<String> {
        let opened = output(
            self.command()
                .args(["agents", "open", name, "--role", "architect"]),
        )?;
        let child = [
            "agents",
            "open",
            "ada",
            "--role",
            "programmer",
            "--parent",
            name,
        ];
        output(self.command().args(child))?;
        let opened: Value = serde_json::from_str(&opened)?;
        Ok(opened["token"].as_str().context("no token")?.to_owned())
    }
}

impl Drop for Ground {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.folder);
    }
}
