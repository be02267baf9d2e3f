//! Text that tries to deceive its reader: markup, and characters that reverse the direction of
//! text.

use std::{collections::BTreeMap, fs};

use serde_json::json;

use super::{
    hands::{BOTH, Hand, is_open, row},
    shop::Shop,
    ways::Move::{self, Click, Control, Keys, Wait},
};
use crate::stage::{ServedShop, Stage};

/// A claim's text, and how it must be shown.
const HOSTILE: &[(&str, &str)] = &[
    (
        "<img src=x onerror=\"window.hacked=1\"><script>window.hacked=1</script><style>*{display:none}</style>",
        "<img src=x onerror=\"window.hacked=1\"><script>window.hacked=1</script><style>*{display:none}</style>",
    ),
    (
        "<a href=\"javascript:alert(1)\">x</a> &lt;b&gt; &#60;",
        "<a href=\"javascript:alert(1)\">x</a> &lt;b&gt; &#60;",
    ),
    (
        "red \u{1B}[31mand back\u{1B}[0m, a bell \u{7}",
        "red ⟨U+001B⟩[31mand back⟨U+001B⟩[0m, a bell ⟨U+0007⟩",
    ),
    (
        "{{x}} ${x} %s \\u0041 '; DROP TABLE engrams; --",
        "{{x}} ${x} %s \\u0041 '; DROP TABLE engrams; --",
    ),
    (
        "Zalgo: a\u{0300}\u{0301}\u{0302}\u{0303}\u{0304}\u{0305}\u{0306}",
        "Zalgo: a\u{0300}\u{0301}\u{0302}\u{0303}\u{0304}\u{0305}\u{0306}",
    ),
];

#[test]
fn a_hostile_claim_is_text_wherever_it_is_shown() {
    let mut shop = Shop::empty();
    let crabs = "🦀".repeat(500);
    let all: Vec<(String, String)> = HOSTILE
        .iter()
        .map(|(claim, read)| ((*claim).to_owned(), (*read).to_owned()))
        .chain([(crabs.clone(), crabs), ("w".repeat(500), "w".repeat(500))])
        .collect();
    let drafts = all.iter().map(|(claim, _)| {
        (1, json!({"claim": claim, "agent": "<i>agent</i>", "topic": "x/y", "tags": ["<b>tag</b>"], "pointers": ["repo:src/retry.rs@HEAD"]}))
    });
    shop.say(drafts.collect::<Vec<_>>());
    let Stage { shop, window, .. } = &Stage::of(shop);
    for (id, (_, read)) in shop.ids.iter().zip(&all) {
        let row = row(id);
        window.find(&row);
        let text = |css: &str| {
            let script = "return document.querySelector(arguments[0]).textContent";
            window.script(script, json!([css]))
        };
        assert_eq!(text(&format!("{row} p")), json!(read));
        window.click(&row);
        window.wait(&is_open(id));
        assert_eq!(text("[data-testid=claim]"), json!(read));
    }
    window.control('k');
    window.find("dialog[open] [data-testid=palette-option]");
    let elements = ".row p *, [data-testid=claim] *, .tag *, .by *, main script, main img, main style, dialog script, dialog img";
    assert_eq!(window.count(elements), 0, "hostile text created elements");
    assert_eq!(
        window.script("return window.hacked ?? null", json!([])),
        json!(null)
    );
    // No element extends past the page in any direction.
    let wide = "return [...document.querySelectorAll('body *')].filter(it => it.getBoundingClientRect().right > innerWidth + 1 && getComputedStyle(it).position !== 'absolute').map(it => it.className).slice(0, 5)";
    window.keys("\u{E00C}");
    assert_eq!(window.script(wide, json!([])), json!([]));
}

/// Characters that reverse the following text invisibly. Names in a repository may contain them.
const TURNED: &str = "a\u{202E}b\u{2066}c";
/// [`TURNED`] as it must be shown.
const NAMED: &str = "a⟨U+202E⟩b⟨U+2066⟩c";
/// Characters that control a terminal. Agents' words may contain them.
const SAID: &str = "a\u{1B}b\u{7}c";

/// Finds raw control characters on the page: in text, and in what screen readers announce.
const RAW: &str = "const raw = /[\\u0007\\u001B\\u202A-\\u202E\\u2066-\\u2069]/, found = [];
    const say = (it, where, text) => {
        const near = it?.closest('[data-testid]')?.dataset.testid ?? it?.tagName;
        const escaped = text.trim().replace(/[\\u0007\\u001B\\u202A-\\u202E\\u2066-\\u2069]/g, c => '\\\\u' + c.charCodeAt(0).toString(16));
        found.push(`${where} in ${near}: ${escaped}`);
    };
    if (raw.test(document.title)) say(null, 'title of the page', document.title);
    const texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (texts.nextNode()) {
        const it = texts.currentNode;
        if (raw.test(it.data) && !it.parentElement.closest('script, style')) say(it.parentElement, 'text', it.data);
    }
    for (const it of document.querySelectorAll('*')) {
        for (const name of ['title', 'aria-label', 'aria-description', 'aria-valuetext', 'placeholder', 'alt']) {
            const text = it.getAttribute(name);
            if (text && raw.test(text)) say(it, name, text);
        }
    }
    return found;";

/// A screen, the moves from the feed to it, and the condition that it is shown.
type Screen = (&'static str, &'static [Move], &'static str);

const HELD: &str = "document.querySelector('[data-testid=facet]')";
const SCREENS: &[Screen] = &[
    (
        "feed",
        &[],
        "document.querySelector('[data-testid=standing]')",
    ),
    (
        "row",
        &[Keys("e")],
        "document.querySelector('[data-testid=row-more]')",
    ),
    (
        "history",
        &[Keys("h")],
        "document.querySelector('[data-testid=voice]')",
    ),
    (
        "blame",
        &[Keys("D")],
        "document.querySelector('[data-testid=blame-row]')",
    ),
    (
        "menu",
        &[Keys(".")],
        "document.querySelector('[data-testid=menu-item]:focus')",
    ),
    ("facets", &[Keys("f")], HELD),
    (
        "chips",
        &[
            Keys("f"),
            Wait(HELD),
            Click("[data-testid=facet][data-value$=\"c/d\"]"),
            Wait("document.querySelectorAll('[data-testid=filter-chip]').length === 1"),
            Click("[data-testid=facet][data-value$=\"-agent\"]"),
        ],
        "document.querySelectorAll('[data-testid=filter-chip]').length === 2",
    ),
    (
        "palette",
        &[
            Control('k'),
            Wait("document.querySelector('[data-testid=palette-input]')"),
            Keys("claim"),
        ],
        "[...document.querySelectorAll('[data-testid=palette-option]')].some(it => it.textContent.includes('claim of'))",
    ),
    (
        "repositories",
        &[Control('o')],
        "document.querySelector('dialog[open]')",
    ),
    (
        "settings",
        &[Control(',')],
        "document.querySelector('dialog[open] [data-testid=about]')?.textContent.length > 12",
    ),
    (
        "notice",
        &[Keys("c")],
        "document.querySelector('[data-testid=notice]')",
    ),
    (
        "no match",
        &[Keys("/no such words")],
        "document.querySelector('[data-testid=no-match]')",
    ),
];

/// Creates an empty shop in a folder of that name.
fn make_turned_shop() -> Shop {
    let mut shop = Shop::empty();
    let repo = shop.root.with_file_name(format!("shop {TURNED}"));
    fs::rename(&shop.root, &repo).unwrap();
    shop.root = repo;
    shop
}

#[test]
fn what_turns_text_around_is_named_wherever_it_is_shown() {
    // The folder, a branch, a file, its author and its commit message all have hostile names.
    let mut shop = make_turned_shop();
    shop.git(&["switch", "--quiet", "--create", TURNED]);
    let file = format!("src/{TURNED}.md");
    shop.write(
        &file,
        format!("# Head {TURNED}\n\nA *line* with {TURNED}.\n"),
    );
    shop.git(&["add", "--all"]);
    let author = format!("--author=Ada {TURNED} <ada@shop.example>");
    shop.git(&[
        "commit",
        "--quiet",
        &author,
        "--message",
        &format!("Add {TURNED}"),
    ]);
    // An engram with all of this as evidence, its correction, and another agent with the same
    // claim.
    let note = json!({"kind": "decision", "slug": "turned", "agent": "abc-agent", "text": format!("We keep {SAID}.")});
    let event = shop.note(note);
    let draft = |agent: &str, claim: &str| {
        json!({"agent": format!("abc-{agent}"), "topic": "abc/d", "tags": ["tag"], "claim": claim,
            "pointers": [format!("repo:{file}#L3@HEAD"), format!("artifact:{file}#sec=Head {TURNED}@HEAD"), event]})
    };
    let claim = format!("The second claim of {SAID}");
    shop.say([(1, draft("agent", &format!("The first claim of {SAID}")))]);
    let mut second = draft("agent", &claim);
    second["corrects_lineage"] = json!(shop.ids[0]);
    shop.say([
        (2, second),
        (3, draft("other", &claim)),
        (4, json!({"agent": "abc-agent-2", "claim": "Another claim of nobody.", "topic": "x", "pointers": [format!("repo:{file}@HEAD")]})),
        (5, json!({"agent": "abc-agent-2", "claim": "One more of nobody.", "topic": "abc/d", "pointers": [format!("repo:{file}@HEAD")]})),
    ]);
    // An agent of that name spends budget, which the status line shows.
    shop.engram().json(&[
        "deref",
        "repo:src/retry.rs#L1-L3@HEAD",
        "--agent",
        "abc-agent",
        "--turn",
        "1",
    ]);
    let served = ServedShop::of(shop);
    // Its evidence has moved, to another hostile name, and was edited there.
    let shop = &served.shop;
    shop.git(&["mv", &file, &format!("src/moved {TURNED}.md")]);
    let Stage { shop, window, .. } = &served.browse();
    window.wait("document.querySelectorAll('[data-testid=feed-row]').length === 4");
    // Each place once, with the first screen that shows it.
    let mut found = BTreeMap::new();
    let mut look = |name: &'static str| {
        let raw = window.script(RAW, json!([]));
        let raw: Vec<String> = serde_json::from_value(raw).unwrap();
        for place in raw {
            found.entry(place).or_insert(name);
        }
    };
    for (name, moves, shown) in SCREENS {
        println!("{name}");
        window.anew();
        window.wait("document.querySelectorAll('[data-testid=feed-row]').length === 4");
        window.open_row(Hand::Mouse, &shop.ids[1]);
        window.make_all(moves);
        window.wait_moved(shown);
        window.wait("!document.querySelector('[aria-busy=true]')");
        look(name);
        // The name is not left out either.
        assert!(
            window.text("body").contains(NAMED),
            "{name}: nothing is named"
        );
    }
    // Each of the claim's sources.
    for hand in BOTH {
        window.anew();
        window.open_row(hand, &shop.ids[1]);
        for place in 1..=3 {
            let css = format!(
                "[data-testid=pointer-card]:nth-of-type({place})[data-open=false] [data-testid=pointer-title]"
            );
            if window.count(&css) == 1 {
                window.press_any(hand, &css);
            }
        }
        window.wait("document.querySelectorAll('[data-testid=pointer-card] :is(.proof, .refused)').length === 3");
        window.wait("!document.querySelector('[aria-busy=true]')");
        look("sources");
    }
    let count = found.len();
    let places: Vec<String> = found
        .into_iter()
        .map(|(it, name)| format!("{name}: {it}"))
        .collect();
    assert_eq!(count, 0, "places\n{}", places.join("\n"));
}

#[test]
fn a_first_page_names_what_turns_the_name_of_a_repository_around() {
    let Stage { window, .. } = &Stage::of(make_turned_shop());
    window.find("[data-testid=first-run] .command");
    let raw = window.script(RAW, json!([]));
    assert_eq!(raw, json!([]));
    assert!(window.text("[data-testid=first-run]").contains(NAMED));
}
