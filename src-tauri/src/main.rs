//! The window: a Tauri shell that translates the page's calls to the engine's one `Request`, opens
//! an editor when asked, and shows itself once there is something to see.
//!
//! **Never:** decides what the engine decides, runs a shell, or grants the page anything but the
//! commands of `permissions/window.toml`.
#![cfg_attr(not(debug_assertions), windows_subsystem = "windows")]

mod commands;
mod connect;
mod editor;
mod folder;
mod graphics;
mod links;
mod log;
#[cfg(target_os = "linux")]
mod message;
#[cfg(target_os = "linux")]
mod notify;
mod recent;
mod repositories;
mod settings;
mod shell;
mod single_instance;
mod window;
mod window_commands;
mod window_place;

use std::{path::PathBuf, process::ExitCode};

use clap::Parser;
use engram_engine::Options;
use engram_model::Handed;

use shell::Shell;
use single_instance::{StartOutcome, StartRequest};

/// Opens the window for a repository's shared memory.
#[derive(Parser)]
#[command(name = "engram-desktop", version)]
struct Cli {
    /// Where to keep data [default: engram in your data folder]
    #[arg(long, env = "ENGRAM_HOME", value_name = "DIR")]
    home: Option<PathBuf>,
    /// A working tree, a bare repository or a .git folder [default: found from the current folder]
    #[arg(long, value_name = "DIR")]
    repo: Option<PathBuf>,
    /// Draw without the graphics card: slower, for drivers that show a blank window
    #[arg(long)]
    safe_graphics: bool,
    /// What to open: engram://engram/ID, engram://feed?kind=risk, engram://drift
    #[arg(value_name = "LINK")]
    link: Option<String>,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let Some(home) = cli.home.or_else(engram_engine::default_home) else {
        eprintln!(
            "error: this account has no home folder; choose where to keep data with --home or ENGRAM_HOME"
        );
        return ExitCode::FAILURE;
    };
    #[allow(unsafe_code)]
    // SAFETY: no thread was started yet.
    unsafe {
        graphics::prepare(cli.safe_graphics);
    }
    // Before any code that may log.
    let _log = log::start_log(&home);
    let from = std::env::current_dir().unwrap_or_else(|_| home.clone());
    let named = cli
        .repo
        .clone()
        .map(|it| std::path::absolute(&it).unwrap_or(it));
    // A start in a repository asks for that repository, unless it also has a link.
    let around = || match cli.link {
        None => engram_engine::repository_around(&from),
        Some(_) => None,
    };
    let asked = StartRequest {
        repo: named.or_else(around),
        link: cli.link.clone(),
        safely: cli.safe_graphics,
    };
    let door = match single_instance::start(&home, &asked) {
        StartOutcome::Handed => return ExitCode::SUCCESS,
        StartOutcome::First(door) => door,
    };
    // GTK does not return if no display is named; Tauri panics if no server is behind the name.
    #[cfg(target_os = "linux")]
    if !["WAYLAND_DISPLAY", "DISPLAY"]
        .iter()
        .any(|it| std::env::var_os(it).is_some_and(|it| !it.is_empty()))
        || gtk::init().is_err()
    {
        eprintln!(
            "error: there is no display to open the window on; use `engram serve`, and open the address that it prints in a browser"
        );
        return ExitCode::FAILURE;
    }
    let shell = Shell::new(Options {
        home,
        repo: cli.repo,
        from,
    });
    if let Some(link) = asked.link {
        shell.hand(Handed::Link(link));
    }
    match window::run(shell, door) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            tracing::error!(%error, "the window could not start");
            eprintln!("error: cannot start the window: {error}");
            ExitCode::FAILURE
        }
    }
}
