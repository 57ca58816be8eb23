//! The allocator of the program, and for how long it keeps freed memory.

use std::ffi::c_long;

use libmimalloc_sys::{mi_collect, mi_option_get, mi_option_set_default, mi_option_t};

/// The allocator: many small texts of many threads.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

/// `mi_option_purge_delay` of `mimalloc.h`, which the bindings do not name: milliseconds until freed memory goes back to the system. A test
/// compares it with the variable `MIMALLOC_PURGE_DELAY`.
const PURGE_DELAY: mi_option_t = 15;

/// Milliseconds for which freed memory is kept.
///
/// Each request of telemetry takes and frees megabytes. With mimalloc's own second, the memory of one request in many goes back to the system in
/// between, and the next one waits for the system to clear new pages.
const KEPT: c_long = 10_000;

/// Lets the allocator keep freed memory for ten seconds before it goes back to the system; `MIMALLOC_PURGE_DELAY` in the environment takes
/// precedence. To be called before other threads begin: where there are any, or where their number is not known, as on systems without `/proc`, it
/// changes nothing.
/// Returns the milliseconds for which memory is kept then.
pub fn keep_freed_memory() -> c_long {
    if !is_only_thread() {
        return delay();
    }
    #[allow(
        unsafe_code,
        reason = "the options of the allocator have an interface in C"
    )]
    // SAFETY: `mi_option_set_default` writes an entry of a static table without synchronization, and checks that `PURGE_DELAY` is an index of the
    // table. No other thread reads the table meanwhile, because there is none, and only this thread could begin one.
    unsafe {
        mi_option_set_default(PURGE_DELAY, KEPT);
    }
    delay()
}

/// Purges memory whose purge delay is over: it goes back to the system. The allocator does so by itself only while memory is taken and freed: an idle
/// process would keep what its last work took.
pub fn purge_expired() {
    collect(false);
}

/// Purges all freed memory, for use after work that took much.
pub fn purge_all() {
    collect(true);
}

/// Purges all freed memory if the resident set of the process exceeds `bytes`. It does nothing where its size is unknown, as on systems without
/// `/proc`.
pub fn purge_all_above(bytes: u64) {
    if resident().is_some_and(|resident| resident > bytes) {
        purge_all();
    }
}

/// The size of the resident set of this process in bytes, shared pages included; `None` on systems without `/proc`.
pub fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let mut lines = status.lines();
    let line = lines.find_map(|line| line.strip_prefix("VmRSS:"))?;
    let number = line.trim().strip_suffix(" kB")?;
    Some(number.parse::<u64>().ok()?.saturating_mul(1024))
}

fn collect(force: bool) {
    #[allow(unsafe_code, reason = "the allocator has an interface in C")]
    // SAFETY: `mi_collect` takes no pointer, and any thread may call it at any time. It frees pages of the heap of this thread that have no object,
    // and gives slices of arenas back that no heap has, which it claims atomically before. It touches no memory that is in use.
    unsafe {
        mi_collect(force);
    }
}

/// The milliseconds for which freed memory is kept.
fn delay() -> c_long {
    #[allow(
        unsafe_code,
        reason = "the options of the allocator have an interface in C"
    )]
    // SAFETY: `mi_option_get` reads an entry of a static table, and checks that `PURGE_DELAY` is an index of it. The entries are read from the
    // environment when the process begins, and are written by `keep_freed_memory` alone, while there is no other thread.
    unsafe {
        mi_option_get(PURGE_DELAY)
    }
}

/// Whether this process surely has no other thread.
fn is_only_thread() -> bool {
    std::fs::read_dir("/proc/self/task").is_ok_and(|threads| threads.count() == 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_changed_beside_other_threads() {
        let before = delay();
        let kept = std::thread::spawn(keep_freed_memory).join();
        assert_eq!(kept.expect("no panic"), before);
        assert_ne!(before, KEPT);
    }
}
