//! The fastest peer known to us, with the same claims and the same questions: ai-memory with word
//! search alone. It does not sync its writes.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use anyhow::{Context, Result};
use serde_json::{Value, json};

use super::workload::{WANTED, claim};
use which::which;

use xtask::tools;

const NAME: &str = "ai-memory";
const VERSION: &str = "0.6.4";

/// Finds its program among the tools or on PATH.
pub(super) fn find() -> Result<PathBuf> {
    let ours = tools::folder().join(NAME);
    let installed = ours.join("bin").join(NAME);
    let found = installed.is_file().then_some(installed);
    found.or_else(|| which(NAME).ok()).with_context(|| {
        format!(
            "{NAME} is not installed: cargo install {NAME} --version {VERSION} --locked --root {}",
            ours.display()
        )
    })
}

/// Returns its name for the table.
pub(super) fn title() -> String {
    format!("{NAME} {VERSION}, by words alone; its writes are not synced")
}

/// Returns its MCP server, with all its data in a folder of its own.
pub(super) fn peer_command(program: &Path, folder: &Path) -> Result<Command> {
    fs::create_dir_all(folder)?;
    let mut command = Command::new(program);
    command
        .arg("--db")
        .arg(folder.join("ai-memory.db"))
        .args(["mcp", "--tier", "keyword"])
        .current_dir(folder)
        .env("HOME", folder)
        .env("AI_MEMORY_NO_CONFIG", "1")
        .stderr(fs::File::create(folder.join("stderr"))?);
    Ok(command)
}

pub(super) const STORE: &str = "memory_store";
pub(super) const RECALL: &str = "memory_recall";

pub(super) fn store_arguments(i: usize) -> Value {
    json!({ "title": format!("claim {i}"), "content": claim(i) })
}

pub(super) fn recall_arguments(topic: &str) -> Value {
    json!({ "context": topic, "limit": WANTED, "format": "json" })
}

/// Converts its answer to our form.
pub(super) fn converted_answer(result: &Value) -> Value {
    let text = result["content"][0]["text"].as_str().unwrap_or_default();
    let said: Value = serde_json::from_str(text).unwrap_or_default();
    let memories = said["memories"].as_array().into_iter().flatten();
    let engrams: Vec<Value> = memories
        .map(|it| json!({ "claim": it["content"] }))
        .collect();
    json!({ "structuredContent": { "engrams": engrams } })
}
