//! Configures libgit2 once for the process, and limits its memory: a stranger's object can claim
//! any size, and the objects it is built from can be larger still.

use std::{
    cell::Cell,
    ffi::{c_char, c_int, c_void},
    sync::Once,
};

use git2::ObjectType;

/// Objects and other files of a repository are read up to this size.
pub(crate) const MAX_OBJECT: usize = 64 << 20;
/// Memory that libgit2 needs around an object.
const AROUND: usize = 64 << 10;
/// The most memory that reading one object may allocate in total: its deltas can form a chain of
/// thousands.
const FOR_OBJECT: usize = 3 << 30;
/// The most memory for one table of a repository: its settings, its refs or its index.
const FOR_TABLE: usize = 192 << 20;

/// Parsed trees up to this size are cached, since each pointer reads the root of its repository. By
/// default, libgit2 caches trees up to 4 KiB.
const MAX_KEPT_TREE: usize = 4 << 20;
/// Files up to this size are cached unpacked, since many claims point into the same file.
const MAX_KEPT_FILE: usize = 256 << 10;
/// The size of the cache for all objects.
const KEPT: isize = 64 << 20;

thread_local! {
    /// The memory left for the current read; `None` where none is counted.
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Reads one object within its memory limit.
pub(crate) fn object<T>(read: impl FnOnce() -> T) -> T {
    within(FOR_OBJECT, read)
}

/// Reads one table within its memory limit.
pub(crate) fn table<T>(read: impl FnOnce() -> T) -> T {
    within(FOR_TABLE, read)
}

fn within<T>(most: usize, read: impl FnOnce() -> T) -> T {
    let before = LEFT.replace(Some(most));
    let answer = read();
    LEFT.set(before);
    answer
}

/// Partial clones use an extension that libgit2 does not know. A missing object is reported only
/// when it is read, so such clones can be opened.
#[allow(unsafe_code)]
pub(crate) fn set_up() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: these are libgit2's globals; `Once` makes this their only write, and
        // repositories, which read them, are opened by this crate alone and after it. The allocator
        // calls the earlier one, so that either can free what the other allocated.
        let set = unsafe {
            git2::opts::set_extensions(&["partialclone"])
                .and_then(|()| git2::opts::set_cache_object_limit(ObjectType::Tree, MAX_KEPT_TREE))
                .and_then(|()| git2::opts::set_cache_object_limit(ObjectType::Blob, MAX_KEPT_FILE))
                .and_then(|()| git2::opts::set_cache_max_size(KEPT))
                .map(|()| {
                    let option = libgit2_sys::GIT_OPT_SET_ALLOCATOR as c_int;
                    libgit2_sys::git_libgit2_opts(option, &raw const ALLOCATOR)
                })
        };
        // Like git, trusts any object that inflates; git fsck finds the corrupt ones.
        git2::opts::strict_hash_verification(false);
        match set {
            Ok(0) => {}
            Ok(code) => tracing::warn!(code, "libgit2 runs without a memory limit"),
            Err(e) => tracing::warn!("libgit2 cannot be set up; partial clones may not open: {e}"),
        }
    });
}

/// `git_allocator` of git2/sys/alloc.h, which libgit2-sys does not have.
#[repr(C)]
struct Allocator {
    malloc: extern "C" fn(usize, *const c_char, c_int) -> *mut c_void,
    realloc: extern "C" fn(*mut c_void, usize, *const c_char, c_int) -> *mut c_void,
    free: extern "C" fn(*mut c_void),
}

static ALLOCATOR: Allocator = Allocator {
    malloc,
    realloc,
    free,
};

/// Returns whether `size` bytes may be allocated, both at once and within the current read.
fn may_take(size: usize) -> bool {
    if size > MAX_OBJECT + AROUND {
        return false;
    }
    match LEFT.get().map(|left| left.checked_sub(size)) {
        Some(Some(left)) => {
            LEFT.set(Some(left));
            true
        }
        Some(None) => false,
        None => true,
    }
}

// If an allocation fails, libgit2 aborts its operation and reports the failure.
#[allow(unsafe_code)]
extern "C" fn malloc(size: usize, _: *const c_char, _: c_int) -> *mut c_void {
    if may_take(size) {
        // SAFETY: malloc accepts any size.
        unsafe { libc::malloc(size) }
    } else {
        std::ptr::null_mut()
    }
}

#[allow(unsafe_code)]
extern "C" fn realloc(old: *mut c_void, size: usize, _: *const c_char, _: c_int) -> *mut c_void {
    if may_take(size) {
        // SAFETY: `old` is null, or libgit2 got it from `malloc` and gives it up for the new one.
        unsafe { libc::realloc(old, size) }
    } else {
        std::ptr::null_mut()
    }
}

#[allow(unsafe_code)]
extern "C" fn free(block: *mut c_void) {
    // SAFETY: as for `realloc`.
    unsafe { libc::free(block) }
}
