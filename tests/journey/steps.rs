//! Counts what a person does until the first engram is stored, and until the first drift is
//! triaged, starting from an empty home with an agent that is not connected.

use std::cell::Cell;

use serde_json::json;

use crate::{
    agents::{Agent, Session},
    dashboard::hands::Hand,
    model_stub::call,
    stage::Sandbox,
    window::Window,
};

/// Counts mouse clicks or key presses.
pub(crate) struct Counted<'a> {
    window: &'a Window,
    hand: Hand,
    steps: Cell<usize>,
}

impl<'a> Counted<'a> {
    pub(crate) fn by(window: &'a Window, hand: Hand) -> Self {
        Self {
            window,
            hand,
            steps: Cell::new(0),
        }
    }

    /// The steps since the last call.
    pub(crate) fn take(&self) -> usize {
        self.steps.take()
    }

    /// Shows a view.
    pub(crate) fn go(&self, view: &str) {
        self.window.go(self.hand, view);
        self.steps.set(self.steps.get() + 1);
    }

    /// Presses a key, or clicks the button with this test id.
    pub(crate) fn act(&self, key: &str, testid: &str) {
        self.window.by(self.hand, key, testid);
        self.steps.set(self.steps.get() + 1);
    }

    fn press(&self, css: &str) {
        self.window.find(css);
        let presses = match self.hand {
            Hand::Mouse => {
                self.window.click(css);
                1
            }
            // Tab until it has the focus, then Enter.
            Hand::Keys => self.window.press_by_keys(css),
        };
        self.steps.set(self.steps.get() + presses);
    }

    pub(crate) fn key(&self, key: &str) {
        self.window.keys(key);
        self.steps.set(self.steps.get() + 1);
    }
}

#[test]
fn the_first_engram_and_the_first_drift_take_few_steps() {
    // Copying a command to a terminal took six steps by mouse, and more by keys.
    for (hand, to_engram, to_verdict) in [(Hand::Mouse, 2, 2), (Hand::Keys, 5, 2)] {
        let sandbox = Sandbox::noted();
        let repo = &sandbox.shop;
        let window = sandbox.showing("[data-testid=first-run]");
        let counted = Counted::by(&window, hand);
        counted.press("[data-client=claude] [data-testid=connect-agent]");
        window.wait_moved("document.activeElement?.matches('[data-testid=change]')");
        counted.press("[data-client=claude] [data-testid=write]");
        window.wait("document.querySelector('[data-client=claude] [data-testid=connection]')?.textContent === 'connected'");
        // Claude Code, started afterwards.
        let claude = Session::of(Agent::Claude, &repo.root, &repo.dir);
        let commit = json!({"content": "Only 429 and 5xx are tried again.", "scope": "payments",
            "confidence": 0.9, "pointers": ["repo:src/retry.rs#L17-L23@HEAD"]});
        claude.prompt(vec![call("engram_commit", move |_| commit.clone())]);
        window.find("[data-testid=feed-row]");
        let first = counted.take();

        let source = std::fs::read_to_string(repo.root.join("src/retry.rs")).unwrap();
        repo.write("src/retry.rs", source.replace("429 |", "408 | 429 |"));
        window.wait("document.querySelector('[data-testid=drift-view]')");
        match hand {
            Hand::Mouse => {
                counted.press("[data-testid=drift-view]");
                counted.press("[data-testid=still-true]:not([hidden])");
            }
            Hand::Keys => {
                counted.key("2");
                window.find("[data-testid=still-true]:not([hidden])");
                window.wait("!document.querySelector('[aria-busy=true]')");
                counted.key("y");
            }
        }
        window.find("[data-testid=notice] [data-testid=undo]");
        window.wait("!document.querySelector('[data-testid=drift-view] .count')");
        let verdict = counted.take();
        println!("{hand:?}: {first} to the first engram, {verdict} to the first verdict");
        assert!(
            first <= to_engram && verdict <= to_verdict,
            "{hand:?}: {first}, {verdict}"
        );
    }
}

/// A number that changed on the pinned line is corrected in two steps.
#[test]
fn a_changed_number_takes_two_steps() {
    for hand in [Hand::Mouse, Hand::Keys] {
        let sandbox = Sandbox::noted();
        let Sandbox { shop, engram, .. } = &sandbox;
        let (path, limit) = ("src/limit.rs", "pub const MOST: u32 = 4093;\n");
        shop.change(path, limit, "Add a limit");
        engram.put(&[json!({
            "claim": "A cookie has at most 4093 bytes.",
            "pointers": [format!("repo:{path}#L1@HEAD")], "agent": "architect",
        })]);
        let window = sandbox.showing("[data-testid=engram] [data-testid=digest]");
        shop.write(path, limit.replace("4093", "4096"));
        window.wait("document.querySelector('[data-testid=drift-view] .count')");
        let counted = Counted::by(&window, hand);
        match hand {
            Hand::Mouse => {
                counted.press("[data-testid=drift-view]");
                counted.press("[data-testid=suggestion]");
            }
            Hand::Keys => {
                counted.key("2");
                window.find("[data-testid=suggestion]");
                counted.key("R");
            }
        }
        window.find("[data-testid=notice] [data-testid=undo]");
        window.wait("!document.querySelector('[data-testid=drift-view] .count')");
        let newest = &engram.json(&["feed"])["entries"][0]["change"]["with"];
        assert_eq!(newest["claim"], "A cookie has at most 4096 bytes.");
        assert_eq!(newest["health"]["standing"], "holds");
        assert_eq!(counted.take(), 2, "{hand:?}");
    }
}
