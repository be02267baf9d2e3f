//! `engram serve`, and a page whose server dies.

use std::{
    io::{BufRead, BufReader},
    path::PathBuf,
    process::{Command, Stdio},
};

use serde_json::{Value, json};

use super::shop::Shop;
use crate::{
    machine::{self, Running, clean},
    stage::Stage,
    window::Window,
};

/// A running `engram serve`.
pub struct Server {
    pub url: String,
    _running: Running,
}

impl Server {
    pub fn start(shop: &Shop, args: &[&str]) -> Self {
        let mut serve = clean(machine::engram(), &shop.home);
        serve.arg("--home").arg(&shop.home);
        serve.arg("--repo").arg(&shop.root);
        serve.args(["--json", "serve"]).args(args);
        Self::of(&mut serve)
    }

    /// Starts the server; returns what `serve --json` prints once it listens.
    pub(crate) fn of(serve: &mut Command) -> Self {
        let mut running = Running::start(serve.stdout(Stdio::piped()));
        let mut line = String::new();
        let out = running.0.stdout.take().expect("a pipe");
        BufReader::new(out).read_line(&mut line).unwrap();
        let said: Value = serde_json::from_str(&line).expect("one object");
        Self {
            url: said["url"].as_str().expect("an address").to_owned(),
            _running: running,
        }
    }

    /// `IP:PORT`.
    pub(super) fn listen(&self) -> &str {
        let rest = self.url.strip_prefix("http://").unwrap();
        rest.split('/').next().unwrap()
    }
}

#[test]
fn a_page_outlives_its_server() {
    let shop = Shop::open();
    let token: PathBuf = shop.home.join("token");
    let token = token.to_str().unwrap();
    let server = Server::start(&shop, &["--token-file", token]);
    let listen = server.listen().to_owned();
    let again = ["--listen", &listen, "--token-file", token];
    let window = Window::browse(&server.url);
    window.wait("document.querySelector('[data-testid=link]')?.dataset.state === 'live'");
    window.script("window.sameAsBefore = true", json!([]));

    // The page notices by itself, without any request.
    drop(server);
    window.wait("document.querySelector('[data-testid=disconnected]')");
    assert!(
        window
            .text("[data-testid=disconnected]")
            .contains("is not responding")
    );

    // After a restart, the page shows what was stored meanwhile, and has not been reloaded.
    shop.put("Said while nobody answered");
    let server = Server::start(&shop, &again);
    assert_eq!(server.listen(), listen);
    window.wait("document.querySelector('[data-testid=link]').dataset.state === 'live'");
    window.wait("document.querySelector('[data-testid=feed-row] p')?.textContent === 'Said while nobody answered'");
    window.wait("!document.querySelector('[data-testid=disconnected]')");
    assert_eq!(window.script("return window.sameAsBefore", json!([])), true);

    // With another token, the page cannot continue and says what to do.
    drop(server);
    let server = Server::start(&shop, &["--listen", &listen]);
    window.wait("document.querySelector('[data-testid=disconnected]')?.textContent.includes('Open the address')");
    // The new address opens it.
    window.goto("about:blank");
    window.goto(&server.url);
    window.wait("document.querySelector('[data-testid=link]')?.dataset.state === 'live'");
}

#[test]
fn a_wrong_token_shows_nothing_but_what_to_do() {
    let shop = Shop::open();
    let server = Server::start(&shop, &[]);
    let (address, _) = server.url.split_once("#token=").unwrap();
    let window = Window::browse(&format!("{address}#token=wrong"));
    for address in [
        format!("{address}#token=wrong"),
        format!("{address}?a#token="),
        format!("{address}?b#token={}", "%00%ff<script>"),
        format!("{address}?c"),
    ] {
        window.goto(&address);
        window.find("[data-testid=failure][data-code=SCOPE_DENIED]");
        assert!(
            window
                .text("[data-testid=failure]")
                .contains("Open the address")
        );
        assert_eq!(window.count("[data-testid=feed-row]"), 0);
    }
    // With the right address, the same tab shows everything.
    window.goto("about:blank");
    window.goto(&server.url);
    window.find("[data-testid=feed-row]");
    let hash = window.script("return location.hash", json!([]));
    assert_eq!(hash, "", "the token leaves the address");
}

#[test]
fn pages_that_were_left_hold_no_connections() {
    let stage = Stage::open();
    let window = &stage.window;
    // A browser allows six connections per server for all pages, and keeps pages for going back.
    for visit in 0..9 {
        window.wait("document.querySelector('[data-testid=link]')?.dataset.state === 'live'");
        window.script("window.visit = arguments[0]", json!([visit]));
        window.goto("data:text/html,elsewhere");
        match visit % 2 {
            0 => drop(window.post("/back", json!({}))),
            _ => window.goto(&stage.server.url),
        }
    }
    stage.shop.put("Said at the end");
    window.wait(
        "document.querySelector('[data-testid=feed-row] p')?.textContent === 'Said at the end'",
    );
}
