//! Tools that the tests of every crate share: temporary folders, git repositories, a clock that is
//! turned by hand, pipes that never block, mounted disks, a scripted HTTP server, a valid request of each kind, and the
//! output of a command. Never part of a release, and depends on no other crate, so that a test
//! links no more of Engram by using it.
#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test stops at the first surprise"
)]

mod clock;
mod command_output;
pub mod criteria;
mod folder;
mod mounts;
mod pipe;
mod repository;
pub mod requests;
pub mod server;

pub use clock::{BEGIN, Clock};
pub use command_output::{CommandOutput, check_error, keys, output_of};
pub use folder::{Folder, files, files_holding, write};
pub use mounts::{mount, with_mounts};
pub use pipe::{Pipe, Use};
pub use repository::{Author, Repository, deaf, git, git_command};
pub use requests::Sandbox;
