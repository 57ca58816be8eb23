//! For how long memory is kept in a process with one thread. The usual harness runs a test beside its own thread, so this is a program without it:
//! it begins itself with other variables.

#![allow(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test fails by panicking, and this one prints what a harness would print"
)]

use std::process::{Command, Stdio};

/// What a process that [`passes`] began has to find.
const EXPECTED: &str = "HINDSIGHT_TEST_EXPECTED_DELAY";
const DELAY: &str = "MIMALLOC_PURGE_DELAY";

fn main() {
    let is_given = |wanted| std::env::args().any(|argument| argument == wanted);
    if is_given("--list") {
        if !is_given("--ignored") {
            println!("the_environment_takes_precedence: test");
        }
        return;
    }
    if let Ok(expected) = std::env::var(EXPECTED) {
        let kept = hindsight_allocator::keep_freed_memory();
        assert_eq!(kept.to_string(), expected);
        return;
    }
    // The number of threads is known on Linux only.
    let kept = if cfg!(target_os = "linux") {
        "10000"
    } else {
        "1000"
    };
    assert!(passes(None, kept));
    assert!(passes(Some("12345"), "12345"));
    assert!(!passes(Some("12345"), "10000"), "the test cannot fail");
}

/// Whether a process with this delay in its environment keeps memory for `expected` milliseconds.
fn passes(delay: Option<&str>, expected: &str) -> bool {
    let program = std::env::current_exe().expect("this program");
    let mut process = Command::new(program);
    process
        .env(EXPECTED, expected)
        .env_remove(DELAY)
        .envs(delay.map(|delay| (DELAY, delay)))
        .stderr(Stdio::null());
    process.status().expect("it runs").success()
}
