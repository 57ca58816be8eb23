//! What is bound: the request's options, and the plans that stand for its text.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::logical_expr::LogicalPlan;
use hindsight_kql_syntax::ast::RenderOperator;
use hindsight_kql_types::{ScalarType, Value};

use crate::held::HeldRows;
use crate::relation::Column;
use crate::steps::Step;

/// What a request adds to the text of its query.
#[derive(Debug, Clone)]
pub struct BindOptions {
    /// `now()` in ticks; one instant for the whole query.
    pub now_ticks: i64,
    /// Values of `declare query_parameters`, as text.
    pub parameters: HashMap<String, String>,
    /// Half-open ticks: every table read keeps rows whose `timestamp` (or `TimeGenerated`) lies inside.
    pub timespan: Option<(i64, i64)>,
    /// The rows that earlier attempts asked for, in the order of asking ([`crate::Binding::NeedsRows`]).
    pub discovered: Vec<Arc<HeldRows>>,
}

impl Default for BindOptions {
    fn default() -> BindOptions {
        BindOptions {
            now_ticks: hindsight_kql_types::ticks::UNIX_EPOCH_TICKS,
            parameters: HashMap::new(),
            timespan: None,
            discovered: Vec::new(),
        }
    }
}

/// A bound query: run the steps in order, then the results (see [`crate::run`]).
#[derive(Debug)]
pub struct BoundQuery {
    /// The results in the order of the text.
    pub results: Vec<BoundResult>,
    /// Sub-queries that run once, before the results, in this order (`toscalar`, `materialize`, lists of `in`).
    pub steps: Vec<Step>,
    /// What `set` statements said.
    pub settings: Settings,
    /// The tables that were read, by name.
    pub tables: Vec<String>,
}

/// One result of a query.
#[derive(Debug)]
pub struct BoundResult {
    /// Its name, where the text gives one (`as`, `fork`, `facet`).
    pub name: Option<String>,
    /// The plan; its fields are the columns in order.
    pub plan: LogicalPlan,
    /// The columns.
    pub columns: Vec<Column>,
    /// `render`, where the result is to be drawn.
    pub render: Option<RenderOperator>,
    /// The rows have a defined order.
    pub sorted: bool,
}

/// `set` statements by option name; a bare `set x` is `Bool(true)`, words are strings.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    values: HashMap<String, Value>,
}

impl Settings {
    /// The value of an option.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// `truncationmaxrecords`, where it was set.
    pub fn truncation_max_records(&self) -> Option<u64> {
        match self.values.get("truncationmaxrecords") {
            Some(Value::Long(n)) => u64::try_from(*n).ok(),
            Some(Value::Int(n)) => u64::try_from(*n).ok(),
            _ => None,
        }
    }

    /// `truncationmaxsize` in bytes, where it was set.
    pub fn truncation_max_size(&self) -> Option<u64> {
        match self.values.get("truncationmaxsize") {
            Some(Value::Long(n)) => u64::try_from(*n).ok(),
            _ => None,
        }
    }

    /// `notruncation` was set.
    pub fn no_truncation(&self) -> bool {
        self.values
            .get("notruncation")
            .is_some_and(|v| !matches!(v, Value::Bool(false)))
    }

    /// Notes what a `set` statement said.
    pub(crate) fn insert(&mut self, name: &str, value: Value) {
        self.values.insert(name.to_owned(), value);
    }

    /// A setting that is a count.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        match self.get(name)?.convert(ScalarType::Long) {
            Value::Long(number) => usize::try_from(number).ok(),
            _ => None,
        }
    }

    /// A setting that is a time, in ticks.
    pub(crate) fn ticks(&self, name: &str) -> Option<i64> {
        match self.get(name)?.convert(ScalarType::DateTime) {
            Value::DateTime(ticks) => Some(ticks),
            _ => None,
        }
    }

    /// A setting that is given and not `false`.
    pub(crate) fn on(&self, name: &str) -> bool {
        !matches!(self.get(name), None | Some(Value::Bool(false)))
    }
}
