//! The repository, however it is laid out: opened, its revisions, trees and objects, each within bounds,
//! since it may be a stranger's.

pub(crate) mod ahead;
pub(crate) mod keep;
pub(crate) mod libgit2;
pub(crate) mod named;
pub(crate) mod object;
pub(crate) mod outside;
pub(crate) mod repo;
pub(crate) mod rev;
pub(crate) mod tree;
pub(crate) mod trees;
