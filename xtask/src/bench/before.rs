//! `cargo xtask bench --before BINARY`: this build beside another one, on homes of their own.

use std::path::Path;

use anyhow::Result;

use super::{
    client::{Client, Party, in_turn},
    place::{Place, commit, deref, server},
    table::{self, Bar, Beside, row},
};

/// Of each tool, by each build.
const CALLS: usize = 2_000;
/// The most that a check more on the way may cost.
const MOST: f64 = 1.25;

pub(super) fn perform(binary: &Path, before: &Path) -> Result<()> {
    let place = Place::new()?;
    let (now_home, before_home) = (place.room("now")?, place.room("before")?);
    for home in [&now_home, &before_home] {
        std::fs::copy(place.home().join("config.toml"), home.join("config.toml"))?;
    }
    let mut now = Client::greet(&mut server(binary, &now_home, &place.repo()))?;
    let mut then = Client::greet(&mut server(before, &before_home, &place.repo()))?;
    table::head();
    for (tool, at, arguments) in [
        ("engram_commit", 0.5, commit as fn(usize) -> _),
        ("engram_deref", 0.95, deref),
    ] {
        let mut parties = [
            Party::new(&mut now, tool, arguments),
            Party::new(&mut then, tool, arguments),
        ];
        in_turn(0..CALLS, &mut parties)?;
        let [ours, others] = &parties;
        let beside = Beside {
            what: "the other build",
            times: &others.times,
        };
        let bar = Bar {
            most: MOST,
            goal: None,
        };
        row(tool, &ours.times, &beside, at, Some(bar));
    }
    now.finish()?;
    then.finish()
}
