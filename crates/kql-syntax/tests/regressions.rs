//! Findings of the fuzz targets: every text in `fuzz/regressions` is parsed, and prints as KQL that parses to an equal tree.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "tests fail by panicking, in helper functions too"
)]

use std::fs;
use std::path::Path;

use hindsight_kql_syntax::parse;

#[test]
fn what_was_found_stays_fixed() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/regressions");
    let mut count = 0;
    // A target that has found nothing yet has no folder.
    let folders = ["parse", "bind"].map(|target| folder.join(target));
    for folder in folders.iter().filter(|folder| folder.is_dir()) {
        for entry in fs::read_dir(folder).expect("the folder can be read") {
            let path = entry.expect("it can be read").path();
            let text = fs::read_to_string(&path).expect("it is text");
            let parsed = parse(&text);
            count += 1;
            if !parsed.diagnostics.is_empty() {
                continue;
            }
            let printed = parsed.query.to_string();
            let again = parse(&printed);
            assert_eq!(again.diagnostics, [], "{}: {printed}", path.display());
            assert_eq!(again.query, parsed.query, "{}: {printed}", path.display());
        }
    }
    assert!(count > 0);
}
