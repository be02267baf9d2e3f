//! The home: its files, its projects, its settings, and whether it is sound.

pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod files;
pub(crate) mod project;
