//! A page that cannot be drawn: a word on the terminal instead of a white window, and a way to draw it.

use std::{
    fs,
    io::Read,
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

#[test]
fn a_page_that_dies_before_it_was_there_says_what_to_try() {
    let dir = tempfile::tempdir().unwrap();
    let repo = Repository::of_this_project(dir.path());
    let engram = Engram::new(dir.path(), &repo.root);
    let display = Display::start(dir.path());
    let mut window = display.command(desktop().to_owned());
    window
        .args(&engram.place)
        .env("WEBKIT_DISABLE_DMABUF_RENDERER", "1")
        .env("XDG_RUNTIME_DIR", dir.path())
        .stderr(Stdio::piped());
    let mut window = Running::start(&mut window);
    let begun = Instant::now();
    let page = loop {
        // The window itself is what `setpriv` became; its log tells when it has a page.
        let has_page = log(&engram.place[1]).contains("page=Started");
        let page = process(|name, parent| name.starts_with("WebKitWeb") && parent == window.0.id());
        if let (true, Some(page)) = (has_page, page) {
            break page;
        }
        assert!(begun.elapsed() < PATIENCE, "the page has no process");
        thread::yield_now();
    };
    kill_process(page, Signal::KILL).unwrap();
    let mut said = String::new();
    window
        .0
        .stderr
        .take()
        .unwrap()
        .read_to_string(&mut said)
        .unwrap();
    assert!(said.contains("--safe-graphics"), "{said}");
    assert_eq!(window.0.wait().unwrap().code(), Some(1));
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
