//! Chromium without a head, driven as the window is.

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
    window::{Place, Window},
};

/// A page that always shows the same: its clock stands.
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

/// One Chromium for all pages that are open at a time: a start takes longer than many a test. Each
/// page is a window of its own with a session of its own, and what it keeps is kept by the address
/// of its server. The browser ends with the last of them.
pub(crate) struct Browser {
    /// Where its driver listens, and where it does.
    port: u16,
    address: String,
    /// Who holds its processes, and what ends that when it is dropped.
    keeper: Option<(mpsc::Sender<()>, JoinHandle<()>)>,
}

/// The browser that is running. Whoever opens or closes a page has it alone: a new session begins
/// at any window that is there, and that one must stay meanwhile.
static RUNNING: Mutex<Weak<Browser>> = Mutex::new(Weak::new());

fn running() -> MutexGuard<'static, Weak<Browser>> {
    RUNNING.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Browser {
    fn start() -> Self {
        let (say, said) = mpsc::channel();
        let (stay, stays) = mpsc::channel::<()>();
        // A driver ends with the thread that started it, and a test's own may be gone before the
        // last page is.
        let keeper = thread::spawn(move || {
            let home = tempfile::tempdir().unwrap();
            let (driver, port) = driver(home.path());
            say.send(port).unwrap();
            let _ = stays.recv(); // until nobody is there to send
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
            let _ = keeper.join(); // what it could not end it has said
        }
    }
}

impl Window {
    /// Opens a page in a browser that knows nobody.
    pub fn browse(url: &str) -> Self {
        let window = Self::blank();
        let source = STANDING_CLOCK.replace("NOW", NOW);
        window.tool(
            "Page.addScriptToEvaluateOnNewDocument",
            json!({"source": source}),
        );
        // Whatever other pages have it too.
        window.tool(
            "Emulation.setFocusEmulationEnabled",
            json!({"enabled": true}),
        );
        window.size(1280, 800);
        window.goto(url);
        // Before that, the token is in the address alone.
        window.wait("document.querySelector('.rail')");
        window
    }

    /// An empty window of the browser.
    fn blank() -> Self {
        let mut running = running();
        let browser = running
            .upgrade()
            .unwrap_or_else(|| Arc::new(Browser::start()));
        *running = Arc::downgrade(&browser);
        let options = json!({"goog:chromeOptions": {"debuggerAddress": browser.address}});
        let window = Self::begin(browser.port, Place::Browser(browser), options);
        let opened = window.post("/window/new", json!({"type": "window"}));
        window.post("/window", json!({"handle": opened["handle"]}));
        window
    }

    /// Closes the page, and no other.
    pub(crate) fn close(&self) {
        // A page that fails to open fails while it has the browser alone.
        let _alone = (!thread::panicking()).then(running);
        self.end();
    }

    /// Goes to an address.
    pub fn goto(&self, url: &str) {
        self.post("/url", json!({"url": url}));
    }

    /// Loads the page again, at its beginning.
    pub fn anew(&self) {
        self.follow("/");
    }

    /// Goes to a path of the same server.
    pub(crate) fn follow(&self, path: &str) {
        let origin = self.script("return location.origin", json!([]));
        let origin = origin.as_str().expect("an address");
        self.goto(&format!("{origin}{path}"));
    }

    /// One command of the browser's own protocol.
    pub fn tool(&self, command: &str, with: Value) -> Value {
        self.post("/goog/cdp/execute", json!({"cmd": command, "params": with}))
    }

    /// Makes the page as large as this.
    pub fn size(&self, width: u32, height: u32) {
        let size =
            json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.tool("Emulation.setDeviceMetricsOverride", size);
    }

    /// What the system would say of the person's wishes: `prefers-color-scheme`, `forced-colors`.
    pub fn prefers(&self, features: &[(&str, &str)]) {
        let features: Vec<_> = features
            .iter()
            .map(|(name, value)| json!({"name": name, "value": value}))
            .collect();
        self.tool("Emulation.setEmulatedMedia", json!({"features": features}));
    }

    /// The page as a PNG, once it has painted and nothing moves any more.
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
    /// A picture for who looks into a failure; a second failure would hide the first.
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

/// A driver that listens, and where; what it and its browser write goes with `home`.
fn driver(home: &Path) -> (Running, u16) {
    let mut driver = clean(system("chromedriver"), home);
    driver
        .args(["--port=0", "--log-level=SEVERE"])
        .env("TZ", "UTC")
        .env("TMPDIR", home)
        .stdout(Stdio::piped());
    // One that finds its port taken by another that started meanwhile ends: it is started again.
    let started = (0..3).find_map(|_| {
        let mut driver = Running::start(&mut driver);
        let mut said = BufReader::new(driver.0.stdout.take().expect("a pipe"));
        port(&mut said).map(|port| (driver, said, port))
    });
    let Some((driver, mut said, port)) = started else {
        panic!("chromedriver ends before it listens: run `cargo xtask setup`");
    };
    // Whatever else it says must go somewhere.
    thread::spawn(move || io::copy(&mut said, &mut io::sink()));
    (driver, port)
}

/// The port that the driver chose; none where it ended before.
fn port(said: &mut impl BufRead) -> Option<u16> {
    for line in said.lines() {
        let line = line.unwrap();
        if let Some((_, port)) = line.split_once("started successfully on port ") {
            return Some(port.trim_end_matches('.').parse().expect("a port"));
        }
    }
    None
}
