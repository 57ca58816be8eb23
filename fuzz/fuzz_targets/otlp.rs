//! Arbitrary bytes as a payload of OpenTelemetry: the mapping accepts or refuses each item, and none is lost.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| {
    hindsight_otlp::fuzzing::payload(input);
});
