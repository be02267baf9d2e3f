//! The `engram` command as a person runs it.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use engram_model::Engram as Record;
use serde_json::Value;

use crate::{
    editor::Editor,
    machine::{self, clean, desktop, ok},
    window::Window,
};

/// The command for one home and one repository.
pub struct Engram {
    program: &'static Path,
    /// The arguments that name the home and the repository.
    pub place_args: [String; 4],
    /// The path of the repository.
    pub repo: PathBuf,
    /// The home folder of the person.
    pub person: PathBuf,
}

impl Engram {
    /// The command for this home, run by a person whose home folder is in `dir`.
    pub fn of(dir: &Path, home: &Path, repo: &Path) -> Self {
        let text = |path: &Path| path.to_str().expect("a path in UTF-8").to_owned();
        let place_args = [
            "--home".to_owned(),
            text(home),
            "--repo".to_owned(),
            text(repo),
        ];
        Self {
            program: machine::engram(), // set before the window looks for it
            place_args,
            repo: repo.to_owned(),
            person: dir.join("person"),
        }
    }

    /// The command line of the MCP server.
    pub fn server(&self) -> Vec<String> {
        let program = machine::engram()
            .to_str()
            .expect("a path in UTF-8")
            .to_owned();
        let place_args = self.place_args.iter().cloned();
        [program]
            .into_iter()
            .chain(place_args)
            .chain(["mcp".to_owned()])
            .collect()
    }

    /// The command with arguments.
    pub fn command(&self, args: &[&str]) -> Command {
        let mut command = clean(self.program, &self.person);
        command
            .args(&self.place_args)
            .args(args)
            .current_dir(&self.repo);
        command
    }

    /// Returns what a verb prints with `--json`.
    pub fn json(&self, args: &[&str]) -> Value {
        let printed = ok(self.command(&["--json"]).args(args));
        let parsed = serde_json::from_str(&printed);
        parsed.unwrap_or_else(|error| panic!("{args:?}: {error}: {printed}"))
    }

    /// Stores drafts in one batch and returns their ids, in order.
    pub fn put(&self, drafts: &[Value]) -> Vec<String> {
        let lines: String = drafts.iter().map(|it| format!("{it}\n")).collect();
        let file = self.person.with_file_name("drafts.jsonl");
        fs::write(&file, lines).unwrap();
        let answers = ok(self.command(&["--json", "put", "--jsonl"]).arg(file));
        let answers = answers
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let ids = answers.map(|it| match (it["id"].as_str(), it.get("error")) {
            (Some(id), None) => id.to_owned(),
            _ => panic!("not stored: {it}"),
        });
        ids.collect()
    }

    /// Opens the real window on them, for a person with this editor.
    pub fn window(&self, editor: &Editor) -> Window {
        Window::open(desktop(), &self.place_args, &self.person, &editor.program)
    }

    /// Returns one record.
    pub fn get(&self, id: &str) -> Record {
        serde_json::from_value(self.json(&["get", id])).expect("a full record")
    }
}
