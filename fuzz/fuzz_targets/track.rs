//! Arbitrary bytes as the body of a post of telemetry: the decoder accepts or refuses each item, and none is lost.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|body: &[u8]| {
    hindsight_ingest::fuzzing::track(body);
});
