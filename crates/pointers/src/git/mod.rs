//! Opens repositories of any layout, and reads their revisions, trees and objects. A repository may
//! be a stranger's, so each read has limits.

pub(crate) mod ahead;
pub(crate) mod keep;
pub(crate) mod libgit2;
pub(crate) mod named;
pub(crate) mod object;
pub(crate) mod outside;
pub(crate) mod remote;
pub(crate) mod repo;
pub(crate) mod rev;
pub(crate) mod tree;
pub(crate) mod trees;
