//! A page that cannot be drawn: a word on the terminal instead of a white window, and a way to draw it.

use std::{
    fs,
    io::Read,
    path::Path,
    process::Stdio,
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    editor::Editor,
    engram::Engram,
    machine::{Running, desktop},
    repository::Repository,
    window::{Display, Window},
};

const PATIENCE: Duration = Duration::from_secs(60);

/// The window on a display of its own, without a driver.
struct Alone {
    engram: Engram,
    window: Running,
    _display: Display,
}

impl Alone {
    fn open(dir: &Path) -> Self {
        let repo = Repository::of_this_project(dir);
        let engram = Engram::new(dir, &repo.root);
        let display = Display::start(dir);
        let mut window = display.command(desktop().to_owned());
        window
            .args(&engram.place)
            .env("WEBKIT_DISABLE_DMABUF_RENDERER", "1")
            .env("XDG_RUNTIME_DIR", dir)
            .stderr(Stdio::piped());
        Self {
            window: Running::start(&mut window),
            engram,
            _display: display,
        }
    }

    /// Waits until the log says something for this time, counted from 1.
    fn wait(&self, what: &str, times: usize) {
        let begun = Instant::now();
        while log(&self.engram.place[1]).matches(what).count() < times {
            assert!(begun.elapsed() < PATIENCE, "{what}: not {times} times");
            thread::yield_now();
        }
    }

    /// The process of the page; the window itself is what `setpriv` became.
    fn page(&self) -> Option<Pid> {
        process(|name, parent| name.starts_with("WebKitWeb") && parent == self.window.0.id())
    }

    fn kill_page(&self) {
        let begun = Instant::now();
        let page = loop {
            match self.page() {
                Some(page) => break page,
                None => assert!(begun.elapsed() < PATIENCE, "the page has no process"),
            }
        };
        kill_process(page, Signal::KILL).unwrap();
    }
}

#[test]
fn a_page_that_dies_before_it_was_there_says_what_to_try() {
    let dir = tempfile::tempdir().unwrap();
    let mut alone = Alone::open(dir.path());
    alone.wait("page=Started", 1);
    alone.kill_page();
    let mut said = String::new();
    let mut stderr = alone.window.0.stderr.take().unwrap();
    stderr.read_to_string(&mut said).unwrap();
    assert!(said.contains("--safe-graphics"), "{said}");
    assert_eq!(alone.window.0.wait().unwrap().code(), Some(1));
}

#[test]
fn a_page_that_dies_later_is_noticed_and_comes_back() {
    let dir = tempfile::tempdir().unwrap();
    let alone = Alone::open(dir.path());
    for deaths in 1..=2 {
        alone.wait("the page is painted", deaths);
        alone.kill_page();
        let died = Instant::now();
        alone.wait("the process of the page ended", deaths);
        let noticed = died.elapsed();
        println!("a dead page was noticed after {} ms", noticed.as_millis());
        assert!(noticed < Duration::from_secs(1), "{noticed:?}");
    }
    alone.wait("the page is painted", 3);
}

#[test]
fn safe_graphics_draws_without_the_card() {
    let dir = tempfile::tempdir().unwrap();
    let repo = Repository::of_this_project(dir.path());
    let engram = Engram::new(dir.path(), &repo.root);
    let editor = Editor::new(dir.path());
    let mut args = engram.place.to_vec();
    args.push("--safe-graphics".to_owned());
    let window = Window::open(
        desktop(),
        &args,
        &dir.path().join("person"),
        &editor.program,
    );
    window.find("[data-testid=first-run]");
    let page = process(|name, parent| {
        let parent = fs::read_to_string(format!("/proc/{parent}/cmdline")).unwrap_or_default();
        name.starts_with("WebKitWeb") && parent.contains(&engram.place[1])
    });
    let page = page.expect("the page has no process").as_raw_pid();
    let environment = fs::read_to_string(format!("/proc/{page}/environ")).unwrap();
    assert!(
        environment.contains("WEBKIT_DISABLE_COMPOSITING_MODE=1"),
        "{environment}"
    );
}

/// What the window logged, in the home.
fn log(home: &str) -> String {
    let files = fs::read_dir(format!("{home}/logs"))
        .into_iter()
        .flatten()
        .flatten();
    files
        .map(|it| fs::read_to_string(it.path()).unwrap_or_default())
        .collect()
}

/// A process by its name and its parent.
fn process(is_it: impl Fn(&str, u32) -> bool) -> Option<Pid> {
    fs::read_dir("/proc").unwrap().flatten().find_map(|it| {
        let stat = fs::read_to_string(it.path().join("stat")).ok()?;
        let (before, after) = stat.rsplit_once(')')?;
        let (id, name) = before.split_once(" (")?;
        let parent = after.split_whitespace().nth(1)?.parse().ok()?;
        is_it(name, parent).then(|| Pid::from_raw(id.parse().ok()?))?
    })
}
