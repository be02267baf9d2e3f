//! The agents view, from the status line: who called, when and for what, and the way to their claims.

use serde_json::json;

use super::{
    hands::{BOTH, DELETE, ENTER, Hand, rows},
    server::Server,
    shop::Shop,
};
use crate::{engram::Engram, window::Window};

const POINTER: &str = "repo:src/retry.rs#L9-L15@HEAD";

/// That these are listed, in this order.
fn listed(names: &str) -> String {
    format!(
        "[...document.querySelectorAll('[data-testid=agent] b')].map(it => it.textContent).join() === '{names}'"
    )
}

fn read(engram: &Engram, agent: &str) {
    engram.json(&["deref", POINTER, "--agent", agent]);
}

#[test]
fn agents_are_listed_and_lead_to_what_they_said() {
    for hand in BOTH {
        println!("{hand:?}");
        let dir = tempfile::tempdir().unwrap();
        let shop = Shop::open(dir.path());
        let engram = Engram::of(dir.path(), &shop.home, &shop.root);
        let server = Server::start(&shop, &[]);
        let window = Window::browse(&server.url);
        window.wait(&rows(8));
        match hand {
            Hand::Keys => window.keys("4"),
            Hand::Mouse => window.click("[data-testid=agents-view]"),
        }
        window.find("[data-testid=no-agents]");

        // Each appears once it did something, above the earlier ones.
        read(&engram, "architect");
        window.wait(&listed("architect"));
        read(&engram, "programmer-1");
        window.wait(&listed("programmer-1,architect"));
        // A listed agent keeps its row; its figures change.
        read(&engram, "architect");
        window.wait("[...document.querySelectorAll('[data-testid=agent]')][1]?.textContent.includes('2/3 spans')");
        assert_eq!(
            window.script(
                &format!("return {}", listed("programmer-1,architect")),
                json!([])
            ),
            json!(true)
        );

        // Keys do not act on what is not on the screen.
        window.keys(DELETE);
        assert_eq!(window.count("[data-testid=confirm]"), 0);
        match hand {
            Hand::Keys => window.keys("jk"),
            Hand::Mouse => window.click("[data-testid=agent]"),
        }
        window.wait(
            "document.querySelector('[data-testid=agent-name]').textContent === 'programmer-1'",
        );
        window.find("[data-testid=agent-stored] li");
        match hand {
            Hand::Keys => window.keys(ENTER),
            Hand::Mouse => window.click("[data-testid=agent-claims]"),
        }
        window.wait(&rows(2));
        assert!(
            window
                .text("[data-testid=filter-chip]")
                .contains("programmer-1")
        );
        // And back, by the browser: the list is read anew, the latest first.
        window.keys("[");
        window.wait(&listed("architect,programmer-1"));
    }
}

#[test]
fn the_agents_are_behind_the_status_line() {
    let dir = tempfile::tempdir().unwrap();
    let shop = Shop::open(dir.path());
    let engram = Engram::of(dir.path(), &shop.home, &shop.root);
    for at in 1..=3 {
        read(&engram, "programmer-2");
        read(&engram, &format!("reviewer-{at}"));
    }
    let server = Server::start(&shop, &[]);
    let window = Window::browse(&server.url);
    window.wait(&rows(8));
    window.press_on(Hand::Keys, "agents");
    window.wait("document.querySelectorAll('[data-testid=agent]').length === 4");
    // A spent turn looks different from one that is not.
    window.find("[data-testid=agent] .spent");
}
