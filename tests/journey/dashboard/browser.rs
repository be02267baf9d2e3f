//! Headless Chromium, driven in the same way as the window.

use std::{
    io::{self, BufRead, BufReader},
    path::Path,
    process::Stdio,
    sync::{Arc, Mutex, MutexGuard, PoisonError, Weak, mpsc},
    thread::{self, JoinHandle},
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::shop::NOW;
use crate::{
    machine::{Running, clean, system},
    window::{Window, WindowHost},
};

/// Stops the page's clock, so that the page always shows the same.
const STANDING_CLOCK: &str = "{
  const Real = Date, now = Real.parse('NOW');
  window.Date = class extends Real {
    constructor(...all) { all.length ? super(...all) : super(now); }
    static now() { return now; }
  };
}";

const ARGS: &[&str] = &[
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--no-first-run",
    "--font-render-hinting=none",
    "--force-device-scale-factor=1",
    "--lang=en-US",
];

/// One Chromium for all pages that are open at a time, since starting one takes longer than many
/// tests. Each page is a window with its own session, and stores its data by its server's address.
/// The browser ends with its last page.
pub(crate) struct Browser {
    /// The driver's port; `address` is where the browser listens.
    port: u16,
    address: String,
    /// The thread that holds the processes, and the sender whose drop ends it.
    keeper: Option<(mpsc::Sender<()>, JoinHandle<()>)>,
}

/// The running browser. Opening or closing a page locks it, since a new session begins at any
/// existing window, which must not close meanwhile.
static RUNNING: Mutex<Weak<Browser>> = Mutex::new(Weak::new());

fn running() -> MutexGuard<'static, Weak<Browser>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Browser {
    fn start() -> Self {
        let (say, said) = mpsc::channel();
        let (stay, stays) = mpsc::channel::<()>();
        // A driver ends with the thread that started it, and a test's thread may end before the
        // last page does.
        let keeper = thread::spawn(move || {
            let home = tempfile::tempdir().unwrap();
            let (driver, port) = driver(home.path());
            say.send(port).unwrap();
            let _ = stays.recv(); // until the sender is dropped
            drop(driver);
        });
        let port = said.recv().expect("a driver");
        let options = json!({"goog:chromeOptions": {"binary": system("chromium"), "args": ARGS}});
        let body = json!({"capabilities": {"alwaysMatch": options}});
        let url = format!("http://127.0.0.1:{port}/session");
        let mut begun = ureq::post(url).send(body.to_string()).expect("a browser");
        let begun: Value =
            serde_json::from_str(&begun.body_mut().read_to_string().unwrap()).unwrap();
        let address = &begun["value"]["capabilities"]["goog:chromeOptions"]["debuggerAddress"];
        Self {
            port,
            address: address.as_str().expect("an address").to_owned(),
            keeper: Some((stay, keeper)),
        }
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        if let Some((stay, keeper)) = self.keeper.take() {
            drop(stay);
            let _ = keeper.join(); // it has reported what it could not end
        }
    }
}

impl Window {
    /// Opens a page in a browser without any stored data.
    pub fn browse(url: &str) -> Self {
        let window = Self::blank();
        let source = STANDING_CLOCK.replace("NOW", NOW);
        window.tool(
            "Page.addScriptToEvaluateOnNewDocument",
            json!({"source": source}),
        );
        // Gives the page the focus, whatever other pages have.
        window.tool(
            "Emulation.setFocusEmulationEnabled",
            json!({"enabled": true}),
        );
        window.size(1280, 800);
        window.goto(url);
        // Until the page has read it, the token is only in the address.
        window.wait("document.querySelector('.rail')");
        window
    }

    /// Opens an empty window of the browser.
    fn blank() -> Self {
        let mut running = running();
        let browser = running
            .upgrade()
            .unwrap_or_else(|| Arc::new(Browser::start()));
        *running = Arc::downgrade(&browser);
        let options = json!({"goog:chromeOptions": {"debuggerAddress": browser.address}});
        let window = Self::begin(browser.port, WindowHost::Browser(browser), options);
        let opened = window.post("/window/new", json!({"type": "window"}));
        window.post("/window", json!({"handle": opened["handle"]}));
        window
    }

    /// Closes this page only.
    pub(crate) fn close(&self) {
        // A page that fails to open fails while it holds the lock.
        let _alone = (!thread::panicking()).then(running);
        self.end();
    }

    /// Navigates to an address.
    pub fn goto(&self, url: &str) {
        self.post("/url", json!({"url": url}));
    }

    /// Loads the page again from its start address.
    pub fn anew(&self) {
        self.follow("/");
    }

    /// Navigates to a path of the same server.
    pub(crate) fn follow(&self, path: &str) {
        let origin = self.script("return location.origin", json!([]));
        let origin = origin.as_str().expect("an address");
        self.goto(&format!("{origin}{path}"));
    }

    /// Runs one command of the browser's own protocol.
    pub fn tool(&self, command: &str, with: Value) -> Value {
        self.post("/goog/cdp/execute", json!({"cmd": command, "params": with}))
    }

    /// Sets the size of the page.
    pub fn size(&self, width: u32, height: u32) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.tool("Emulation.setDeviceMetricsOverride", size);
    }

    /// Sets the preferences that the system reports: `prefers-color-scheme`, `forced-colors`.
    pub fn prefers(&self, features: &[(&str, &str)]) {
        let features: Vec<_> = features
            .iter()
            .map(|(name, value)| json!({"name": name, "value": value}))
            .collect();
        self.tool("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// Returns the page as a PNG, once it is painted and all animations are finished.
    pub fn png(&self) -> Vec<u8> {
        let painted = "const done = arguments[0];
            document.getAnimations().forEach(it => it.finish?.call && it.effect?.getTiming().iterations !== Infinity && it.finish());
            document.fonts.ready.then(() => requestAnimationFrame(() => requestAnimationFrame(() => done(true))));";
        self.post("/execute/async", json!({"script": painted, "args": []}));
        let shot = self.tool("Page.captureScreenshot", json!({"format": "png"}));
        STANDARD
            .decode(shot["data"].as_str().expect("a picture"))
            .unwrap()
    }
}

impl Window {
    /// Saves a picture for examining a failure. It must not fail itself, since that would hide the
    /// first failure.
    pub(crate) fn keep_picture(&self, file: &Path) {
        let shot = self.try_post(
            "/goog/cdp/execute",
            &json!({"cmd": "Page.captureScreenshot", "params": {"format": "png"}}),
        );
        let bytes = shot.and_then(|it| STANDARD.decode(it["data"].as_str()?).ok());
        if let Some(bytes) = bytes {
            let _ = std::fs::write(file, bytes);
        }
    }
}

/// Starts a driver; returns it with its port. Its files and its browser's are removed with `home`.
fn driver(home: &Path) -> (Running, u16) {
    let mut driver = clean(system("chromedriver"), home);
    driver
        .args(["--port=0", "--log-level=SEVERE"])
        .env("TZ", "UTC")
        .env("TMPDIR", home)
        .stdout(Stdio::piped());
    // A driver whose port another one took meanwhile ends, so it is started again.
    let started = (0..3).find_map(|_| {
        let mut driver = Running::start(&mut driver);
        let mut said = BufReader::new(driver.0.stdout.take().expect("a pipe"));
        port(&mut said).map(|port| (driver, said, port))
    });
    let Some((driver, mut said, port)) = started else {
        panic!("chromedriver ends before it listens: run `cargo xtask setup`");
    };
    // Read the rest of its output, so that its pipe does not fill up.
    thread::spawn(move || io::copy(&mut said, &mut io::sink()));
    (driver, port)
}

/// Returns the port that the driver chose; none if it ended before.
fn port(said: &mut impl BufRead) -> Option<u16> {
    for line in said.lines() {
        let line = line.unwrap();
        if let Some((_, port)) = line.split_once("started successfully on port ") {
            return Some(port.trim_end_matches('.').parse().expect("a port"));
        }
    }
    None
}
