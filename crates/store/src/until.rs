//! A time limit for reads: a request has used its time, or nobody waits for it any more.
//!
//! A request is answered on one thread, so the limit belongs to that thread and covers all its
//! reads. Writers have no limit: their changes are stored in full and acknowledged.

use std::{
    cell::{Cell, RefCell},
    ffi::c_int,
    rc::Rc,
};

use rusqlite::Connection;

use crate::Result;

/// SQLite checks the limit after this many virtual machine steps: a few microseconds.
const STEPS: c_int = 1_000;

thread_local! {
    static LIMIT: RefCell<Option<Rc<Limit>>> = const { RefCell::new(None) };
}

struct Limit {
    is_over: Box<dyn Fn() -> bool>,
    was_over: Cell<bool>,
}

impl Limit {
    /// Whether the limit is reached; this stays true.
    fn is_over(&self) -> bool {
        let is_over = self.was_over.get() || (self.is_over)();
        self.was_over.set(is_over);
        is_over
    }
}

/// Runs `work`. Once `is_over` returns true, reads on this thread fail. Returns `None` if any read
/// failed, because the result would be incomplete.
pub fn read_until<T>(is_over: impl Fn() -> bool + 'static, work: impl FnOnce() -> T) -> Option<T> {
    let limit = Rc::new(Limit {
        is_over: Box::new(is_over),
        was_over: Cell::new(false),
    });
    let answer = with_limit(Some(Rc::clone(&limit)), work);
    (!limit.was_over.get()).then_some(answer)
}

/// Runs `work` without a limit, because its result is stored, and an incomplete one would stay
/// wrong.
pub(crate) fn without_limit<T>(work: impl FnOnce() -> T) -> T {
    with_limit(None, work)
}

fn with_limit<T>(limit: Option<Rc<Limit>>, work: impl FnOnce() -> T) -> T {
    let _before = Before(LIMIT.replace(limit));
    work()
}

/// The previous limit, restored even after a panic.
struct Before(Option<Rc<Limit>>);

impl Drop for Before {
    fn drop(&mut self) {
        LIMIT.set(self.0.take());
    }
}

/// Puts the reads of this connection under the limit of the thread that reads.
pub(crate) fn obey_limit(connection: &mut Connection) -> Result<()> {
    let is_over = || {
        LIMIT
            .with_borrow(Clone::clone)
            .is_some_and(|it| it.is_over())
    };
    Ok(connection.progress_handler(STEPS, Some(is_over))?)
}
