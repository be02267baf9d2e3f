//! `cargo xtask bench --before BINARY`: this build beside another one, on homes of their own.

use std::path::Path;

use anyhow::Result;

use super::{
    client::{Client, Party, in_turn},
    place::{Place, commit, deref, server},
    table::{self, Bar, Beside, row},
};

const WRITTEN: usize = 2_000;
const READ: usize = 2_000;
/// The most that a check more on the way may cost.
const MOST: f64 = 1.25;

pub(super) fn perform(binary: &Path, before: &Path) -> Result<()> {
    let place = Place::new()?;
    let rooms = ["now", "before"].map(|it| place.room(it));
    let [now_home, before_home] = rooms;
    let (now_home, before_home) = (now_home?, before_home?);
    for home in [&now_home, &before_home] {
        std::fs::copy(place.home().join("config.toml"), home.join("config.toml"))?;
    }
    let mut now = Client::greet(&mut server(binary, &now_home, &place.repo()))?;
    let mut then = Client::greet(&mut server(before, &before_home, &place.repo()))?;
    table::head();
    for (what, tool, count, at, arguments) in [
        (
            "write (engram_commit)",
            "engram_commit",
            WRITTEN,
            0.5,
            commit as fn(usize) -> _,
        ),
        (
            "dereference (engram_deref)",
            "engram_deref",
            READ,
            0.95,
            deref,
        ),
    ] {
        let mut parties = [
            Party::new(&mut now, tool, arguments),
            Party::new(&mut then, tool, arguments),
        ];
        in_turn(0..count, &mut parties)?;
        let [ours, others] = &parties;
        let beside = Beside {
            what: "the other build",
            times: &others.times,
        };
        let bar = Bar {
            most: MOST,
            goal: None,
        };
        row(what, &ours.times, &beside, at, Some(bar));
    }
    now.finish()?;
    then.finish()
}
