//! Hostile texts give one diagnostic, on a thread with the stack size of a worker.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking, in helper functions too"
)]

use hindsight_kql_syntax::{Limits, parse, parse_with_limits};

/// Runs on a 2 MB stack, as worker threads have.
fn on_worker(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new()
        .stack_size(2 * 1024 * 1024)
        .spawn(test);
    thread.expect("a thread").join().expect("no overflow");
}

/// Checks that the text gets one diagnostic that names the limit.
#[track_caller]
fn check(text: &str, limit: &str) {
    let parsed = parse(text);
    assert_eq!(parsed.diagnostics.len(), 1, "{limit}");
    let message = &parsed.diagnostics[0].message;
    assert!(
        message.starts_with("The query is too ") && message.contains(limit),
        "{message}"
    );
    assert_eq!(parsed.query.statements, [], "{limit}");
}

#[test]
fn deep_nesting_is_refused() {
    on_worker(|| {
        for open in [
            "(",
            "not(",
            "-",
            "+",
            "f(",
            "a[",
            "x in (",
            "toscalar(",
            "1 + (",
        ] {
            check(&format!("print {}", open.repeat(100_000)), "max_depth");
        }
        for text in ["dynamic([", "dynamic({\"a\":"] {
            check(&format!("print {text}{}", "[".repeat(100_000)), "max_depth");
        }
        for step in [
            "T | join (",
            "union (",
            "T | fork (fork (",
            "let f = () {",
            "T | mv-apply x on (mv-apply x on (",
        ] {
            check(&step.repeat(20_000), "max_depth");
        }
    });
}

#[test]
fn long_chains_are_refused() {
    on_worker(|| {
        for link in [" or a", " + a", ".a", "[0]"] {
            check(&format!("T | where a{}", link.repeat(5_000)), "max_height");
        }
        check(
            &format!("T{}", " | where a".repeat(10_000)),
            "max_operators",
        );
    });
}

#[test]
fn what_is_allowed_can_be_copied_printed_and_dropped() {
    on_worker(|| {
        for text in [
            format!("T | where a{}", " or a".repeat(950)),
            format!("T | where a{}", ".b".repeat(950)),
            format!("print {}1{}", "abs(".repeat(60), ")".repeat(60)),
            format!("{}T{}", "T | join (".repeat(40), ") on a".repeat(40)),
        ] {
            let parsed = parse(&text);
            assert_eq!(parsed.diagnostics, []);
            let copy = parsed.clone();
            assert_eq!(parse(&copy.query.to_string()).query, parsed.query);
        }
    });
}

#[test]
fn large_texts_are_refused() {
    check(&"a".repeat(1024 * 1024 + 1), "max_bytes");
    check(&"a,".repeat(400_000), "max_tokens");
    let limits = Limits {
        max_bytes: 10,
        ..Limits::default()
    };
    assert_eq!(parse_with_limits("T | count", &limits).diagnostics, []);
    assert_eq!(
        parse_with_limits("T | count as n", &limits)
            .diagnostics
            .len(),
        1
    );
}
