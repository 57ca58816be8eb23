//! The store on a simulated disk: power cuts, killed processes and failing calls at every place (docs/reliability.md).
//!
//! A run is one thread and one seed. `HINDSIGHT_POWER_CUTS` sets how many power cuts there are, `HINDSIGHT_SEED` the first seed;
//! a failure prints its seed, and `HINDSIGHT_POWER_CUTS=1 HINDSIGHT_SEED=<seed>` repeats it.

pub(super) mod disk;
mod world;

use std::future::Future;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use disk::Fault;
use world::{Failure, World};

use crate::blocking::one_thread;
use crate::tests::proving;
use crate::vfs::Vfs;

/// Power cuts of one seed.
const CUTS: u64 = 25;
/// Steps between two power cuts, at most.
const STEPS: usize = 40;
/// The kinds of faults that leave the power on.
const FAULTS: [Fault; 3] = [Fault::Error, Fault::Full, Fault::Short];

/// Runs a simulation on one thread.
fn run<T>(simulation: impl Future<Output = T>) -> T {
    one_thread::turn_on();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(simulation)
}

/// A number from the environment.
fn number(name: &str, default: u64) -> u64 {
    std::env::var(name).map_or(default, |text| text.parse().unwrap())
}

/// A folder for SQLite's files, in memory where there is such a place.
fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

/// One seed: steps at random, faults among them, and power cuts within calls.
async fn power_cuts(world: &mut World, seed: u64) -> Result<(), Failure> {
    let mut random = StdRng::seed_from_u64(!seed);
    world.fix_store_id()?;
    world.open().await?;
    let mut cuts = 0;
    while cuts < CUTS {
        if random.random_ratio(1, 5) {
            let fault = FAULTS[random.random_range(0..FAULTS.len())];
            world.disk.fail_after(random.random_range(0..60), fault);
            for _ in 0..random.random_range(1..10) {
                world.step().await?;
            }
            world.heal().await?;
        }
        world
            .disk
            .fail_after(random.random_range(0..150), Fault::PowerCut);
        for _ in 0..random.random_range(1..STEPS) {
            world.step().await?;
            if !world.disk.has_power() {
                break;
            }
        }
        let cache_is_lost = !random.random_ratio(1, 5);
        world.crash(cache_is_lost);
        cuts += u64::from(cache_is_lost);
        while random.random_ratio(1, 4) {
            // The power fails again while the store recovers.
            world
                .disk
                .fail_after(random.random_range(0..40), Fault::PowerCut);
            world.open().await?;
            world.crash(true);
            cuts += 1;
        }
        world.heal().await?;
    }
    world.check_queries().await
}

/// Makes a world of a folder and a seed.
type NewWorld = fn(&Path, u64) -> World;

/// Runs one seed; a failure names it.
fn run_seed(world: NewWorld, seed: u64) -> Result<(), Failure> {
    let root = folder();
    let mut world = world(root.path(), seed);
    run(power_cuts(&mut world, seed)).map_err(|failure| format!("seed {seed}: {failure}"))
}

#[test]
fn power_cuts_lose_double_and_bring_back_nothing() {
    run_seeds(World::new, if proving() { 100_000 } else { 2000 });
}

/// Requests to the object store fail besides, before or after their effect.
#[test]
fn power_cuts_with_segments_in_an_object_store_lose_double_and_bring_back_nothing() {
    run_seeds(World::in_objects, if proving() { 20_000 } else { 500 });
}

fn run_seeds(world: NewWorld, cuts: u64) {
    let cuts = number("HINDSIGHT_POWER_CUTS", cuts);
    let first = number("HINDSIGHT_SEED", 0);
    let last = first + cuts.div_ceil(CUTS);
    let next = AtomicU64::new(first);
    let failures: Vec<Failure> = std::thread::scope(|scope| {
        let work = || {
            let mut failures = Vec::new();
            loop {
                let seed = next.fetch_add(1, Ordering::Relaxed);
                if seed >= last {
                    return failures;
                }
                if (seed - first) % 100 == 99 {
                    eprint!("\r{} of {cuts} power cuts", (seed - first + 1) * CUTS);
                }
                if let Err(failure) = run_seed(world, seed) {
                    eprintln!("\r{failure}");
                    failures.push(failure);
                }
            }
        };
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers
            .into_iter()
            .flat_map(|worker| worker.join().unwrap())
            .collect()
    });
    assert!(failures.is_empty(), "{failures:#?}");
}

#[test]
fn a_seed_repeats_every_call_with_the_same_bytes() {
    let trace = |seed| {
        let root = folder();
        let mut world = World::new(root.path(), seed);
        world.disk.record();
        run(power_cuts(&mut world, seed)).unwrap();
        world.disk.trace()
    };
    for seed in 0..3 {
        let (one, other) = (trace(seed), trace(seed));
        assert!(one.len() > 1000, "{} calls", one.len());
        let same = one.iter().zip(&other).take_while(|(a, b)| a == b).count();
        assert_eq!(
            (same, one.len()),
            (other.len(), other.len()),
            "seed {seed} differs at call {same}: {:?} and {:?}",
            one.get(same.saturating_sub(4)..same + 2),
            other.get(same.saturating_sub(4)..same + 2)
        );
    }
}

/// A fixed workload that uses every part of the store once.
async fn workload(world: &mut World) -> Result<(), Failure> {
    world.open().await?;
    for _ in 0..4 {
        world.append().await?;
    }
    world.seal().await?;
    for _ in 0..8 {
        world.append().await?;
    }
    world.maintain().await?;
    world.seal().await?;
    world.pass(5 * 60);
    world.compact().await?;
    world.append().await?;
    world.delete_app().await?;
    world.pass(10 * 60);
    world.append().await?;
    world.seal().await?;
    world.expire().await?;
    world.append().await?;
    world.close_and_open().await?;
    world.append().await
}

/// The workload with one fault. Afterwards the store is opened, takes writes, and is opened once more.
async fn workload_with(world: &mut World, call: u64, fault: Fault) -> Result<(), Failure> {
    world.disk.fail_after(call, fault);
    workload(world).await?;
    if !world.disk.was_hit() {
        return Err("the call was not made".to_owned());
    }
    if world.disk.has_power() {
        world.heal().await?;
        world.append().await?;
    }
    world.crash(true);
    world.heal().await?;
    world.append().await?;
    world.check_queries().await
}

#[test]
fn every_call_may_fail_once_and_nothing_is_acknowledged_falsely() {
    let seed = number("HINDSIGHT_SEED", 0);
    let calls = {
        let root = folder();
        let mut world = World::new(root.path(), seed);
        run(workload(&mut world)).unwrap();
        world.disk.calls()
    };
    assert!(calls > 150, "{calls} calls");
    eprintln!("{calls} calls");
    let mut failures = Vec::new();
    for call in 0..calls {
        for (kind, fault) in FAULTS.into_iter().chain([Fault::PowerCut]).enumerate() {
            if !proving() && !(call + 2 * kind as u64).is_multiple_of(8) {
                continue;
            }
            let root = folder();
            let mut world = World::new(root.path(), seed);
            if let Err(failure) = run(workload_with(&mut world, call, fault)) {
                failures.push(format!("call {call} of {calls}, {fault:?}: {failure}"));
            }
        }
    }
    assert!(failures.is_empty(), "{failures:#?}");
}

/// Lets the first commit of `step` fail, which comes after `before`; `false` if it commits nothing. `clean` is an equal world.
async fn fail_commit(
    world: &mut World,
    mut clean: World,
    step: impl AsyncFn(&mut World) -> Result<(), Failure>,
    before: impl AsyncFn(&mut World) -> Result<(), Failure>,
) -> Result<bool, Failure> {
    clean.disk.record();
    before(&mut clean).await?;
    let made = clean.disk.calls();
    step(&mut clean).await?;
    let calls = clean.disk.trace().into_iter().skip(made as usize);
    let Some(commit) = calls
        .map(|(call, ..)| call)
        .position(|call| call == "commit")
    else {
        return Ok(false);
    };
    before(world).await?;
    world.disk.fail_after(commit as u64, Fault::Error);
    step(world).await?;
    if !world.disk.was_hit() {
        return Err("the commit was not made".to_owned());
    }
    world.disk.heal();
    Ok(true)
}

/// Several segments of one hour that is over.
async fn segments_to_merge(world: &mut World) -> Result<(), Failure> {
    world.open().await?;
    for _ in 0..4 {
        for _ in 0..3 {
            world.append().await?;
        }
        world.seal().await?;
    }
    world.pass(5 * 60);
    Ok(())
}

/// The simulated commit fails with or without effect, by the seed.
#[test]
fn a_seal_or_merge_whose_commit_fails_is_neither_lost_nor_done_twice() {
    let mut merges = 0;
    for seed in 0..16 {
        let (root, other, third, fourth) = (folder(), folder(), folder(), folder());
        run(async {
            let mut world = World::new(root.path(), seed);
            let rows = async |world: &mut World| {
                world.open().await?;
                world.append().await?;
                world.append().await
            };
            let clean = World::new(other.path(), seed);
            let seal = async |world: &mut World| world.seal().await;
            if !fail_commit(&mut world, clean, seal, rows).await? {
                return Err("a seal commits".to_owned());
            }
            for _ in 0..2 {
                world.check_queries().await?;
                world.append().await?;
                world.seal().await?;
            }
            world.crash(true);
            world.heal().await?;
            world.check_queries().await?;

            let mut world = World::new(third.path(), seed);
            let clean = World::new(fourth.path(), seed);
            let merge = async |world: &mut World| world.compact().await;
            merges += usize::from(fail_commit(&mut world, clean, merge, segments_to_merge).await?);
            for _ in 0..2 {
                world.compact().await?;
                world.check_queries().await?;
            }
            world.crash(true);
            world.heal().await?;
            world.check_queries().await
        })
        .unwrap_or_else(|failure: Failure| panic!("seed {seed}: {failure}"));
    }
    assert!(merges > 8, "{merges} merges");
}

#[test]
fn a_store_opens_read_only_on_a_full_disk_and_takes_writes_once_there_is_space() {
    let root = folder();
    let mut world = World::new(root.path(), 1);
    run(async {
        world.open().await?;
        for _ in 0..3 {
            world.append().await?;
        }
        world.seal().await?;
        for _ in 0..3 {
            world.append().await?;
        }
        for cache_is_lost in [false, true] {
            world.crash(cache_is_lost);
            world.disk.fill();
            world.open().await?;
            let health = world.health().ok_or("it did not open")?;
            if health.writable || health.reason.is_none() {
                return Err(format!("the disk is full: {health:?}"));
            }
            world.check().await?;
            world.append().await?;
            world.seal().await?;
            world.check().await?;
            world.heal().await?;
            world.append().await?;
            world.check_queries().await?;
        }
        world.seal().await?;
        world.check_queries().await
    })
    .unwrap();
    // What could not be written whole was removed at once, and what was sealed later is there once.
    let files = world.disk.files(&root.path().join("segments"));
    assert!(
        files.iter().all(|file| file.ends_with(".parquet")),
        "{files:?}"
    );
    assert_eq!(files.len(), world.segments());
}

/// A segment under a name that the catalogue does not list is missing and unlisted. It is marked and moved once there is space.
#[test]
fn a_store_with_a_missing_and_an_unlisted_segment_opens_on_a_full_disk() {
    let root = folder();
    let mut world = World::new(root.path(), 1);
    run(async {
        world.open().await?;
        for _ in 0..6 {
            world.append().await?;
        }
        world.seal().await?;
        world.crash(false);
        let segments = root.path().join("segments");
        let quarantine = root.path().join("quarantine");
        let files = world.disk.files(&segments);
        let listed = Path::new(files.first().ok_or("no segment")?);
        let unlisted = listed.with_file_name("unlisted.parquet");
        let failed = |error: std::io::Error| error.to_string();
        world.disk.rename(listed, &unlisted).map_err(failed)?;

        world.disk.fill();
        let opened = world.try_open().await;
        opened.map_err(|error| error.to_string())?;
        assert_eq!(world.disk.files(&quarantine), [""; 0]);
        assert!(world.disk.files(&unlisted).len() == 1);
        world.crash(false);
        let opened = world.try_open().await;
        opened.map_err(|error| error.to_string())?;
        assert_eq!(world.disk.files(&quarantine).len(), 1);
        assert!(world.disk.files(&unlisted).is_empty());
        Ok::<_, Failure>(())
    })
    .unwrap();
}
