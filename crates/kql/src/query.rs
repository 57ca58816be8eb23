//! The input and the output of binding: the options of a request, and the plans of its query.

use std::collections::HashMap;
use std::sync::Arc;

use datafusion::logical_expr::LogicalPlan;
use hindsight_kql_syntax::ast::RenderOperator;
use hindsight_kql_types::{ScalarType, Value};

use crate::held::HeldRows;
use crate::principal::QueryPrincipal;
use crate::random::RandomSource;
use crate::relation::Column;
use crate::steps::Step;

/// The options of a request that are not in its query text.
#[derive(Debug, Clone)]
pub struct BindOptions {
    /// The value of `now()` in ticks; one instant for the whole query.
    pub now_ticks: i64,
    /// Values of `declare query_parameters`, as text.
    pub parameters: HashMap<String, String>,
    /// A half-open interval in ticks: every scan keeps rows whose `timestamp` (or `TimeGenerated`) is in it.
    pub timespan: Option<(i64, i64)>,
    /// The principal that sends the query; `None` for a query without one.
    pub principal: Option<Arc<QueryPrincipal>>,
    /// The host and port by which the client reaches the server; `None` within the process.
    pub endpoint: Option<Arc<str>>,
    /// The rows that earlier attempts requested, in the order of the requests ([`crate::Binding::NeedsRows`]).
    pub discovered: Vec<Arc<HeldRows>>,
    /// The random numbers of `sample` and `sample-distinct`.
    pub random: RandomSource,
}

impl Default for BindOptions {
    fn default() -> BindOptions {
        BindOptions {
            now_ticks: hindsight_kql_types::ticks::UNIX_EPOCH_TICKS,
            parameters: HashMap::new(),
            timespan: None,
            principal: None,
            endpoint: None,
            discovered: Vec::new(),
            random: RandomSource::default(),
        }
    }
}

/// A bound query: execute the steps in order, then the results (see [`crate::run`]).
#[derive(Debug)]
pub struct BoundQuery {
    /// The results in the order of the query text.
    pub results: Vec<BoundResult>,
    /// Sub-queries that run once, before the results, in this order (`toscalar`, `materialize`, lists of `in`).
    pub steps: Vec<Step>,
    /// The options of `set` statements.
    pub settings: Settings,
    /// The tables that are read, by name.
    pub tables: Vec<String>,
    /// Whether a later request of the same text over the same tables, with the same parameters and timespan, is bound to the same plans: they
    /// depend on neither the time nor the sender of the request, nor on rows or random numbers.
    pub repeats: bool,
}

/// One result of a query.
#[derive(Debug, Clone)]
pub struct BoundResult {
    /// Its name, if the query text has one (`as`, `fork`, `facet`).
    pub name: Option<String>,
    /// The plan; its fields are the columns in order.
    pub plan: LogicalPlan,
    /// The columns.
    pub columns: Vec<Column>,
    /// The visualization of `render`, if there is one.
    pub render: Option<RenderOperator>,
    /// The rows have a defined order.
    pub sorted: bool,
}

/// `set` statements by option name; a bare `set x` is `Bool(true)`, keywords are strings.
#[derive(Debug, Clone, Default)]
pub struct Settings {
    values: HashMap<String, Value>,
}

impl Settings {
    /// The value of an option.
    pub fn get(&self, name: &str) -> Option<&Value> {
        self.values.get(name)
    }

    /// The value of `truncationmaxrecords`, if it is set.
    pub fn truncation_max_records(&self) -> Option<u64> {
        match self.values.get("truncationmaxrecords") {
            Some(Value::Long(n)) => u64::try_from(*n).ok(),
            Some(Value::Int(n)) => u64::try_from(*n).ok(),
            _ => None,
        }
    }

    /// The value of `truncationmaxsize` in bytes, if it is set.
    pub fn truncation_max_size(&self) -> Option<u64> {
        match self.values.get("truncationmaxsize") {
            Some(Value::Long(n)) => u64::try_from(*n).ok(),
            _ => None,
        }
    }

    /// Whether `notruncation` is set.
    pub fn no_truncation(&self) -> bool {
        self.values
            .get("notruncation")
            .is_some_and(|v| !matches!(v, Value::Bool(false)))
    }

    /// Records a `set` statement.
    pub(crate) fn insert(&mut self, name: &str, value: Value) {
        self.values.insert(name.to_owned(), value);
    }

    /// The value of an option that is a count.
    pub(crate) fn number(&self, name: &str) -> Option<usize> {
        match self.get(name)?.convert(ScalarType::Long) {
            Value::Long(number) => usize::try_from(number).ok(),
            _ => None,
        }
    }

    /// The value of an option that is a duration, in ticks.
    pub(crate) fn ticks(&self, name: &str) -> Option<i64> {
        match self.get(name)?.convert(ScalarType::DateTime) {
            Value::DateTime(ticks) => Some(ticks),
            _ => None,
        }
    }

    /// Whether an option is set and not `false`.
    pub(crate) fn on(&self, name: &str) -> bool {
        !matches!(self.get(name), None | Some(Value::Bool(false)))
    }
}
