//! Measures how fast the window is. `cargo xtask bench --window` runs this with homes that it
//! fills, on a release build. The page measures frame times, each beside a plain page of the same
//! run.

use std::{
    collections::HashMap,
    env, fs,
    io::Read,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::mpsc,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    dashboard::hands::row,
    editor::Editor,
    engram::Engram,
    machine::{Running, ok, system},
    window::Window,
};

/// Scrolls a list back and forth for a while, `by` pixels per frame; returns the milliseconds that
/// each frame took.
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

/// Presses a key and waits until another row is selected and painted; returns how long that took.
const KEY: &str = "const [key, done] = arguments;
    const at = () => document.querySelector('[data-testid=feed-row][aria-selected=true]')?.dataset.id;
    const before = at(), start = performance.now();
    const look = () => at() && at() !== before ? done(performance.now() - start) : requestAnimationFrame(look);
    document.getElementById('feed').dispatchEvent(new KeyboardEvent('keydown', {key, bubbles: true, cancelable: true}));
    requestAnimationFrame(look);";

/// Records when the row of each conflict was first on the screen; rows of the feed record this
/// themselves.
const WATCH_CONFLICTS: &str = "const shown = window.conflictsShown = {};
    const look = () => requestAnimationFrame(() => {
        for (const row of document.querySelectorAll('[data-testid=conflict]'))
            shown[row.dataset.id] ??= Date.now();
    });
    look();
    new MutationObserver(look).observe(document.body, {childList: true, subtree: true, attributeFilter: ['data-id']});";

/// Waits until the time of a conflict's row is recorded.
const CONFLICT_SHOWN: &str = "const [id, done] = arguments;
    const look = () => window.conflictsShown[id] ? done(window.conflictsShown[id]) : setTimeout(look, 20);
    look();";

/// Goes through the list from its newest end; returns up to `most` rows as HTML, reduced to their
/// visible words.
const ROWS: &str =
    "const [most, done] = arguments, list = document.getElementById('feed'), rows = new Map();
    const words = 'p, time, .by, .pointer, [data-testid=evidence]';
    const look = () => {
        for (const row of list.querySelectorAll('[data-testid=feed-row]')) {
            const plain = document.createElement('div');
            plain.dataset.testid = 'feed-row';
            plain.dataset.id = row.dataset.id;
            for (const it of row.querySelectorAll(words)) {
                const part = document.createElement(it.matches('p') ? 'p' : 'span');
                part.textContent = it.innerText;
                plain.append(part, ' ');
            }
            rows.set(row.dataset.id, plain.outerHTML);
        }
        if (rows.size >= most) return done([...rows.values()].slice(0, most));
        list.scrollTop += list.clientHeight / 2;
        requestAnimationFrame(look);
    };
    list.scrollTop = 0;
    requestAnimationFrame(look);";

/// A page that lists the rows in the plainest way and handles the keys that are measured.
const PLAIN: &str = "<!DOCTYPE html>
<meta charset=utf-8>
<title>Plain</title>
<style>
    #feed { position: fixed; inset: 0; overflow: auto; font: 13px/1.4 sans-serif; }
    #feed > div { padding: 8px; border-bottom: 1px solid #ddd; }
    #feed > [aria-selected=true] { background: #dde8ff; }
    p { margin: 0; }
</style>
<main id=feed>ROWS</main>
<script>
    const list = document.getElementById('feed'), rows = list.children;
    let at = 0;
    list.addEventListener('keydown', event => {
        const by = {Home: -rows.length, End: rows.length, PageDown: 10}[event.key];
        rows[at].removeAttribute('aria-selected');
        at = Math.min(Math.max(at + by, 0), rows.length - 1);
        rows[at].setAttribute('aria-selected', true);
        rows[at].scrollIntoView({block: 'nearest'});
    });
</script>
";

/// The number of rows on the plain page.
const MAX_LISTED: usize = 1_000;

/// The number of writes whose arrival on the screen is measured.
const WRITES: usize = 30;

/// Writes per second for an hour: more than anyone reads.
const CHURN: u64 = 50;

/// Each figure and its value, as printed.
type Figures = Vec<(String, String)>;

#[test]
fn the_window_is_measured() {
    let place = PathBuf::from(env::var_os("ENGRAM_BENCH").expect("ENGRAM_BENCH: see xtask"));
    let minutes: u64 = env::var("ENGRAM_BENCH_MINUTES").map_or(0, |it| it.parse().unwrap());
    if minutes > 0 {
        for (what, value) in measure_flood(&place, minutes) {
            println!("{what}: {value}");
        }
        return;
    }
    let (many, _) = measure(&place, "many");
    let (few, listed) = measure(&place, "few");
    let plain = measure_plain(&listed);
    println!("| what | few engrams | many engrams | plain page |\n|---|---|---|---|");
    for ((what, few), (_, many)) in few.iter().zip(&many) {
        let plain = plain.iter().find(|it| it.0 == *what);
        let plain = plain.map_or("", |it| &it.1);
        println!("| {what} | {few} | {many} | {plain} |");
    }
}

/// Returns all figures of one home, and the rows that the window lists at the end.
fn measure(place: &Path, home: &str) -> (Figures, Vec<String>) {
    let dir = tempfile::tempdir().unwrap();
    let engram = Engram::of(dir.path(), &place.join(home), &place.join("repo"));
    let (window, opened) = open_window(dir.path(), &engram);
    let mut figures = measure_looks(home, &window, opened);
    let mut say = |what: &str, value: String| tell(&mut figures, home, what, value);
    let rows = writes(&window, &engram);
    say("write to row", spread(&rows));
    let conflicts = contradictions(&window, &engram);
    let ratio = quantile(&conflicts, 0.5) / quantile(&rows, 0.5);
    let conflicts = format!("{}; {ratio:.2} times a row (at most 2)", spread(&conflicts));
    say("write to a conflict's row", conflicts);
    let memory = Resident::of(&window);
    let mut flood = start_flood(place, home, 1_000, 60);
    let mut all = Vec::new();
    while flood.0.try_wait().unwrap().is_none() {
        all.extend(scroll(&window, 5_000));
    }
    say("frames under 1,000 writes a second", frames(&all));
    say("these, as they were written", rate(&mut flood));
    say(
        "memory before and after these",
        format!("{memory}; {}", Resident::of(&window)),
    );
    say(
        "rows drawn then",
        window.count("[data-testid=feed-row]").to_string(),
    );
    let listed = window.script_until(ROWS, json!([MAX_LISTED]));
    (figures, serde_json::from_value(listed).expect("rows"))
}

/// Measures the memory after `minutes` of writes.
fn measure_flood(place: &Path, minutes: u64) -> Figures {
    let (dir, home) = (tempfile::tempdir().unwrap(), "few");
    let engram = Engram::of(dir.path(), &place.join(home), &place.join("repo"));
    let (window, _) = open_window(dir.path(), &engram);
    let mut figures = Vec::new();
    let mut say = |what: &str, value: String| tell(&mut figures, home, what, value);
    let early = measure_churn(place, home, &window, minutes.min(5));
    let late = measure_churn(place, home, &window, minutes.saturating_sub(5));
    say(
        &format!("memory in the 5th minute of {CHURN} writes a second"),
        early.to_string(),
    );
    say(
        &format!("memory in minute {minutes} of them"),
        format!("{late}: {:.2} times", late.own as f64 / early.own as f64),
    );
    figures
}

/// Measures the same for a page that only lists these rows, in WebKit's own browser.
fn measure_plain(listed: &[String]) -> Figures {
    let dir = tempfile::tempdir().unwrap();
    let (page, editor) = (dir.path().join("plain.html"), dir.path().join("none"));
    fs::write(&page, PLAIN.replace("ROWS", &listed.join("\n"))).unwrap();
    let start = Instant::now();
    let automation = ["--automation".to_owned()];
    let window = Window::open(&mini_browser(), &automation, dir.path(), &editor);
    window.goto(&format!("file://{}", page.display()));
    window.find("[data-testid=feed-row]");
    let mut figures = measure_looks("plain", &window, start.elapsed());
    let memory = Resident::of(&window).to_string();
    tell(
        &mut figures,
        "plain",
        "memory before and after these",
        memory,
    );
    figures
}

/// Opens the window; returns it once it lists a home, and how long that took.
fn open_window(dir: &Path, engram: &Engram) -> (Window, Duration) {
    let editor = Editor::new(dir);
    let start = Instant::now();
    let window = engram.window(&editor);
    window.find("[data-testid=feed-row]");
    let took = start.elapsed();
    window.find("[data-testid=digest]");
    (window, took)
}

/// Returns the path of the browser that belongs to the window's WebKit.
fn mini_browser() -> PathBuf {
    let folder =
        ok(Command::new(system("pkg-config")).args(["--variable=libdir", "webkit2gtk-4.1"]));
    let program = Path::new(folder.trim()).join("webkit2gtk-4.1/MiniBrowser");
    assert!(program.is_file(), "{} is missing", program.display());
    program
}

/// Returns the figures of a list while nothing is written.
fn measure_looks(name: &str, window: &Window, opened: Duration) -> Figures {
    let mut figures = Vec::new();
    let mut say = |what: &str, value: String| tell(&mut figures, name, what, value);
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
    // Work left over from the start does not count as idle time.
    pause(Duration::from_secs(60));
    let before = processor(window);
    pause(Duration::from_secs(60));
    say(
        "processor time in 60 s at rest",
        ms(since(&before, &processor(window)) as f64 / 1e6),
    );
    for (what, key) in [("End", "End"), ("Home", "Home"), ("Page Down", "PageDown")] {
        let took = window.script_until(KEY, json!([key]));
        say(&format!("{what} to its row"), ms(took.as_f64().unwrap()));
    }
    say("frames of a scroll", frames(&scroll(window, 5_000)));
    figures
}

/// Adds a figure and prints it at once, since a run takes many minutes.
fn tell(figures: &mut Figures, name: &str, what: &str, value: String) {
    eprintln!("{name}: {what}: {value}");
    figures.push((what.to_owned(), value));
}

fn scroll(window: &Window, time: u32) -> Vec<f64> {
    let frames = window.script_until(SCROLL, json!(["#feed", 90, time]));
    let frames = frames.as_array().expect("frames");
    frames.iter().filter_map(Value::as_f64).collect()
}

/// Returns the median, the 95th percentile, and how many frames took more than twice their time.
fn frames(times: &[f64]) -> String {
    let late = times.iter().filter(|it| **it > 1000.0 / 30.0).count();
    let count = times.len();
    format!(
        "p50 {}, p95 {}, {late} late of {count}",
        ms(quantile(times, 0.5)),
        ms(quantile(times, 0.95))
    )
}

/// Returns the times from the recording of an engram to its row on the screen.
fn writes(window: &Window, engram: &Engram) -> Vec<f64> {
    window.script("document.getElementById('feed').scrollTop = 0", json!([]));
    window.keys("n");
    (0..WRITES)
        .map(|n| {
            let claim = format!("Written to be seen: {n}, {:?}.", Instant::now());
            let draft = json!({"claim": claim, "pointers": ["repo:src/file0.rs#L1@HEAD"]});
            let id = engram.put(&[draft]).remove(0);
            let row = format!("{}[data-shown-at]", row(&id));
            let shown: f64 = window.attribute(&row, "data-shown-at").parse().unwrap();
            let recorded = engram.get(&id).recorded_at.as_microsecond() as f64 / 1e3;
            shown - recorded
        })
        .collect()
}

/// Returns the times from the recording of the second of two claims to their conflict's row on the
/// screen.
fn contradictions(window: &Window, engram: &Engram) -> Vec<f64> {
    window.keys("3");
    window.script(WATCH_CONFLICTS, json!([]));
    let times = (0..WRITES).map(|n| {
        let subject = format!("The bench{n} lock of {}", std::process::id());
        let [_, id] = [3, 30].map(|minutes| {
            let claim = format!("{subject} lasts {minutes} minutes.");
            let draft = json!({"claim": claim, "topic": "bench", "pointers": ["repo:src/file0.rs#L1@HEAD"]});
            engram.put(&[draft]).remove(0)
        });
        let said = engram.get(&id);
        let [conflict] = said.conflicts[..] else {
            panic!("{}: {:?}", said.claim, said.conflicts);
        };
        let shown = window.script_until(CONFLICT_SHOWN, json!([conflict.to_string()]));
        shown.as_f64().expect("a time") - said.recorded_at.as_microsecond() as f64 / 1e3
    });
    let times = times.collect();
    window.keys("1");
    window.find("[data-testid=feed-row]");
    times
}

fn spread(times: &[f64]) -> String {
    format!(
        "p50 {}, p95 {}",
        ms(quantile(times, 0.5)),
        ms(quantile(times, 0.95))
    )
}

/// Starts a writer at a given rate, for `seconds`.
fn start_flood(place: &Path, home: &str, rate: u64, seconds: u64) -> Running {
    let many = env::var_os("ENGRAM_BENCH_WRITER").expect("ENGRAM_BENCH_WRITER: see xtask");
    let mut command = Command::new(many);
    command.args([place.join(home), place.join("repo")]);
    command.args([rate.to_string(), seconds.to_string()]);
    Running::start(command.stdout(Stdio::piped()))
}

/// Waits for a writer to end; returns how many engrams per second it wrote. It must have written
/// all.
fn rate(flood: &mut Running) -> String {
    let status = flood.0.wait().unwrap();
    assert!(status.success(), "the writer: {status}");
    let mut said = String::new();
    let mut stdout = flood.0.stdout.take().expect("a pipe");
    stdout.read_to_string(&mut said).unwrap();
    // `60000 in 60.0s`: see crates/engine/examples/many.rs.
    let words = said.trim().trim_end_matches('s').split_once(" in ");
    let (count, time) = words.unwrap_or_else(|| panic!("the writer says {said:?}"));
    let (count, time): (f64, f64) = (count.parse().unwrap(), time.parse().unwrap());
    format!("{count} in {time} s, {:.0} a second", count / time)
}

/// Returns the memory in the last of these minutes of writes: the median of several samples, since
/// garbage not yet collected makes it vary.
fn measure_churn(place: &Path, home: &str, window: &Window, minutes: u64) -> Resident {
    let mut flood = start_flood(place, home, CHURN, minutes * 60);
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
    eprintln!("{home}: {}", rate(&mut flood));
    looks.sort_by_key(|it| it.own);
    looks.swap_remove(looks.len() / 2)
}

/// Returns the processor time of each thread of the window and its child processes, in nanoseconds.
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

/// Returns the processor time that the present threads used since `before`.
fn since(before: &HashMap<PathBuf, u64>, now: &HashMap<PathBuf, u64>) -> u64 {
    now.iter()
        .map(|(thread, time)| time - before.get(thread).unwrap_or(&0))
        .sum()
}

/// The memory of the window and its child processes, in kilobytes: their own, and that of mapped
/// files (the database, the index, libraries), which stay only while there is room.
struct Resident {
    own: u64,
    files: u64,
    /// How much of `own` each process has.
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
        assert!(all.own > 0, "the window is gone");
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
