//! File systems that a test mounts for itself: small, full or read-only.

use std::process::Command;

use crate::output_of;

/// Set for the second run of a test, inside its own mounts.
const INSIDE: &str = "ENGRAM_TEST_INSIDE";

/// Runs a test again, by its full name, in a namespace where it may mount file systems that only it
/// sees.
///
/// # Panics
///
/// The test fails, or this machine allows no mounts.
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
    let ran = output_of(output);
    assert!(
        ran.code == Some(0) && ran.out.contains("1 passed"),
        "{test}:\n{}\n{}",
        ran.out,
        ran.err
    );
}

/// Runs `mount` with these arguments.
///
/// # Panics
///
/// The command fails.
#[track_caller]
pub fn mount(args: &[&str]) {
    let output = Command::new("mount").args(args).output().unwrap();
    assert!(output.status.success(), "mount {args:?}: {output:?}");
}
