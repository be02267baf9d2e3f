//! File systems that a test mounts for itself: small, full or read-only.

use std::process::Command;

use crate::ran;

/// Set for a test that runs again inside its own mounts.
const INSIDE: &str = "ENGRAM_TEST_INSIDE";

/// Runs a test, by its full name, again where it may mount file systems that nobody else sees.
///
/// # Panics
/// Where the test fails, or this machine allows no mounts.
pub fn with_mounts(test: &str, body: impl FnOnce()) {
    if std::env::var_os(INSIDE).is_some() {
        return body();
    }
    let ways: [&[&str]; 2] = [&["--mount"], &["--user", "--map-root-user", "--mount"]];
    let works = |way: &&[&str]| {
        let tried = Command::new("unshare").args(*way).arg("true").output();
        tried.is_ok_and(|it| it.status.success())
    };
    let way = ways.into_iter().find(works).expect(
        "this test mounts a small disk and needs `unshare --mount`: run it as root, or allow user namespaces",
    );
    let output = Command::new("unshare")
        .args(way)
        .arg(std::env::current_exe().unwrap())
        .args([test, "--exact", "--nocapture"])
        .env(INSIDE, "1")
        .output()
        .unwrap();
    let ran = ran(output);
    assert!(
        ran.code == Some(0) && ran.out.contains("1 passed"),
        "{test}:\n{}\n{}",
        ran.out,
        ran.err
    );
}

/// `mount` with these arguments.
///
/// # Panics
/// Where it fails.
#[track_caller]
pub fn mount(args: &[&str]) {
    let output = Command::new("mount").args(args).output().unwrap();
    assert!(output.status.success(), "mount {args:?}: {output:?}");
}
