//! The frame of the window: palette, keys, panes, settings, other repositories, links, another
//! start.

use std::{
    fs,
    path::Path,
    thread,
    time::{Duration, Instant},
};

use engram_model::Call;
use serde_json::{Value, json};

use crate::{
    dashboard::{
        hands::{DOWN, ENTER, ESCAPE, is_open, row},
        shop::Shop,
    },
    engram::Engram,
    graphics::{Alone, wait_end},
    machine::{desktop, ok, system},
    stage::Sandbox,
    window::Window,
};

const RIGHT: &str = "\u{E014}";
/// Claims that must not affect the window that shows them.
const HOSTILE: &[&str] = &[
    "<img src=x onerror=\"window.hacked = 1\"><script>window.hacked = 1</script><b>bold</b>",
    "The ledger \u{1B}[31mis red\u{1B}[0m, and a bell \u{7}rings",
    "&lt;script&gt; is text, and so is {{curly}} ${dollar} %s",
];

fn drafts(claims: &[String]) -> Vec<Value> {
    let draft = |claim: &String| json!({"claim": claim, "pointers": ["repo:NOTES.md#L1-L1@HEAD"], "agent": "architect", "topic": "frame"});
    claims.iter().map(draft).collect()
}

#[test]
fn the_frame_is_worked_by_keys_and_keeps_what_was_chosen() {
    let sandbox = Sandbox::noted();
    let Sandbox { engram, editor, .. } = &sandbox;
    let mut claims: Vec<String> = HOSTILE.iter().map(|&it| it.to_owned()).collect();
    claims.push("🦀".repeat(500));
    let long = format!("Reservations hold the lock. {}", "It matters. ".repeat(20));
    claims.push(long.trim_end().to_owned());
    let ids = engram.put(&drafts(&claims));
    let open = || sandbox.showing("[data-testid=engram] [data-testid=digest]");
    let window = open();

    // A claim is shown as text, whatever it contains.
    for (id, claim) in ids.iter().zip(&claims) {
        let shown = window.script(
            "return document.querySelector(`[data-testid=feed-row][data-id=\"${arguments[0]}\"] p`).textContent",
            json!([id]),
        );
        // Control characters of a terminal are shown by name, not obeyed.
        let plain = claim
            .replace('\u{1B}', "⟨U+001B⟩")
            .replace('\u{7}', "⟨U+0007⟩");
        assert_eq!(shown.as_str(), Some(plain.as_str()));
    }
    assert_eq!(window.count(".row img, .row script, .row p b"), 0);
    assert_eq!(
        window.script("return window.hacked ?? null", json!([])),
        Value::Null
    );

    // The palette: a few letters and Enter show the whole claim, and a key folds it again.
    window.control('k');
    window.find("[data-testid=palette-input]");
    assert_eq!(window.role("[data-testid=palette-input]"), "combobox");
    window.shot("palette");
    window.keys("whole claim");
    window.wait("document.querySelector('[data-testid=palette-option][aria-selected=true]')?.textContent.startsWith('Show the whole claim')");
    window.keys(ENTER);
    window.find(".row.opened [data-testid=row-more]");
    window.wait("document.querySelector('.row.opened').offsetHeight > 120");
    window.shot("expanded");
    window.keys("e");
    window.wait("!document.querySelector('.row.opened')");
    // Finds an engram by its words.
    window.control('k');
    window.find("[data-testid=palette-input]");
    window.keys("ledger rings");
    // The best claim comes first; the last option lists all.
    window.wait("document.querySelector('[data-testid=palette-option][aria-selected=true] mark')");
    window.keys(ENTER);
    window.wait(&is_open(&ids[1]));
    window.keys("?");
    window.find("[data-testid=shortcuts] kbd");
    window.shot("sheet");
    window.keys(ESCAPE);
    window.wait("!document.querySelector('dialog[open]')");

    // The panes are resized by pointer and by keys, and the window remembers their sizes.
    let split = "[data-testid=split]";
    assert_eq!(window.role(split), "separator");
    let width = || {
        window
            .attribute(split, "aria-valuenow")
            .parse::<i32>()
            .unwrap()
    };
    window.wait("document.querySelector('[data-testid=split]').getAttribute('aria-valuenow') === String(document.querySelector('.list').clientWidth)");
    let before = width();
    window.drag(split, 60);
    window.wait(&format!(
        "document.querySelector('{split}').getAttribute('aria-valuenow') === '{}'",
        before + 60
    ));
    window.script(
        "document.querySelector(arguments[0]).focus()",
        json!([split]),
    );
    window.keys(RIGHT);
    window.wait(&format!(
        "document.querySelector('{split}').getAttribute('aria-valuenow') === '{}'",
        before + 84
    ));
    // The edge also resizes the list when another pane is above the list.
    window.script("document.activeElement.blur()", json!([]));
    window.click("[data-testid=knowledge-view]");
    window.find("[data-testid=when]");
    window.script(
        "document.querySelector(arguments[0]).focus()",
        json!([split]),
    );
    window.keys(RIGHT);
    window.wait(&format!(
        "document.querySelector('{split}').getAttribute('aria-valuenow') === '{}'",
        before + 108
    ));
    window.click("[data-testid=feed-view]");

    // The settings apply at once, and are stored in the home.
    window.control(',');
    window.click("[data-testid=theme-high-contrast]");
    window.wait("document.documentElement.dataset.theme === 'contrast'");
    window.click("[data-testid=density-compact]");
    window.wait("document.querySelector('[data-testid=feed-row]').offsetHeight === 50");
    window.click("[data-testid=editor-line]");
    window.keys("subl {file}:{line}\u{E007}");
    window.wait("document.querySelector('[data-testid=about]').textContent.includes('Engram 0.')");
    window.shot("settings");
    window.script(
        "document.documentElement.dataset.theme = 'contrast'",
        json!([]),
    );
    window.click("[data-testid=motion-reduced]");
    window.wait("document.documentElement.dataset.motion === 'reduced'");
    // The log opens in the person's editor.
    let home = Path::new(&engram.place_args[1]);
    window.click("[data-testid=editor][data-program=\"\"]");
    // The setting applies at once but is stored a moment later, and opening the log reads the
    // stored one.
    let begun = Instant::now();
    while fs::read_to_string(home.join("window.toml")).is_ok_and(|it| it.contains("subl")) {
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "the setting is never stored"
        );
        thread::yield_now();
    }
    window.click("[data-testid=open-log]");
    let opened = editor.wait_opened();
    assert!(
        opened.contains("/logs/window.") && opened.ends_with(".log:1"),
        "{opened}"
    );
    window.keys(ESCAPE);
    window.wait("!document.querySelector('dialog[open]')");
    // The notice of the opened log is over the status line.
    window.keys(ESCAPE);
    window.wait("!document.querySelector('[data-testid=notice]')");
    window.click("[data-testid=log-button]");
    assert_eq!(editor.wait_opened(), opened);
    drop(window);
    let kept: String = fs::read_to_string(home.join("window.toml")).unwrap();
    for line in [
        "theme = \"contrast\"".to_owned(),
        "density = \"compact\"".to_owned(),
        "motion = \"reduced\"".to_owned(),
        format!("list_width = {}", before + 108),
    ] {
        assert!(kept.contains(&line), "{line} in {kept}");
    }
    let window = open();
    window.wait("document.documentElement.dataset.theme === 'contrast'");
    window.wait(&format!(
        "document.querySelector('.list').clientWidth === {}",
        before + 108
    ));
    window.shot("compact");
}

/// Presses the right button of the real mouse on the matching element, and releases it once the
/// menu is there, as a hand does: what WebDriver sends has no release of its own.
fn press_right_slowly(window: &Window, css: &str) {
    window.find(css);
    let script = "const at = document.querySelector(arguments[0]).getBoundingClientRect();
        return [at.left + 60, at.top + at.height / 2].map(it => Math.round(it * devicePixelRatio))";
    let [x, y]: [i64; 2] = serde_json::from_value(window.script(script, json!([css]))).unwrap();
    let mouse = |args: &[&str]| {
        ok(window.drawn().command(system("xdotool")).args(args));
    };
    mouse(&[
        "mousemove",
        &x.to_string(),
        &y.to_string(),
        "mousedown",
        "3",
    ]);
    window.find("[data-testid=menu]");
    mouse(&["mouseup", "3"]);
    // What follows from the release has happened by the next frame but one.
    let painted = "const done = arguments[0]; requestAnimationFrame(() => requestAnimationFrame(() => done(true)));";
    window.script_until(painted, json!([]));
}

#[test]
fn an_engram_has_a_menu_at_its_row_and_at_the_pointer() {
    let sandbox = Sandbox::noted();
    let claims = ["The ledger is append-only.", "Reservations hold the lock."];
    let Sandbox { shop, engram, .. } = &sandbox;
    let ids = engram.put(&drafts(&claims.map(str::to_owned)));
    let window = sandbox.showing("[data-testid=engram] [data-testid=digest]");
    window.script("document.querySelector('#feed').focus()", json!([]));
    const OPEN: &str =
        "document.querySelector('[data-testid=menu]:popover-open [data-testid=menu-item]:focus')";
    const CLOSED: &str = "!document.querySelector('[data-testid=menu]')";
    let commands = || {
        let script = "return [...document.querySelectorAll('[data-testid=menu-item]')].map(it => it.dataset.command).join(' ')";
        window
            .script(script, json!([]))
            .as_str()
            .unwrap()
            .to_owned()
    };
    let focus = "document.activeElement";
    window.keys(".");
    window.wait(OPEN);
    assert_eq!(window.role("[data-testid=menu-item]"), "menuitem");
    assert_eq!(
        commands(),
        "open copy-claim copy link choose expand blame history correct pin forget redact"
    );
    window.shot("menu");
    // The arrow keys move through the menu; leaving it chooses nothing.
    window.keys(DOWN);
    window.wait(&format!("{focus}.dataset.command === 'copy-claim'"));
    window.keys(ESCAPE);
    window.wait(CLOSED);
    window.wait(&format!("{focus}.id === 'feed'"));
    // On another row, the menu is that row's.
    window.right_click(&row(&ids[0]));
    window.wait(OPEN);
    window.wait(&is_open(&ids[0]));
    window.keys(DOWN);
    window.keys(DOWN);
    window.keys(ENTER);
    window.wait(
        "document.querySelector('[data-testid=notice]')?.textContent.startsWith('Pointer copied')",
    );
    window.wait(CLOSED);
    window.wait(&format!("{focus}.id === 'feed'"));
    // A key copies the link, which another field gets from the clipboard.
    window.keys("l");
    window.wait(
        "document.querySelector('[data-testid=notice]')?.textContent.startsWith('Link copied')",
    );
    window.keys("/");
    window.control('v');
    let link = format!("engram://feed/{}?repo={}", ids[0], shop.root.display());
    window.script_until(
        "const [link, done] = arguments, it = document.getElementById('filter');
        const is_it = () => it.value.startsWith(link);
        is_it() ? done() : it.addEventListener('input', () => is_it() && done());",
        json!([link]),
    );
    // No claim matches, so none is open; without the filter, the previous one is.
    window.wait("!document.querySelector('[data-testid=engram]')");
    window.keys(ESCAPE);
    window.wait(&is_open(&ids[0]));
    // A button of the mouse that is held for a moment: its release is not a press outside the menu.
    for css in [&row(&ids[0]), &row(&ids[1]), "[data-testid=claim]"] {
        press_right_slowly(&window, css);
        assert_eq!(window.count("[data-testid=menu]:popover-open"), 1, "{css}");
        window.wait(OPEN);
        window.keys(ESCAPE);
        window.wait(CLOSED);
    }
    window.click(&row(&ids[0]));
    window.wait(&is_open(&ids[0]));
    // A command's own key works in the menu, too.
    window.right_click("[data-testid=claim]");
    window.wait(OPEN);
    window.keys("e");
    window.wait(CLOSED);
    window.wait("document.querySelector('.row.opened')");
    window.keys("e");
    window.wait("!document.querySelector('.row.opened')");
    // Fields and selected text have the system's menu; everything else has none.
    let is_ours = |css: &str| {
        let script = "return !document.querySelector(arguments[0]).dispatchEvent(new MouseEvent('contextmenu', {bubbles: true, cancelable: true}))";
        window.script(script, json!([css])) == json!(true)
    };
    assert!(is_ours("footer"));
    assert_eq!(window.count("[data-testid=menu]"), 0);
    assert!(!is_ours("[data-testid=filter]"));
    window.script(
        "getSelection().selectAllChildren(document.querySelector('[data-testid=claim]'))",
        json!([]),
    );
    assert!(!is_ours("[data-testid=claim]"));
    window.script("getSelection().removeAllRanges()", json!([]));
    // At the edge, the menu stays within the window.
    window.script("document.querySelector('#engram').dispatchEvent(new MouseEvent('contextmenu', {bubbles: true, cancelable: true, clientX: innerWidth - 1, clientY: innerHeight - 1}))", json!([]));
    window.wait(OPEN);
    let room = "const it = document.querySelector('[data-testid=menu]').getBoundingClientRect();
        return it.left >= 0 && it.top >= 0 && it.right <= innerWidth && it.bottom <= innerHeight";
    assert_eq!(window.script(room, json!([])), json!(true));
    window.click("[data-testid=split]");
    window.wait(CLOSED);
}

#[test]
fn one_window_for_several_repositories_links_and_starts() {
    let sandbox = Sandbox::noted();
    let Sandbox { shop, engram, .. } = &sandbox;
    let claims = ["The first of two", "The second of two"].map(str::to_owned);
    let ids = engram.put(&drafts(&claims));
    let other = shop.dir.join("other");
    fs::create_dir_all(&other).unwrap();
    let other = Shop::empty_in(&other).noted();
    let mut there = Engram::of(&shop.dir, &shop.home, &other.root);
    let theirs = there.put(&drafts(&["Only the other repository knows".to_owned()]));
    // The link given at the start opens once the page is there.
    let link = |id: &str| {
        let mut args = engram.place_args[..2].to_vec();
        args.push(format!("engram://engram/{id}"));
        args
    };
    let mut args = engram.place_args.to_vec();
    args.push(format!("engram://engram/{}", ids[0]));
    let window = Window::open(desktop(), &args, &engram.person, &sandbox.editor.program);
    window.wait(&is_open(&ids[0]));
    // A second start with this home passes on its link and ends.
    window.beside(desktop(), &link(&ids[1]));
    window.wait(&is_open(&ids[1]));
    window.beside(desktop(), &link("nonsense"));
    window.wait(
        "document.querySelector('[data-testid=notice]')?.textContent.includes('cannot open this link')",
    );
    // A link to an unknown repository is offered, not opened; one to an unknown view is refused.
    let to = |link: String| {
        let mut args = engram.place_args[..2].to_vec();
        args.push(link);
        window.beside(desktop(), &args);
    };
    let stranger = shop.dir.join("it's 100% strange");
    fs::create_dir_all(&stranger).unwrap();
    let stranger = Shop::empty_in(&stranger).noted();
    let strange = |path: String| format!("engram://feed?repo={}", path.replace('%', "%25"));
    to(strange(stranger.root.display().to_string()));
    let offered = "document.querySelector('[data-testid=offer][open]')?.textContent";
    window.wait(&format!("{offered}?.includes('another repository')"));
    assert_eq!(
        window.text("[data-testid=offered]"),
        stranger.root.display().to_string()
    );
    window.shot("offer");
    window.keys(ESCAPE);
    window.wait("!document.querySelector('dialog[open]')");
    window.wait(&is_open(&ids[1]));
    // An accepted path without a repository is refused in the offer.
    to(strange(shop.dir.display().to_string()));
    window.wait(&format!("{offered}?.includes('another repository')"));
    window.click("[data-testid=offer-open]");
    window.wait(&format!("{offered}?.includes('not a git repository')"));
    to(strange(stranger.root.display().to_string()));
    window.wait(&format!("!{offered}?.includes('not a git repository')"));
    window.click("[data-testid=offer-open]");
    window.wait("document.querySelector('[data-testid=first-run]') && !document.querySelector('dialog[open]')");
    // A repository that agents use is known, even if it was never opened here.
    to(format!(
        "engram://feed/{}?repo={}",
        theirs[0],
        other.root.display()
    ));
    window.wait(&is_open(&theirs[0]));
    // A start inside a repository brings that one to the front.
    let deep = shop.root.join("deep/er");
    fs::create_dir_all(&deep).unwrap();
    window.beside_in(&deep, desktop(), &engram.place_args[..2]);
    window.wait(&is_open(&ids[1]));
    to("engram://budgets".to_owned());
    window.wait(
        "document.querySelector('[data-testid=notice]')?.textContent.includes('no view called budgets')",
    );

    // Another repository by its path, by keys alone.
    window.control('o');
    window.find("[data-testid=repository][aria-current=true]");
    window.keys("/nowhere/at/all\u{E007}");
    window.wait(
        "document.querySelector('dialog[open] [data-testid=refused]')?.textContent.includes('does not exist')",
    );
    window.script(
        "document.querySelector('[data-testid=repository-path]').value = ''",
        json!([]),
    );
    window.keys(&format!("{}\u{E007}", other.root.display()));
    window.wait(&is_open(&theirs[0]));
    assert_eq!(window.count("[data-testid=feed-row]"), 1);
    window.shot("other");
    window.wait("!document.querySelector('[data-testid=refused]')");
    // The feed is live there.
    let more = there.put(&drafts(&["Written while it is open".to_owned()]));
    window.find(&row(&more[0]));
    there.repo = shop.root.clone();
    // And back, from the list.
    window.control('o');
    window.find("[data-testid=repository]:not([aria-current])");
    window.shot("repositories");
    window.keys("\u{E015}\u{E015}\u{E007}");
    window.wait(&is_open(&ids[1]));
    assert_eq!(window.count("[data-testid=feed-row]"), 2);
    // A second start with a repository brings it into this window.
    let mut args = there.place_args[..2].to_vec();
    args.extend(["--repo".to_owned(), other.root.display().to_string()]);
    window.beside(desktop(), &args);
    window.find(&row(&theirs[0]));
    // A link to a repository that was open before brings it back, with the link's target.
    to(format!(
        "engram://feed/{}?repo={}",
        ids[0],
        shop.root.display()
    ));
    window.wait(&is_open(&ids[0]));
}

#[test]
fn every_call_of_the_page_is_known_to_the_window() {
    let sandbox = Sandbox::noted();
    let window = sandbox.showing("[data-testid=first-run]");
    // A known call that waits is not refused, unlike an unknown call.
    let ask = "const [name, done] = arguments;
        const ask = name => window.__TAURI__.core.invoke(name, {junk: 1}).then(() => 'answered', it => JSON.stringify(it));
        Promise.race([ask(name), ask('no_such_call').then(() => ask('no_such_call')).then(() => 'waits')]).then(done);";
    let answer = |name: &str| {
        let answer = window.script_until(ask, json!([name]));
        answer.as_str().expect("text").to_owned()
    };
    let control = "const done = arguments[0];
        window.__TAURI__.core.invoke('no_such_call', {}).then(() => done('answered'), it => done(JSON.stringify(it)));";
    let is_unknown = |answer: &str| answer.contains("not found") || answer.contains("not allowed");
    let unknown = window.script_until(control, json!([]));
    assert!(is_unknown(unknown.as_str().unwrap()), "{unknown}");
    for call in Call::ALL {
        let answer = answer(call.name());
        println!("{}: {answer}", call.name());
        assert!(!is_unknown(&answer), "{}: {answer}", call.name());
    }
    // The read command refuses changes, and the change command refuses reads.
    let send = "const [name, request, done] = arguments;
        window.__TAURI__.core.invoke(name, {request}).then(() => done('answered'), it => done(JSON.stringify(it)));";
    for (call, request, says) in [
        ("change", "status", "changes nothing"),
        ("read", "load_sample", "changes something"),
    ] {
        let answer = window.script_until(send, json!([call, { "do": request }]));
        assert!(answer.as_str().unwrap().contains(says), "{call}: {answer}");
    }
}

/// Events before the window exists are in its log, too.
#[test]
fn what_the_window_says_first_is_in_its_log() {
    let sandbox = Sandbox::noted();
    let home = &sandbox.shop.home;
    // A folder blocks the socket that a second start would connect to.
    std::fs::create_dir_all(home.join("window.sock/full")).unwrap();
    let window = sandbox.showing("[data-testid=first-run]");
    drop(window);
    let logs = std::fs::read_dir(home.join("logs")).unwrap();
    let text: String = logs
        .map(|it| std::fs::read_to_string(it.unwrap().path()).unwrap())
        .collect();
    assert!(
        text.contains("a second start will open a second window"),
        "{text}"
    );
}

#[test]
fn a_window_opens_where_it_was_closed() {
    let mut alone = Alone::open();
    let stands = |alone: &Alone| {
        let id = alone.display.visible("^Engram");
        let text = alone.display.point(&["getwindowgeometry", "--shell", &id]);
        let lines = text.lines().filter(|it| !it.starts_with("WINDOW="));
        (id, lines.collect::<Vec<_>>().join(" "))
    };
    alone.wait("the page is ready", 1);
    let (id, before) = stands(&alone);
    alone
        .display
        .point(&["windowsize", "--sync", &id, "1000", "700"]);
    alone
        .display
        .point(&["windowmove", "--sync", &id, "60", "40"]);
    let (_, closed) = stands(&alone);
    assert_ne!(closed, before);
    // It closes for the window that replaces it.
    let second = alone.again(&["--safe-graphics"]);
    assert_eq!(wait_end(&mut alone.window).code(), Some(0));
    alone.window = second;
    alone.wait("the page is ready", 2);
    assert_eq!(stands(&alone).1, closed);
}

#[test]
fn a_sample_is_loaded_and_removed_from_the_first_page() {
    let sandbox = Sandbox::noted();
    let repo = &sandbox.shop;
    let ledger = repo.show("HEAD", "src/ledger.rs");
    let ledger = ledger.replace(
        "position(|it| it.order == order)",
        "position(|it| it.is_of(order))",
    );
    repo.change(
        "src/ledger.rs",
        format!("// <b>Above</b>.\n\n{ledger}"),
        "Ask the row",
    );
    repo.git(&["mv", "src/retry.rs", "src/backoff.rs"]);
    repo.commit("Call it what it is");
    let window = sandbox.showing("[data-testid=first-run]");
    window.shot("first-run");
    window.click("[data-testid=load-sample]");
    window.find("[data-testid=sample-note]");
    window.find("[data-testid=engram] [data-testid=digest]");
    // The sample arrives in several parts; this claim is its last.
    window.wait(
        "document.querySelector('[data-testid=feed-row] p').innerText.includes('edited line')",
    );
    let status = sandbox.engram.json(&["status"]);
    assert_eq!(status["engrams"], json!(5), "{status}");
    // The sample has one claim for each state.
    window.wait("['edited: review', 'moved', 'unchanged', 'replaced'].every(word => [...document.querySelectorAll('[data-testid=evidence]')].some(it => it.textContent === word))");
    window.shot("sample");
    // A filter without matches is shown differently from an empty home.
    window.keys("/no such words\u{E007}");
    window.find("[data-testid=no-match]");
    window.keys("f");
    window.find("[data-testid=until]");
    window.shot("no-match");
    window.keys("f");
    window.click("[data-testid=no-match] button:last-child");
    window.wait("document.querySelectorAll('[data-testid=feed-row]').length >= 4");
    window.click("[data-testid=remove-sample]");
    window.find("[data-testid=first-run]");
    assert_eq!(sandbox.engram.json(&["status"])["engrams"], json!(0));
}
