//! The memory of processes that follow the journal for hours.
#![allow(clippy::unwrap_used)]

#[allow(dead_code)] // the other tests use the rest
#[path = "../store/fixture.rs"]
mod fixture;

use std::alloc::System;

use cap::Cap;
use engram_store::{Derived, Index, SearchTerms};
use fixture::{PROJECT, open, put};

#[global_allocator]
static ALLOCATOR: Cap<System> = Cap::new(System, usize::MAX);

/// How many reads are ignored, and how many are measured.
const READINGS: (u128, u128) = (60, 360);
/// How many bytes may remain after all of them; at that moment, more or fewer segments are
/// merged.
const LEFT: usize = 128 * 1024;

/// Checks a process that updates the index, and one that only reads what another wrote.
#[test]
fn a_reading_of_the_index_leaves_nothing_behind() {
    let home = tempfile::TempDir::new().unwrap();
    let store = open(home.path());
    let writes = Index::open(&store, |_| Derived::default()).unwrap();
    let looks = Index::open(&store, |_| Derived::default()).unwrap();
    let mut before = 0;
    for at in 1..=READINGS.1 {
        put(&store, at, &format!("walnut {at}")).unwrap();
        writes.catch_up(&store).unwrap();
        looks.query(PROJECT, &SearchTerms::default()).unwrap();
        if at == READINGS.0 {
            before = ALLOCATOR.allocated();
        }
    }
    let grown = ALLOCATOR.allocated().saturating_sub(before);
    assert!(grown < LEFT, "{grown} bytes stayed");
}
