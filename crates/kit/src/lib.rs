//! What the tests of every crate begin with: a folder of their own, git repositories made for the test,
//! a clock that is turned by hand, a pipe that holds nobody up, disks of their own, a good request of each kind, and what a
//! command said. Never part of what ships, and knows no other crate: a test links no more of Engram for using it.
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

pub use clock::{BEGIN, Clock};
pub use command_output::{CommandOutput, check_error, keys, ran};
pub use folder::{Folder, files, holding, write};
pub use mounts::{mount, with_mounts};
pub use pipe::{Pipe, Use};
pub use repository::{Author, Repository, deaf, git, git_command};
pub use requests::Site;
