//! The home goes, comes back, and is put back to a copy of before, under an open window.

use std::{
    fs,
    path::{Path, PathBuf},
    process::Command,
};

use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use crate::{
    dashboard::{
        hands::{DELETE, ENTER, Hand, read, rows},
        shop::Shop,
    },
    editor::Editor,
    engram::Engram,
    machine::{desktop, ok, run, system},
    window::Window,
};

const LIVE: &str = "document.querySelector('[data-testid=link]')?.dataset.state === 'live'";

fn copy(from: &Path, to: &Path) {
    ok(Command::new(system("cp")).arg("-a").args([from, to]));
}

#[test]
fn a_home_that_goes_is_noticed_and_one_that_comes_back_is_shown() {
    let dir = tempfile::tempdir().unwrap();
    let mut shop = Shop::open(dir.path());
    let [backup, away]: [PathBuf; 2] = ["backup", "away"].map(|it| dir.path().join(it));
    copy(&shop.home, &backup);
    let editor = Editor::new(dir.path());
    let engram = Engram::of(dir.path(), &shop.home, &shop.root);
    let person = dir.path().join("person");
    let window = Window::open(desktop(), &engram.place, &person, &editor.program);
    window.wait(&read(&shop.ids[7]));
    // Ids come from the time: each is said at another.
    let say = |shop: &mut Shop, minute: i64, claim: &str| {
        let draft =
            json!({"claim": claim, "agent": "tester", "pointers": ["repo:src/retry.rs@HEAD"]});
        shop.say([(minute, draft)]);
    };
    say(&mut shop, 400, "Said before the home went.");
    window.wait(&rows(9));
    window.wait(LIVE);

    // Nobody asks for anything: the window notices by itself.
    fs::rename(&shop.home, &away).unwrap();
    window.wait("document.querySelector('[data-testid=disconnected]')?.textContent.includes('home folder is gone')");
    let told = window.text("[data-testid=disconnected]");
    assert!(told.contains(&shop.home.display().to_string()), "{told}");
    window.shot("homeless");
    // What is on screen stays; a change is refused, and makes no home.
    window.wait(&rows(9));
    window.open_row(Hand::Mouse, &shop.ids[0]);
    window.keys(DELETE);
    window.find("[data-testid=confirm]");
    window.keys(ENTER);
    let refused = "document.querySelector('[data-testid=detail] [data-testid=refused]')";
    window.wait(&format!("{refused}?.dataset.code === 'STORE_GONE'"));
    assert!(!shop.home.exists(), "no home is made in its place");

    // It comes back, and so does the window.
    fs::rename(&away, &shop.home).unwrap();
    window.wait(LIVE);
    window.wait("!document.querySelector('[data-testid=disconnected]')");
    window.wait(&format!("!{refused}"));
    window.wait("document.querySelector('[data-testid=engram] .proof')");
    // It may be held back: the pointer rests on the row that it chose.
    let arrives = |count: usize| {
        let waits = "document.querySelector('[data-testid=new-pill]')";
        window.wait(&format!("{} || {waits}", rows(count)));
        window.keys("n");
        window.wait(&rows(count));
    };
    say(&mut shop, 401, "Said after it came back.");
    arrives(10);

    // A backup takes its place: what it has is shown, and what is said then is kept there.
    fs::rename(&shop.home, &away).unwrap();
    copy(&backup, &shop.home);
    window.wait(&rows(8));
    window.wait(LIVE);
    say(&mut shop, 402, "Said in the copy.");
    arrives(9);
    let printed = run(engram.command(&["query", "Said in the copy"]).arg("--json"));
    assert!(String::from_utf8_lossy(&printed.stdout).contains("Said in the copy"));
}

/// Each failure says where the home is and what to do, and ends with its cause.
#[test]
fn a_home_that_cannot_be_opened_is_opened_once_it_can_be() {
    let dir = tempfile::tempdir().unwrap();
    let shop = Shop::open(dir.path());
    let database = shop.home.join("engram.db");
    let sound = fs::read(&database).unwrap();
    let newer = {
        let mut bytes = sound.clone();
        bytes[60..64].copy_from_slice(&99u32.to_be_bytes());
        bytes
    };
    let editor = Editor::new(dir.path());
    let engram = Engram::of(dir.path(), &shop.home, &shop.root);
    let person = dir.path().join("person");
    for (name, bytes, code, remedy) in [
        (
            "corrupt",
            sound[..sound.len() / 2].to_vec(),
            "STORE_CORRUPT",
            true,
        ),
        ("newer", newer, "STORE_NEWER", false),
        ("foreign", vec![b'x'; 100_000], "STORE_CORRUPT", false),
    ] {
        let broken = dir.path().join(name);
        fs::create_dir(&broken).unwrap();
        fs::write(broken.join("engram.db"), &bytes).unwrap();
        // In one step: the window creates a home if it finds none.
        let exchange = || {
            renameat_with(CWD, &shop.home, CWD, &broken, RenameFlags::EXCHANGE).unwrap();
        };
        exchange();
        let window = Window::open(desktop(), &engram.place, &person, &editor.program);
        window.wait(&format!(
            "document.querySelector('[data-testid=failure]')?.dataset.code === '{code}'"
        ));
        let said = window.text("[data-testid=failure]");
        assert!(said.contains(&database.display().to_string()), "{said}");
        if remedy {
            let command = window.text("[data-testid=remedy] code");
            assert!(command.ends_with("doctor --recover"), "{command}");
            assert!(
                command.contains(&shop.home.display().to_string()),
                "{command}"
            );
            window.shot("home-corrupt");
        } else {
            assert_eq!(fs::read(&database).unwrap(), bytes, "{name}: untouched");
        }
        // Nobody presses anything.
        exchange();
        window.wait(&rows(8));
        window.wait(LIVE);
        assert_eq!(window.count("[data-testid=failure]"), 0, "{name}");
    }
}
