//! The definition of an aggregate as data: signatures, naming rule, examples and binding.

use datafusion::logical_expr::Expr;
use hindsight_kql_syntax::{Diagnostic, Span};
use hindsight_kql_types::ScalarType;

use crate::Scalar;
use crate::definition::Example;

/// An aggregate of the language.
#[derive(Debug)]
pub struct AggregateFunction {
    /// Overloads, in the form of scalar functions' signatures; `*` is allowed as an argument if `star` is set.
    pub signatures: &'static [&'static str],
    /// Aliases.
    pub aliases: &'static [&'static str],
    /// One sentence for the language reference.
    pub summary: &'static str,
    /// The naming rule of its unnamed column (`docs/semantics.md §13.3`).
    pub result_name: AggregateName,
    /// Whether `*` may stand for all columns (`arg_max(x, *)`, `take_any(*)`).
    pub star: bool,
    /// Executable examples.
    pub examples: &'static [Example],
    /// Builds its result columns. The expressions contain DataFusion aggregate calls nested in arbitrary scalar expressions;
    /// `summarize` separates the two.
    pub bind: fn(&AggregateCall<'_>) -> Result<Vec<AggregateColumn>, Diagnostic>,
}

/// The default name of an aggregate's column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AggregateName {
    /// `<prefix>_<argument>`: `sum_x`, or `<prefix>_` if the argument has no name.
    Prefixed(&'static str),
    /// The columns name themselves ([`AggregateColumn::name`]): `arg_max`, `take_any`, `percentiles`.
    Columns,
}

/// An aggregate call during binding.
pub struct AggregateCall<'a> {
    /// The arguments, converted to the parameter types of the signature; `*` is already expanded into columns.
    pub args: &'a [Scalar],
    /// The column name that each argument provides, if any.
    pub names: &'a [Option<String>],
    /// The result type according to the signature.
    pub result: ScalarType,
    /// The position of the call in the query text.
    pub span: Span,
}

/// One result column of an aggregate.
#[derive(Debug, Clone)]
pub struct AggregateColumn {
    /// Its name, if the aggregate uses [`AggregateName::Columns`].
    pub name: Option<String>,
    /// The expression, which contains aggregate calls.
    pub expr: Expr,
    /// Its type.
    pub kind: ScalarType,
}
