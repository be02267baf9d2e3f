//! The allocator of every process that has an engine.
//!
//! The index begins threads whenever it reads on, and merges what it wrote, among thousands of small
//! things that stay. glibc's allocator keeps what is free between those, some 30 MB of it
//! (docs/decisions/0009). On Windows the system's own is used.

#[cfg(not(target_env = "msvc"))]
#[global_allocator]
static ALLOCATOR: tikv_jemallocator::Jemalloc = tikv_jemallocator::Jemalloc;

/// One arena, since threads come and go; what is free for a second goes back to the system.
#[cfg(not(target_env = "msvc"))]
#[allow(unsafe_code)]
// SAFETY: jemalloc reads this name, and nothing else has it.
#[used]
#[unsafe(export_name = "_rjem_malloc_conf")]
static CONF: Option<&'static std::ffi::c_char> =
    // SAFETY: a text that lives for ever and ends with a zero.
    Some(unsafe { &*c"narenas:1,dirty_decay_ms:1000,muzzy_decay_ms:0".as_ptr() });
