//! The answer of a query in the notation of the case files.

use std::sync::Arc;

use arrow::array::ArrayRef;
use datafusion::common::DataFusionError;
use datafusion::execution::context::SessionContext;
use hindsight_kql_syntax::Diagnostic;
use hindsight_kql_types::ScalarType;

use super::file::Case;
use super::tables::CaseTables;
use crate::kernel::KernelError;
use crate::session;
use crate::testing::{Outcome, cell, print_all, run_in};
use crate::{BindOptions, PrincipalKind, QueryPrincipal};

/// The answer of a query.
pub(super) struct Answer {
    /// The text in the notation of the case files.
    pub(super) text: String,
    /// Whether the rows are in a defined order.
    pub(super) sorted: bool,
    /// Whether a case may expect it. No case may expect a defect of the implementation.
    pub(super) is_expectable: bool,
}

impl Answer {
    /// Executes the query of a case.
    pub(super) fn of(case: &Case) -> Answer {
        Answer::of_outcome(outcome(case), &case.query)
    }

    /// The answer of an outcome of a query.
    pub(super) fn of_outcome(outcome: Outcome, query: &str) -> Answer {
        let mut answer = Answer {
            text: String::new(),
            sorted: true,
            is_expectable: true,
        };
        match outcome {
            Outcome::Tables(tables) => {
                answer.sorted = tables.iter().all(|t| t.sorted);
                answer.text = print_all(&tables, written);
            }
            Outcome::Refused(errors) => {
                let errors: Vec<String> = errors.iter().map(|e| refusal(e, query)).collect();
                answer.text = errors.join("\n");
            }
            Outcome::Failed(error) => match failure(&error) {
                Some(text) => answer.text = text,
                None => {
                    answer.text = format!("failed {error}");
                    answer.is_expectable = false;
                }
            },
        }
        answer
    }

    /// Whether it equals the expectation of a case. Rows without a defined order compare as a multiset.
    pub(super) fn is(&self, expected: &str) -> bool {
        if self.sorted || self.text.contains("\n---\n") {
            return self.text == expected;
        }
        bag(&self.text) == bag(expected)
    }
}

/// The outcome of the query of a case.
pub(super) fn outcome(case: &Case) -> Outcome {
    let context = session::context().expect("DataFusion has the rules");
    outcome_in(case, &context)
}

/// The outcome of the query of a case in a session.
pub(super) fn outcome_in(case: &Case, context: &SessionContext) -> Outcome {
    let options = BindOptions {
        principal: Some(Arc::new(sender())),
        endpoint: Some("help.kusto.windows.net".into()),
        ..BindOptions::default()
    };
    run_in(&case.query, &CaseTables(&case.tables), options, context)
}

/// The principal that sends the queries of all cases: that of the documentation's examples.
fn sender() -> QueryPrincipal {
    QueryPrincipal {
        kind: PrincipalKind::User,
        id: "346e950e-4a62-42bf-96f5-4cf4eac3f11e".to_owned(),
        tenant: Some("72f988bf-86f1-41af-91ab-2d7cd011db47".to_owned()),
        issuer: Some("https://sts.windows.net".to_owned()),
        sign_in_name: Some("user@fabrikam.com".to_owned()),
        display_name: Some("James Smith (upn: user@fabrikam.com)".to_owned()),
    }
}

/// An answer with its rows sorted.
fn bag(text: &str) -> Vec<&str> {
    let mut lines: Vec<&str> = text.lines().collect();
    if let Some(rows) = lines.get_mut(1..) {
        rows.sort_unstable();
    }
    lines
}

/// A diagnostic: code, line from 1, position from 0, the token that the query API reports, and the message.
fn refusal(error: &Diagnostic, query: &str) -> String {
    let (line, position, token) = error.position(query);
    let token = token.replace('\n', "\\n");
    format!(
        "error {} at {line}:{position} '{token}'\n{}",
        error.code, error.message
    )
}

/// A run-time error that the query API reports with a code: the code and the message.
fn failure(error: &DataFusionError) -> Option<String> {
    let (code, message) = match error.find_root() {
        DataFusionError::ResourcesExhausted(message) => ("QueryResourcesExceeded", message.clone()),
        DataFusionError::External(source) => match source.downcast_ref::<KernelError>()? {
            KernelError::Failed(message) => ("QueryExecutionError", message.clone()),
            _ => return None,
        },
        _ => return None,
    };
    Some(format!("error {code}\n{message}"))
}

/// A cell in the notation of the case files: bools as `tostring()` writes them. An ambiguous text is in double quotes with
/// the escapes of JSON.
fn written(array: &ArrayRef, row: usize, kind: ScalarType) -> String {
    let text = cell(array, row, kind);
    match (kind, text.as_str()) {
        (ScalarType::Bool, "true") => "True".to_owned(),
        (ScalarType::Bool, "false") => "False".to_owned(),
        (ScalarType::String, "null") => quoted(&text),
        (ScalarType::String | ScalarType::Dynamic, _) if is_misread(&text) => quoted(&text),
        _ => text,
    }
}

fn quoted(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// Whether a text without quotes would be read as another text, as a separator or as an empty cell.
fn is_misread(text: &str) -> bool {
    text.is_empty()
        || text.trim() != text
        || text.starts_with('"')
        || text.contains(" | ")
        || text.contains(char::is_control)
        || ["---", "----", "===="].contains(&text)
}

#[test]
fn texts_that_would_be_misread_are_quoted() {
    for text in [
        "", " a", "a\n", "a\tb", "\"a\"", "a | b", "----", "====", "\u{a0}",
    ] {
        assert!(is_misread(text), "{text:?}");
    }
    for text in ["a", "a b", "it's", "a|b", "a \"b\"", "{\"a\":1}", "-----"] {
        assert!(!is_misread(text), "{text:?}");
    }
    assert_eq!(quoted("a\n\"b\" "), "\"a\\n\\\"b\\\" \"");
}

#[test]
fn rows_without_an_order_compare_as_a_bag() {
    let answer = |sorted| Answer {
        text: "n:long\n2\n1".to_owned(),
        sorted,
        is_expectable: true,
    };
    assert!(answer(false).is("n:long\n1\n2"));
    assert!(!answer(false).is("n:long\n1\n1"));
    assert!(!answer(false).is("1\nn:long\n2"));
    assert!(!answer(true).is("n:long\n1\n2"));
}
