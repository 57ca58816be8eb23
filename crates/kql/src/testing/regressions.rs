//! Queries that fuzzing found are bound or refused, and their plans stay small.

use std::path::Path;

use super::TestCatalog;
use crate::BindOptions;
use crate::bind::{Binding, bind_or_ask};

/// The maximum size of the text of a plan in bytes. Every rule of the optimiser rewrites large parts of a plan.
const LARGEST_PLAN: usize = 1 << 20;

#[test]
fn queries_found_by_fuzzing_bind_to_small_plans() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/regressions");
    let mut bound = 0;
    for target in ["parse", "bind"] {
        for entry in std::fs::read_dir(folder.join(target)).expect("the folder can be read") {
            let path = entry.expect("it can be read").path();
            let text = std::fs::read_to_string(&path).expect("it is text");
            let parsed = hindsight_kql_syntax::parse(&text);
            if !parsed.diagnostics.is_empty() {
                continue;
            }
            let binding = bind_or_ask(&parsed.query, &TestCatalog, &BindOptions::default());
            let Ok(Binding::Bound(query)) = binding else {
                continue;
            };
            bound += 1;
            let steps = query.steps.iter().map(|step| &step.plan);
            for plan in steps.chain(query.results.iter().map(|result| &result.plan)) {
                let shown = plan.display_indent().to_string();
                assert!(shown.len() < LARGEST_PLAN, "{}", path.display());
            }
        }
    }
    assert!(bound > 0, "nothing was bound");
}
