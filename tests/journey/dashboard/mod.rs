//! The window in a browser, over `engram serve`: every view by keys and by mouse, what screen
//! readers announce, how it looks, and what happens when its server dies.

pub(crate) mod access;
mod agents_view;
mod both_ways;
mod brief_view;
pub(crate) mod browser;
mod chosen;
mod closing;
mod conditions;
mod conflicts_view;
mod drafts;
mod feed;
mod filter;
pub(crate) mod hands;
mod hostile;
mod knowledge_view;
mod lineage;
pub(crate) mod looks;
mod narrow;
#[cfg(feature = "bench")]
mod pictures;
mod possible;
mod requests_view;
pub(crate) mod server;
mod set;
pub(crate) mod shop;
pub(crate) mod team;
mod undo;
pub(crate) mod viewer;
mod ways;

/// The rules of axe, for the real window.
pub(crate) fn axe() -> String {
    access::axe()
}
