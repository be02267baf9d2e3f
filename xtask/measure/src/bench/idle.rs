//! Idle processes: waits until they are idle, and measures what they cost then.

use std::{
    fs,
    path::Path,
    time::{Duration, Instant},
};

use anyhow::{Context, Result, ensure};

use super::{
    client::LineClient,
    table::{bar_outcome, print_figure},
};
use crate::sandbox::Sandbox;

/// Longer than any pause in which a server collects changes.
pub(super) const LULL: Duration = Duration::from_millis(300);
const PATIENCE: Duration = Duration::from_secs(300);
const REST: Duration = Duration::from_secs(30);
const SERVERS: usize = 10;
/// The maximum memory of all of them together, in KB as the kernel counts it.
const MAX_MEMORY: u64 = 80 * 1024;

/// Measures servers that are idle after their handshake: their memory, with shared pages divided
/// among them, and their processor time.
pub(super) fn ten_servers(binary: &Path, place: &Sandbox) -> Result<()> {
    let servers: Vec<LineClient> = (0..SERVERS)
        .map(|_| LineClient::start_mcp(place.engram(binary).arg("mcp")))
        .collect::<Result<_>>()?;
    let ids: Vec<u32> = servers.iter().map(LineClient::id).collect();
    wait_until_quiet(&ids, Duration::from_secs(5))?;
    let memory = ids
        .iter()
        .map(|it| proportional_kb(*it))
        .sum::<Result<u64>>()?;
    let before = ticks_of(&ids)?;
    pause(REST);
    let used = ticks_of(&ids)? - before;
    print_figure(
        &format!("{SERVERS} servers at rest, their memory (PSS) together"),
        &format!("{:.1} MB", memory as f64 / 1024.0),
        &bar_outcome(
            memory < MAX_MEMORY,
            &format!("under {} MB", MAX_MEMORY / 1024),
        ),
    );
    print_figure(
        &format!("the same, processor time in {} s", REST.as_secs()),
        &format!("{used} clock ticks"),
        &bar_outcome(used == 0, "0"),
    );
    servers.into_iter().try_for_each(LineClient::finish)
}

/// Waits until these processes have used no processor time for this long.
pub(super) fn wait_until_quiet(processes: &[u32], lull: Duration) -> Result<()> {
    wait_until_quiet_for(processes, lull, PATIENCE)
}

/// The same, for as long as this at most.
pub(super) fn wait_until_quiet_for(
    processes: &[u32],
    lull: Duration,
    patience: Duration,
) -> Result<()> {
    let start = Instant::now();
    let mut last = (ticks_of(processes)?, start);
    while last.1.elapsed() < lull {
        ensure!(
            start.elapsed() < patience,
            "not quiet after {} s",
            patience.as_secs()
        );
        pause(Duration::from_millis(20));
        let ticks = ticks_of(processes)?;
        if ticks != last.0 {
            last = (ticks, Instant::now());
        }
    }
    Ok(())
}

#[expect(
    clippy::disallowed_methods,
    reason = "idle time is what is measured, or there is no event to wait for"
)]
pub(super) fn pause(time: Duration) {
    std::thread::sleep(time);
}

fn ticks_of(processes: &[u32]) -> Result<u64> {
    processes.iter().map(|it| ticks(*it)).sum()
}

/// Returns the processor time that a process has used, in the kernel's hundredths of a second.
pub(super) fn ticks(process: u32) -> Result<u64> {
    let text = fs::read_to_string(format!("/proc/{process}/stat"))?;
    let fields = text.rsplit(')').next().unwrap_or_default();
    let mut times = fields.split_whitespace().skip(11).take(2);
    let mut next = || -> Result<u64> { Ok(times.next().context("no times")?.parse()?) };
    Ok(next()? + next()?)
}

/// Returns the memory of a process in KB, with shared pages counted in part.
fn proportional_kb(process: u32) -> Result<u64> {
    read_kb(&format!("/proc/{process}/smaps_rollup"), "Pss:")
}

/// Returns the memory of a process in KB, with shared pages counted in full.
pub(super) fn resident_kb(process: u32) -> Result<u64> {
    read_kb(&format!("/proc/{process}/status"), "VmRSS:")
}

fn read_kb(file: &str, name: &str) -> Result<u64> {
    let text = fs::read_to_string(file).with_context(|| format!("{file} cannot be read"))?;
    let line = text.lines().find_map(|it| it.strip_prefix(name));
    let number = line.and_then(|it| it.split_whitespace().next());
    Ok(number
        .with_context(|| format!("no {name} in {file}"))?
        .parse()?)
}
