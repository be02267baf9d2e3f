//! How agents work together: what they may spend and read, what they send each other, and the
//! shared brief.

mod brief;
mod change;
mod grant;
mod hook;
mod message;
mod permission;
mod rows;
mod timeline;

pub use brief::*;
pub use change::*;
pub use grant::*;
pub use hook::*;
pub use message::*;
pub use permission::*;
pub use rows::*;
pub use timeline::*;
