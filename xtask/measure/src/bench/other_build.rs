//! `cargo xtask bench --before BINARY`: this build against another one, each with its own homes.

use std::path::Path;

use anyhow::Result;
use serde_json::Value;

use super::{
    client::{LineClient, Party, call_in_turn},
    table::{self, Bar, print_row},
    workload::{
        commit_arguments, create_sandbox, deref_arguments, mcp_command, query_arguments,
        question_about,
    },
};

/// The maximum time of a call relative to the other build. A run is meaningless if a build compared
/// with itself is not within 0.97 to 1.03.
const BAR: f64 = 1.1;

/// Calls each tool of each build this many times.
pub(super) fn perform(binary: &Path, before: &Path, calls: usize) -> Result<()> {
    let place = create_sandbox()?;
    let (now_home, before_home) = (place.another_home("now")?, place.another_home("before")?);
    let mut now = LineClient::start_mcp(&mut mcp_command(binary, &now_home, &place.repo()))?;
    let mut then = LineClient::start_mcp(&mut mcp_command(before, &before_home, &place.repo()))?;
    table::print_head();
    for (tool, arguments) in [
        ("engram_commit", commit_arguments as fn(usize) -> Value),
        ("engram_query", |at| query_arguments(&question_about(at))),
        ("engram_deref", deref_arguments),
    ] {
        let mut parties = [
            Party::new(&mut now, tool, arguments),
            Party::new(&mut then, tool, arguments),
        ];
        call_in_turn(0..calls, &mut parties)?;
        let [ours, others] = &parties;
        for at in [0.5, 0.95] {
            let bar = Bar::at_most(BAR);
            print_row(
                tool,
                &ours.times,
                ("the other build", &others.times),
                at,
                Some(bar),
            );
        }
    }
    now.finish()?;
    then.finish()
}
