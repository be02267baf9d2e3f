//! `cargo xtask test`: every check and every test, and one closing line with the totals.

use std::{
    io::{BufRead, BufReader, Write},
    path::{Path, PathBuf},
    process::{Command, ExitCode},
    sync::mpsc,
    time::Duration,
};

use anyhow::{Context, Result, bail};
use which::which;

use crate::{leftover_processes, schemas, steps::Steps, tally::Tally};
use xtask::{
    remove_folder, setup,
    shell::{DASHBOARD, build, cargo, command_line, run},
    tools, ui,
};

/// A test run that prints nothing for this long hangs.
const SILENCE: Duration = Duration::from_secs(10 * 60);

/// The front end is a separate workspace; what needs no browser is checked on the host.
const UI: &str = "ui/Cargo.toml";

#[derive(clap::Args)]
pub struct Test {
    /// Only tests whose name contains this; the checks before them are left out
    filter: Option<String>,
}

impl Test {
    pub fn perform(self, root: &Path) -> Result<ExitCode> {
        let mut steps = Steps::new(if self.filter.is_some() { 5 } else { 11 });
        let mut tally = Tally::default();
        let ready = prepare(&mut steps, root).is_some();
        if ready && self.filter.is_none() {
            run_checks(&mut steps, root);
        }
        if ready {
            run_all_tests(&mut steps, root, self.filter.as_deref(), &mut tally);
        }
        Ok(print_outcome(&steps, &tally))
    }
}

/// Prepares what every later step needs.
fn prepare(steps: &mut Steps, root: &Path) -> Option<()> {
    steps.step("what this machine lacks", "cargo xtask setup", || {
        setup::ensure(setup::Needs::ALL)
    })?;
    steps.step("the front end", "cargo xtask ui", || ui::build(root, false))
}

/// Runs the checks that need no test binary. Each one runs, even if others failed.
fn run_checks(steps: &mut Steps, root: &Path) {
    let check = |steps: &mut Steps, name: &str, mut command: Command| {
        command.current_dir(root);
        let again = command_line(&command);
        steps.step(name, &again, || run(&mut command));
    };
    let mut fmt = cargo();
    fmt.args(["fmt", "--all", "--check"]);
    check(steps, "format", fmt);
    let mut fmt = cargo();
    fmt.args(["fmt", "--check", "--manifest-path", UI]);
    check(steps, "format of the front end", fmt);
    let mut clippy = cargo();
    clippy.args([
        "clippy",
        "--workspace",
        "--all-targets",
        DASHBOARD,
        "--",
        "-D",
        "warnings",
    ]);
    check(steps, "clippy", clippy);
    let mut clippy = cargo();
    clippy
        .args([
            "clippy",
            "--all-targets",
            "--all-features",
            "--manifest-path",
            UI,
        ])
        .args(["--", "-D", "warnings"]);
    check(steps, "clippy of the front end", clippy);
    steps.step("schemas", "cargo xtask schemas --check", || {
        schemas::write_or_check(root, true)
    });
    steps.step("licences and bans", "cargo deny check", || deny(root));
}

/// Runs cargo-deny only where it is installed, since installing is slow; the tests check licences
/// and edges without it.
fn deny(root: &Path) -> Result<()> {
    if which("cargo-deny").is_err() {
        println!("cargo-deny is not installed: left to xtask/tests/tidy");
        return Ok(());
    }
    run(cargo()
        .args(["deny", "--offline", "check", "bans", "licenses"])
        .current_dir(root))
}

/// The seed of the random cases, so that findings are repeatable; plain `cargo test` draws other
/// cases.
const SEED: (&str, &str) = ("PROPTEST_RNG_SEED", "1");

fn run_all_tests(steps: &mut Steps, root: &Path, filter: Option<&str>, tally: &mut Tally) {
    // One build with the tests' features, so that the binaries which journeys drive exist and
    // nothing is compiled twice.
    const BUILD: [&str; 4] = ["--workspace", "--bins", "--tests", DASHBOARD];
    let again = format!("cargo build {}", BUILD.join(" "));
    let Some(built) = steps.step("build", &again, || build(root, &BUILD)) else {
        return;
    };
    let mut all = cargo();
    all.args(["test", "--workspace", "--no-fail-fast", DASHBOARD])
        .args(filter)
        .env(SEED.0, SEED.1)
        .envs(built.get("engram").map(|it| ("ENGRAM_BIN", it)));
    run_tests(steps, root, "tests", all, tally);
    let mut ui = cargo();
    ui.args(["test", "--all-features", "--manifest-path", UI])
        .env(SEED.0, SEED.1)
        .args(filter);
    run_tests(steps, root, "tests of the front end", ui, tally);
}

fn run_tests(steps: &mut Steps, root: &Path, name: &str, mut command: Command, total: &mut Tally) {
    let again = command_line(&command);
    let mut tally = Tally::default();
    steps.step(name, &again, || {
        let home = Trap::new()?;
        let mark = std::process::id().to_string();
        command
            .current_dir(root)
            .env(leftover_processes::RUN, &mark)
            .env("ENGRAM_TOOLS", tools::folder())
            .env("ENGRAM_ONNXRUNTIME", tools::runtime()?)
            .env("ENGRAM_HOME", &home.path);
        let watched = run_watched(command, &mut tally, std::io::stdout());
        let all_ended = leftover_processes::end_all(&mark);
        watched?;
        all_ended?;
        home.check_untouched()
    });
    total.add(tally);
}

/// A home that no test may use: a test that forgets to name its own would write here.
struct Trap {
    path: PathBuf,
}

impl Trap {
    fn new() -> Result<Self> {
        let path =
            std::env::temp_dir().join(format!("engram-home-of-nobody-{}", std::process::id()));
        remove_folder(&path)?;
        Ok(Self { path })
    }

    fn check_untouched(&self) -> Result<()> {
        if self.path.exists() {
            bail!(
                "a test wrote into the user's home of Engram ({}): it must name one of its own",
                self.path.display()
            );
        }
        Ok(())
    }
}

/// Passes the output through, counts results, and ends a run that hangs.
fn run_watched(mut command: Command, tally: &mut Tally, mut out: impl Write) -> Result<()> {
    // One pipe for both outputs keeps their order.
    let (reader, writer) = std::io::pipe()?;
    command.stdout(writer.try_clone()?).stderr(writer);
    own_group(&mut command);
    let mut child = command.spawn().context("cargo does not start")?;
    // The command holds the writing ends, and the pipe ends only when they are closed.
    drop(command);

    let (send, lines) = mpsc::channel();
    std::thread::spawn(move || {
        let mut reader = BufReader::new(reader);
        let mut line = Vec::new();
        while matches!(reader.read_until(b'\n', &mut line), Ok(1..)) {
            if send.send(std::mem::take(&mut line)).is_err() {
                return;
            }
        }
    });
    loop {
        match lines.recv_timeout(SILENCE) {
            Ok(line) => {
                out.write_all(&line)?;
                tally.read(&String::from_utf8_lossy(&line));
            }
            Err(mpsc::RecvTimeoutError::Disconnected) => break,
            Err(mpsc::RecvTimeoutError::Timeout) => {
                end_group(child.id());
                tally.close();
                child.wait()?;
                bail!(
                    "no output for {} minutes: the last test above hangs",
                    SILENCE.as_secs() / 60
                );
            }
        }
    }
    tally.close();
    let status = child.wait()?;
    match tally.failures() {
        0 if status.success() => {}
        0 => bail!("cargo stopped before the tests were done ({status})"),
        failures => bail!("{failures} of the tests failed"),
    }
    Ok(())
}

#[cfg(unix)]
fn own_group(command: &mut Command) {
    use std::os::unix::process::CommandExt;
    command.process_group(0);
}

#[cfg(not(unix))]
fn own_group(_: &mut Command) {}

/// Ends the run and all processes that its tests started.
fn end_group(pid: u32) {
    let group = format!("-{pid}");
    let _ = Command::new("kill").args(["-KILL", "--", &group]).status();
}

/// Prints the failed steps, then the closing line that other programs read. A failed step without
/// tests counts as one failure.
fn print_outcome(steps: &Steps, tally: &Tally) -> ExitCode {
    let failures = steps.failures();
    println!("\nin {}", steps.elapsed());
    if tally.ignored > 0 {
        println!("{} tests were ignored", tally.ignored);
    }
    for name in &tally.names {
        println!("failed: test {name}");
    }
    for failure in failures {
        println!("failed: {failure}");
    }
    let of_tests = tally.failures();
    let counted_by_tests = usize::from(of_tests > 0);
    let failed = of_tests + failures.len().saturating_sub(counted_by_tests) as u64;
    println!("{} passed, {failed} failed", tally.passed);
    match failed {
        0 => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn sh(script: &str) -> Command {
        let mut command = crate::shell::command("sh");
        command.args(["-c", script]);
        command
    }

    #[test]
    fn output_of_both_kinds_is_counted_in_order() {
        for (script, ok, passed, failed) in [
            (
                "echo Running a >&2; echo 'test result: ok. 2 passed; 0 failed'",
                true,
                2,
                0,
            ),
            (
                "echo Running a >&2; echo 'test result: FAILED. 2 passed; 1 failed'; exit 101",
                false,
                2,
                1,
            ),
            ("echo Running a >&2; kill -SEGV $$", false, 0, 1),
            (
                "echo Running a >&2; echo Running b >&2; echo 'test result: ok. 1 passed'",
                false,
                1,
                1,
            ),
            ("echo error: could not compile >&2; exit 101", false, 0, 0),
        ] {
            let mut tally = Tally::default();
            let result = run_watched(sh(script), &mut tally, std::io::sink());
            assert_eq!(result.is_ok(), ok, "{script}");
            assert_eq!(
                (tally.passed, tally.failures()),
                (passed, failed),
                "{script}"
            );
        }
    }

    #[test]
    fn a_failed_step_without_tests_is_a_failure_too() {
        let mut steps = Steps::new(1);
        let _: Option<()> = steps.step("format", "cargo fmt", || bail!("differs"));
        assert_eq!(print_outcome(&steps, &Tally::default()), ExitCode::FAILURE);
        assert_eq!(
            print_outcome(&Steps::new(1), &Tally::default()),
            ExitCode::SUCCESS
        );
    }

    #[test]
    fn a_home_that_was_used_is_noticed() {
        let trap = Trap::new().unwrap();
        trap.check_untouched().unwrap();
        std::fs::create_dir(&trap.path).unwrap();
        assert!(trap.check_untouched().is_err());
        std::fs::remove_dir(&trap.path).unwrap();
    }
}
