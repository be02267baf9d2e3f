//! The agents view, opened from the status line: who called, when and for what, and the way to
//! their claims.

use serde_json::json;

use super::{
    access::is_clean,
    hands::{DELETE, ENTER, ESCAPE, Hand, notice, rows},
    looks::Looks,
    shop::Shop,
    team::{Member, WANTED},
};
use crate::{
    engram::Engram,
    stage::{ServedShop, Stage, both_hands},
};

const POINTER: &str = "repo:src/retry.rs#L9-L15@HEAD";

/// The condition that these agents are listed in this order.
fn agents_are(names: &str) -> String {
    format!(
        "[...document.querySelectorAll('[data-testid=agent] b')].map(it => it.textContent).join() === '{names}'"
    )
}

fn read_as(engram: &Engram, agent: &str) {
    engram.json(&["deref", POINTER, "--agent", agent]);
}

#[test]
fn agents_are_listed_and_lead_to_what_they_said() {
    both_hands(Stage::listed, |Stage { shop, window, .. }, hand| {
        let engram = &shop.engram();
        window.by(hand, "4", "agents-view");
        window.find("[data-testid=no-agents]");

        // Each agent appears once it has done something, above the earlier ones.
        read_as(engram, "architect");
        window.wait(&agents_are("architect"));
        read_as(engram, "programmer-1");
        window.wait(&agents_are("programmer-1,architect"));
        // A listed agent keeps its row, and its figures change.
        read_as(engram, "architect");
        window.wait("[...document.querySelectorAll('[data-testid=agent]')][1]?.textContent.includes('2/3 spans')");
        assert!(window.holds(&agents_are("programmer-1,architect")));

        // Keys do not act on claims that are not on the screen.
        window.keys(DELETE);
        assert_eq!(window.count("[data-testid=confirm]"), 0);
        window.by(hand, "jk", "agent");
        window.wait(
            "document.querySelector('[data-testid=agent-name]').textContent === 'programmer-1'",
        );
        window.find("[data-testid=agent-stored] li");
        window.by(hand, ENTER, "agent-claims");
        window.wait(&rows(2));
        assert!(
            window
                .text("[data-testid=filter-chip]")
                .contains("programmer-1")
        );
        // The browser's back button reads the list again, the latest agent first.
        window.keys("[");
        window.wait(&agents_are("architect,programmer-1"));
    });
}

#[test]
fn the_agents_are_behind_the_status_line() {
    let shop = Shop::open();
    let engram = shop.engram();
    for at in 1..=3 {
        read_as(&engram, "programmer-2");
        read_as(&engram, &format!("reviewer-{at}"));
    }
    let Stage { window, .. } = &Stage::of(shop);
    window.wait(&rows(8));
    window.press_on(Hand::Keys, "agents");
    window.wait("document.querySelectorAll('[data-testid=agent]').length === 4");
    // A spent turn looks different.
    window.find("[data-testid=agent] .spent");

    // The address names the open agent, which may also be unknown.
    window.click("[data-testid=agent]");
    window.keys("jj");
    window.find("[data-testid=agent-name]");
    let name = window.text("[data-testid=agent-name]");
    window.wait("location.search.includes('handle=')");
    window.script("location.reload()", json!([]));
    window.wait(&format!(
        "document.querySelector('[data-testid=agent-name]')?.textContent === '{name}'"
    ));
    window.follow("/?view=agents&handle=nobody");
    window.wait(&notice("No agent listed here has that handle"));
    window.wait("!location.search.includes('handle=')");
}

#[test]
fn who_is_whose_child_is_seen_and_what_a_turn_was_spent_on() {
    let served = ServedShop::of(Shop::open());
    let ServedShop { shop, server } = &served;
    let lead = Member::open(shop, server, "lead", None);
    let child = Member::open(shop, server, "programmer-1", Some(&lead.name));
    let Stage { shop, window, .. } = &served.browse();
    let engram = &shop.engram();
    window.wait(&rows(8));
    window.keys("4");
    window.wait(&agents_are("lead,programmer-1"));
    let deep = "return document.querySelectorAll('[data-testid=agent]')[1].dataset.depth";
    assert_eq!(window.script(deep, json!([])), json!("1"));
    window.find("[data-testid=agent-children] button");
    window.keys("jj");
    window
        .wait("document.querySelector('[data-testid=agent-name]').textContent === 'programmer-1'");

    // The meter rises as the agent reads. A refused read is shown with the limit that it reached.
    let acts =
        |count: usize| format!("document.querySelectorAll('[data-testid=act]').length === {count}");
    child.spend();
    window.wait(&acts(4));
    window.wait(
        "document.querySelector('[data-testid=agent-turn]').textContent.includes('3/3 spans')",
    );
    let first = window.text("[data-testid=act]");
    assert!(
        first.contains("refused") && first.contains("spans"),
        "{first}"
    );
    window.find("[data-testid=agent-refusals]");

    // A grant that the agent can use and then uses.
    let id = child.ask(WANTED);
    window.wait(&acts(5));
    engram.json(&["requests", "grant", &id]);
    window.find("[data-testid=agent-grants]");
    assert!(child.read(WANTED).is_ok());
    window.wait(&acts(6));
    assert!(window.text("[data-testid=act]").contains("with a grant"));
    window.wait("document.querySelector('.beyond').textContent.includes('0 open, 1 used')");
    // The timeline draws what each turn read, and estimates what that saved.
    window.wait("document.querySelector('[data-testid=turn] .track i').style.width === '100%'");
    let saved = window.text("[data-testid=agent-saved]");
    assert!(saved.contains("estimate"), "{saved}");
    // What it stored has a record.
    let draft =
        json!({"claim": "A retry never waits longer than its ceiling.", "pointers": [WANTED]});
    assert_eq!(child.post("/engram", &draft).0, 201);
    window.wait("document.querySelector('[data-testid=agent-record]')?.textContent.includes('1 of 1 claim verified')");
    is_clean(window, "a team");
    // The times are those of the test, so hide them.
    let hide = "for (const it of document.querySelectorAll('[data-testid=agent-detail] *'))
        if (!it.children.length) it.textContent = it.textContent.replace(/\\d+ \\w+, \\d\\d:\\d\\d$/, '8 Jan, 10:00');";
    window.script(hide, json!([]));
    let mut looks = Looks::here();
    looks.compare_in(window, "agent", &[(1280, 800)]);
    looks.hold_all();
}

#[test]
fn an_agent_is_renamed_hidden_and_closed() {
    both_hands(Stage::listed, |Stage { shop, window, .. }, hand| {
        let engram = &shop.engram();
        engram.json(&["agents", "open", "lead"]);
        read_as(engram, "lead");
        read_as(engram, "reviewer");
        window.by(hand, "4", "agents-view");
        window.wait(&agents_are("reviewer,lead"));
        let open = "document.querySelector('[data-testid=agent-name]').textContent";
        window.wait(&format!("{open} === 'reviewer'"));

        // A name that looks like another agent's is refused beside the agent.
        window.by(hand, "E", "agent-rename");
        window.wait_moved("document.activeElement.id === 'agent-name-field'");
        window.keys("Lead");
        window.keys(ENTER);
        let refusal = window.text("[data-testid=agent-detail] [data-testid=refused]");
        assert!(!refusal.contains("engram "), "{refusal}");
        // Enter keeps the focus; Escape leaves without a change.
        window.wait_moved("document.activeElement.id === 'agent-name-field'");
        window.keys(ESCAPE);
        window.wait("!document.querySelector('[data-testid=agent-name-field]')");
        window.by(hand, "E", "agent-rename");
        window.wait_moved("document.activeElement.id === 'agent-name-field'");
        window.keys("auditor");
        window.keys(ENTER);
        window.wait(&agents_are("auditor,lead"));
        window.wait("!document.querySelector('[data-testid=agent-name-field]')");

        // A hidden agent leaves the list until all are wanted, or until that is undone.
        window.by(hand, "H", "agent-hide");
        window.wait(&agents_are("lead"));
        window.wait(&notice("Press F to list hidden agents"));
        window.by(hand, "z", "undo");
        window.wait(&agents_are("auditor,lead"));
        window.by(hand, "H", "agent-hide");
        window.wait(&agents_are("lead"));
        window.by(hand, "f", "agents-left-out");
        window.wait(&agents_are("auditor,lead"));
        window.click("[data-testid=agent]");
        window.wait(&format!("{open} === 'auditor'"));
        window.by(hand, "H", "agent-hide");
        window.wait("document.querySelector('[data-testid=agents-left-out]').hidden");
        is_clean(window, "an agent");

        // An agent that was only opened has not called yet.
        assert!(
            window
                .text("[data-testid=agent-detail]")
                .contains("last active")
        );
        engram.json(&["agents", "open", "demo"]);
        window.wait("[...document.querySelectorAll('[data-testid=agent] b')].some(it => it.textContent === 'demo')");
        window.script("[...document.querySelectorAll('[data-testid=agent]')].find(it => it.textContent.includes('demo')).click()", json!([]));
        window.wait(&format!("{open} === 'demo'"));
        assert!(
            !window
                .text("[data-testid=agent-detail]")
                .contains("last active")
        );
        window.script("[...document.querySelectorAll('[data-testid=agent]')].find(it => it.textContent.includes('auditor')).click()", json!([]));
        window.wait(&format!("{open} === 'auditor'"));

        // Closing asks first, and Enter keeps the agent.
        window.by(hand, "X", "agent-close");
        window.wait_moved("document.activeElement.id === 'agent-keep'");
        window.by(hand, ENTER, "agent-keep");
        window.wait("!document.querySelector('[data-testid=agent-close-ask]')");
        window.by(hand, "X", "agent-close");
        window.find("[data-testid=agent-close-yes]");
        is_clean(window, "closing an agent");
        window.click("[data-testid=agent-close-yes]");
        window.wait("document.querySelectorAll('[data-testid=agent] .word').length === 1");
        let agents = engram.json(&["agents"]);
        let closed = agents["agents"].as_array().unwrap().last().unwrap();
        assert_eq!(
            (&closed["label"], &closed["is_closed"]),
            (&json!("auditor"), &json!(true))
        );
    });
}
