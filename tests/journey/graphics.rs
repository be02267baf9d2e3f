//! A page that cannot be drawn: the window shows a message instead of staying white, and offers a
//! way to draw it.

use std::{
    fs,
    path::Path,
    process::ExitStatus,
    thread,
    time::{Duration, Instant},
};

use rustix::process::{Pid, Signal, kill_process};

use crate::{
    dashboard::shop::Shop,
    engram::Engram,
    machine::{Running, desktop},
    stage::Sandbox,
    window::{Display, Window},
};

const PATIENCE: Duration = Duration::from_secs(60);

/// The title of the message.
const MESSAGE: &str = "^Engram: blank window$";

/// The file with the windows' output. It replaces a pipe, which their child processes would keep
/// open.
const SAID: &str = "said";

/// The window on a display of its own, without a WebDriver.
pub(crate) struct Alone {
    pub(crate) engram: Engram,
    pub(crate) window: Running,
    pub(crate) display: Display,
    shop: Shop,
}

impl Alone {
    pub(crate) fn open() -> Self {
        let shop = Shop::empty().noted();
        let engram = shop.engram();
        let display = Display::start(&shop.dir);
        Self {
            window: start(&display, &shop.dir, &engram.place_args),
            engram,
            display,
            shop,
        }
    }

    /// Starts the program again with the same home.
    pub(crate) fn again(&self, more: &[&str]) -> Running {
        let mut args = self.engram.place_args.to_vec();
        args.extend(more.iter().map(|&it| it.to_owned()));
        start(&self.display, &self.shop.dir, &args)
    }

    /// Waits for the window to end; returns its output and its exit status.
    fn end(&mut self) -> (String, ExitStatus) {
        let status = wait_end(&mut self.window);
        (
            fs::read_to_string(self.shop.dir.join(SAID)).unwrap(),
            status,
        )
    }

    /// Answers the message with a key.
    fn answer(&self, key: &str) {
        let message = self.display.visible(MESSAGE);
        self.display
            .point(&["windowfocus", "--sync", &message, "key", key]);
        self.wait_without_message();
    }

    fn wait_without_message(&self) {
        let begun = Instant::now();
        while self.display.search(MESSAGE).is_some() {
            assert!(begun.elapsed() < PATIENCE, "the message stays");
        }
    }

    /// Waits until the log contains this text `times` times.
    pub(crate) fn wait(&self, what: &str, times: usize) {
        let begun = Instant::now();
        while log_of_window(&self.engram.place_args[1])
            .matches(what)
            .count()
            < times
        {
            assert!(begun.elapsed() < PATIENCE, "{what}: not {times} times");
            thread::yield_now();
        }
    }

    /// Returns the page's process. The window's own process is the one that `setpriv` became.
    fn page(&self) -> Option<Pid> {
        process(|name, parent| name.starts_with("WebKitWeb") && parent == self.window.0.id())
    }

    /// Sends a signal to the page's process.
    fn signal_page(&self, signal: Signal) {
        let begun = Instant::now();
        let page = loop {
            match self.page() {
                Some(page) => break page,
                None => assert!(begun.elapsed() < PATIENCE, "the page has no process"),
            }
        };
        kill_process(page, signal).unwrap();
    }
}

/// Waits for a window to end; returns its exit status.
pub(crate) fn wait_end(window: &mut Running) -> ExitStatus {
    let begun = Instant::now();
    loop {
        if let Some(status) = window.0.try_wait().unwrap() {
            return status;
        }
        assert!(begun.elapsed() < PATIENCE, "the window stays");
        thread::yield_now();
    }
}

/// Starts the window as a person does, and keeps its output.
fn start(display: &Display, dir: &Path, args: &[String]) -> Running {
    let said = fs::File::options()
        .create(true)
        .append(true)
        .open(dir.join(SAID));
    let mut window = display.command(desktop().to_owned());
    window
        .args(args)
        .env("WEBKIT_DISABLE_DMABUF_RENDERER", "1")
        .env("XDG_RUNTIME_DIR", dir)
        .stderr(said.unwrap());
    Running::start(&mut window)
}

#[test]
fn a_page_that_dies_before_it_was_there_says_what_to_try() {
    let mut alone = Alone::open();
    alone.wait("page=Started", 1);
    alone.signal_page(Signal::KILL);
    alone.answer("Escape");
    let (said, status) = alone.end();
    assert!(said.contains("--safe-graphics"), "{said}");
    assert_eq!(status.code(), Some(1));
}

#[test]
fn a_page_that_is_silent_says_what_to_try_until_it_comes_to_life() {
    let alone = Alone::open();
    alone.wait("page=Started", 1);
    alone.signal_page(Signal::STOP);
    alone.display.visible(MESSAGE);
    assert!(!log_of_window(&alone.engram.place_args[1]).contains("the page is ready"));
    alone.signal_page(Signal::CONT);
    alone.wait("the page is ready", 1);
    alone.wait_without_message();
}

#[test]
fn a_start_with_safe_graphics_takes_the_place_of_a_white_window() {
    let mut alone = Alone::open();
    alone.wait("page=Started", 1);
    alone.signal_page(Signal::STOP);
    // Closing the message means waiting.
    alone.answer("Escape");
    assert_eq!(alone.window.0.try_wait().unwrap(), None);
    let mut second = alone.again(&["--safe-graphics"]);
    let (said, status) = alone.end();
    assert!(said.contains("--safe-graphics"), "{said}");
    assert_eq!(status.code(), Some(0), "{said}");
    alone.wait("the page is ready", 1);
    assert_eq!(second.0.try_wait().unwrap(), None);
    // That window draws safely: a third start has nothing to replace, and passes on its request.
    assert_eq!(
        wait_end(&mut alone.again(&["--safe-graphics"])).code(),
        Some(0)
    );
    assert_eq!(second.0.try_wait().unwrap(), None);
}

#[test]
fn a_page_that_dies_later_is_noticed_and_comes_back() {
    let mut alone = Alone::open();
    for deaths in 1..=2 {
        alone.wait("the page is ready", deaths);
        alone.signal_page(Signal::KILL);
        alone.wait("the process of the page ended", deaths);
    }
    // Not for ever: after the third death, the window restarts without the graphics card.
    alone.wait("the page is ready", 3);
    alone.signal_page(Signal::KILL);
    alone.answer("Return");
    let (said, status) = alone.end();
    assert!(said.contains("--safe-graphics"), "{said}");
    assert_eq!(status.code(), Some(0), "{said}");
    alone.wait("the page is ready", 4);
    let home = &alone.engram.place_args[1];
    let safe = process(|_, parent| {
        let arguments = fs::read_to_string(format!("/proc/{parent}/cmdline")).unwrap_or_default();
        arguments.contains(home) && arguments.contains("--safe-graphics")
    });
    assert!(safe.is_some(), "no window draws without the card");
}

#[test]
fn safe_graphics_draws_without_the_card() {
    let sandbox = Sandbox::noted();
    let Sandbox { engram, editor, .. } = &sandbox;
    let mut args = engram.place_args.to_vec();
    args.push("--safe-graphics".to_owned());
    let window = Window::open(desktop(), &args, &engram.person, &editor.program);
    window.find("[data-testid=first-run]");
    let page = process(|name, parent| {
        let parent = fs::read_to_string(format!("/proc/{parent}/cmdline")).unwrap_or_default();
        name.starts_with("WebKitWeb") && parent.contains(&engram.place_args[1])
    });
    let page = page.expect("the page has no process").as_raw_pid();
    let environment = fs::read_to_string(format!("/proc/{page}/environ")).unwrap();
    assert!(
        environment.contains("WEBKIT_DISABLE_COMPOSITING_MODE=1"),
        "{environment}"
    );
}

/// Returns the window's log in the home.
pub(crate) fn log_of_window(home: &str) -> String {
    let files = fs::read_dir(format!("{home}/logs"))
        .into_iter()
        .flatten()
        .flatten();
    files
        .map(|it| fs::read_to_string(it.path()).unwrap_or_default())
        .collect()
}

/// Finds a process by its name and its parent.
fn process(is_it: impl Fn(&str, u32) -> bool) -> Option<Pid> {
    fs::read_dir("/proc").unwrap().flatten().find_map(|entry| {
        let stat = fs::read_to_string(entry.path().join("stat")).ok()?;
        let (before, after) = stat.rsplit_once(')')?;
        let (id, name) = before.split_once(" (")?;
        let parent = after.split_whitespace().nth(1)?.parse().ok()?;
        is_it(name, parent).then(|| Pid::from_raw(id.parse().ok()?))?
    })
}
