//! The main job of Engram, end to end: real agents, real clients, a real repository, the real
//! window. Nothing here uses the network. A missing program fails its test by name; no test is
//! skipped.
#![cfg(target_os = "linux")] // no WebDriver can drive the windows of other systems
#![allow(
    unreachable_pub,
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic
)]

mod agents;
#[cfg(feature = "bench")]
mod bench;
#[cfg(feature = "bench")]
mod bench_crowd;
mod clients;
mod conflicts;
mod connect;
mod dashboard;
mod disagree;
mod drift;
mod editor;
mod engram;
mod frame;
mod graphics;
mod home;
mod journey;
mod machine;
mod many;
mod model_stub;
mod only_window;
mod pictures;
mod records;
mod requests;
mod stage;
mod steered;
mod steps;
mod today;
mod verdicts;
mod views;
mod window;
mod writing;
mod zoom;
