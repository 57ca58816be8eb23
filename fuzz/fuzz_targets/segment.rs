//! Arbitrary bytes in the place of a segment's file are an error that names it, without a panic.

#![no_main]

use std::path::Path;

use hindsight_store::inspect;
use libfuzzer_sys::fuzz_target;

/// What the file should be.
const WRITTEN: &[u8] = include_bytes!("../regressions/segment/one_hour");

fuzz_target!(|bytes: &[u8]| {
    let read = inspect::segment_rows(Path::new("the segment"), bytes.to_vec(), WRITTEN);
    match read {
        // Bytes behind the end of the file are not read.
        Ok(_) => assert!(bytes.starts_with(WRITTEN)),
        Err(error) => assert!(error.to_string().contains("the segment"), "{error}"),
    }
});
