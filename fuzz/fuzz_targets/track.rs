//! Arbitrary bytes as the body of a post of telemetry: the decoder accepts or refuses each item, and none is lost.
//!
//! The decoder is part of a program and not of a library, so its files are compiled here too.

#![no_main]

use libfuzzer_sys::fuzz_target;

#[allow(dead_code, unused_imports, reason = "the program uses what the target does not")]
#[path = "../../crates/server/src/directory.rs"]
mod directory;
#[allow(dead_code, unused_imports, reason = "the program uses what the target does not")]
#[path = "../../crates/server/src/ingest/mod.rs"]
mod ingest;
#[allow(dead_code, unused_imports, reason = "the program uses what the target does not")]
#[path = "../../crates/server/src/resource.rs"]
mod resource;

fuzz_target!(|body: &[u8]| {
    ingest::fuzzing::track(body);
});
