//! Every view, and the ways to it by keys alone and by mouse.

use serde_json::json;

use super::{
    hands::{DELETE, ENTER, LIVE, is_read},
    requests_view::connect,
    server::Server,
    shop::Shop,
};
use crate::{
    stage::{Sandbox, Stage},
    window::Window,
};

/// One action of a person.
#[derive(Clone, Copy, Debug)]
pub enum Move {
    /// Keys, one after the other.
    Keys(&'static str),
    /// A key with Control.
    Control(char),
    /// A key with Shift.
    Shift(char),
    /// A click on the matching element.
    Click(&'static str),
    /// A double click.
    Double(&'static str),
    /// A click with the right button.
    Right(&'static str),
    /// Waits until this holds, since the next move needs it.
    Wait(&'static str),
}
use Move::{Click, Control, Double, Keys, Right, Wait};

/// A view, the moves from the feed to it, and the condition that it is shown.
pub struct View {
    pub name: &'static str,
    pub keys: &'static [Move],
    pub mouse: &'static [Move],
    /// The condition that the view is shown.
    pub shown: &'static str,
}

const DOWN: Move = Keys("\u{E015}");
const RIGHT: Move = Keys("\u{E014}");
const FACETS: &str = "document.querySelector('[data-testid=facet]')";
const IN_FACETS: &str =
    "document.activeElement.id === 'facets' && document.querySelector('[data-testid=facet]')";
const FACTS: &str = "document.activeElement.dataset.value === 'fact' && document.querySelectorAll('[data-testid=feed-row]').length === 3";
const TO_THE_OLDEST: Move = Keys("\u{E010}");
const DRIFTED: Move = Wait("document.querySelector('[data-testid=drift-view]')");
/// Elements that cover the window.
const OVER: &str = "dialog[open], [data-testid=menu]";
const READ: &str = "document.querySelector('[data-testid=engram] [data-testid=standing]')";

/// All views.
pub const VIEWS: &[View] = &[
    View {
        name: "feed",
        keys: &[],
        mouse: &[],
        shown: READ,
    },
    View {
        name: "row",
        keys: &[Keys("e")],
        mouse: &[Double("[data-testid=feed-row]")],
        shown: "document.querySelector('.row.opened [data-testid=row-more]')",
    },
    View {
        name: "source",
        keys: &[TO_THE_OLDEST, Wait(OLDEST), Keys("D")],
        mouse: &[
            Click("[data-testid=feed-row]:last-of-type"),
            Wait(OLDEST),
            Click("[data-testid=blame-button]"),
        ],
        shown: "document.querySelector('[data-testid=blame-row]')",
    },
    View {
        name: "history",
        keys: &[Keys("h")],
        mouse: &[Click("[data-testid=history-button]")],
        shown: "document.querySelector('[data-testid=version]')",
    },
    View {
        name: "filter",
        keys: &[Keys("f")],
        mouse: &[Click("[data-testid=facets-button]")],
        shown: FACETS,
    },
    View {
        name: "filtered",
        keys: &[
            Keys("f"),
            Wait(IN_FACETS),
            DOWN,
            Keys(ENTER),
            Wait(FACTS),
            RIGHT,
            Keys(ENTER),
        ],
        mouse: &[
            Click("[data-testid=facets-button]"),
            Click("[data-value=fact]"),
            Wait(FACTS),
            Click("[data-value=constraint]"),
        ],
        shown: "document.querySelectorAll('[data-testid=filter-chip]').length === 2 \
            && document.querySelectorAll('[data-testid=feed-row]').length === 4",
    },
    View {
        name: "no-match",
        keys: &[Keys("/no such words")],
        mouse: &[Click("[data-testid=filter]"), Keys("no such words")],
        shown: "document.querySelector('[data-testid=no-match]')",
    },
    View {
        name: "drift",
        keys: &[
            DRIFTED,
            Control('k'),
            PALETTE,
            Keys("drift"),
            Wait(
                "document.querySelector('[data-testid=palette-option][aria-selected=true]')?.textContent.includes('Drift')",
            ),
            Keys(ENTER),
            Wait("document.querySelectorAll('[data-testid=feed-row]').length === 3"),
        ],
        mouse: &[
            DRIFTED,
            Click("[data-testid=drift-view]"),
            Wait("document.querySelectorAll('[data-testid=feed-row]').length === 3"),
        ],
        shown: "document.querySelector('[data-testid=triage]') && document.querySelector('[data-testid=changes]')",
    },
    View {
        name: "agents",
        keys: &[Keys("4")],
        mouse: &[Click("[data-testid=agents-view]")],
        shown: "document.querySelector('[data-testid=no-agents]')",
    },
    View {
        name: "brief",
        keys: &[Keys("6")],
        mouse: &[Click("[data-testid=brief-view]")],
        shown: "document.querySelector('[data-testid=brief-line]')",
    },
    View {
        name: "forget",
        keys: &[Keys(DELETE)],
        mouse: &[Click("[data-testid=forget]")],
        shown: "document.querySelector('[data-testid=confirm]')",
    },
    View {
        name: "redact",
        keys: &[
            Control('k'),
            PALETTE,
            Keys("redact"),
            Wait(ERASE),
            Keys(ENTER),
        ],
        // The command is in the menu where the bar has no room.
        mouse: &[
            Keys("."),
            Wait("document.querySelector('[data-testid=menu-item]:focus')"),
            Click("[data-command=redact]"),
        ],
        shown: "document.querySelector('[data-testid=confirm]')",
    },
    View {
        name: "notice",
        keys: &[Keys("c")],
        mouse: &[Click("[data-testid=copy-pointer]")],
        shown: "document.querySelector('[data-testid=notice]')",
    },
    View {
        name: "palette",
        keys: &[Control('k')],
        mouse: &[Click("[data-testid=palette-button]")],
        shown: "document.querySelector('dialog[open] [data-testid=palette-option]')",
    },
    View {
        name: "shortcuts",
        keys: &[Keys("?")],
        mouse: &[Click("[data-testid=shortcuts-button]")],
        shown: "document.querySelector('dialog[open][data-testid=shortcuts] kbd')",
    },
    View {
        name: "settings",
        keys: &[Control(',')],
        mouse: &[Click("[data-testid=settings-button]")],
        shown: "document.querySelector('dialog[open] [data-testid=about]')?.textContent.includes('Data in')",
    },
    View {
        name: "repositories",
        keys: &[Control('o')],
        mouse: &[Click("[data-testid=repo]")],
        // A page in a browser has one repository.
        shown: "document.querySelector('dialog[open] :is([data-testid=repository], [data-testid=one-repository])')",
    },
    View {
        name: "menu",
        keys: &[Keys(".")],
        mouse: &[Right("[data-testid=feed-row]")],
        shown: "document.querySelector('[data-testid=menu]:popover-open [data-testid=menu-item]:focus')",
    },
];

const PALETTE: Move = Wait("document.querySelector('[data-testid=palette-input]')");
const ERASE: &str = "document.querySelector('[data-testid=palette-option][aria-selected=true]')?.textContent.startsWith('Redact')";
const OLDEST: &str = "document.querySelector('[data-testid=claim]')?.textContent.startsWith('A reservation') \
    && document.querySelector('[data-testid=engram] [data-testid=standing]')";

impl View {
    /// Goes to this view from a reloaded page.
    pub fn visit(&self, window: &Window, moves: &[Move]) {
        window.anew();
        window.wait(READ);
        window.do_nothing_later();
        window.make_all(moves);
        window.wait_moved(self.shown);
        window.wait("!document.querySelector('[aria-busy=true]')");
    }
}

/// Visits each state without a list, with an old list, or with a claim that has a past.
pub fn each_state(mut look: impl FnMut(&Window, &str)) {
    let Stage { window, .. } = &Stage::empty();
    window.find("[data-testid=first-run] .command");
    window.wait(LIVE);
    look(window, "first-run");
    // The server has not answered yet.
    window.tool(
        "Fetch.enable",
        json!({"patterns": [{"urlPattern": "*/api/*"}]}),
    );
    window.anew();
    window.find("[data-testid=loading]");
    look(window, "loading");
    window.tool("Fetch.disable", json!({}));
    // A page without its token.
    window.script("sessionStorage.clear()", json!([]));
    window.anew();
    window.find("[data-testid=failure]");
    look(window, "failure");
    let shop = Shop::open();
    let server = Server::start(&shop, &[]);
    shop.drift();
    window.goto("about:blank");
    window.goto(&server.url);
    window.wait(LIVE);
    window.wait(READ);
    window.wait("document.querySelector('[data-testid=drift-view]')");
    window.wait("!document.querySelector('[aria-busy=true]')");
    drop(server);
    window.find("[data-testid=disconnected]");
    look(window, "disconnected");
    // A claim with a past, which other agents said too.
    let mut shop = Shop::open();
    shop.correct();
    let server = Server::start(&shop, &[]);
    window.goto("about:blank");
    window.goto(&server.url);
    window.wait(LIVE);
    window.wait(READ);
    window.keys("h");
    window.wait("document.querySelector('[data-testid=voice]')");
    window.wait("!document.querySelector('[aria-busy=true]')");
    look(window, "lineage");
}

impl Window {
    /// Makes all these moves.
    pub(super) fn make_all(&self, all: &[Move]) {
        all.iter().for_each(|it| self.make(*it));
    }

    fn make(&self, action: Move) {
        match action {
            Keys(keys) => self.keys(keys),
            Control(key) => self.control(key),
            Move::Shift(key) => self.shift(key),
            Click(css) => self.click(css),
            Double(css) => self.double_click(css),
            Right(css) => self.right_click(css),
            Wait(holds) => self.wait_moved(holds),
        }
    }
}

/// Goes to each view, by keys alone and by mouse.
fn reach_all(window: &Window) {
    for view in VIEWS {
        for (way, moves) in [("keys", view.keys), ("mouse", view.mouse)] {
            println!("{} by {way}", view.name);
            view.visit(window, moves);
            // One key closes whatever covers the window, and the focus is on an element.
            if window.count(OVER) > 0 {
                window.keys("\u{E00C}");
                window.wait(&format!("!document.querySelector('{OVER}')"));
            }
        }
    }
}

#[test]
fn every_view_is_reached_in_the_window() {
    let sandbox = Sandbox::open();
    sandbox.shop.drift();
    let window = sandbox.window();
    window.wait(READ);
    reach_all(&window);
}

/// A browser reports late that a dialog closed, which by then may be open again.
#[test]
fn a_dialog_that_is_open_again_stays_open() {
    let Stage { window, .. } = &Stage::open();
    window.wait(READ);
    window.keys("?");
    window.wait("document.querySelector('dialog[open] kbd')");
    let late = "const done = arguments[0];
        document.querySelector('dialog[open]').dispatchEvent(new Event('close'));
        requestAnimationFrame(() => requestAnimationFrame(() => done(document.querySelectorAll('dialog[open] dl').length)));";
    assert_ne!(window.script_until(late, json!([])), json!(0));
    window.keys("\u{E00C}");
    window.wait("!document.querySelector('dialog[open]')");
}

#[test]
fn every_view_is_reached_by_keys_alone_and_by_mouse() {
    let Stage { window, .. } = &Stage::drifting(Shop::open());
    reach_all(window);
    // Tab alone reaches every part of the frame, and is never trapped.
    window.anew();
    window.wait(READ);
    let mut seen = Vec::new();
    for _ in 0..60 {
        window.keys("\u{E004}");
        let at = window.script(
            "return document.activeElement.dataset?.testid ?? document.activeElement.tagName",
            json!([]),
        );
        seen.push(at.as_str().unwrap_or_default().to_owned());
    }
    for stop in [
        "feed-view",
        "settings-button",
        "filter",
        "facets-button",
        "feed",
        "split",
        "pointer-title",
        "copy-pointer",
        "forget",
        "repo",
        "palette-button",
    ] {
        assert!(seen.iter().any(|it| it == stop), "no {stop} among {seen:?}");
    }
}

#[test]
fn the_menu_of_an_engram_that_the_list_leaves_out_stands_at_its_claim() {
    let Stage { shop, window, .. } = &Stage::open();
    window.wait(READ);
    // Opens the claim as a link does.
    window.follow(&format!("/?kind=policy&id={}", shop.ids[0]));
    window.wait(&is_read(&shop.ids[0]));
    window.script("document.activeElement.blur()", json!([]));
    window.keys(".");
    window.wait_moved("document.querySelector('[data-testid=menu-item]:focus')");
    let left = |css: &str| {
        let script = "return document.querySelector(arguments[0]).getBoundingClientRect().left";
        window.script(script, json!([css])).as_f64().unwrap()
    };
    assert!(left("[data-testid=menu]") > left("[data-testid=engram]"));
}

#[test]
fn an_empty_home_leads_to_a_first_engram() {
    let Stage { shop, window, .. } = &mut Stage::empty();
    window.find("[data-testid=first-run]");
    let commands = window.text("[data-testid=first-run] .commands");
    // In a form that a terminal accepts, for the home that is shown.
    let wanted = format!("engram --home {} connect claude", shop.home.display());
    assert!(commands.contains(&wanted), "{commands}");
    window.wait("document.querySelector('[data-testid=link]').dataset.state === 'live'");
    // An agent that only asks already counts as a sign of life.
    let asks = json!({"name": "engram_query", "arguments": {"topic": "retries"}});
    connect(&shop.engram(), "codex", &[asks]);
    window.wait(
        "document.querySelector('[data-testid=sign-of-life]').textContent.includes('codex called')",
    );
    shop.say([(
        0,
        json!({"claim": "The first.", "pointers": ["repo:src/retry.rs@HEAD"]}),
    )]);
    window.find("[data-testid=feed-row]");
    assert_eq!(window.text("[data-testid=claim]"), "The first.");
}
