//! The main job: agents at work in a repository, a person at the window.

use std::path::Path;

use engram_kit::Repository;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::{
    agents::{Agent, Session},
    dashboard::{hands::row, shop::drafts_said},
    engram::Engram,
    model_stub::call,
    pictures::pictures,
    stage::Sandbox,
    window::Window,
};

const FILE: &str = "src/webhooks.rs";
const SOURCE: &str = include_str!("dashboard/shop/webhooks.rs.txt");
const FIRST_CLAIM: &str =
    "A webhook is verified before it is parsed; what is not signed is refused without a look.";
const SECOND_CLAIM: &str = "The notes of this repository are a single line.";

#[test]
fn what_agents_learn_appears_in_the_window_with_the_lines_it_rests_on() {
    let sandbox = Sandbox::noted();
    let Sandbox { shop, engram, .. } = &sandbox;
    shop.change(FILE, SOURCE, "Take webhooks");
    let window = sandbox.window();
    let [connect_claude, connect_codex] = connect_commands(&window);
    window.script("window.openedOnce = true", json!([]));

    // Claude Code stores a finding.
    let evidence = [Evidence::at(shop, 5, 9), Evidence::at(shop, 11, 17)];
    let claude = Session::connected(Agent::Claude, &connect_claude, &shop.root, &shop.dir);
    let pointers = evidence.each_ref().map(|it| it.pointer("HEAD"));
    let input = json!({"content": FIRST_CLAIM, "scope": "payments/webhooks", "confidence": 0.9, "pointers": pointers});
    let run = claude.prompt(vec![call("engram_commit", move |_| input.clone())]);
    assert!(
        run.text_seen().contains("engram_query"),
        "the model is told of our tools"
    );
    let first = id_in(&run.results()[0]);
    wait_shown(&window, engram, &first);

    // The code changes: neither the branch nor the working tree still has those lines in that
    // place.
    let moved = format!("// moved\n// down\n{SOURCE}");
    shop.change(FILE, &moved, "Move the code");
    shop.write(FILE, format!("// uncommitted\n{moved}"));

    // Codex queries, gets the claim, reads the evidence and adds a finding of its own.
    let codex = Session::connected(Agent::Codex, &connect_codex, &shop.root, &shop.dir);
    let run = codex.prompt(vec![
        call("engram_query", |_| json!({"topic": "when is a webhook verified"})),
        call("engram_deref", |seen| json!({"pointer": pointer_in(&seen[0])})),
        call("engram_commit", |_| {
            json!({"content": SECOND_CLAIM, "scope": "notes", "confidence": 0.8, "pointers": ["repo:NOTES.md#L1@HEAD"]})
        }),
    ]);
    let [found, read, committed] = &run.results()[..] else {
        panic!("three results: {}", run.printed)
    };
    assert_eq!(
        found["engrams"][0]["claim"], FIRST_CLAIM,
        "the model of Codex sees the claim: {found}"
    );
    assert_eq!(
        read["content_digest"],
        evidence[0].digest.as_str(),
        "{read}"
    );
    let excerpt = read["excerpt"].as_str().unwrap_or_default();
    assert_eq!(
        excerpt.lines().collect::<Vec<_>>(),
        evidence[0].lines,
        "the model of Codex reads the lines"
    );
    let second = id_in(committed);
    wait_shown(&window, engram, &second);
    // The status line shows what that cost of its turn.
    let budget = "document.querySelector('[data-testid=budget]')?.textContent";
    window.wait(&format!(
        "{budget}?.startsWith('Codex') && {budget}.endsWith('spans 1/3')"
    ));
    assert_eq!(window.count("[data-testid=feed-row]"), 2);
    assert_eq!(
        window.script("return window.openedOnce", json!([])),
        true,
        "nothing was loaded again"
    );

    // The person opens the newest claim, then the one before it, and follows its second pointer.
    window.click(&row(&second));
    window.keys("j");
    window.wait(&format!(
        "document.querySelector('{}[aria-selected=true]')",
        row(&first)
    ));
    assert_eq!(window.role(&row(&first)), "option");
    assert_eq!(window.text("[data-testid=claim]"), FIRST_CLAIM);
    window.click(&format!(
        "{} [data-testid=pointer-title]",
        evidence[1].card()
    ));
    for evidence in &evidence {
        evidence.is_shown(&window);
    }

    // One key opens the file in the person's editor.
    window.keys("o");
    let opened = sandbox.editor.wait_opened();
    let (file, line) = opened.rsplit_once(':').expect("a file and a line");
    assert_eq!(
        Path::new(file),
        shop.root.canonicalize().unwrap().join(FILE)
    );
    let line: usize = line.parse().expect("a line");
    let moved_by = 0..=3;
    assert!(moved_by.contains(&(line - evidence[1].first)), "{opened}");

    // Other agents write meanwhile; the open claim stays.
    let others: Vec<Value> = drafts_said().map(|it| it.1).collect();
    engram.put(&others);
    let all = others.len() + 2;
    window.wait(&format!(
        "document.querySelectorAll('[data-testid=feed-row]').length === {all}"
    ));
    window.wait(&format!(
        "document.querySelector('[data-testid=count]').textContent.startsWith('{all} ')"
    ));
    evidence[1].is_shown(&window);
    pictures(&window);
}

/// Returns the commands that the window on an empty home tells a person to run.
fn connect_commands(window: &Window) -> [String; 2] {
    window.find("[data-testid=first-run] [data-testid=connect-command]");
    let script = "return [...document.querySelectorAll('[data-testid=connect-command] code')].map(it => it.textContent)";
    let commands: Vec<String> = serde_json::from_value(window.script(script, json!([]))).unwrap();
    ["connect claude", "connect codex"].map(|end| {
        let command = commands.iter().find(|it| it.ends_with(end));
        command
            .unwrap_or_else(|| panic!("no {end} among {commands:?}"))
            .clone()
    })
}

/// Lines of [`FILE`] at a commit, as git has them.
struct Evidence {
    rev: String,
    first: usize,
    last: usize,
    lines: Vec<String>,
    digest: String,
}

impl Evidence {
    fn at(repo: &Repository, first: usize, last: usize) -> Self {
        let bytes: String = SOURCE
            .split_inclusive('\n')
            .take(last)
            .skip(first - 1)
            .collect();
        let lines = bytes.lines().map(str::to_owned).collect();
        let digest = format!("sha256:{}", hex::encode(Sha256::digest(&bytes)));
        Self {
            rev: repo.head(),
            first,
            last,
            lines,
            digest,
        }
    }

    fn pointer(&self, rev: &str) -> String {
        format!("repo:{FILE}#L{}-L{}@{rev}", self.first, self.last)
    }

    fn card(&self) -> String {
        format!(
            "[data-testid=pointer-card][data-pointer=\"{}\"]",
            self.pointer(&self.rev)
        )
    }

    /// The window marks exactly these lines, and shows their text and digest.
    fn is_shown(&self, window: &Window) {
        let card = self.card();
        let digest = window.attribute(&format!("{card} [data-testid=digest]"), "data-digest");
        assert_eq!(digest, self.digest);
        assert_eq!(
            window.text(&format!("{card} [data-testid=digest-state]")),
            "same as when recorded"
        );
        let script = "return [...document.querySelectorAll(arguments[0] + ' [data-testid=source-line][data-marked=true]')]
            .map(it => [Number(it.dataset.line), it.querySelector('.text').textContent])";
        let marked: Vec<(usize, String)> =
            serde_json::from_value(window.script(script, json!([card]))).unwrap();
        let wanted: Vec<_> = (self.first..).zip(self.lines.iter().cloned()).collect();
        assert_eq!(marked, wanted, "the lines of {}", self.pointer(&self.rev));
    }
}

fn id_in(reply: &Value) -> String {
    reply["id"]
        .as_str()
        .unwrap_or_else(|| panic!("no id in {reply}"))
        .to_owned()
}

/// Returns the first pointer of the first engram in a reply.
fn pointer_in(reply: &Value) -> Value {
    let pointer = &reply["engrams"][0]["pointers"][0];
    pointer.get("ref").unwrap_or(pointer).clone()
}

/// Waits for the row and prints the time from the write to its appearance.
fn wait_shown(window: &Window, engram: &Engram, id: &str) {
    let row = row(id);
    let shown = window.attribute(&format!("{row}[data-shown-at]"), "data-shown-at");
    let record = engram.get(id);
    let shown: f64 = shown.parse().expect("milliseconds");
    let took = shown - record.recorded_at.as_microsecond() as f64 / 1000.0;
    println!("write to row: {took:.0} ms");
    assert!(
        took >= 0.0,
        "the row of {id} came {took} ms after its write"
    );
    let text = window.text(&row);
    assert!(
        text.contains(&record.claim),
        "the row shows the claim: {text}"
    );
}
