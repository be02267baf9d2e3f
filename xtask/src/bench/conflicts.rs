//! `cargo xtask bench --conflicts`: what looking for contradictions costs a commit. The same claims go to
//! two homes of their own: as durable ones, which are compared with what holds, and as ephemeral ones,
//! which are not.

use std::{path::Path, time::Duration};

use anyhow::{Result, ensure};
use serde_json::{Value, json};

use super::{
    client::{Client, Party, in_turn},
    place::{Place, commit, server},
    table::{self, Bar, Beside, figure, row},
};

/// The most that a commit with detection may take of one without.
const MOST: Bar = Bar {
    most: 1.2,
    goal: None,
};
/// The most that it may take among all claims of what it took among the first.
const GROWN: Bar = Bar {
    most: 5.0,
    goal: None,
};
/// Calls at the beginning and at the end that are held against each other.
const EDGE: usize = 1_000;
/// Of so many claims one contradicts another.
const EACH: usize = 50;

/// The nth claim; some say again what another said, with another number.
fn said(n: usize) -> Value {
    let mut said = commit(n - n % EACH / (EACH - 1));
    if n % EACH == EACH - 1 {
        let claim = said["content"].as_str().unwrap_or_default();
        let other = claim.replacen(" is ", " is 7", 1);
        said["content"] = json!(other);
    }
    said
}

fn unheard(n: usize) -> Value {
    let mut said = said(n);
    said["durability"] = json!("ephemeral");
    said
}

pub(super) fn perform(binary: &Path, engrams: usize) -> Result<()> {
    let place = Place::new()?;
    let (with_home, without_home) = (place.room("with")?, place.room("without")?);
    for home in [&with_home, &without_home] {
        std::fs::copy(place.home().join("config.toml"), home.join("config.toml"))?;
    }
    let mut with = Client::greet(&mut server(binary, &with_home, &place.repo()))?;
    let mut without = Client::greet(&mut server(binary, &without_home, &place.repo()))?;
    let mut parties = [
        Party::new(&mut with, "engram_commit", said),
        Party::new(&mut without, "engram_commit", unheard),
    ];
    in_turn(0..engrams.max(2 * EDGE), &mut parties)?;
    let [ours, others] = &parties;
    let late = |times: &[Duration]| times.iter().rev().take(EDGE).copied().collect::<Vec<_>>();
    let early: Vec<Duration> = ours.times.iter().skip(1).take(EDGE).copied().collect();
    let grown = late(&ours.times);
    let beside = Beside {
        what: "the same commit without detection",
        times: &others.times,
    };
    table::head();
    row(
        "commit with detection",
        &ours.times,
        &beside,
        0.5,
        Some(MOST),
    );
    let beside = Beside {
        what: "the first thousand commits",
        times: &early,
    };
    row(
        "the last thousand commits",
        &grown,
        &beside,
        0.95,
        Some(GROWN),
    );
    drop(parties);
    let list = json!({ "status": "open" });
    let found = with.call("engram_conflicts", list)?.result;
    let open = found["structuredContent"]["open"]
        .as_u64()
        .unwrap_or_default();
    ensure!(open > 0, "no conflict was found: {found}");
    figure("conflicts", &open.to_string(), "");
    with.finish()?;
    without.finish()
}
