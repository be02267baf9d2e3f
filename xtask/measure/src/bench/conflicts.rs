//! `cargo xtask bench --conflicts`: what detecting contradictions costs. The same claims go to two
//! homes: to one as durable, which are compared with what holds, and to the other as ephemeral,
//! which are not. New claims go into a home of a thousand and one of a hundred thousand, and the
//! claims of a crowd contradict each other.

use std::{ops::Range, path::Path, process::Stdio, time::Duration};

use anyhow::{Context, Result, ensure};
use serde_json::{Value, json};

use super::{
    client::{LineClient, Party, call_in_turn},
    filled, idle,
    table::{self, Bar, print_figure, print_row},
    workload::{commit_arguments, create_sandbox, mcp_command, query_arguments},
};
use crate::sandbox::Sandbox;
use xtask::shell::{build_example, command, run};

/// The maximum time of a commit with detection, relative to one without.
const BAR: Bar = Bar::at_most(1.2);
/// The maximum time among many claims, relative to that among few.
const GROWN: Bar = Bar::at_most(5.0);
const FEW: u64 = 1_000;
const MANY: u64 = 100_000;
/// The number of new claims among them.
const NEW: usize = 400;
/// One claim in this many contradicts another.
const EACH: usize = 50;
/// The sizes of a crowd of claims that all contradict each other; `NEXT` more are timed at each.
const CROWDS: [usize; 3] = [10, 100, 1_000];
const NEXT: usize = 10;

/// Returns the nth claim; some repeat another claim with a different number.
fn mixed_claim(n: usize) -> Value {
    let mut said = commit_arguments(n - n % EACH / (EACH - 1));
    if n % EACH == EACH - 1 {
        said["content"] = json!(contradicting(&said["content"]));
    }
    said
}

fn contradicting(claim: &Value) -> String {
    let claim = claim.as_str().unwrap_or_default();
    claim.replacen(" is ", " is 7", 1)
}

fn made_ephemeral(mut said: Value) -> Value {
    said["durability"] = json!("ephemeral");
    said
}

/// Returns one of many claims that contradict each other.
fn crowd_claim(n: usize) -> Value {
    let mut said = commit_arguments(n);
    said["content"] = json!(format!("The retry limit of the gateway is {n}."));
    said["scope"] = json!("gateway");
    said
}

pub(super) fn perform(root: &Path, binary: &Path, engrams: usize) -> Result<()> {
    let place = create_sandbox()?;
    table::print_head();
    let all = DetectionTimes::measure_detection(&place, binary, "some", mixed_claim, engrams)?;
    all.row("commit with detection", 0..engrams, Some(BAR));
    print_figure("conflicts among them", &all.open.to_string(), "");
    time_among_many(root, &place, binary)?;
    let all =
        DetectionTimes::measure_detection(&place, binary, "crowd", crowd_claim, CROWDS[2] + NEXT)?;
    for count in CROWDS {
        let what = format!("commit of a claim that contradicts {count}");
        all.row(&what, count..count + NEXT, None);
    }
    print_figure("conflicts among these", &all.open.to_string(), "");
    println!();
    run(&mut command(build_example(
        root,
        "engram-consistency",
        "rules",
    )?))
}

/// The times of the same commits with and without detection, and how many conflicts were found.
struct DetectionTimes {
    with: Vec<Duration>,
    without: Vec<Duration>,
    open: u64,
}

impl DetectionTimes {
    fn measure_detection(
        place: &Sandbox,
        binary: &Path,
        name: &str,
        said: fn(usize) -> Value,
        count: usize,
    ) -> Result<Self> {
        let client = |kind: &str| -> Result<LineClient> {
            let home = place.another_home(&format!("{name}-{kind}"))?;
            LineClient::start_mcp(&mut mcp_command(binary, &home, &place.repo()))
        };
        let (mut with, mut without) = (client("with")?, client("without")?);
        let mut parties = [
            Party::new(&mut with, "engram_commit", said),
            Party::new(&mut without, "engram_commit", move |n| {
                made_ephemeral(said(n))
            }),
        ];
        call_in_turn(0..count, &mut parties)?;
        let [ours, others] = parties.map(|it| it.times);
        let found = with.call("engram_conflicts", json!({ "status": "open" }))?;
        let open = found.result["structuredContent"]["open"].as_u64();
        let open = open.filter(|it| *it > 0).context("no conflict was found")?;
        with.finish()?;
        without.finish()?;
        Ok(Self {
            with: ours,
            without: others,
            open,
        })
    }

    fn row(&self, what: &str, calls: Range<usize>, bar: Option<Bar>) {
        let times = |all: &[Duration]| all.get(calls.clone()).unwrap_or_default().to_vec();
        print_row(
            what,
            &times(&self.with),
            ("the same commit without detection", &times(&self.without)),
            0.5,
            bar,
        );
    }
}

/// Times new claims among few and among many, each of which contradicts an existing one.
fn time_among_many(root: &Path, place: &Sandbox, binary: &Path) -> Result<()> {
    let writer = filled::build_writer(root)?;
    let start = |name: &str, count: u64| -> Result<(LineClient, Vec<Value>)> {
        let home = place.another_home(name)?;
        run(filled::fill_command(&writer, &home, &place.repo(), count).stdout(Stdio::null()))?;
        let mut client = LineClient::start_mcp(&mut mcp_command(binary, &home, &place.repo()))?;
        let said = (0..NEW).map(|n| find_contradiction(&mut client, n, count));
        let said = said.collect::<Result<_>>()?;
        idle::wait_until_quiet(&[client.id()], idle::LULL)?;
        Ok((client, said))
    };
    let (mut few, of_few) = start("few", FEW)?;
    let (mut many, of_many) = start("many", MANY)?;
    let mut parties = [(&mut few, &of_few), (&mut many, &of_many)].map(|(client, said)| {
        let nth = |n: usize| said.get(n).cloned().unwrap_or_default();
        Party::new(client, "engram_commit", nth)
            .wants(|_, answer| answer["structuredContent"]["conflicts"].as_u64() > Some(0))
    });
    call_in_turn(0..NEW, &mut parties)?;
    let [(few_times, few_hits), (times, hits)] = parties.map(|it| (it.times, it.hits));
    ensure!(
        few_hits == NEW && hits == NEW,
        "{few_hits} and {hits} of {NEW} contradictions were found"
    );
    let what = format!("commit of a contradiction among {MANY} claims");
    print_row(
        &what,
        &times,
        (&format!("the same among {FEW}"), &few_times),
        0.95,
        Some(GROWN),
    );
    few.finish()?;
    many.finish()
}

/// Returns a claim that contradicts one of the claims that fill a home.
fn find_contradiction(client: &mut LineClient, n: usize, count: u64) -> Result<Value> {
    let name = filled::subject_name(n, count);
    let found = client.call(
        "engram_query",
        query_arguments(&format!("{name} retry backoff limit")),
    )?;
    let engrams = found.result["structuredContent"]["engrams"].as_array();
    let is_other = |engram: &&Value| {
        let claim = engram["claim"].as_str();
        claim.is_some_and(|it| it.starts_with(&format!("The {name} ")))
    };
    let engram = engrams.into_iter().flatten().find(is_other);
    let engram = engram.with_context(|| format!("{name} was not found"))?;
    let mut said = commit_arguments(n);
    said["content"] = json!(contradicting(&engram["claim"]));
    said["scope"] = engram["topic"].clone();
    Ok(said)
}
