//! The home disappears, returns, and is replaced by an earlier copy, while a window is open.

use std::{
    fs,
    io::Write,
    path::{Path, PathBuf},
    process::Command,
};

use engram_kit::{mount, with_mounts};
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::json;

use crate::{
    dashboard::{
        hands::{BOTH, DELETE, ENTER, Hand, LIVE, is_read, rows},
        shop::Shop,
    },
    machine::{ok, run, system},
    stage::Sandbox,
    window::Window,
};

fn copy(from: &Path, to: &Path) {
    ok(Command::new(system("cp")).arg("-a").args([from, to]));
}

#[test]
fn a_home_that_goes_is_noticed_and_one_that_comes_back_is_shown() {
    let mut sandbox = Sandbox::open();
    let [backup, away]: [PathBuf; 2] = ["backup", "away"].map(|it| sandbox.shop.dir.join(it));
    copy(&sandbox.shop.home, &backup);
    let window = sandbox.window();
    let Sandbox { shop, engram, .. } = &mut sandbox;
    window.wait(&is_read(&shop.ids[7]));
    // Ids depend on the time, so each claim gets its own.
    let say = |shop: &mut Shop, minute: i64, claim: &str| {
        let draft =
            json!({"claim": claim, "agent": "tester", "pointers": ["repo:src/retry.rs@HEAD"]});
        shop.say([(minute, draft)]);
    };
    // It may be held back, since the pointer may be over the list.
    let arrives = |count: usize| {
        let waits = "document.querySelector('[data-testid=new-pill]')";
        window.wait(&format!("{} || {waits}", rows(count)));
        window.keys("n");
        window.wait(&rows(count));
    };
    say(shop, 400, "Said before the home went.");
    arrives(9);
    window.wait(LIVE);

    // The window notices by itself, without any request.
    fs::rename(&shop.home, &away).unwrap();
    window.wait("document.querySelector('[data-testid=disconnected]')?.textContent.includes('home folder is gone')");
    let told = window.text("[data-testid=disconnected]");
    assert!(told.contains(&shop.home.display().to_string()), "{told}");
    window.shot("homeless");
    // The screen keeps its content; a change is refused and creates no home.
    window.wait(&rows(9));
    window.open_row(Hand::Mouse, &shop.ids[0]);
    window.keys(DELETE);
    window.find("[data-testid=confirm]");
    window.keys(ENTER);
    let refused = "document.querySelector('[data-testid=detail] [data-testid=refused]')";
    window.wait(&format!("{refused}?.dataset.code === 'STORE_GONE'"));
    assert!(!shop.home.exists(), "no home is created in its place");

    // The home returns, and the window works again.
    fs::rename(&away, &shop.home).unwrap();
    window.wait(LIVE);
    window.wait("!document.querySelector('[data-testid=disconnected]')");
    window.wait(&format!("!{refused}"));
    window.wait("document.querySelector('[data-testid=engram] .proof')");
    say(shop, 401, "Said after it came back.");
    arrives(10);

    // A backup replaces the home: its content is shown, and new claims are stored in it.
    fs::rename(&shop.home, &away).unwrap();
    copy(&backup, &shop.home);
    window.wait(&rows(8));
    window.wait(LIVE);
    say(shop, 402, "Said in the copy.");
    arrives(9);
    let printed = run(engram.command(&["query", "Said in the copy"]).arg("--json"));
    assert!(String::from_utf8_lossy(&printed.stdout).contains("Said in the copy"));
}

/// Each failure names the home and says what to do, and ends with its cause.
#[test]
fn a_home_that_cannot_be_opened_is_opened_once_it_can_be() {
    let sandbox = Sandbox::open();
    let shop = &sandbox.shop;
    let database = shop.home.join("engram.db");
    let sound = fs::read(&database).unwrap();
    let newer = {
        let mut bytes = sound.clone();
        bytes[60..64].copy_from_slice(&99u32.to_be_bytes());
        bytes
    };
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
        let broken = shop.dir.join(name);
        fs::create_dir(&broken).unwrap();
        fs::write(broken.join("engram.db"), &bytes).unwrap();
        // In one step, since the window creates a home if it finds none.
        let exchange = || {
            renameat_with(CWD, &shop.home, CWD, &broken, RenameFlags::EXCHANGE).unwrap();
        };
        exchange();
        let window = sandbox.window();
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
        // No user action is needed.
        exchange();
        window.wait(&rows(8));
        window.wait(LIVE);
        assert_eq!(window.count("[data-testid=failure]"), 0, "{name}");
    }
}

/// Opens a window on the shop's home, which is on another file system.
fn open_on_disk(sandbox: &Sandbox) -> Window {
    let window = sandbox.window();
    window.wait(&is_read(&sandbox.shop.ids[7]));
    window
}

/// Tries to forget the open claim; the refusal appears where the command was given.
fn assert_refused(window: &Window, hand: Hand, code: &str) {
    window.press_on(hand, "forget");
    window.wait_moved(
        "document.querySelector('[data-testid=confirm]')?.contains(document.activeElement)",
    );
    window.by(hand, ENTER, "forget-yes");
    window.wait(&format!(
        "document.querySelector('[data-testid=detail] [data-testid=refused]')?.dataset.code === '{code}'"
    ));
}

#[test]
fn a_home_that_is_read_only_is_read_and_written_again_once_it_can_be() {
    with_mounts(
        "home::a_home_that_is_read_only_is_read_and_written_again_once_it_can_be",
        || {
            let mut sandbox = Sandbox::open();
            let home = sandbox.shop.home.to_str().unwrap().to_owned();
            mount(&["--bind", &home, &home]);
            mount(&["-o", "remount,bind,ro", &home]);
            let window = open_on_disk(&sandbox);
            let shop = &mut sandbox.shop;
            window.wait("document.querySelector('[data-testid=disconnected]')?.textContent.includes('not writable')");
            for (hand, id) in BOTH.into_iter().zip([6, 5]) {
                // Existing claims can be read.
                window.open_row(Hand::Mouse, &shop.ids[id]);
                assert_refused(&window, hand, "STORE_READ_ONLY");
                let told = window.text("[data-testid=refused]");
                assert!(told.contains(&home), "{told}");
                window.shot("home-read-only");
            }
            mount(&["-o", "remount,bind,rw", &home]);
            window.wait(LIVE);
            window.wait("!document.querySelector('[data-testid=disconnected]')");
            shop.say([(400, json!({"claim": "Said once it could be.", "agent": "tester", "pointers": ["repo:src/retry.rs@HEAD"]}))]);
            window.wait(&format!(
                "{} || document.querySelector('[data-testid=new-pill]')",
                rows(9)
            ));
            window.keys("n");
            window.wait(&rows(9));
            drop(window);
            mount_ends(&home);
        },
    );
}

#[test]
fn a_full_home_is_said_to_be_full_and_written_again_once_there_is_room() {
    with_mounts(
        "home::a_full_home_is_said_to_be_full_and_written_again_once_there_is_room",
        || {
            let mut shop = Shop::empty();
            let disk = shop.dir.join("disk");
            fs::create_dir(&disk).unwrap();
            mount(&[
                "-t",
                "tmpfs",
                "-o",
                "size=64m",
                "tmpfs",
                disk.to_str().unwrap(),
            ]);
            shop.home = disk.join("home");
            shop.say_all();
            let sandbox = Sandbox::of(shop);
            let shop = &sandbox.shop;
            let window = open_on_disk(&sandbox);
            window.wait(LIVE);
            let ballast = disk.join("ballast");
            let mut file = fs::File::create(&ballast).unwrap();
            while file.write(&[0; 512]).is_ok_and(|it| it > 0) {}
            for (hand, id) in BOTH.into_iter().zip([6, 5]) {
                window.open_row(Hand::Mouse, &shop.ids[id]);
                assert_refused(&window, hand, "STORE_FULL");
                let told = window.text("[data-testid=refused]");
                assert!(told.contains(shop.home.to_str().unwrap()), "{told}");
                window.shot("home-full");
            }
            drop(file);
            fs::remove_file(&ballast).unwrap();
            // The same key works again.
            window.keys(DELETE);
            window.wait_moved(
                "document.querySelector('[data-testid=confirm]')?.contains(document.activeElement)",
            );
            window.keys(ENTER);
            window.find("[data-testid=notice] [data-testid=undo]");
            window.wait("!document.querySelector('[data-testid=detail] [data-testid=refused]')");
            drop(window);
            mount_ends(disk.to_str().unwrap());
        },
    );
}

/// Unmounts the file system; its folder is removed with the other files of the test.
fn mount_ends(at: &str) {
    ok(Command::new(system("umount")).args(["--lazy", at]));
}
