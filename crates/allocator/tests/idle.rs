//! How much memory an idle process keeps.

#![cfg(target_os = "linux")]
#![allow(clippy::expect_used, reason = "a test fails by panicking")]

use std::hint::black_box;
use std::thread::sleep;
use std::time::Duration;

const MIB: usize = 1 << 20;
/// Longer than the second for which mimalloc keeps memory if it is not told otherwise.
const EXPIRED: Duration = Duration::from_millis(1500);

#[test]
fn freed_memory_is_purged_on_demand() {
    let before = resident();
    take_and_free();
    sleep(EXPIRED);
    let kept = resident();
    assert!(kept > before + 48 * MIB, "{before}, {kept}");
    hindsight_allocator::purge_expired();
    let left = resident();
    assert!(left < before + 16 * MIB, "{before}, {kept}, {left}");

    take_and_free();
    hindsight_allocator::purge_expired();
    let kept = resident();
    assert!(kept > before + 48 * MIB, "{before}, {kept}");
    hindsight_allocator::purge_all();
    let left = resident();
    assert!(left < before + 16 * MIB, "{before}, {kept}, {left}");

    take_and_free();
    let kept = resident();
    hindsight_allocator::purge_all_above((kept + 16 * MIB) as u64);
    let still = resident();
    assert!(still > before + 48 * MIB, "{before}, {kept}, {still}");
    hindsight_allocator::purge_all_above((kept - 16 * MIB) as u64);
    let left = resident();
    assert!(left < before + 16 * MIB, "{before}, {kept}, {left}");
}

fn take_and_free() {
    let taken: Vec<Vec<u8>> = (0..64).map(|_| vec![1; MIB]).collect();
    drop(black_box(taken));
}

fn resident() -> usize {
    let bytes = hindsight_allocator::resident().expect("the status of this process");
    usize::try_from(bytes).expect("it fits")
}
