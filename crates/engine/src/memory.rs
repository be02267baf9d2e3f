//! The allocator of every process that has an engine.
//!
//! The index starts threads whenever it is updated, and merges its files, between thousands of
//! small allocations that stay. glibc's allocator retains the free memory between those, about 30
//! MB (docs/decisions/0009). On Windows, the system's own allocator is used.

#[cfg(not(target_env = "msvc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// One arena, because threads come and go. Memory that is free for a second is returned to the
/// system: on Linux by a thread of the allocator, even if the process then does nothing more.
#[cfg(not(target_env = "msvc"))]
#[allow(unsafe_code)]
// SAFETY: jemalloc reads this name, and nothing else has it.
#[used]
#[unsafe(export_name = "_rjem_malloc_conf")]
static CONF: Option<&'static std::ffi::c_char> =
    // The string has a static lifetime and ends with a zero.
    Some(unsafe { &*OPTIONS.as_ptr() });

/// jemalloc does not start on a system for which it has no such thread but is told to.
#[cfg(all(not(target_env = "msvc"), target_os = "linux"))]
const OPTIONS: &std::ffi::CStr =
    c"narenas:1,dirty_decay_ms:1000,muzzy_decay_ms:0,background_thread:true";
#[cfg(all(not(target_env = "msvc"), not(target_os = "linux")))]
const OPTIONS: &std::ffi::CStr = c"narenas:1,dirty_decay_ms:1000,muzzy_decay_ms:0";
