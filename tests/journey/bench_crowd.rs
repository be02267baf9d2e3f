//! Measures the first paint of the window on a home with many repositories and agents, beside a
//! home with one of each. `cargo xtask bench --window` runs this on a release build.

use std::{path::Path, time::Instant};

use engram_engine::{Engine, Options, World};
use engram_kit::{Clock, Repository};
use engram_model::{Caller, Reply, Request};
use serde_json::json;

use crate::{dashboard::hands::Hand, editor::Editor, engram::Engram};

const REPOSITORIES: usize = 300;
const AGENTS: usize = 10_000;
/// How often each home is opened, in turn.
const ROUNDS: usize = 7;

/// What is measured, and its time in an opening.
type Figure = (&'static str, fn(&Opening) -> f64);

/// The times of one opening, in milliseconds.
struct Opening {
    paint: f64,
    first_row: f64,
    agents: f64,
}

/// Fills a home with this many repositories, each with a claim, and with agents of the first one.
fn fill(dir: &Path, repositories: usize, agents: usize) -> Engram {
    let home = dir.join("home");
    let clock = Clock::at("2026-01-08T10:00:00Z");
    for nth in 0..repositories {
        let root = dir.join(format!("shop-{nth}"));
        let repository = Repository::init(&root);
        repository.change("NOTES.md", "Ship on Friday.\n", "Write a note");
        let now = clock.clone();
        let options = Options {
            home: home.clone(),
            repo: Some(root.clone()),
            from: root,
        };
        let engine =
            Engine::open_in(options, World::seeded(nth as u64, move || now.now())).unwrap();
        let claim = json!({"claim": format!("Shop {nth} ships on Friday."), "pointers": ["repo:NOTES.md#L1@HEAD"]});
        let put = Request::Put(serde_json::from_value(claim).unwrap());
        engine.handle(&Caller::User, put).unwrap();
        if nth > 0 {
            continue;
        }
        for agent in 0..agents {
            let opening = json!({"name": format!("agent-{agent}"), "role": "programmer"});
            let opening = Request::OpenAgent(serde_json::from_value(opening).unwrap());
            let opened = engine.handle(&Caller::User, opening).unwrap();
            assert!(matches!(opened, Reply::Opened(_)), "{opened:?}");
        }
    }
    Engram::of(dir, &home, &dir.join("shop-0"))
}

fn open(editor: &Editor, engram: &Engram) -> Opening {
    let start = Instant::now();
    let window = engram.window(editor);
    window.find("[data-testid=feed-row]");
    let first_row = start.elapsed().as_secs_f64() * 1e3;
    let paint = window.script(
        "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null",
        json!([]),
    );
    window.find("[data-testid=agents-view]");
    let start = Instant::now();
    window.go(Hand::Keys, "agents");
    window.find("[data-testid=agent]");
    Opening {
        paint: paint.as_f64().expect("a paint"),
        first_row,
        agents: start.elapsed().as_secs_f64() * 1e3,
    }
}

fn median(mut times: Vec<f64>) -> f64 {
    times.sort_by(f64::total_cmp);
    times[times.len() / 2]
}

#[test]
fn a_first_paint_with_many_repositories_and_agents_is_measured() {
    let folders = [tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap()];
    let homes = [
        fill(folders[0].path(), 1, 1),
        fill(folders[1].path(), REPOSITORIES, AGENTS),
    ];
    let editors = folders.each_ref().map(|it| Editor::new(it.path()));
    let mut all = [Vec::new(), Vec::new()];
    for _ in 0..ROUNDS {
        for ((editor, engram), times) in editors.iter().zip(&homes).zip(&mut all) {
            times.push(open(editor, engram));
        }
    }
    println!(
        "| what | one of each | {REPOSITORIES} repositories, {AGENTS} agents | ratio |\n|---|--:|--:|--:|"
    );
    let figures: [Figure; 3] = [
        ("page to first paint", |it| it.paint),
        ("program to first row, with its driver", |it| it.first_row),
        ("key to the first row of Agents, with its driver", |it| {
            it.agents
        }),
    ];
    for (what, of) in figures {
        let [few, many] = all
            .each_ref()
            .map(|times| median(times.iter().map(of).collect()));
        println!(
            "| {what} | {few:.0} ms | {many:.0} ms | {:.2} |",
            many / few
        );
    }
}
