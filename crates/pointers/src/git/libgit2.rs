//! libgit2 as it is set up here, once for the process, and what memory it may take: a stranger's
//! object says of itself how large it is, and what it is made from may be larger still.

use std::{
    cell::Cell,
    ffi::{c_char, c_int, c_void},
    sync::Once,
};

use git2::ObjectType;

/// Objects and other files of a repository are read up to this size.
pub(crate) const MAX_OBJECT: usize = 64 << 20;
/// What stands around an object.
const AROUND: usize = 64 << 10;
/// What reading one object may take together, one piece after another: it can be made from another
/// that is made from another, thousands of times.
const FOR_OBJECT: usize = 3 << 30;
/// What a table of a repository may take: its settings, its refs, its index.
const FOR_TABLE: usize = 192 << 20;

/// Trees of up to this size are kept parsed: the root of a large repository is asked for once for
/// each pointer. libgit2 keeps those up to 4 KiB.
const LARGEST_KEPT_TREE: usize = 4 << 20;
/// Files of up to this size are kept unpacked, since many claims point into the same file.
const LARGEST_KEPT_FILE: usize = 256 << 10;
/// What is kept of all objects.
const KEPT: isize = 64 << 20;

thread_local! {
    /// What is left for that which is being read; none where nothing is counted.
    static LEFT: Cell<Option<usize>> = const { Cell::new(None) };
}

/// Reads one object.
pub(crate) fn object<T>(read: impl FnOnce() -> T) -> T {
    within(FOR_OBJECT, read)
}

/// Reads one table.
pub(crate) fn table<T>(read: impl FnOnce() -> T) -> T {
    within(FOR_TABLE, read)
}

fn within<T>(most: usize, read: impl FnOnce() -> T) -> T {
    let before = LEFT.replace(Some(most));
    let answer = read();
    LEFT.set(before);
    answer
}

/// Partial clones announce themselves by an extension that libgit2 does not know. What they lack
/// is reported when it is asked for, so they can be opened.
#[allow(unsafe_code)]
pub(crate) fn set_up() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // SAFETY: these are libgit2's globals; `Once` makes this their only write, and repositories,
        // which read them, are opened by this crate alone and after it. The allocator asks the one
        // that was there before, so that either frees what the other gave.
        let set = unsafe {
            git2::opts::set_extensions(&["partialclone"])
                .and_then(|()| {
                    git2::opts::set_cache_object_limit(ObjectType::Tree, LARGEST_KEPT_TREE)
                })
                .and_then(|()| {
                    git2::opts::set_cache_object_limit(ObjectType::Blob, LARGEST_KEPT_FILE)
                })
                .and_then(|()| git2::opts::set_cache_max_size(KEPT))
                .map(|()| {
                    let option = libgit2_sys::GIT_OPT_SET_ALLOCATOR as c_int;
                    libgit2_sys::git_libgit2_opts(option, &raw const ALLOCATOR)
                })
        };
        // As git does, objects are believed that inflate; git fsck finds the others.
        git2::opts::strict_hash_verification(false);
        match set {
            Ok(0) => {}
            Ok(code) => tracing::warn!(code, "libgit2 has no limit of memory"),
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

/// Whether so much may be taken at once, and by what is being read.
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

// Where it is given no memory, libgit2 gives up what it does and says so.
#[allow(unsafe_code)]
extern "C" fn malloc(size: usize, _: *const c_char, _: c_int) -> *mut c_void {
    if may_take(size) {
        // SAFETY: any size may be asked for.
        unsafe { libc::malloc(size) }
    } else {
        std::ptr::null_mut()
    }
}

#[allow(unsafe_code)]
extern "C" fn realloc(old: *mut c_void, size: usize, _: *const c_char, _: c_int) -> *mut c_void {
    if may_take(size) {
        // SAFETY: `old` is null, or libgit2 had it from `malloc` and gives it up for the new one.
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
