//! What only the real window has: other repositories, an editor, and its log.

use std::{fs, path::Path};

use serde_json::json;

use crate::{
    dashboard::{
        self,
        hands::{BOTH, ENTER, ESCAPE, Hand, is_read, row, rows},
        server::Server,
        shop::Shop,
    },
    machine::{self, clean, desktop, ok},
    stage::Sandbox,
    window::Window,
};

const FEED: &str = "[data-testid=feed-row]";

/// Brings a repository to the front by its path, with keys.
fn bring(window: &Window, repo: &Path) {
    window.control('o');
    window.find("[data-testid=repository]");
    window.keys(&format!("{}{ENTER}", repo.display()));
}

/// Creates another repository in the same home.
pub(crate) fn make_other_shop(shop: &Shop) -> Shop {
    let dir = shop.dir.join("other");
    fs::create_dir(&dir).unwrap();
    let mut other = Shop::empty_in(&dir);
    other.home.clone_from(&shop.home);
    // Ids depend on the time, so the other shop uses a different one.
    other.say([(
        400,
        json!({"claim": "Only the other one knows.", "agent": "tester", "pointers": ["repo:src/retry.rs@HEAD"]}),
    )]);
    other
}

#[test]
fn another_repository_is_opened_by_mouse() {
    let sandbox = Sandbox::open();
    let shop = &sandbox.shop;
    let other = make_other_shop(shop);
    let window = sandbox.showing(FEED);
    window.wait(&is_read(&shop.ids[7]));
    shop.drift();
    window.wait("document.querySelector('[data-testid=drift-view]')");
    // A path that does not exist changes nothing.
    window.click("[data-testid=repo]");
    // The field moves when the list above it appears.
    window.find("[data-testid=repository][aria-current=true]");
    window.click("[data-testid=repository-path]");
    window.keys("/nowhere/at/all");
    window.click("[data-testid=repository-open]");
    window.find("dialog[open] [data-testid=refused]");
    assert_eq!(
        window.count("[data-testid=repository]"),
        2,
        "the other is known, since agents use it"
    );
    window.keys(ESCAPE);
    window.wait("!document.querySelector('dialog[open]')");
    window.wait(&rows(8));
    // Open one by its path.
    window.click("[data-testid=repo]");
    // The field moves when the list above it appears.
    window.find("[data-testid=repository][aria-current=true]");
    window.click("[data-testid=repository-path]");
    window.keys(&other.root.display().to_string());
    window.click("[data-testid=repository-open]");
    window.wait(&is_read(&other.ids[0]));
    window.wait(&rows(1));
    window.wait("!document.querySelector('dialog[open]')");
    // And the previous one from the list.
    window.click("[data-testid=repo]");
    window.find("[data-testid=repository][aria-current=true]");
    window.wait("document.querySelectorAll('[data-testid=repository] .counts').length === 2");
    assert_eq!(
        window.texts("[data-testid=repository] .counts"),
        ["1 engram", "3 claims to review 8 engrams"]
    );
    window.click("[data-testid=repository]:not([aria-current])");
    window.wait(&is_read(&shop.ids[7]));
    window.wait(&rows(8));
}

/// Lists the open repositories in the rail: whether each is in front, and how many claims arrived
/// in it.
const OPENED: &str = "[...document.querySelectorAll('[data-testid=opened]')]
    .map(it => (it.matches('[aria-current]') ? 'front' : 'behind') + ' ' + (it.querySelector('.count')?.textContent ?? '')).join(', ')";

/// Lists the parts of the rail and the status line that cannot be seen or clicked.
const COVERED: &str = "
    const all = ['opened', 'settings-button', 'repo', 'palette-button'];
    return all.flatMap(name => [...document.querySelectorAll(`[data-testid=${name}]`)]
        .filter(it => {
            const at = it.getBoundingClientRect();
            return !it.contains(document.elementFromPoint(at.left + at.width / 2, at.top + at.height / 2));
        })
        .map(() => name))";

#[test]
fn several_repositories_are_open_at_once() {
    let mut sandbox = Sandbox::open();
    let other = make_other_shop(&sandbox.shop);
    let window = sandbox.showing(FEED);
    let shop = &mut sandbox.shop;
    let opened = |says: &str| window.wait(&format!("({OPENED}) === '{says}'"));
    let behind = "[data-testid=opened]:not([aria-current])";
    // With only one repository, there is no choice.
    window.open_row(Hand::Mouse, &shop.ids[3]);
    window.keys("/gateway");
    window.wait(&rows(2));
    let best = window.attribute("[data-testid=feed-row][aria-posinset='1']", "data-id");
    window.keys(ENTER);
    window.wait(&is_read(&best));
    assert_eq!(window.count("[data-testid=opened]"), 0);
    bring(&window, &other.root);
    window.wait(&is_read(&other.ids[0]));
    opened("behind , front ");
    // New claims in the one behind are counted, and so are claims to review.
    shop.say([(
        500,
        json!({"claim": "Said behind the back.", "pointers": ["repo:src/ledger.rs#L10-L15@HEAD"]}),
    )]);
    opened("behind 1, front ");
    shop.drift();
    window.wait(&format!(
        "document.querySelector('{behind}').title.includes('1 new, 3 claims to review, 9 engrams')"
    ));
    // It opens as it was left, and nothing in it is new any more.
    window.click(behind);
    window.wait(&is_read(&best));
    window.wait(&rows(2));
    assert!(window.query().contains("q=gateway"), "{}", window.query());
    opened("front , behind ");
    // By keys, and back.
    window.control('k');
    window.find("[data-testid=palette-input]");
    window.keys("shop");
    window.wait("document.querySelector('[data-testid=palette-option][aria-selected=true]')?.textContent.startsWith('shop/')");
    window.keys(ENTER);
    window.wait(&is_read(&other.ids[0]));
    opened("behind 3, front ");
    window.keys("[");
    window.wait(&is_read(&best));
    opened("front , behind ");
    window.shot("several");
    // In a small or enlarged window, each can still be chosen, and the one in front is named.
    let whole = (window.script("return [innerWidth, innerHeight]", json!([]))).clone();
    for (width, height) in [(640, 400), (420, 700)] {
        window.resize(width, height);
        let covered = window.script(COVERED, json!([]));
        assert_eq!(covered, json!([]), "{width} × {height}");
        assert!(window.text("[data-testid=repo]").contains("shop"));
    }
    let at = |of: usize| u32::try_from(whole[of].as_u64().unwrap()).unwrap();
    window.resize(at(0), at(1));
    // After quick switches the last repository is shown, with nothing of another one.
    window.keys("[");
    window.wait(&is_read(&other.ids[0]));
    let haste = "const [to] = arguments; const all = [...document.querySelectorAll('[data-testid=opened]')];
         for (let times = 0; times < 5; times++) { all[0].click(); all[1].click(); all[to].click(); }";
    for (to, says, id, count) in [
        (0, "front , behind ", &best, 2),
        (1, "behind 3, front ", &other.ids[0], 1),
    ] {
        window.script(haste, json!([to]));
        opened(says);
        window.wait(&is_read(id));
        window.wait(&rows(count));
    }
    // A claim in the front repository appears live, and does not count as new in the one behind.
    other.put("Said in front.");
    window.wait(&rows(2));
    opened("behind 3, front ");
    // Both are open again in the next window, until they are closed.
    drop(window);
    let window = sandbox.showing(FEED);
    let opened = |says: &str| window.wait(&format!("({OPENED}) === '{says}'"));
    opened("front , behind ");
    window.control('o');
    window.press_on(Hand::Keys, "repository-close");
    window.wait("!document.querySelector('[data-testid=opened], [data-testid=repository-close]')");
    window.wait_moved("document.activeElement.dataset.testid === 'repository'");
    assert_eq!(window.count("[data-testid=repository]"), 2, "it is known");
    drop(window);
    let window = sandbox.showing(FEED);
    assert_eq!(window.count("[data-testid=opened]"), 0, "it stays closed");
}

#[test]
fn a_repository_that_cannot_be_read_is_left_again() {
    let sandbox = Sandbox::open();
    let shop = &sandbox.shop;
    let other = make_other_shop(shop);
    let window = sandbox.showing(FEED);
    bring(&window, &other.root);
    window.wait(&is_read(&other.ids[0]));
    // Brought to the front by its own path, it stays unchanged.
    bring(&window, &other.root);
    window.wait("!document.querySelector('dialog[open]')");
    window.wait(&is_read(&other.ids[0]));
    let behind = "[data-testid=opened]:not([aria-current])";
    window.click(behind);
    window.wait(&is_read(&shop.ids[7]));
    fs::rename(other.root.join(".git"), other.root.join("git")).unwrap();
    window.click(behind);
    // What is known about it is still shown, but nothing as current.
    window.find("[data-testid=gone]");
    window.click(behind);
    window.wait(&is_read(&shop.ids[7]));
    // A deleted repository has a close button in the list.
    fs::remove_dir_all(&other.root).unwrap();
    window.click(behind);
    window.find("[data-testid=notice].error");
    window.wait(&is_read(&shop.ids[7]));
    window.control('o');
    window.click("[data-testid=repository-close]");
    window.wait("!document.querySelector('[data-testid=opened], [data-testid=repository-close]')");
}

/// Opens the window outside any repository, for a person who is new to it.
fn open_outside(sandbox: &Sandbox, hand: Hand) -> Window {
    let place = &sandbox.engram.place_args[..2]; // the home only
    let person = sandbox.shop.dir.join(format!("{hand:?}"));
    let window = Window::open(desktop(), place, &person, &sandbox.editor.program);
    window.find("[data-testid=start]");
    window
}

#[test]
fn a_window_outside_of_a_repository_offers_those_that_are_known() {
    let sandbox = Sandbox::open();
    let shop = &sandbox.shop;
    let other = make_other_shop(shop);
    let folder = shop.dir.join("a folder");
    fs::create_dir(&folder).unwrap();
    let file = folder.join("file");
    fs::write(&file, "x").unwrap();
    let refused = |why: &str| {
        format!(
            "document.querySelector('[data-testid=start] [data-testid=refused]')?.textContent.includes('{why}')"
        )
    };
    for hand in BOTH {
        let window = open_outside(&sandbox, hand);
        assert_eq!(window.count("[data-testid=first-run]"), 0);
        window.wait_moved("document.activeElement.dataset.testid === 'repository-path'");
        window.wait("document.querySelectorAll('[data-testid=start] [data-testid=repository]').length === 2");
        window.find("[data-testid=repository-pick]:not([hidden])");
        window.shot("start");
        // A folder that is not a repository is refused below the field, until the person tries
        // another.
        for (path, why) in [
            (folder.join("gone"), "does not exist"),
            (file.clone(), "is a file"),
            (folder.clone(), "is not a git repository"),
        ] {
            window.script(
                "document.querySelector('[data-testid=repository-path]').value = ''",
                json!([]),
            );
            window.click("[data-testid=repository-path]");
            window.keys(&path.display().to_string());
            window.press_on(hand, "repository-open");
            window.wait(&refused(why));
        }
        assert_eq!(window.count("[data-testid=notice]"), 0);
        let row = format!(
            "[data-testid=repository][data-path^=\"{}\"]",
            other.root.display()
        );
        window.press_any(hand, &row);
        window.wait(&is_read(&other.ids[0]));
        assert_eq!(window.count("[data-testid=start]"), 0);
    }
}

#[test]
fn a_folder_is_chosen_in_the_dialog_of_the_system() {
    let sandbox = Sandbox::open();
    let other = make_other_shop(&sandbox.shop);
    for hand in BOTH {
        let window = open_outside(&sandbox, hand);
        let display = window.drawn();
        let dialog = || {
            window.press_any(hand, "[data-testid=repository-pick]:not([hidden])");
            display.visible("^Open a repository$")
        };
        // Cancelling the dialog changes nothing.
        let chooser = dialog();
        display.point(&["windowfocus", "--sync", &chooser, "key", "Escape"]);
        while display.search("^Open a repository$").is_some() {}
        assert_eq!(window.count("[data-testid=start]"), 1);
        // As in every dialog of this kind, a path can be typed once its field is open.
        let chooser = dialog();
        display.point(&["windowfocus", "--sync", &chooser]);
        let before = display.settled(None);
        display.point(&["key", "slash"]);
        display.settled(Some(&before));
        display.point(&["key", "ctrl+a"]);
        display.point(&["type", &other.root.display().to_string()]);
        window.shot("folder-dialog");
        display.point(&["key", "alt+o"]);
        window.wait(&is_read(&other.ids[0]));
    }
}

#[test]
fn a_dashboard_outside_of_a_repository_says_so_and_shows_what_is_stored_there() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path().join("home");
    let engram = || {
        let mut engram = clean(machine::engram(), dir.path());
        engram.current_dir(dir.path()).arg("--home").arg(&home);
        engram
    };
    let server = Server::of(engram().args(["--json", "serve"]));
    let window = Window::browse(&server.url);
    window.wait("document.querySelector('[data-testid=nowhere]:not([hidden])')");
    // A page in a browser has the repository that its server was started in.
    assert!(!window.sees("[data-testid=nowhere] button"));
    ok(engram().args([
        "put",
        "--claim",
        "The gateway says that it is up.",
        "--pointer",
        "url:https://example.com/status",
    ]));
    window.find("[data-testid=feed-row]");
    assert_eq!(
        window.text("[data-testid=claim]"),
        "The gateway says that it is up."
    );
}

/// Keeps the bytes of every answer from the shell.
const KEEP: &str = "const real = Response.prototype.arrayBuffer;
    window.kept = [];
    Response.prototype.arrayBuffer = async function () {
        const bytes = await real.call(this);
        kept.push([bytes, bytes.byteLength]);
        return bytes;
    };";

#[test]
fn the_memory_of_an_answer_is_given_back_at_once() {
    let mut sandbox = Sandbox::open();
    let window = sandbox.showing(FEED);
    let shop = &mut sandbox.shop;
    window.wait(&is_read(&shop.ids[7]));
    window.script(KEEP, json!([]));
    shop.say([(
        400,
        json!({"claim": "Said while bytes are counted.", "pointers": ["repo:src/retry.rs@HEAD"]}),
    )]);
    window.wait(&rows(9));
    window.open_row(Hand::Mouse, &shop.ids[8]);
    let came = "return kept.reduce((sum, [, came]) => sum + came, 0)";
    let held = "return kept.reduce((sum, [bytes]) => sum + bytes.byteLength, 0)";
    let came = window.script(came, json!([])).as_u64().unwrap();
    assert!(came > 1_000, "{came} bytes came");
    assert_eq!(window.script(held, json!([])), json!(0));
}

#[test]
fn a_source_is_opened_in_the_editor_by_keys_and_by_mouse() {
    let sandbox = Sandbox::open();
    let Sandbox { shop, editor, .. } = &sandbox;
    let window = sandbox.showing(FEED);
    let can = "document.querySelector('[data-testid=open-editor]:enabled')";
    for (id, place) in [(7, "src/retry.rs:17"), (3, "src/ledger.rs:33")] {
        for hand in BOTH {
            window.open_row(hand, &shop.ids[id]);
            window.wait(can);
            window.by(hand, "o", "open-editor");
            let opened = editor.wait_opened();
            assert_eq!(
                opened,
                shop.root.join(place).display().to_string(),
                "{hand:?}"
            );
            window.wait("document.querySelector('[data-testid=notice]:not(.error)')");
        }
    }
    // From the menu, too.
    window.keys(".");
    window.wait_moved("document.querySelector('[data-testid=menu-item]:focus')");
    window.click("[data-testid=menu-item][data-command=open]");
    assert!(editor.wait_opened().ends_with("src/ledger.rs:33"));
    // A file that is no longer in the working tree cannot be opened.
    fs::remove_file(shop.root.join("src/ledger.rs")).unwrap();
    window.open_row(Hand::Mouse, &shop.ids[0]);
    window.wait("document.querySelector('[data-testid=standing]')?.dataset.reading === 'gone'");
    window.keys("o");
    window.wait(
        "document.querySelector('[data-testid=notice].error')?.textContent.includes('no longer in the working tree')",
    );
}

/// Dialogs that are complete only in the real window.
const OVER: &[(&str, &str, &str)] = &[
    (
        "settings",
        "[data-testid=settings-button]",
        "document.querySelector('dialog[open] [data-testid=open-log]') && document.querySelector('dialog[open] [data-testid=about] code')",
    ),
    (
        "repositories",
        "[data-testid=repo]",
        "document.querySelectorAll('dialog[open] [data-testid=repository]').length === 2",
    ),
];

/// Lists what a screen reader announces of a dialog, except for the editors of this machine.
const HEARD: &str = "const all = [...document.querySelectorAll('dialog[open] :is(h2, button, input, form, ul, li, [role])')]
        .filter(it => it.checkVisibility() && !it.matches('[data-testid=editor]:not([data-program=\"\"])'));
    axe.setup(document.body);
    const heard = all.map((it, at) => {
        it.dataset.heard = at;
        const name = axe.commons.text.accessibleText(it);
        const states = ['disabled', 'aria-current', 'aria-pressed'].filter(state => it.matches(`[${state}]:not([${state}=false])`));
        const depth = all.filter(other => other !== it && other.contains(it)).length;
        return [depth, name, states.join(' ')];
    });
    axe.teardown();
    return heard;";

#[test]
fn what_only_the_window_has_is_heard_and_axe_has_nothing_against_it() {
    let sandbox = Sandbox::open();
    let other = make_other_shop(&sandbox.shop);
    let window = sandbox.showing(FEED);
    // Both were open before.
    bring(&window, &other.root);
    window.wait(&is_read(&other.ids[0]));
    window.find(&row(&other.ids[0]));
    window.script(&dashboard::axe(), json!([]));
    let place = sandbox.shop.dir.display().to_string();
    let mut violations = Vec::new();
    for (name, button, shown) in OVER {
        window.click(button);
        window.wait(shown);
        for theme in ["light", "dark", "contrast"] {
            window.themed(theme);
            let found = window.faults(true);
            violations.extend(found.into_iter().map(|it| format!("{name}, {theme}: {it}")));
        }
        let heard: Vec<(usize, String, String)> =
            serde_json::from_value(window.script(HEARD, json!([]))).unwrap();
        let lines = heard
            .into_iter()
            .enumerate()
            .map(|(at, (depth, name, states))| {
                let role = window.role(&format!("[data-heard=\"{at}\"]"));
                let name = if name.is_empty() {
                    String::new()
                } else {
                    format!(" {name:?}")
                };
                let states = if states.is_empty() {
                    states
                } else {
                    format!(" [{states}]")
                };
                format!("{}{role}{name}{states}\n", "  ".repeat(depth))
            });
        let text: String = lines.collect();
        insta::assert_snapshot!(*name, text.replace(&place, "DIR"));
        window.keys(ESCAPE);
        window.wait("!document.querySelector('dialog[open]')");
    }
    assert!(violations.is_empty(), "{}", violations.join("\n"));
}

#[test]
fn a_link_in_another_program_opens_the_window_once_that_was_chosen() {
    let sandbox = Sandbox::open();
    let Sandbox { shop, engram, .. } = &sandbox;
    let window = sandbox.showing(FEED);
    window.wait(&is_read(&shop.ids[7]));
    let chosen = engram.person.join(".config/mimeapps.list");
    window.click("[data-testid=settings-button]");
    window.wait(
        "document.querySelector('[data-testid=links]')?.textContent.includes('do not open in')",
    );
    assert!(!chosen.exists(), "nothing is chosen without asking");
    window.click("[data-testid=bring-links]");
    window.wait("document.querySelector('[data-testid=links]')?.textContent.includes('open in this window')");
    let list = fs::read_to_string(&chosen).unwrap();
    assert!(list.contains("x-scheme-handler/engram"), "{list}");
    window.keys(ESCAPE);
    window.wait("!document.querySelector('dialog[open]')");
    // Any program passes a link in this way; the window copies the same link.
    let link = format!("engram://engram/{}", shop.ids[2]);
    let mut open = clean(machine::system("gio"), &engram.person);
    // This also waits for the program that it started, which holds its output.
    let output = open.args(["open", &link]).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    window.wait(&is_read(&shop.ids[2]));
}
