//! Arbitrary text is parsed without a panic, and a valid query prints as KQL that parses to an equal tree.

#![no_main]

use hindsight_kql_syntax::parse;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let parsed = parse(text);
    if !parsed.diagnostics.is_empty() {
        return;
    }
    let printed = parsed.query.to_string();
    let again = parse(&printed);
    // NaN is not equal to itself; its text is.
    let equal = again.query == parsed.query
        || printed.contains("real(nan)") && again.query.to_string() == printed;
    assert!(
        again.diagnostics.is_empty() && equal,
        "prints as what does not read back equal:\n{printed}\n{:?}",
        again.diagnostics
    );
});
