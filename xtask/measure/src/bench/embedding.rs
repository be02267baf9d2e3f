//! `cargo xtask bench --meaning .. --model FOLDER`: a home whose claims are embedded while agents
//! write, and the process that embeds is killed in the middle.

use std::{
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};
use serde_json::Value;

use super::{
    idle,
    meaning::{JUDGED, MeaningBench},
    table::print_figure,
};
use crate::http::RunningServer;
use xtask::shell::output;

/// How long all claims may take, and the time between two looks at the progress.
const PATIENCE: Duration = Duration::from_secs(3_600);
const LOOK: Duration = Duration::from_millis(200);

impl MeaningBench<'_> {
    /// Lets a model in this folder embed a home of `count` claims.
    pub(super) fn time_embedding(&self, folder: &Path, count: usize) -> Result<()> {
        let runtime = std::env::var("ENGRAM_ONNXRUNTIME")
            .context("name the ONNX Runtime library in ENGRAM_ONNXRUNTIME")?;
        let home = self.filled_home(&self.with, count, "embedded")?;
        let alone = self.filled_home(&self.with, count, "alone")?;
        let mut choose = self.engram(&self.with, &home);
        choose
            .args(["--json", "models", "use", "embed"])
            .arg(folder);
        output(choose.args(["--runtime", &runtime]))?;
        let serve = |home: &Path| {
            RunningServer::start(self.engram(&self.with, home).args(["--json", "serve"]))
        };
        let _other = serve(&alone)?;
        let begun = Instant::now();
        let embedding = serve(&home)?;
        self.wait_until_read(&home, 1)?;
        let mut clients = (
            self.client(&self.with, &home)?,
            self.client(&self.with, &alone)?,
        );
        self.time_commits(
            &format!("commit in a home of {count} while its claims are embedded"),
            ("the same without the model", count),
            [&mut clients.0, &mut clients.1],
            JUDGED,
        )?;
        let before = self.wait_until_read(&home, count / 4)?;
        ensure!(before < count, "all was read before the kill");
        // Dropping it kills it.
        drop(embedding);
        let mut again = clients
            .0
            .call("engram_commit", self.commit_arguments(400, count))?;
        ensure!(
            !again.result["structuredContent"]["id"].take().is_null(),
            "no claim"
        );
        let killed = self.count_read(&home)?;
        let _embedding = serve(&home)?;
        self.wait_until_read(&home, usize::MAX)?;
        print_figure(
            "claims embedded when the process was killed; until the next one had embedded all",
            &format!(
                "{killed} of {count}; {:.0} s",
                begun.elapsed().as_secs_f64()
            ),
            "",
        );
        ensure!(killed >= before, "vectors were lost");
        clients.0.finish()?;
        clients.1.finish()
    }

    /// Waits until so many claims were embedded; returns how many were.
    fn wait_until_read(&self, home: &Path, wanted: usize) -> Result<usize> {
        let start = Instant::now();
        loop {
            let read = self.count_read(home)?;
            if read >= wanted {
                return Ok(read);
            }
            ensure!(
                start.elapsed() < PATIENCE,
                "only {read} of {wanted} claims were embedded"
            );
            idle::pause(LOOK);
        }
    }

    /// How many claims of a home the model has read.
    fn count_read(&self, home: &Path) -> Result<usize> {
        let listed = output(self.engram(&self.with, home).args(["--json", "models"]))?;
        let listed: Value = serde_json::from_str(&listed)?;
        let rows = listed["models"].as_array().context("no list of models")?;
        let row = rows.iter().find(|it| it["task"] == "embed");
        let row = row.context("no row for embeddings")?;
        ensure!(row["state"] == "on", "the model is not on: {row}");
        match row["why"].as_str() {
            // "has read 12 of 34 claims"
            Some(why) => Ok(why
                .split(' ')
                .find_map(|it| it.parse().ok())
                .unwrap_or_default()),
            None => Ok(usize::MAX),
        }
    }
}
