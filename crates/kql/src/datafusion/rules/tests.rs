//! Tests that the corrected rules exist and that each correction is needed.

use std::path::Path;

use datafusion::execution::context::SessionContext;
use datafusion::physical_plan::displayable;

use super::*;
use crate::datafusion::session;
use crate::testing::{answer_in, bound};

/// A session of two partitions with all corrections except one.
fn session_without(left_out: Option<&Correction>) -> SessionContext {
    let is_kept = |correction: &&Correction| {
        left_out.is_none_or(|left_out| !std::ptr::eq(*correction, left_out))
    };
    let rules = Rules::of_datafusion().corrected(CORRECTIONS.iter().filter(is_kept));
    session::with_rules(
        session::config().with_target_partitions(2),
        Arc::default(),
        rules.expect("DataFusion has the rules"),
    )
}

/// Whether the physical plan of a query has a node of this name.
async fn has_node(context: &SessionContext, query: &str, node: &str) -> bool {
    let result = bound(query).results.pop().expect("a result");
    let plan = context.state().create_physical_plan(&result.plan).await;
    let plan = plan.expect("it is planned");
    displayable(plan.as_ref())
        .indent(false)
        .to_string()
        .contains(node)
}

#[test]
fn answers_are_correct_only_with_every_correction() {
    for correction in &CORRECTIONS {
        let Canary::Answer(query, right) = correction.canary else {
            continue;
        };
        assert_eq!(answer_in(query, &session_without(None)), right, "{query}");
        let without = answer_in(query, &session_without(Some(correction)));
        assert_ne!(without, right, "{correction:?} is no longer needed");
    }
}

#[tokio::test]
async fn plans_have_the_node_of_every_cost_correction() {
    for correction in &CORRECTIONS {
        let Canary::Node(query, node) = correction.canary else {
            continue;
        };
        assert!(
            has_node(&session_without(None), query, node).await,
            "{query}"
        );
        let without = session_without(Some(correction));
        assert!(!has_node(&without, query, node).await, "{query}");
    }
}

#[test]
fn the_tests_that_are_canaries_exist() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/datafusion/corrections");
    for correction in &CORRECTIONS {
        let Canary::Test(module, test) = correction.canary else {
            continue;
        };
        let text = std::fs::read_to_string(folder.join(format!("{module}.rs")));
        let text = text.expect("the module can be read");
        assert!(text.contains(&format!("fn {test}(")), "{test}");
    }
}

#[test]
fn every_rule_is_one_of_datafusion() {
    let rules = Rules::of_datafusion();
    let logical = rules.logical.iter().map(|rule| rule.name().to_owned());
    let physical = rules.physical.iter().map(|rule| rule.name().to_owned());
    let names: Vec<String> = logical.chain(physical).collect();
    for correction in &CORRECTIONS {
        for rule in correction.rules {
            assert!(names.iter().any(|name| name == rule), "{rule}");
        }
    }
}

#[test]
fn every_rule_that_is_left_out_is_one_of_datafusion() {
    let (logical, physical) = (Optimizer::new().rules, PhysicalOptimizer::new().rules);
    let logical = logical.iter().map(|rule| rule.name().to_owned());
    let physical = physical.iter().map(|rule| rule.name().to_owned());
    let names: Vec<String> = logical.chain(physical).collect();
    for rule in INAPPLICABLE {
        assert!(names.iter().any(|name| name == rule), "{rule}");
    }
}

#[test]
fn rules_without_a_corrected_rule_are_refused() {
    for correction in &CORRECTIONS {
        for missing in correction.rules {
            let mut rules = Rules::of_datafusion();
            rules.logical.retain(|rule| rule.name() != *missing);
            rules.physical.retain(|rule| rule.name() != *missing);
            let refused = rules.corrected([correction]).err();
            assert_eq!(refused.map(|e| e.rule), Some(*missing));
        }
    }
    let renamed = Rules {
        logical: Vec::new(),
        ..Rules::of_datafusion()
    };
    let error = renamed.corrected(&CORRECTIONS).err();
    let message = error.map(|error| error.to_string()).unwrap_or_default();
    assert!(
        message.starts_with("DataFusion has no rule 'extract_equijoin_predicate'"),
        "{message}"
    );
}
