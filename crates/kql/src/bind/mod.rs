//! The binder: names, types and calls. It turns a syntax tree into typed DataFusion plans.
//!
//! Errors are [`Diagnostic`]s with the codes of `semantics.md §28.4`. What the language has and this binder has not is
//! refused by name.

mod access;
mod aggregate;
mod any_column;
mod arithmetic;
mod call;
mod columns;
mod compare;
mod constant;
mod discover;
mod dynamic;
mod function;
mod lists;
mod literal;
mod logic;
mod once;
mod operator;
mod options;
mod pattern;
mod predicate;
mod projection;
mod result_name;
mod scalar;
mod size;
mod source;
mod statement;
mod strings;
mod subquery;
mod table;
#[cfg(test)]
mod tests;
mod text_equality;

use std::collections::HashMap;

use datafusion::common::DataFusionError;
use datafusion::logical_expr::LogicalPlan;
use hindsight_kql_syntax::ast::{Query, RenderOperator};
use hindsight_kql_syntax::{Diagnostic, Span};
use hindsight_kql_types::Value;

use crate::catalog::Catalog;
use crate::relation::{Column, Relation};

pub(crate) use crate::context::{Entry, Env};
pub(crate) use crate::convert::{convert, widest};
pub(crate) use access::Access;
pub(crate) use aggregate::BoundAggregate;
pub(crate) use constant::{fold, null_scalar, value_from_scalar, value_to_scalar};
pub use discover::{Binding, NeededRows, bind_or_ask};
pub(crate) use lists::bare_name;
pub(crate) use pattern::invocation;
pub(crate) use projection::{BoundColumn, NamingMode, wildcard_matches};
pub use subquery::{MaterializedTable, Step, StepKind};

/// What binding gives.
pub(crate) type BindResult<T> = Result<T, Diagnostic>;

/// What a request adds to the text of its query.
#[derive(Debug, Clone)]
pub struct BindOptions {
    /// `now()` in ticks; one instant for the whole query.
    pub now_ticks: i64,
    /// Values of `declare query_parameters`, as text.
    pub parameters: HashMap<String, String>,
    /// Half-open ticks: every table read keeps rows whose `timestamp` (or `TimeGenerated`) lies inside.
    pub timespan: Option<(i64, i64)>,
    /// The rows that earlier attempts asked for, in the order of asking ([`Binding::NeedsRows`]).
    pub discovered: Vec<std::sync::Arc<crate::held::HeldRows>>,
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
}

/// Binds a whole request whose columns do not depend on data.
///
/// # Errors
/// As [`bind_or_ask`]; a request that needs rows to know its columns
/// (`evaluate bag_unpack(…)`) is refused here: see [`bind_or_ask`].
pub fn bind(
    query: &Query,
    catalog: &dyn Catalog,
    options: &BindOptions,
) -> Result<BoundQuery, Vec<Diagnostic>> {
    match bind_or_ask(query, catalog, options)? {
        Binding::Bound(bound) => Ok(bound),
        Binding::NeedsRows(_) => Err(vec![Diagnostic::new(
            "SEM0001",
            "the columns of the result depend on data",
            Span::default(),
        )]),
    }
}

/// The state of binding one request.
pub(crate) struct Binder<'a> {
    pub(crate) catalog: &'a dyn Catalog,
    pub(crate) options: &'a BindOptions,
    /// `now()`: the request's, or `set query_now`.
    pub(crate) now_ticks: i64,
    /// The names that are visible here.
    pub(crate) env: Env,
    /// The keyword of the operator being bound, for messages.
    pub(crate) operator: Option<String>,
    /// How many pipelines enclose this place; a row's values are visible only in their own.
    pub(crate) level: usize,
    /// The function calls being expanded, for recursion through stored names and a depth limit.
    pub(crate) call_depth: usize,
    /// How many times rows were asked for while binding.
    pub(crate) discoveries: usize,
    /// The rows that binding cannot go on without.
    pub(crate) needed: Option<discover::Needed>,
    /// How many steps were numbered so far.
    pub(crate) step_ids: usize,
    /// How many expressions were bound so far.
    pub(crate) work: usize,
    /// The statement's own rows are no result: the operator gave its results itself (`fork`, `facet`).
    pub(crate) no_result: bool,
    /// `toscalar` calls outside functions that have a step already, by their place.
    pub(crate) pinned: HashMap<(u32, u32), crate::relation::Scalar>,
    /// Window calls of the operator being bound, which its input must compute first.
    pub(crate) windows: Vec<crate::window::WindowCall>,
    /// Values of subtables (`toscalar` inside `partition`) that the operator being bound reads beside its rows.
    pub(crate) subtable_values: Vec<crate::subtables::value::SubtableValue>,
    /// Set while an expression that may hold aggregate calls is bound.
    pub(crate) aggregates: Option<aggregate::AggregateContext>,
    /// `render` of the pipeline being bound.
    pub(crate) render: Option<RenderOperator>,
    /// Inside `mv-apply` and `partition`: a row for each subtable, of the columns that tell them apart.
    pub(crate) subtables: Option<Relation>,
    /// The name that `as` gave the pipeline being bound.
    pub(crate) label: Option<String>,
    pub(crate) results: Vec<BoundResult>,
    pub(crate) steps: Vec<Step>,
    pub(crate) settings: Settings,
    pub(crate) tables: Vec<String>,
}

impl<'a> Binder<'a> {
    /// A binder that knows no names yet.
    pub(crate) fn new(catalog: &'a dyn Catalog, options: &'a BindOptions) -> Binder<'a> {
        Binder {
            catalog,
            options,
            now_ticks: options.now_ticks,
            env: Env::default(),
            operator: None,
            level: 0,
            call_depth: 0,
            discoveries: 0,
            needed: None,
            step_ids: 0,
            work: 0,
            no_result: false,
            pinned: HashMap::new(),
            windows: Vec::new(),
            subtable_values: Vec::new(),
            aggregates: None,
            render: None,
            subtables: None,
            label: None,
            results: Vec::new(),
            steps: Vec::new(),
            settings: Settings::default(),
            tables: Vec::new(),
        }
    }

    /// A diagnostic whose message begins with the operator being bound.
    pub(crate) fn error(
        &self,
        code: &'static str,
        message: impl AsRef<str>,
        span: Span,
    ) -> Diagnostic {
        match &self.operator {
            Some(operator) => Diagnostic::new(
                code,
                format!("'{operator}' operator: {}", message.as_ref()),
                span,
            ),
            None => Diagnostic::new(code, message.as_ref(), span),
        }
    }

    /// The diagnostic of a construct that the language has and this service has not.
    pub(crate) fn unsupported(&self, what: impl std::fmt::Display, span: Span) -> Diagnostic {
        self.error("SEM0001", format!("{what} is not supported"), span)
    }

    /// Adds a result table beside the pipeline's own (`fork`, `facet`).
    pub(crate) fn add_result(
        &mut self,
        name: Option<String>,
        relation: Relation,
        render: Option<RenderOperator>,
        span: Span,
    ) -> BindResult<()> {
        let relation = self.with_result_options(relation.finish(span)?, span)?;
        self.results.push(BoundResult {
            name,
            sorted: relation.serialized,
            columns: relation.columns,
            plan: relation.plan,
            render,
        });
        Ok(())
    }
}

/// What DataFusion says about a plan that the binder built: a mistake of the binder, shown rather than hidden.
pub(crate) fn plan_error(error: DataFusionError, span: Span) -> Diagnostic {
    Diagnostic::new(
        "SEM0001",
        format!("the query cannot be planned: {error}"),
        span,
    )
}
