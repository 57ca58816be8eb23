//! The plans of all cases as messages: each is written, read, compared and run in place of the plan.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use datafusion::common::Result;
use datafusion::common::config::ConfigOptions;
use datafusion::execution::TaskContext;
use datafusion::execution::runtime_env::RuntimeEnv;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::{ExecutionPlan, displayable};
use parking_lot::Mutex;

use super::FOLDERS;
use super::answer::{Answer, outcome_in};
use super::file::files;
use crate::codec::PlanCodec;
use crate::session;

/// What cannot be serialized, with the reason; one line each.
const UNSUPPORTED: &str = include_str!("../../codec/unsupported.txt");

/// Replaces each plan by the one that is read from its message.
#[derive(Debug, Default)]
struct ThroughMessages {
    seen: Mutex<Seen>,
}

#[derive(Debug, Default)]
struct Seen {
    serialized: usize,
    /// Why plans could not be serialized, with their number.
    unsupported: BTreeMap<String, usize>,
    differences: Vec<String>,
    /// Some messages.
    messages: Vec<Vec<u8>>,
}

impl PhysicalOptimizerRule for ThroughMessages {
    fn name(&self) -> &str {
        "through messages"
    }

    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let codec = PlanCodec::default();
        let mut seen = self.seen.lock();
        let bytes = match codec.encode_plan(&plan) {
            Ok(bytes) => bytes,
            Err(error) => {
                *seen
                    .unsupported
                    .entry(reason(&error.to_string()))
                    .or_default() += 1;
                return Ok(plan);
            }
        };
        let read = match codec.decode_plan(&bytes, &TaskContext::default()) {
            Ok(read) => read,
            Err(error) => {
                seen.differences.push(format!("unreadable: {error}"));
                return Ok(plan);
            }
        };
        let [written, shown] = [&plan, &read].map(|plan| nodes(plan.as_ref()));
        if written != shown || plan.schema() != read.schema() {
            seen.differences.push(format!("{written}\nbecame\n{shown}"));
        }
        seen.serialized += 1;
        if seen.serialized.is_multiple_of(20) {
            seen.messages.push(bytes);
        }
        Ok(read)
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// The nodes of a plan, except projections that pass all columns through: reading a union casts the columns of an input to their own types, if
/// only they can be null in the union.
fn nodes(plan: &dyn ExecutionPlan) -> String {
    let text = displayable(plan).indent(true).to_string();
    let lines = text.lines().map(str::trim_start);
    let lines: Vec<&str> = lines.filter(|line| !passes_through(line)).collect();
    lines.join("\n")
}

fn passes_through(node: &str) -> bool {
    let columns = node.strip_prefix("ProjectionExec: expr=[");
    let columns = columns.and_then(|rest| rest.strip_suffix(']'));
    columns.is_some_and(|columns| {
        columns.split(", ").enumerate().all(|(index, column)| {
            let Some((value, name)) = column.split_once(" as ") else {
                return false;
            };
            let value = match value.strip_prefix("CAST(") {
                Some(cast) => cast.split(" AS ").next().unwrap_or_default(),
                None => value,
            };
            value == format!("{name}@{index}")
        })
    })
}

/// The first statement of an error about what cannot be serialized.
fn reason(error: &str) -> String {
    let at = error
        .find("the transform")
        .or_else(|| error.find("the plan '"));
    let rest = &error[at.unwrap_or_default()..];
    let end = rest.find([']', '\n']).unwrap_or(rest.len());
    let text = &rest[..end];
    // A plan that is too deep is named by its root.
    match text
        .strip_prefix("the plan '")
        .and_then(|rest| rest.split_once("' "))
    {
        Some((_, rest)) => format!("the plan {rest}"),
        None => text.to_owned(),
    }
}

/// Runs a closure with a stack for deep plans.
fn on_a_large_stack<T: Send>(run: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        let builder = std::thread::Builder::new().stack_size(256 << 20);
        let thread = builder.spawn_scoped(scope, run).expect("a thread");
        thread.join().expect("it does not panic")
    })
}

/// The answers of plans that were read from messages, and what was seen.
fn answers() -> (Vec<String>, Seen) {
    let rule = Arc::new(ThroughMessages::default());
    let mut wrong = Vec::new();
    for file in FOLDERS.iter().flat_map(|folder| files(folder)) {
        for case in &file.cases {
            let rules: Vec<Arc<dyn PhysicalOptimizerRule + Send + Sync>> = vec![rule.clone()];
            let runtime = Arc::new(RuntimeEnv::default());
            let context = session::context_over(session::config(), runtime, rules);
            let outcome = outcome_in(case, &context.expect("DataFusion has the rules"));
            let answer = Answer::of_outcome(outcome, &case.query);
            // A case that fails anyway says nothing about messages.
            if !answer.is(&case.expected) && Answer::of(case).is(&case.expected) {
                wrong.push(format!("{}: {}\n{}", file.name, case.query, answer.text));
            }
        }
    }
    let seen = std::mem::take(&mut *rule.seen.lock());
    (wrong, seen)
}

#[test]
fn plans_that_were_read_from_messages_give_the_same_answers() {
    let (wrong, seen) = on_a_large_stack(answers);
    assert!(
        seen.differences.is_empty(),
        "{} plans differ\n{}",
        seen.differences.len(),
        seen.differences.join("\n")
    );
    let listed: BTreeSet<&str> = UNSUPPORTED.lines().collect();
    let unsupported: BTreeSet<&str> = seen.unsupported.keys().map(String::as_str).collect();
    assert_eq!(
        unsupported, listed,
        "codec/unsupported.txt lists what cannot be serialized"
    );
    let unsupported: usize = seen.unsupported.values().sum();
    assert!(
        seen.serialized > 5 * unsupported,
        "{} plans were serialized, {unsupported} were not",
        seen.serialized
    );
    assert!(
        wrong.is_empty(),
        "{} cases are wrong\n{}",
        wrong.len(),
        wrong.join("\n")
    );
    on_a_large_stack(|| damage(&seen.messages));
}

/// Messages with one changed bit, and beginnings of messages, are refused.
fn damage(messages: &[Vec<u8>]) {
    let codec = PlanCodec::default();
    let context = TaskContext::default();
    for (number, message) in messages.iter().enumerate() {
        for step in 0..16 {
            let at = (number * 31 + step * 7919) % message.len();
            let mut changed = message.clone();
            changed[at] ^= 1 << (step % 8);
            assert!(codec.decode_plan(&changed, &context).is_err());
            assert!(codec.decode_plan(&message[..at], &context).is_err());
        }
    }
}
