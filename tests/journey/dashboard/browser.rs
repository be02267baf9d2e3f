//! Chromium without a head, driven as the window is.

use std::{
    io::{self, BufRead, BufReader},
    path::Path,
    process::Stdio,
    thread,
};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use serde_json::{Value, json};

use super::shop::NOW;
use crate::{
    machine::{Running, clean, system},
    window::Window,
};

/// A page that always shows the same: its clock stands.
const STANDING_CLOCK: &str = "{
  const Real = Date, now = Real.parse('NOW');
  window.Date = class extends Real {
    constructor(...all) { all.length ? super(...all) : super(now); }
    static now() { return now; }
  };
}";

impl Window {
    /// Opens a page in a browser that knows nobody; `person` is all that it may write to.
    pub fn browse(url: &str, person: &Path) -> Self {
        let mut driver = clean(system("chromedriver"), person);
        driver
            .args(["--port=0", "--log-level=SEVERE"])
            .env("TZ", "UTC")
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
        let args = [
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
        let chromium = system("chromium");
        let options = json!({"goog:chromeOptions": {"binary": chromium, "args": args}});
        let window = Self::begin(driver, port, None, options);
        let source = STANDING_CLOCK.replace("NOW", NOW);
        window.tool(
            "Page.addScriptToEvaluateOnNewDocument",
            json!({"source": source}),
        );
        window.size(1280, 800);
        window.goto(url);
        // Before that, the token is in the address alone.
        window.wait("document.querySelector('.rail')");
        window
    }

    /// Goes to an address.
    pub fn goto(&self, url: &str) {
        self.post("/url", json!({"url": url}));
    }

    /// Loads the page again, at its beginning.
    pub fn anew(&self) {
        let origin = self.script("return location.origin + '/'", json!([]));
        self.goto(origin.as_str().expect("an address"));
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
