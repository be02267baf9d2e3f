//! The requests view in a browser: a person grants, denies and revokes a request by keys and by
//! mouse, and the agent then can or cannot read.

use std::{
    io::{BufRead, BufReader, Write},
    process::Stdio,
};

use serde_json::{Value, json};

use super::{
    access::is_clean,
    hands::{ENTER, ESCAPE, Hand, notice},
    looks::Looks,
    shop::Shop,
    team::{Member, REASON, WANTED},
};
use crate::{
    engram::Engram,
    stage::{ServedShop, Stage, both_hands},
};

/// The condition that `waiting` requests are listed as waiting, and `answered` as answered.
fn requests_are(waiting: usize, answered: usize) -> String {
    let count =
        |state: &str| format!("document.querySelectorAll('[data-testid=request]{state}').length");
    format!(
        "{} === {waiting} && {} === {answered}",
        count("[data-state=waiting]"),
        count(":not([data-state=waiting])")
    )
}

/// The condition that a request is open, with its lines.
fn is_request_open(id: &str) -> String {
    format!(
        "document.querySelector('[data-testid=request-read][data-request=\"{id}\"] .line.marked')"
    )
}

/// Returns a request as the command prints it.
fn request_of(engram: &Engram, id: &str) -> Value {
    let all = engram.json(&["requests", "--all"]);
    let mut all = all["requests"].as_array().unwrap().iter();
    all.find(|it| it["id"] == id).unwrap().clone()
}

#[test]
fn a_request_is_granted_denied_and_revoked_by_keys_and_by_mouse() {
    both_hands(Stage::open, |stage, hand| {
        let (window, shop) = (&stage.window, &stage.shop);
        let engram = &shop.engram();
        window.find("[data-testid=feed-row]");
        assert_eq!(
            window.count("[data-testid=requests-view]"),
            0,
            "nothing waits"
        );
        let press = |key: &str, testid: &str| window.by(hand, key, testid);

        // The request appears by itself and is counted in the rail.
        Member::open(shop, &stage.server, "lead", None);
        let child = Member::open(shop, &stage.server, "programmer-1", Some("lead"));
        child.spend();
        let id = child.ask(WANTED);
        window.wait(
            "document.querySelector('[data-testid=requests-view] .count')?.textContent === '1'",
        );
        window.go(hand, "requests");
        window.wait(&requests_are(1, 0));
        window.wait(&is_request_open(&id));
        let asks = window.text("[data-testid=asks]");
        assert_eq!(asks, "programmer-1 asks to read retry.rs, lines 9–15");
        assert_eq!(window.text("[data-testid=why]"), REASON);
        assert!(window.text("[data-testid=parent]").contains("lead"));

        // Outside a field, the key that selects all the text of a page does nothing.
        window.script(
            "addEventListener('keydown', it => { window.prevented = it.defaultPrevented })",
            json!([]),
        );
        window.control('a');
        window.wait("window.prevented === true && getSelection().toString() === ''");

        // Granted with a different cap: the read succeeds, once.
        match hand {
            Hand::Keys => {
                window.keys("E");
                window.wait_moved("document.activeElement.id === 'cap'");
                window.keys("320");
                window.keys(ESCAPE);
                window.wait_moved("document.activeElement.id === 'feed'");
            }
            Hand::Mouse => {
                window.script("document.getElementById('cap').select()", json!([]));
                window.click("[data-testid=cap]");
                window.script("document.getElementById('cap').select()", json!([]));
                window.keys("320");
            }
        }
        press("y", "grant");
        window.wait(&notice("may read it once"));
        window.wait(&requests_are(0, 1));
        assert_eq!(request_of(engram, &id)["grant"]["cap_tokens"], 320);
        let read = child.read(WANTED).expect("the grant pays");
        assert!(
            read["excerpt"].as_str().unwrap().contains("fn delay"),
            "{read}"
        );
        assert_eq!(child.read(WANTED), Err("DEREF_DENIED".to_owned()), "spent");
        // The outcome appears at once.
        window.wait("document.querySelector('[data-testid=request-state]')?.textContent === 'granted and read'");
        assert_eq!(window.count("[data-testid=revoke]"), 0);
        window.wait("!document.querySelector('[data-testid=requests-view] .count')");

        // Denied, with a reason that the agent reads.
        let denied = child.ask("repo:src/retry.rs#L17-L23@HEAD");
        window.wait(&requests_are(1, 1));
        window.click("[data-testid=request][data-state=waiting]");
        window.wait(&is_request_open(&denied));
        press("x", "deny");
        window.wait_moved("document.activeElement.id === 'reason'");
        assert_eq!(
            request_of(engram, &denied)["state"],
            "waiting",
            "it waits for its words"
        );
        window.keys("The claims on retries say it.");
        window.by(hand, ENTER, "deny");
        window.wait(&notice("Denied"));
        window.wait(&requests_are(0, 2));
        let said = request_of(engram, &denied);
        assert_eq!(said["state"], "denied");
        assert_eq!(said["why"], "The claims on retries say it.");

        // Granted, then revoked before use: from the notice, and from the request itself.
        for (undoes, line) in [(true, 1), (false, 3)] {
            let pointer = format!("repo:src/retry.rs#L{line}@HEAD");
            let id = child.ask(&pointer);
            window.wait("document.querySelectorAll('[data-testid=request][data-state=waiting]').length === 1");
            window.click("[data-testid=request][data-state=waiting]");
            window.wait(&is_request_open(&id));
            press("y", "grant");
            window.wait(&notice("may read it once"));
            window.find("[data-testid=revoke]");
            if undoes {
                press("z", "undo")
            } else {
                press("u", "revoke")
            }
            window.wait(&notice("Revoked"));
            window.wait("document.querySelector('[data-testid=state]')?.textContent === 'revoked'");
            assert_eq!(request_of(engram, &id)["grant"]["state"], "revoked");
            assert_eq!(child.read(&pointer), Err("DEREF_DENIED".to_owned()));
        }
    });
}

/// Starts the MCP server as a client of this name would, calls these tools, and leaves.
pub(super) fn connect(engram: &Engram, client: &str, calls: &[Value]) {
    let mut child = engram
        .command(&["mcp"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut input = child.stdin.take().unwrap();
    let mut output = BufReader::new(child.stdout.take().unwrap()).lines();
    let hello = json!({"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": client, "version": "1"}});
    let mut requests = vec![("initialize", hello)];
    requests.extend(calls.iter().map(|it| ("tools/call", it.clone())));
    for (id, (method, params)) in requests.into_iter().enumerate() {
        let request = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        writeln!(input, "{request}").unwrap();
        let answer: Value = serde_json::from_str(&output.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["id"], json!(id), "{answer}");
        if id == 0 {
            let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
            writeln!(input, "{ready}").unwrap();
        }
    }
    drop(input);
    child.wait().unwrap();
}

#[test]
fn a_grant_is_handed_on_to_the_connection_that_came_after() {
    both_hands(Stage::listed, |Stage { shop, window, .. }, hand| {
        let engram = &shop.engram();
        let read = |pointer: &str| json!({"name": "engram_deref", "arguments": {"pointer": pointer, "reason": REASON}});
        let lines = [1, 2, 3].map(|it| read(&format!("repo:src/ledger.rs#L{it}@HEAD")));
        let mut calls = lines.to_vec();
        calls.push(read(WANTED));
        connect(engram, "claude-code", &calls);
        window.go(hand, "requests");
        window.wait(&requests_are(1, 0));
        window.by(hand, "y", "grant");
        window.wait(&notice("may read it once"));
        // The notice comes before the request's new state.
        window.find("[data-testid=revoke]");
        assert_eq!(window.count("[data-testid=hand-on]"), 0, "no other has it");
        window.keys("G");
        window.wait(&notice("has not connected again"));

        connect(engram, "claude-code", &lines[..1]);
        window.find("[data-testid=hand-on]");
        window.by(hand, "G", "hand-on");
        window.wait(&notice("Transferred"));
        window.wait("document.querySelector('[data-testid=state]')?.textContent === 'transferred'");
        window.wait("!document.querySelector('[data-testid=hand-on]')");
        assert_eq!(window.count("[data-testid=revoke]"), 1);
        let grants = engram.json(&["grant", "list"]);
        let agents = engram.json(&["agents"]);
        let newest = &agents["agents"][0]["agent"];
        let open: Vec<&Value> = grants["grants"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|it| it["state"] == "open")
            .map(|it| &it["to"])
            .collect();
        assert_eq!(open, [newest]);
        // Two that are connected at once are two agents: nothing goes to another client.
        connect(engram, "codex", &calls);
        window.wait(&requests_are(1, 1));
        window.click("[data-testid=request][data-state=waiting]");
        window.by(hand, "y", "grant");
        window.wait(&notice("may read it once"));
        // The notice comes before the request's new state.
        window.find("[data-testid=revoke]");
        window.keys("G");
        window.wait(&notice("has not connected again"));
        // That a connection has ended is said before the answer, and again with it.
        connect(engram, "zed", &calls);
        connect(engram, "zed", &lines[..1]);
        window.wait(&requests_are(1, 2));
        window.click("[data-testid=request][data-state=waiting]");
        window.wait("document.querySelector('[data-testid=out-of-reach]')?.textContent.startsWith('This connection has ended')");
        window.by(hand, "y", "grant");
        window.wait(&notice("That connection has ended"));
    });
}

#[test]
fn requests_are_read_in_a_narrow_window_and_by_programs_for_the_blind() {
    let served = ServedShop::of(Shop::open());
    let child = Member::open(&served.shop, &served.server, "programmer-1", None);
    let ids = [WANTED, "repo:src/ledger.rs#L33-L41@HEAD"].map(|it| child.ask(it));
    let Stage { shop, window, .. } = &served.browse();
    let engram = &shop.engram();
    window.go(Hand::Keys, "requests");
    window.wait(&requests_are(2, 0));
    window.wait(&is_request_open(&ids[0]));
    is_clean(window, "requests");
    // A key of the list opens the next request; the address opens the first again.
    window.keys("j");
    window.wait(&is_request_open(&ids[1]));
    assert!(window.query().contains(&ids[1]), "{}", window.query());
    let address = window.script("return location.href", json!([]));
    window.goto("about:blank");
    window.goto(address.as_str().unwrap());
    window.wait(&is_request_open(&ids[1]));

    window.size(420, 700);
    window.wait("document.querySelector('.panes.one')");
    window.script("document.getElementById('feed').focus()", json!([]));
    // In the list, the key only opens the request; the answer is given there.
    window.keys("y");
    window.wait_moved("document.activeElement.id === 'engram'");
    assert_eq!(window.count("[data-testid=notice]"), 0);
    assert!(window.holds("document.documentElement.scrollWidth <= innerWidth"));
    is_clean(window, "one request");
    window.keys("y");
    window.wait(&notice("may read it once"));
    // An invalid cap is reported, and nothing is granted.
    window.wait(&is_request_open(&ids[0]));
    window.keys("E");
    window.wait_moved("document.activeElement.id === 'cap'");
    // Enter in the field grants nothing, and what is typed next is not a command.
    window.keys(&format!("lots{ENTER}y"));
    window.wait("document.activeElement.value === 'lotsy'");
    assert_eq!(request_of(engram, &ids[0])["state"], "waiting");
    window.keys(&format!("{ESCAPE}y"));
    window.wait(&notice("limit must be"));
    assert_eq!(request_of(engram, &ids[0])["state"], "waiting");
}

#[test]
fn the_requests_look_as_they_were_approved() {
    let served = ServedShop::of(Shop::open());
    let ServedShop { shop, server } = &served;
    Member::open(shop, server, "lead", None);
    let child = Member::open(shop, server, "programmer-1", Some("lead"));
    let ids = [
        WANTED,
        "repo:src/ledger.rs#L33-L41@HEAD",
        "repo:src/retry.rs#L17-L23@HEAD",
    ]
    .map(|it| child.ask(it));
    shop.engram().json(&[
        "requests",
        "deny",
        &ids[2],
        "--why",
        "The claims on retries say it.",
    ]);
    let Stage { window, .. } = &served.browse();
    window.go(Hand::Keys, "requests");
    window.wait(&requests_are(2, 1));
    window.wait(&is_request_open(&ids[0]));
    window.wait("!document.querySelector('[aria-busy=true]')");
    // The request's time is the time of the test, so hide it.
    let hide = "for (const it of document.querySelectorAll('#engram *'))
        if (!it.children.length && /^\\d+ \\w+, \\d\\d:\\d\\d$/.test(it.textContent)) it.textContent = '8 Jan, 10:00';";
    window.script(hide, json!([]));
    let mut looks = Looks::here();
    looks.compare_in(window, "requests", &[(1280, 800), (900, 600)]);
    window.size(420, 700);
    window.wait("document.querySelector('.panes.one')");
    looks.compare_in(window, "requests", &[(420, 700)]);
    looks.hold_all();
}
