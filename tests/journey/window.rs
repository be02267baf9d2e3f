//! The real window on its own virtual display, driven through WebDriver as a person would use it.

use std::{
    fs,
    io::{BufRead, BufReader},
    net::TcpStream,
    path::{Path, PathBuf},
    process::{Command, Stdio},
    sync::Arc,
    thread,
    time::{Duration, Instant},
};

use serde_json::{Value, json};

use crate::{
    dashboard::{
        self,
        browser::Browser,
        hands::{CONTROL, SHIFT},
    },
    graphics::log_of_window,
    machine::{Running, clean, ok, run, system},
};

/// How long the window may take to show an element.
const PATIENCE: Duration = Duration::from_secs(30);

/// How many lines of the window's log a failed test prints.
const LOG_LINES: usize = 40;

/// The key for an element in WebDriver's messages.
const ELEMENT: &str = "element-6066-11e4-a52e-4f735466cecf";

/// Runs the rules of axe.
const AXE: &str = "const [rules, done] = arguments;
    document.getAnimations().forEach(it => it.effect.getTiming().iterations !== Infinity && it.finish());
    axe.run(document, rules).then(it => done(it.violations.flatMap(rule =>
        rule.nodes.map(node => rule.id + ': ' + node.target.join(' ') + ': ' + node.failureSummary.replace(/\\s+/g, ' ')))));";

/// An open window, or a page in a browser.
pub struct Window {
    http: ureq::Agent,
    session: String,
    host: WindowHost,
}

/// The display or browser of a window, which ends with the window. Fields drop in order, so the
/// display outlives the driver.
pub(crate) enum WindowHost {
    Screen {
        #[cfg_attr(not(feature = "bench"), expect(dead_code, reason = "held, not read"))]
        driver: Running,
        display: Display,
        /// The home of Engram, whose log a failed test prints.
        home: Option<String>,
    },
    /// A headless browser, in which other tests may have pages.
    Browser(#[expect(dead_code, reason = "held, not read")] Arc<Browser>),
}

/// An element in the window.
#[derive(Clone, Debug)]
pub struct Element(String);

impl Window {
    /// Opens `binary` with `args`; `home` and `editor` are its only user settings.
    pub fn open(binary: &Path, args: &[String], home: &Path, editor: &Path) -> Self {
        let display = Display::start(home);
        // A pointer over the list would hold back new rows.
        ok(display
            .command(system("xdotool"))
            .args(["mousemove", "0", "0"]));
        // Display numbers are unique on a machine, so ports derived from them do not clash.
        let port = 14_500 + display.number;
        let driver = Running::start(
            display
                .command(system("WebKitWebDriver"))
                .arg(format!("--port={port}"))
                .env("TAURI_WEBVIEW_AUTOMATION", "true")
                .env("WEBKIT_DISABLE_DMABUF_RENDERER", "1")
                .env("LIBGL_ALWAYS_SOFTWARE", "1")
                .env("VISUAL", editor)
                .env("XDG_RUNTIME_DIR", home),
        );
        let driver = listening(driver, port);
        let options = json!({"webkitgtk:browserOptions": {"binary": binary, "args": args}});
        let home = args.iter().skip_while(|it| *it != "--home").nth(1).cloned();
        let host = WindowHost::Screen {
            driver,
            display,
            home,
        };
        Self::begin(port, host, options)
    }

    /// Begins a session with a driver that listens.
    pub(crate) fn begin(port: u16, host: WindowHost, options: Value) -> Self {
        let http = ureq::Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(PATIENCE * 2))
            .build()
            .new_agent();
        let mut window = Self {
            http,
            session: format!("http://127.0.0.1:{port}/session"),
            host,
        };
        let opened = window.post("", json!({"capabilities": {"alwaysMatch": options}}));
        let id = opened["sessionId"].as_str().expect("the session's id");
        window.session = format!("{}/{id}", window.session);
        let patience = PATIENCE.as_millis();
        window.post(
            "/timeouts",
            json!({"implicit": patience, "script": patience}),
        );
        window
    }

    /// Waits for a matching element; returns the first.
    pub fn find(&self, css: &str) -> Element {
        let found = self.post("/element", json!({"using": "css selector", "value": css}));
        Element(found[ELEMENT].as_str().expect("an element").to_owned())
    }

    /// Counts the elements that match now.
    pub fn count(&self, css: &str) -> u64 {
        let count = self.script(
            "return document.querySelectorAll(arguments[0]).length",
            json!([css]),
        );
        count.as_u64().expect("a number")
    }

    /// Returns the visible text of the first matching element.
    pub fn text(&self, css: &str) -> String {
        // The driver's own text leaves out what is clipped after two lines.
        let Element(id) = self.find(css);
        let text = self.script("return arguments[0].innerText", json!([{ELEMENT: id}]));
        text.as_str().expect("text").to_owned()
    }

    /// Returns the role that a screen reader announces.
    pub fn role(&self, css: &str) -> String {
        self.about(&self.find(css), "computedrole")
    }

    /// Returns an attribute of the first matching element.
    pub fn attribute(&self, css: &str, name: &str) -> String {
        self.about(&self.find(css), &format!("attribute/{name}"))
    }

    /// Clicks the first element that matches.
    pub fn click(&self, css: &str) {
        for _ in 0..3 {
            let Element(id) = self.find(css);
            let path = format!("/element/{id}/click");
            match self.try_post(&path, &json!({})) {
                // If the element was redrawn between the two calls, find it again.
                Some(answer) if answer["error"] == "stale element reference" => {}
                Some(answer) if answer["error"].is_null() => return,
                answer => panic!("WebDriver: {path}: {answer:?}"),
            }
        }
        panic!("{css} is drawn anew again and again");
    }

    /// Double-clicks the matching element.
    pub fn double_click(&self, css: &str) {
        self.press(css, 0, 2);
    }

    /// Right-clicks the matching element. Afterwards, WebKit's driver sends drags and Shift
    /// incorrectly.
    pub fn right_click(&self, css: &str) {
        self.press(css, 2, 1);
    }

    /// Presses a mouse button `times` times on the matching element.
    fn press(&self, css: &str, button: u8, times: usize) {
        let Element(id) = self.find(css);
        let press = [
            json!({"type": "pointerDown", "button": button}),
            json!({"type": "pointerUp", "button": button}),
        ];
        let mut all = vec![
            json!({"type": "pointerMove", "duration": 0, "x": 0, "y": 0, "origin": {ELEMENT: id}}),
        ];
        all.extend(press.iter().cycle().take(2 * times).cloned());
        self.mouse(&all);
    }

    /// Presses and releases each key, wherever the focus is; a capital letter with Shift.
    pub fn keys(&self, keys: &str) {
        let press = |key: char| {
            let shift = |kind: &str| json!({"type": kind, "value": SHIFT});
            let held = key.is_ascii_uppercase();
            let mut all = vec![
                json!({"type": "keyDown", "value": key}),
                json!({"type": "keyUp", "value": key}),
            ];
            if held {
                all.insert(0, shift("keyDown"));
                all.push(shift("keyUp"));
            }
            all
        };
        let presses: Vec<Value> = keys.chars().flat_map(press).collect();
        self.keyboard(&presses);
    }

    /// Presses a key while Control is held.
    pub fn control(&self, key: char) {
        self.press_with(CONTROL, key);
    }

    /// Presses a key while another is held.
    pub(crate) fn press_with(&self, held: char, key: char) {
        let all = [
            ("keyDown", held),
            ("keyDown", key),
            ("keyUp", key),
            ("keyUp", held),
        ];
        self.keyboard(&all.map(|(kind, key)| json!({"type": kind, "value": key})));
    }

    fn keyboard(&self, actions: &[Value]) {
        let keys = json!({"type": "key", "id": "keys", "actions": actions});
        self.post("/actions", json!({"actions": [keys]}));
    }

    /// Performs these actions with the mouse.
    pub(crate) fn mouse(&self, actions: &[Value]) {
        let mouse = json!({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions});
        self.post("/actions", json!({"actions": [mouse]}));
    }

    /// Drags the matching element sideways.
    pub fn drag(&self, css: &str, by: i32) {
        let Element(id) = self.find(css);
        let at = json!({ELEMENT: id});
        self.mouse(&[
            json!({"type": "pointerMove", "duration": 0, "x": 0, "y": 0, "origin": at}),
            json!({"type": "pointerDown", "button": 0}),
            json!({"type": "pointerMove", "duration": 0, "x": by, "y": 0, "origin": "pointer"}),
            json!({"type": "pointerUp", "button": 0}),
        ]);
    }

    /// Drags from one matching element to another.
    pub fn drag_to(&self, css: &str, onto: &str) {
        self.find(css);
        let script = "return [...arguments].map(css => {
                const at = document.querySelector(css).getBoundingClientRect();
                return [at.left + at.width / 2, at.top + at.height / 2].map(Math.round);
            })";
        let [from, to]: [(i64, i64); 2] =
            serde_json::from_value(self.script(script, json!([css, onto]))).unwrap();
        let moved = |(x, y): (i64, i64)| json!({"type": "pointerMove", "duration": 0, "x": x, "y": y, "origin": "viewport"});
        self.mouse(&[
            moved(from),
            json!({"type": "pointerDown", "button": 0}),
            moved(to),
            json!({"type": "pointerUp", "button": 0}),
        ]);
    }

    /// The window's processes: the program that the driver started, and its child processes.
    #[cfg(feature = "bench")]
    pub fn processes(&self) -> Vec<u32> {
        let WindowHost::Screen { driver, .. } = &self.host else {
            return Vec::new();
        };
        let mut all = vec![driver.0.id()];
        let mut at = 0;
        while let Some(parent) = all.get(at) {
            let children = format!("/proc/{parent}/task");
            for thread in fs::read_dir(children).into_iter().flatten().flatten() {
                let list = fs::read_to_string(thread.path().join("children"));
                let list = list.unwrap_or_default();
                all.extend(
                    list.split_whitespace()
                        .filter_map(|it| it.parse::<u32>().ok()),
                );
            }
            at += 1;
        }
        all.split_off(1)
    }

    /// Runs a program on this window's display, and waits for its end.
    pub fn beside(&self, program: &Path, args: &[String]) {
        ok(self.drawn().command(program.to_owned()).args(args));
    }

    /// Runs a program as [`Self::beside`] does, in a folder.
    pub fn beside_in(&self, folder: &Path, program: &Path, args: &[String]) {
        let mut command = self.drawn().command(program.to_owned());
        ok(command.args(args).current_dir(folder));
    }

    /// Runs a script in the page and returns what it returns.
    pub fn script(&self, script: &str, args: Value) -> Value {
        self.post("/execute/sync", json!({"script": script, "args": args}))
    }

    /// Runs a script in the page until it calls its last argument; returns the value passed there.
    pub fn script_until(&self, script: &str, args: Value) -> Value {
        self.post("/execute/async", json!({"script": script, "args": args}))
    }

    /// Waits until a condition of the page holds; checks again whenever the page changes.
    pub fn wait(&self, holds: &str) {
        let script = format!(
            "const done = arguments[0];
             const look = () => {{ if ({holds}) {{ watch.disconnect(); done(true); }} }};
             const watch = new MutationObserver(look);
             watch.observe(document, {{subtree: true, childList: true, attributes: true, characterData: true}});
             look();"
        );
        self.post("/execute/async", json!({"script": script, "args": []}));
    }

    /// Saves a picture of the display, once the page is painted.
    pub fn picture(&self, file: &Path) {
        let painted = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(true)));";
        self.post("/execute/async", json!({"script": painted, "args": []}));
        ok(self
            .drawn()
            .command(system("import"))
            .args(["-window", "root"])
            .arg(file));
    }

    /// Resizes the window, and waits until the page has the new size.
    pub fn resize(&self, width: u32, height: u32) {
        let rect = json!({"x": 0, "y": 0, "width": width, "height": height});
        self.post("/window/rect", rect);
        let script = "const [width, done] = arguments;
             const look = () => { if (window.innerWidth === width) { removeEventListener('resize', look); done(true); } };
             addEventListener('resize', look);
             look();";
        self.post("/execute/async", json!({"script": script, "args": [width]}));
    }

    /// Saves pictures of a state, in two sizes and each theme, among the files of the tests, and
    /// fails if axe finds a fault.
    pub fn shot(&self, name: &str) {
        let mut faults = Vec::new();
        for (width, height) in [(900, 600), (1280, 800)] {
            self.resize(width, height);
            for theme in ["light", "dark", "contrast"] {
                self.themed(theme);
                let file = format!("{name}-{width}-{theme}.png");
                self.picture(&Path::new(env!("CARGO_TARGET_TMPDIR")).join(file));
                if width == 1280 {
                    let found = self.faults(theme == "light").into_iter();
                    faults.extend(found.map(|it| format!("{name}, {theme}: {it}")));
                }
            }
        }
        assert!(faults.is_empty(), "{}", faults.join("\n"));
    }

    /// Sets the theme of the page.
    pub(crate) fn themed(&self, theme: &str) {
        let script = "document.documentElement.dataset.theme = arguments[0]";
        self.script(script, json!([theme]));
    }

    /// Returns the faults that axe finds, with all its rules or with those about colors.
    pub(crate) fn faults(&self, by_all: bool) -> Vec<String> {
        self.script(&dashboard::axe(), json!([]));
        self.ask_axe(by_all)
    }

    /// Does the same in a page that has the rules, once no color changes any more: a fading element
    /// has less contrast.
    pub(crate) fn ask_axe(&self, by_all: bool) -> Vec<String> {
        let rules = if by_all {
            json!({"resultTypes": ["violations"]})
        } else {
            json!({"resultTypes": ["violations"], "runOnly": ["color-contrast"]})
        };
        serde_json::from_value(self.script_until(AXE, json!([rules]))).unwrap()
    }

    /// Returns the window's display.
    pub(crate) fn drawn(&self) -> &Display {
        match &self.host {
            WindowHost::Screen { display, .. } => display,
            WindowHost::Browser(_) => panic!("a headless browser has no display"),
        }
    }

    fn about(&self, Element(id): &Element, what: &str) -> String {
        let reply = self
            .http
            .get(format!("{}/element/{id}/{what}", self.session))
            .call();
        let value = value(what, reply);
        value.as_str().unwrap_or_default().to_owned()
    }

    /// Ends the page, then the session. Errors are ignored, since the test is over.
    pub(crate) fn end(&self) {
        for what in [&format!("{}/window", self.session), &self.session] {
            let _ = self.http.delete(what).call();
        }
    }

    /// Sends a request, and returns no answer if it fails.
    pub(crate) fn try_post(&self, path: &str, body: &Value) -> Option<Value> {
        let url = format!("{}{path}", self.session);
        let mut reply = self.http.post(url).send(body.to_string()).ok()?;
        let text = reply.body_mut().read_to_string().ok()?;
        let answer: Value = serde_json::from_str(&text).ok()?;
        answer.get("value").cloned()
    }

    pub(crate) fn post(&self, path: &str, body: Value) -> Value {
        value(
            &format!("{path} {body}"),
            self.http
                .post(format!("{}{path}", self.session))
                .send(body.to_string()),
        )
    }
}

impl Drop for Window {
    /// If the test failed, saves a picture of what the person would have seen.
    fn drop(&mut self) {
        if thread::panicking() {
            let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("failed.png");
            match &self.host {
                WindowHost::Screen { display, home, .. } => {
                    let mut import = display.command(system("import"));
                    run(import.args(["-window", "root"]).arg(&file));
                    let log = home.as_deref().map(log_of_window).unwrap_or_default();
                    let lines: Vec<&str> = log.lines().collect();
                    let last = lines.len().saturating_sub(LOG_LINES);
                    println!("the window's log ends:\n{}", lines[last..].join("\n"));
                }
                WindowHost::Browser(_) => self.keep_picture(&file),
            }
            println!("at the failure: {}", file.display());
        }
        if matches!(self.host, WindowHost::Browser(_)) {
            self.close();
        }
    }
}

/// Returns WebDriver's answer; an error fails the test.
fn value(what: &str, reply: Result<ureq::http::Response<ureq::Body>, ureq::Error>) -> Value {
    let mut reply = reply.unwrap_or_else(|error| panic!("WebDriver: {what}: {error}"));
    let text = reply.body_mut().read_to_string().unwrap();
    let body: Value = serde_json::from_str(&text).unwrap_or_default();
    assert!(reply.status().is_success(), "WebDriver: {what}: {text}");
    body["value"].clone()
}

/// Waits until the driver accepts connections, which it does not announce.
fn listening(mut driver: Running, port: u16) -> Running {
    let begun = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        let ended = driver.0.try_wait().unwrap();
        assert!(
            ended.is_none(),
            "WebKitWebDriver ended ({ended:?}): is port {port} taken?"
        );
        assert!(
            begun.elapsed() < PATIENCE,
            "WebKitWebDriver does not listen on port {port}"
        );
        thread::yield_now();
    }
    driver
}

/// A virtual display.
pub struct Display {
    number: u16,
    home: PathBuf,
    _server: Running,
}

impl Display {
    /// Starts a display.
    pub fn start(home: &Path) -> Self {
        fs::create_dir_all(home).unwrap();
        let mut command = clean(system("Xvfb"), home);
        command.args([
            "-displayfd",
            "1",
            "-screen",
            "0",
            "1280x800x24",
            "-nolisten",
            "tcp",
            "-noreset",
        ]);
        let mut server = Running::start(command.stdout(Stdio::piped()).stderr(Stdio::null()));
        let mut line = String::new();
        let stdout = server.0.stdout.take().expect("a pipe");
        BufReader::new(stdout).read_line(&mut line).unwrap();
        let number = line
            .trim()
            .parse()
            .expect("the number of the display: is Xvfb all right?");
        Self {
            number,
            home: home.to_owned(),
            _server: server,
        }
    }

    /// A command that draws on this display.
    pub fn command(&self, program: PathBuf) -> Command {
        let mut command = clean(program, &self.home);
        command.env("DISPLAY", format!(":{}", self.number));
        // A folder that is surely not in a repository.
        command.current_dir(&self.home);
        command
    }

    /// Waits for a visible window of this name; returns it.
    pub(crate) fn visible(&self, name: &str) -> String {
        let begun = Instant::now();
        loop {
            if let Some(id) = self.search(name) {
                return id;
            }
            assert!(begun.elapsed() < PATIENCE, "{name}: no such window");
        }
    }

    /// Returns the visible window of this name, if there is one now. If a window closes while the
    /// list is read, the search fails and is repeated.
    pub(crate) fn search(&self, name: &str) -> Option<String> {
        let args = ["search", "--onlyvisible", "--name", name];
        loop {
            let output = run(self.command(system("xdotool")).args(args));
            let ids = String::from_utf8(output.stdout).unwrap();
            let id = ids.lines().next().map(str::to_owned);
            let said = String::from_utf8_lossy(&output.stderr);
            if said.is_empty() {
                return id;
            }
            assert!(said.contains("BadWindow"), "xdotool: {said}");
        }
    }

    /// Returns a picture of the display once nothing moves, and once it differs from `before`.
    pub(crate) fn settled(&self, before: Option<&[u8]>) -> Vec<u8> {
        let picture = || {
            let mut import = self.command(system("import"));
            let output = run(import.args(["-window", "root", "rgb:-"]));
            output.stdout
        };
        let begun = Instant::now();
        let mut last = picture();
        loop {
            let now = picture();
            if now == last && before.is_none_or(|it| it != now) {
                return now;
            }
            last = now;
            assert!(
                begun.elapsed() < PATIENCE,
                "the picture never stops changing"
            );
        }
    }

    /// Performs mouse and keyboard actions with xdotool, and waits for their end.
    pub(crate) fn point(&self, args: &[&str]) -> String {
        ok(self.command(system("xdotool")).args(args))
    }
}
