//! Finds processes that tests left running: each test must end all that it started.

use std::{fs, path::Path, process::Command};

use anyhow::{Result, bail};

/// The variable that marks the processes of a run; tests pass it on to all that they start.
pub const RUN: &str = "ENGRAM_TEST_RUN";

/// Ends the processes that a run left behind.
///
/// # Errors
/// There were any; the error names them. On systems other than Linux, none are looked for.
pub fn end_all(run: &str) -> Result<()> {
    let left = processes_of_run(Path::new("/proc"), run);
    if left.is_empty() {
        return Ok(());
    }
    for (pid, _) in &left {
        let _ = Command::new("kill").args(["-KILL", pid]).status();
    }
    let names: Vec<String> = left
        .iter()
        .map(|(pid, name)| format!("{name} ({pid})"))
        .collect();
    bail!(
        "{} processes outlived the tests that started them: {}",
        left.len(),
        names.join(", ")
    )
}

/// Returns the processes of a run, by number and name. Those that cannot be read belong to others,
/// or have ended.
fn processes_of_run(proc: &Path, run: &str) -> Vec<(String, String)> {
    let mark = format!("{RUN}={run}");
    let entries = fs::read_dir(proc).into_iter().flatten().flatten();
    let mut found = Vec::new();
    for entry in entries {
        let pid = entry.file_name().to_string_lossy().into_owned();
        let variables = fs::read(entry.path().join("environ")).unwrap_or_default();
        let is_ours = variables
            .split(|it| *it == 0)
            .any(|it| it == mark.as_bytes());
        if is_ours && pid != std::process::id().to_string() {
            let name = fs::read_to_string(entry.path().join("comm")).unwrap_or_default();
            found.push((pid, name.trim().to_owned()));
        }
    }
    found
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use std::{
        io::{Read, Write},
        process::Stdio,
    };

    use super::*;

    #[test]
    fn what_a_test_left_running_is_found_and_ended() {
        let run = format!("test-{}", std::process::id());
        assert!(end_all(&run).is_ok());
        let mut child = Command::new("cat")
            .env(RUN, &run)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        // Once the process answers, its environment is set.
        let (mut to, mut from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        to.write_all(b"x").unwrap();
        from.read_exact(&mut [0]).unwrap();
        let told = end_all(&run).unwrap_err().to_string();
        assert!(told.contains(&format!("cat ({})", child.id())), "{told}");
        assert!(!child.wait().unwrap().success());
    }
}
