//! The programs that the tests find on this machine, and processes that end with their test.

use std::{
    env,
    ffi::OsStr,
    os::unix::process::CommandExt,
    path::{Path, PathBuf},
    process::{Child, Command, Output, Stdio},
    sync::{OnceLock, mpsc},
    thread,
    time::Duration,
};

use rustix::process::{Pid, Signal, kill_process_group};

/// Marks the processes of a run, so that `cargo xtask test` finds those that are left.
const RUN: &str = "ENGRAM_TEST_RUN";
/// The maximum time of any agent, client or browser step, even on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// The folder where `cargo xtask setup` installs other authors' clients.
fn tools() -> PathBuf {
    let cache = || match env::var_os("XDG_CACHE_HOME") {
        Some(dir) => PathBuf::from(dir),
        None => env::home_dir().expect("a home folder").join(".cache"),
    };
    env::var_os("ENGRAM_TOOLS").map_or_else(|| cache().join("engram/tools"), PathBuf::from)
}

/// A program installed from npm: `claude`, `codex`, `mcp-inspector`.
pub fn npm(program: &str) -> PathBuf {
    require(tools().join("npm/node_modules/.bin").join(program))
}

/// A file among the installed tools.
pub fn tool(path: &str) -> PathBuf {
    require(tools().join(path))
}

/// The Python that has `mcp` and `jsonschema`.
pub fn python() -> PathBuf {
    require(tools().join("venv/bin/python"))
}

/// A program of the system.
pub fn system(program: &str) -> PathBuf {
    let path = env::var_os("PATH").unwrap_or_default();
    let found = env::split_paths(&path)
        .map(|dir| dir.join(program))
        .find(|it| it.is_file());
    found.unwrap_or_else(|| missing(program))
}

fn require(path: PathBuf) -> PathBuf {
    if path.is_file() {
        path
    } else {
        missing(&path.display().to_string())
    }
}

fn missing(what: &str) -> ! {
    panic!("{what} is missing: run `cargo xtask setup`, then this test again")
}

/// The `engram` command of this workspace, built once for all tests; or `$ENGRAM_BIN` unchanged.
pub fn engram() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| env::var_os("ENGRAM_BIN").map_or_else(build_engram, PathBuf::from))
}

fn build_engram() -> PathBuf {
    build(&["--package=engram-cli"]);
    desktop().with_file_name("engram")
}

/// The program that fills a home with a large number of engrams (`crates/engine/examples/many.rs`),
/// built once for all tests.
pub fn many_program() -> &'static Path {
    static BUILT: OnceLock<PathBuf> = OnceLock::new();
    BUILT.get_or_init(|| {
        build(&["--workspace", "--example=many"]);
        desktop().with_file_name("examples").join("many")
    })
}

fn build(what: &[&str]) {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut build = Command::new(cargo);
    build
        .args(["build", "--quiet", "--features=engram-cli/dashboard"])
        .args(what)
        .current_dir(workspace());
    let status = build.status().expect("cargo can be started");
    assert!(status.success(), "`cargo build` failed: see above");
}

/// The window, built by cargo for this test; or `$ENGRAM_DESKTOP` unchanged.
pub fn desktop() -> &'static Path {
    static FOUND: OnceLock<PathBuf> = OnceLock::new();
    let built = || PathBuf::from(env!("CARGO_BIN_EXE_engram-desktop"));
    FOUND.get_or_init(|| env::var_os("ENGRAM_DESKTOP").map_or_else(built, PathBuf::from))
}

/// The root of this workspace.
pub fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

/// A command that sees nothing of the person who runs the tests (no home, keys or settings). The
/// system ends it if the test is killed.
pub fn clean(program: impl AsRef<OsStr>, home: &Path) -> Command {
    let system_path = env::var_os("PATH").unwrap_or_default();
    let node = tools().join("npm/node_modules/.bin");
    let path = env::join_paths([node].into_iter().chain(env::split_paths(&system_path)));
    let mut command = Command::new(system("setpriv"));
    command.args(["--pdeathsig", "KILL", "--"]).arg(program);
    command
        .env_clear()
        .env("PATH", path.unwrap())
        .env("HOME", home)
        .env("LANG", "C.UTF-8")
        // A window that finds no bus would start one that outlives it, and behave as on a desktop.
        .env("DBUS_SESSION_BUS_ADDRESS", "disabled:")
        .env("GSETTINGS_BACKEND", "memory")
        .env("NO_AT_BRIDGE", "1")
        .envs(env::var_os(RUN).map(|it| (RUN, it)));
    command.stdin(Stdio::null());
    command
}

/// A process with all its child processes, ended on drop.
pub struct Running(pub Child);

impl Running {
    /// Starts `command` in a process group of its own.
    pub fn start(command: &mut Command) -> Self {
        let started = command.process_group(0).spawn();
        Self(started.unwrap_or_else(|error| panic!("{command:?} does not start: {error}")))
    }

    fn group(&self) -> Pid {
        Pid::from_child(&self.0)
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let _ = kill_process_group(self.group(), Signal::KILL); // it may already be gone
        let _ = self.0.wait();
    }
}

/// Runs `command` to its end and returns its output. After [`PATIENCE`] it is killed, and the test
/// fails.
pub fn run(command: &mut Command) -> Output {
    let (stdout, stderr) = (tempfile::tempfile().unwrap(), tempfile::tempfile().unwrap());
    command
        .stdout(stdout.try_clone().unwrap())
        .stderr(stderr.try_clone().unwrap());
    let mut running = Running::start(command);
    let group = running.group();
    let (done, ended) = mpsc::channel::<()>();
    let watch = thread::spawn(move || {
        if ended.recv_timeout(PATIENCE) == Err(mpsc::RecvTimeoutError::Timeout) {
            let _ = kill_process_group(group, Signal::KILL);
        }
    });
    let status = running.0.wait().unwrap();
    drop(done);
    watch.join().unwrap();
    Output {
        status,
        stdout: read(stdout),
        stderr: read(stderr),
    }
}

fn read(mut file: std::fs::File) -> Vec<u8> {
    use std::io::{Read, Seek};
    let mut bytes = Vec::new();
    file.rewind().unwrap();
    file.read_to_end(&mut bytes).unwrap();
    bytes
}

/// Runs `command`, which must succeed, and returns its standard output.
pub fn ok(command: &mut Command) -> String {
    let output = run(command);
    let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "{command:?}\n{}\n{stdout}\n{stderr}",
        output.status
    );
    stdout
}

#[test]
#[should_panic(expected = "run `cargo xtask setup`")]
fn a_missing_tool_is_a_failure_that_says_what_to_do() {
    system("engram-no-such-program");
}
