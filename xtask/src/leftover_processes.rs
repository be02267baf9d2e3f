//! What tests left running: each ends all that it started.

use std::{fs, path::Path, process::Command};

use anyhow::{Result, bail};

/// The variable by which the processes of a run are known; the tests hand it on to all that they start.
pub const RUN: &str = "ENGRAM_TEST_RUN";

/// Ends what is left of a run.
///
/// # Errors
/// If there was anything, with its names. Elsewhere than on Linux nothing is looked for.
pub fn end_all(run: &str) -> Result<()> {
    let left = of_run(Path::new("/proc"), run);
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

/// The processes of a run, by number and name. What cannot be read is somebody else's, or gone.
fn of_run(proc: &Path, run: &str) -> Vec<(String, String)> {
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
        // It has its environment once it runs.
        let (mut to, mut from) = (child.stdin.take().unwrap(), child.stdout.take().unwrap());
        to.write_all(b"x").unwrap();
        from.read_exact(&mut [0]).unwrap();
        let told = end_all(&run).unwrap_err().to_string();
        assert!(told.contains(&format!("cat ({})", child.id())), "{told}");
        assert!(!child.wait().unwrap().success());
    }
}
