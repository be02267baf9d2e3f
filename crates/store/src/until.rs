//! When reading is to end, whatever it is at: its request has taken its time, or nobody waits for
//! it any more.
//!
//! A request is answered on one thread, so the limit is that thread's: all that it reads is under
//! it, whoever asks for it. Writers are under none: what they store is stored whole and
//! acknowledged.

use std::{
    cell::{Cell, RefCell},
    ffi::c_int,
    rc::Rc,
};

use rusqlite::Connection;

use crate::Result;

/// After how many steps of its machine SQLite asks: some microseconds.
const STEPS: c_int = 1_000;

thread_local! {
    static LIMIT: RefCell<Option<Rc<Limit>>> = const { RefCell::new(None) };
}

struct Limit {
    is_due: Box<dyn Fn() -> bool>,
    was_due: Cell<bool>,
}

impl Limit {
    /// Once it is, it stays.
    fn is_due(&self) -> bool {
        let is_due = self.was_due.get() || (self.is_due)();
        self.was_due.set(is_due);
        is_due
    }
}

/// Runs `work`; once `is_due` says so, its reads on this thread fail. None if any did: the result
/// would be incomplete.
pub fn read_until<T>(is_due: impl Fn() -> bool + 'static, work: impl FnOnce() -> T) -> Option<T> {
    let limit = Rc::new(Limit {
        is_due: Box::new(is_due),
        was_due: Cell::new(false),
    });
    let answer = under(Some(Rc::clone(&limit)), work);
    (!limit.was_due.get()).then_some(answer)
}

/// Runs `work` under no limit: it keeps what it reads, and half of that would be wrong for good.
pub(crate) fn without_limit<T>(work: impl FnOnce() -> T) -> T {
    under(None, work)
}

fn under<T>(limit: Option<Rc<Limit>>, work: impl FnOnce() -> T) -> T {
    let _before = Before(LIMIT.replace(limit));
    work()
}

/// The limit that was there before, put back even after a panic.
struct Before(Option<Rc<Limit>>);

impl Drop for Before {
    fn drop(&mut self) {
        LIMIT.set(self.0.take());
    }
}

/// Puts what this connection reads under the limit of whichever thread reads.
pub(crate) fn heed(connection: &mut Connection) -> Result<()> {
    let is_due = || {
        LIMIT
            .with_borrow(Clone::clone)
            .is_some_and(|it| it.is_due())
    };
    Ok(connection.progress_handler(STEPS, Some(is_due))?)
}
