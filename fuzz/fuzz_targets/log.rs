//! Arbitrary bytes are a file of the log or an error that names it, without a panic.

#![no_main]

use std::path::Path;

use hindsight_store::inspect;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    if let Err(error) = inspect::log_requests(Path::new("the log"), 1, bytes) {
        assert!(error.to_string().contains("the log"), "{error}");
    }
});
