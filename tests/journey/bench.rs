//! How fast the window is: `cargo xtask bench --window` runs this on homes that it fills, over a release
//! build. Frame times are taken in the page, each beside a plain page of the same run.

use std::{
    collections::HashMap,
    env, fs,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    editor::Editor,
    engram::Engram,
    machine::{Running, desktop},
    window::Window,
};

/// Scrolls a list for a while, some pixels a frame, to and fro; what each frame took, in milliseconds.
const SCROLL: &str = "const [css, by, time, done] = arguments;
    const list = document.querySelector(css), frames = [];
    let last = performance.now(), way = by;
    const end = last + time;
    const step = now => {
        frames.push(now - last);
        last = now;
        const before = list.scrollTop;
        list.scrollTop += way;
        if (list.scrollTop === before) way = -way;
        now < end ? requestAnimationFrame(step) : done(frames);
    };
    requestAnimationFrame(now => { last = now; requestAnimationFrame(step); });";

/// Presses a key and waits until another row is selected and painted; how long that took.
const KEY: &str = "const [key, done] = arguments;
    const at = () => document.querySelector('[data-testid=feed-row][aria-selected=true]')?.dataset.id;
    const before = at(), start = performance.now();
    const look = () => at() && at() !== before ? done(performance.now() - start) : requestAnimationFrame(look);
    document.getElementById('feed').dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
    requestAnimationFrame(look);";

/// Lists what rows say, as plain as can be.
const PLAIN: &str = "const texts = [...document.querySelectorAll('[data-testid=feed-row]')].map(it => it.innerText);
    const list = document.createElement('div');
    list.id = 'plain';
    list.style.cssText = 'position: fixed; inset: 0; overflow: auto; background: Canvas; color: CanvasText; z-index: 99';
    for (let i = 0; i < arguments[0]; i++) {
        const row = document.createElement('p');
        row.innerText = texts[i % texts.length];
        list.append(row);
    }
    document.body.replaceChildren(list);";

/// Writes of a second for an hour: more than anybody reads.
const CHURN: u64 = 50;

#[test]
fn the_window_is_measured() {
    let place = PathBuf::from(env::var_os("ENGRAM_BENCH").expect("ENGRAM_BENCH: see xtask"));
    let minutes: u64 = env::var("ENGRAM_BENCH_MINUTES").map_or(0, |it| it.parse().unwrap());
    if minutes > 0 {
        for (what, value) in measured(&place, "few", minutes) {
            println!("{what}: {value}");
        }
        return;
    }
    println!("| what | few engrams | many engrams | plain page |\n|---|---|---|---|");
    let [many, few] = ["many", "few"].map(|home| measured(&place, home, 0));
    for ((what, few), (_, many)) in few.iter().zip(&many) {
        println!("| {what} | {few} | {many} | |");
    }
}

/// All figures of one home; or, with minutes, what so long a flood leaves in memory.
fn measured(place: &Path, home: &str, minutes: u64) -> Vec<(String, String)> {
    let dir = tempfile::tempdir().unwrap();
    let editor = Editor::new(dir.path());
    let engram = Engram::of(dir.path(), &place.join(home), &place.join("repo"));
    let person = dir.path().join("person");
    let mut rows = Vec::new();
    let mut say = |what: &str, value: String| {
        eprintln!("{home}: {what}: {value}");
        rows.push((what.to_owned(), value));
    };
    let start = Instant::now();
    let window = Window::open(desktop(), &engram.place, &person, &editor.program);
    window.find("[data-testid=feed-row]");
    let opened = start.elapsed();
    window.find("[data-testid=digest]");
    if minutes > 0 {
        let early = churned(place, home, &window, minutes.min(5));
        let late = churned(place, home, &window, minutes.saturating_sub(5));
        say(
            &format!("memory in the 5th minute of {CHURN} writes a second"),
            early.to_string(),
        );
        say(
            &format!("memory in minute {minutes} of them"),
            format!("{late}: {:.2} times", late.own as f64 / early.own as f64),
        );
        return rows;
    }
    let paint = window.script(
        "return performance.getEntriesByName('first-contentful-paint')[0]?.startTime ?? null",
        json!([]),
    );
    say(
        "page to first paint",
        paint.as_f64().map_or("unknown".into(), ms),
    );
    say(
        "program to first row, with its driver",
        ms(opened.as_secs_f64() * 1e3),
    );
    say("nodes of the page", window.count("*").to_string());
    say(
        "rows drawn",
        window.count("[data-testid=feed-row]").to_string(),
    );
    // What a start leaves to be done is no rest.
    pause(Duration::from_secs(60));
    let before = processor(&window);
    pause(Duration::from_secs(60));
    say(
        "processor time in 60 s at rest",
        ms(since(&before, &processor(&window)) as f64 / 1e6),
    );
    for (what, key) in [("End", "End"), ("Home", "Home"), ("Page Down", "PageDown")] {
        let took = window.script_until(KEY, json!([key]));
        say(&format!("{what} to its row"), ms(took.as_f64().unwrap()));
    }
    say(
        "frames of a scroll",
        frames(&scroll(&window, "#feed", 5_000)),
    );
    say("write to row", writes(&window, &engram, dir.path()));
    let memory = Resident::of(&window);
    let mut flood = flooding(place, home, 1_000, 60);
    let mut all = Vec::new();
    while flood.0.try_wait().unwrap().is_none() {
        all.extend(scroll(&window, "#feed", 5_000));
    }
    say("frames under 1,000 writes a second", frames(&all));
    say(
        "memory before and after these",
        format!("{memory}; {}", Resident::of(&window)),
    );
    say(
        "rows drawn then",
        window.count("[data-testid=feed-row]").to_string(),
    );
    window.script(PLAIN, json!([1_000]));
    say(
        "frames of a plain page of 1,000",
        frames(&scroll(&window, "#plain", 5_000)),
    );
    rows
}

fn scroll(window: &Window, css: &str, time: u32) -> Vec<f64> {
    let frames = window.script_until(SCROLL, json!([css, 90, time]));
    let frames = frames.as_array().expect("frames");
    frames.iter().filter_map(Value::as_f64).collect()
}

/// Median and 95th percentile, and how many frames came later than twice their time.
fn frames(times: &[f64]) -> String {
    let late = times.iter().filter(|it| **it > 1000.0 / 30.0).count();
    let count = times.len();
    format!(
        "p50 {}, p95 {}, {late} late of {count}",
        ms(quantile(times, 0.5)),
        ms(quantile(times, 0.95))
    )
}

/// From the time that an engram was recorded to its row on the screen.
fn writes(window: &Window, engram: &Engram, dir: &Path) -> String {
    window.script("document.getElementById('feed').scrollTop = 0", json!([]));
    window.keys("n");
    let times: Vec<f64> = (0..30)
        .map(|n| {
            let claim = format!("Written to be seen: {n}, {:?}.", Instant::now());
            let draft = json!({"claim": claim, "pointers": ["repo:src/file0.rs#L1@HEAD"]});
            let id = engram.put(dir, &[draft]).remove(0);
            let row = format!("[data-testid=feed-row][data-id=\"{id}\"][data-shown-at]");
            let shown: f64 = window.attribute(&row, "data-shown-at").parse().unwrap();
            let recorded = engram.get(&id).recorded_at.as_microsecond() as f64 / 1e3;
            shown - recorded
        })
        .collect();
    format!(
        "p50 {}, p95 {}",
        ms(quantile(&times, 0.5)),
        ms(quantile(&times, 0.95))
    )
}

/// A writer at a rate, for so many seconds.
fn flooding(place: &Path, home: &str, rate: u64, seconds: u64) -> Running {
    let many = env::var_os("ENGRAM_BENCH_WRITER").expect("ENGRAM_BENCH_WRITER: see xtask");
    let mut command = Command::new(many);
    command.args([place.join(home), place.join("repo")]);
    command.args([rate.to_string(), seconds.to_string()]);
    Running::start(command.stdout(Stdio::null()))
}

/// Memory in the last minute of so many of writes: the middle of some looks, since what no collector
/// collected yet comes and goes.
fn churned(place: &Path, home: &str, window: &Window, minutes: u64) -> Resident {
    let mut flood = flooding(place, home, CHURN, minutes * 60);
    for minute in 1..minutes {
        pause(Duration::from_secs(60));
        eprintln!("{home}: {minute} of {minutes}: {}", Resident::of(window));
    }
    let mut looks: Vec<Resident> = (0..5)
        .map(|_| {
            pause(Duration::from_secs(10));
            Resident::of(window)
        })
        .collect();
    assert!(flood.0.wait().unwrap().success());
    looks.sort_by_key(|it| it.own);
    looks.swap_remove(looks.len() / 2)
}

/// Processor time of each thread of the window and of what it started, in nanoseconds.
fn processor(window: &Window) -> HashMap<PathBuf, u64> {
    let threads = window.processes().into_iter().flat_map(|pid| {
        let threads = fs::read_dir(format!("/proc/{pid}/task"));
        threads.into_iter().flatten().flatten()
    });
    let of = |thread: fs::DirEntry| {
        let stat = fs::read_to_string(thread.path().join("schedstat")).ok()?;
        Some((thread.path(), stat.split(' ').next()?.parse().ok()?))
    };
    threads.filter_map(of).collect()
}

/// What the threads that are there used since.
fn since(before: &HashMap<PathBuf, u64>, now: &HashMap<PathBuf, u64>) -> u64 {
    now.iter()
        .map(|(thread, time)| time - before.get(thread).unwrap_or(&0))
        .sum()
}

/// Memory of the window and what it started, in kilobytes: its own, and that of files which lie in
/// memory as long as there is room (the database, the index, libraries).
struct Resident {
    own: u64,
    files: u64,
    /// What each process has of `own`.
    each: Vec<(String, u64)>,
}

impl Resident {
    fn of(window: &Window) -> Self {
        let mut all = Self {
            own: 0,
            files: 0,
            each: Vec::new(),
        };
        for pid in window.processes() {
            let file = |name| fs::read_to_string(format!("/proc/{pid}/{name}")).unwrap_or_default();
            let text = file("smaps_rollup");
            let kilobytes = |name| -> u64 {
                let line = text.lines().find_map(|it| it.strip_prefix(name));
                line.map_or(0, |it| it.trim().trim_end_matches(" kB").parse().unwrap())
            };
            let own = kilobytes("Pss_Anon:") + kilobytes("Pss_Shmem:");
            all.own += own;
            all.files += kilobytes("Pss_File:");
            all.each.push((file("comm").trim().to_owned(), own));
        }
        all
    }
}

impl std::fmt::Display for Resident {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let each = self.each.iter();
        let each: Vec<_> = each
            .map(|(name, own)| format!("{name} {}", own / 1024))
            .collect();
        write!(
            f,
            "{} MB ({}) and {} MB of files",
            self.own / 1024,
            each.join(", "),
            self.files / 1024
        )
    }
}

fn pause(time: Duration) {
    let (_open, nothing) = mpsc::channel::<()>();
    let _ = nothing.recv_timeout(time);
}

fn quantile(times: &[f64], q: f64) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[((sorted.len() - 1) as f64 * q).round() as usize]
}

fn ms(time: f64) -> String {
    format!("{time:.1} ms")
}
