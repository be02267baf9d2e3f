//! `cargo xtask bench --window`: fills a home with few engrams and one with many, and measures the
//! window on both (`tests/journey/bench.rs` describes how).

use std::{fs, path::Path, process::Command};

use anyhow::{Context, Result};

use super::filled;
use xtask::{
    remove_folder,
    shell::{build, cargo, run},
    ui,
};

const FEW: u64 = 1_000;
/// More engrams than the window's own caches hold for a project, so that later writes do not make
/// them grow.
const USED: u64 = 61_000;

/// Measures the window with few engrams and with `many`; or, with `minutes`, how much memory it
/// holds after a flood of that length. The homes are kept in `place`, and existing ones are only
/// filled up.
pub(crate) fn perform(root: &Path, place: &Path, many: u64, minutes: u64) -> Result<()> {
    ui::build(root, true)?;
    print_size(root)?;
    let programs = [
        "--release",
        "--package=engram-cli",
        "--package=engram-desktop",
    ];
    let mut built = build(root, &programs)?;
    let mut take = |name| {
        built
            .remove(name)
            .with_context(|| format!("cargo built no {name}"))
    };
    let (command, desktop) = (take("engram")?, take("engram-desktop")?);
    let writer = filled::build_writer(root)?;
    let repo = place.join("repo");
    filled::repository(&repo)?;
    // The last run wrote more engrams into it.
    let few = place.join("few");
    remove_folder(&few)?;
    let homes = match minutes {
        0 => &[("few", FEW), ("many", many)][..],
        _ => &[("few", USED)],
    };
    for (home, count) in homes {
        run(&mut filled::fill_command(
            &writer,
            &place.join(home),
            &repo,
            *count,
        ))?;
    }
    // Memory is measured alone.
    let tests = if minutes == 0 { "bench" } else { "bench::" };
    // The tests that drive the window are built as usual; only the window's speed matters.
    let mut measure = cargo();
    measure
        .args([
            "test",
            "--workspace",
            "--features=engram-cli/dashboard,engram-desktop/bench",
            "--test=journey",
        ])
        .args([tests, "--", "--nocapture", "--test-threads=1"])
        .current_dir(root)
        .env("ENGRAM_BIN", &command)
        .env("ENGRAM_DESKTOP", &desktop)
        .env("ENGRAM_BENCH", place)
        .env("ENGRAM_BENCH_WRITER", &writer)
        .env("ENGRAM_BENCH_MINUTES", minutes.to_string());
    run(&mut measure)
}

/// Prints the size of what the page loads.
fn print_size(root: &Path) -> Result<()> {
    let wasm = root.join("ui/dist/ui_bg.wasm");
    let raw = fs::metadata(&wasm)?.len();
    let packed = Command::new("gzip").args(["-9", "-c"]).arg(&wasm).output();
    let packed = packed.context("gzip cannot be run")?.stdout.len();
    println!("wasm: {} KB, {} KB with gzip -9", raw / 1024, packed / 1024);
    Ok(())
}
