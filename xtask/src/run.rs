//! `cargo xtask run`: the main job on this machine, from a fresh clone to an open window.

use std::{
    collections::HashSet,
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
    process::{Child, Command, Stdio},
    time::{Duration, Instant},
};

use crate::steps::Steps;
use anyhow::{Context, Result, bail};
use xtask::{
    setup,
    shell::{DASHBOARD, build, command, run},
    ui,
};

/// A window that has not painted within this time is broken.
const PAINTED: Duration = Duration::from_secs(60);

#[derive(clap::Args)]
pub struct Run {
    /// The repository to open; this one when absent
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,
    /// Where data lives; engram in your data folder when absent
    #[arg(long, value_name = "DIR")]
    home: Option<PathBuf>,
    /// Show the window on a virtual display, write a picture of it to this file, and end
    #[arg(long, value_name = "FILE")]
    screenshot: Option<PathBuf>,
    /// Optimised, as it would be shipped
    #[arg(long)]
    release: bool,
}

struct Binaries {
    command: PathBuf,
    window: PathBuf,
}

impl Run {
    pub fn perform(self, root: &Path) -> Result<()> {
        let repo = self.repo.as_deref().unwrap_or(root);
        let repo = repo
            .canonicalize()
            .with_context(|| format!("{} cannot be opened", repo.display()))?;
        let binaries = self.build(root)?;
        println!("\nthe command: {}", binaries.command.display());
        match &self.screenshot {
            Some(file) => screenshot(self.command_for(&binaries.window, &repo), file),
            None if has_display() => {
                println!(
                    "the window opens on {}; closing it ends this task",
                    repo.display()
                );
                run(&mut self.command_for(&binaries.window, &repo))
            }
            None => {
                println!(
                    "there is no display (neither DISPLAY nor WAYLAND_DISPLAY is set); \
                     --screenshot FILE shows the window in a picture.\n\
                     the window on {} for a browser is at this address; Ctrl-C ends it",
                    repo.display()
                );
                run(self.command_for(&binaries.command, &repo).arg("serve"))
            }
        }
    }

    fn build(&self, root: &Path) -> Result<Binaries> {
        let needs = setup::Needs {
            screenshot: self.screenshot.is_some(),
            test: false,
        };
        let again = "the same task";
        let mut steps = Steps::new(3);
        let built = steps
            .step("what this machine lacks", "cargo xtask setup", || {
                setup::ensure(needs)
            })
            .and_then(|()| {
                steps.step("the front end", "cargo xtask ui", || {
                    ui::build(root, self.release)
                })
            })
            .and_then(|()| {
                steps.step("the command and the window", again, || {
                    compile(root, self.release)
                })
            });
        built.context("nothing was opened; mend the step above and run this again")
    }

    /// Returns one of our binaries for this home and repository.
    fn command_for(&self, binary: &Path, repo: &Path) -> Command {
        let mut command = command(binary);
        if let Some(home) = &self.home {
            command.arg("--home").arg(home);
        }
        command.arg("--repo").arg(repo);
        command
    }
}

fn has_display() -> bool {
    let set = |name| std::env::var_os(name).is_some_and(|it| !it.is_empty());
    !cfg!(target_os = "linux") || set("DISPLAY") || set("WAYLAND_DISPLAY")
}

fn compile(root: &Path, release: bool) -> Result<Binaries> {
    let mut arguments = vec![
        "--package=engram-cli",
        "--package=engram-desktop",
        DASHBOARD,
    ];
    arguments.extend(release.then_some("--release"));
    let mut built = build(root, &arguments)?;
    let mut take = |name| {
        built
            .remove(name)
            .with_context(|| format!("cargo built no {name}"))
    };
    Ok(Binaries {
        command: take("engram")?,
        window: take("engram-desktop")?,
    })
}

/// Runs the window on a virtual display and saves a picture of it.
fn screenshot(mut window: Command, file: &Path) -> Result<()> {
    let (_display, name) = virtual_display()?;
    window
        .env("DISPLAY", &name)
        .env("GDK_BACKEND", "x11")
        .env("WEBKIT_DISABLE_DMABUF_RENDERER", "1")
        .env("LIBGL_ALWAYS_SOFTWARE", "1")
        .env_remove("WAYLAND_DISPLAY");
    let mut window = ProcessGuard(window.spawn().context("the window does not start")?);
    wait_until_painted(&name, &mut window.0)?;
    run(capture(&name).arg(file)).context("the picture could not be written")?;
    println!("the window, in a picture: {}", file.display());
    Ok(())
}

/// Starts a display, which picks its number and prints it when ready.
fn virtual_display() -> Result<(ProcessGuard, String)> {
    let mut server = command("Xvfb")
        .args([
            "-displayfd",
            "1",
            "-screen",
            "0",
            "1280x800x24",
            "-nolisten",
            "tcp",
        ])
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .context("Xvfb does not start; run `cargo xtask setup`")?;
    let output = server.stdout.take();
    let server = ProcessGuard(server);
    let mut number = String::new();
    BufReader::new(output.context("Xvfb's output is closed")?).read_line(&mut number)?;
    let number: u32 = number
        .trim()
        .parse()
        .context("Xvfb ended before it was ready")?;
    Ok((server, format!(":{number}")))
}

fn capture(display: &str) -> Command {
    let mut import = command("import");
    import.args(["-display", display, "-window", "root"]);
    import
}

/// Waits for a painted window: one that shows many shades, as text does, and no longer changes.
fn wait_until_painted(display: &str, window: &mut Child) -> Result<()> {
    let end = Instant::now() + PAINTED;
    let (mut last, mut still) = (Vec::new(), 0);
    while Instant::now() < end {
        if let Some(status) = window.try_wait()? {
            bail!("the window closed by itself ({status})");
        }
        let now = capture(display).arg("rgb:-").output()?.stdout;
        still = if now == last { still + 1 } else { 0 };
        if still >= 3 && count_shades(&now) > 16 {
            return Ok(());
        }
        last = now;
    }
    bail!("the window showed nothing within {} s", PAINTED.as_secs())
}

fn count_shades(rgb: &[u8]) -> usize {
    rgb.chunks_exact(3).collect::<HashSet<_>>().len()
}

/// A process that ends when this is dropped.
struct ProcessGuard(Child);

impl Drop for ProcessGuard {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::{CommandFactory, FromArgMatches};
    use xtask::shell::command_line;

    fn parsed(arguments: &[&str]) -> Run {
        let task = <Run as clap::Args>::augment_args(clap::Command::new("run"));
        let matches = task.get_matches_from(arguments);
        Run::from_arg_matches(&matches).unwrap()
    }

    #[test]
    fn home_and_repository_reach_the_binary() {
        let run = parsed(&["run", "--repo", "r", "--home", "h"]);
        assert_eq!(
            command_line(&run.command_for(Path::new("/x/engram"), Path::new("r"))),
            "engram --home h --repo r"
        );
        let run = parsed(&["run"]);
        assert_eq!(
            command_line(&run.command_for(Path::new("/x/engram"), Path::new("."))),
            "engram --repo ."
        );
        crate::Cli::command().debug_assert();
    }

    #[test]
    fn a_blank_picture_has_one_shade() {
        assert_eq!(count_shades(&[255; 300]), 1);
        assert_eq!(count_shades(&[0, 0, 0, 1, 1, 1, 0, 0, 0]), 2);
    }
}
