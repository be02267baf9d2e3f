//! The lane *Possible*: pairs of near claims, which a person confirms or dismisses by one key each.

use engram_kit::server::{Server, respond};
use serde_json::json;

use super::{access::is_clean, hands::notice, looks::Looks, shop::Shop};
use crate::{
    conflicts::{choose, disagree, of, read, rows},
    stage::{Stage, both_hands},
};

/// Two pairs of claims that are near each other, and that no rule compares.
const PAIRS: [[&str; 2]; 2] = [
    [
        "The relay service listens on port 8080 behind the proxy.",
        "The relay service, behind its proxy, listens on a Unix socket.",
    ],
    [
        "The thumbnail worker keeps its originals in the cold bucket.",
        "Originals of the thumbnail worker are dropped from the cold bucket.",
    ],
];

/// One conflict between two agents, and two possible ones.
fn open() -> Stage {
    let shop = Shop::empty();
    let engram = shop.engram();
    disagree(&engram, 1);
    for at in 0..2 {
        let who = ["ada", "bob"][at];
        let draft = |pair: &[&str; 2]| {
            json!({"claim": pair[at], "topic": "media", "agent": who,
                "pointers": ["repo:src/retry.rs#L9-L15@HEAD"]})
        };
        engram.put(&PAIRS.iter().map(draft).collect::<Vec<_>>());
    }
    let stage = Stage::of(shop);
    let window = &stage.window;
    window.find("[data-testid=feed-row]");
    window.find("[data-testid=conflicts-view] .count");
    window.keys("3");
    window.wait(&rows(1));
    window.click("[data-testid=show-possible]");
    window.wait(&rows(2));
    window.find("[data-testid=possible]");
    read(window);
    stage
}

#[test]
fn a_person_confirms_or_dismisses_what_is_only_near() {
    both_hands(open, |Stage { shop, window, .. }, hand| {
        let engram = &shop.engram();
        let press = |key: &str, testid: &str| window.by(hand, key, testid);
        // Only what a person may say of two claims that are only near is offered.
        window.find("[data-testid=possible]");
        let offered = window.script(
            "return [...document.querySelectorAll('[data-testid=verdicts] button')].map(it => it.dataset.testid)",
            json!([]),
        );
        assert_eq!(offered, json!(["merge", "contradict", "dismiss"]));
        let mut looks = Looks::here();
        looks.compare_in(window, "conflict-possible", &[(1280, 800), (420, 700)]);
        looks.hold_all();
        window.size(1280, 800);
        window.wait("!document.querySelector('.panes.one')");
        let confirmed = read(window);
        press("Y", "contradict");
        window.wait(&notice("Confirmed"));
        window.wait(&rows(1));
        press("z", "undo");
        window.wait(&notice("Undone"));
        window.wait(&rows(2));
        assert_eq!(of(engram, &confirmed)["status"], "possible");
        press("Y", "contradict");
        window.wait(&notice("Confirmed"));
        window.wait(&rows(1));
        let told = of(engram, &confirmed);
        assert_eq!(
            (&told["status"], &told["tier"]),
            (&json!("open"), &json!("agent"))
        );
        assert!(told["risk"].is_string(), "a person's word counts at once");
        assert_eq!(told["judged"][0]["verdict"], "contradicts");
        // The next one opens.
        window.wait(&format!(
            "(document.querySelector('[data-testid=conflict-read]')?.dataset.conflict ?? '{confirmed}') !== '{confirmed}'"
        ));
        let dismissed = read(window);
        press("x", "dismiss");
        window.wait(&notice("Dismissed"));
        window.find("[data-testid=no-match]");
        assert_eq!(
            window.text("[data-testid=no-match] h2"),
            "No possible conflicts"
        );
        assert_eq!(of(engram, &dismissed)["status"], "dismissed");
        press("z", "undo");
        window.wait(&notice("Undone"));
        window.wait(&rows(1));
        assert_eq!(of(engram, &dismissed)["status"], "possible");
        // Several are answered at once.
        window.control('a');
        window.find("[data-testid=chosen-count]");
        press("x", "dismiss");
        window.find("[data-testid=no-match]");
        assert_eq!(of(engram, &dismissed)["status"], "dismissed");
        choose(window, "conflict-status", "open");
        window.wait(&rows(2));
        is_clean(window, "possible conflicts");
    });
}

/// Whether a place of the page contains some words.
fn contains(css: &str, words: &str) -> String {
    format!("document.querySelector({css:?})?.textContent.includes({words:?})")
}

#[test]
fn a_person_asks_the_language_model_about_a_pair() {
    let stage = open();
    let (window, engram) = (&stage.window, stage.shop.engram());
    window.keys("M");
    window.wait(&contains(
        "[data-testid=refused]",
        "No language model is chosen",
    ));
    let model = Server::start(|_, stream| {
        let said = json!({"verdict": "unclear", "sure": 0.5, "why": "A port is not a socket."});
        let body = json!({"choices": [{"message": {"content": said.to_string()}}]});
        respond(stream, "200 OK", "", body.to_string().as_bytes())
    });
    engram.json(&["models", "use", "llm", &model.url, "--model", "small"]);
    window.keys("M");
    window.wait(&contains("[data-testid=judged]", "A port is not a socket."));
    let mut looks = Looks::here();
    looks.compare_in(window, "conflict-explained", &[(1280, 800), (420, 700)]);
    looks.hold_all();
    is_clean(window, "a pair that a model was asked about");
}
