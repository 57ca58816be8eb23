//! What an aggregate is: a datum with its signatures, its name rule, its examples and how it binds.

use datafusion::logical_expr::Expr;
use hindsight_kql_syntax::{Diagnostic, Span};
use hindsight_kql_types::ScalarType;

use crate::Scalar;
use crate::definition::Example;

/// An aggregate of the language.
#[derive(Debug)]
pub struct AggregateFunction {
    /// Overloads in the form of scalar functions' signatures; `*` as an argument is allowed where `star` says so.
    pub signatures: &'static [&'static str],
    /// Other names for it.
    pub aliases: &'static [&'static str],
    /// One sentence for the reference.
    pub summary: &'static str,
    /// How its unnamed column is called (`semantics.md §13.3`).
    pub result_name: AggregateName,
    /// `*` may stand for all columns (`arg_max(x, *)`, `take_any(*)`).
    pub star: bool,
    /// Runnable examples.
    pub examples: &'static [Example],
    /// Builds its result columns. The expressions contain DataFusion aggregate calls, freely mixed with scalar
    /// expressions around them; `summarize` splits the two.
    pub bind: fn(&AggregateCall<'_>) -> Result<Vec<AggregateColumn>, Diagnostic>,
}

/// The default name of an aggregate's column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AggregateName {
    /// `<prefix>_<argument>`: `sum_x`, and `<prefix>_` where the argument has no name.
    Prefixed(&'static str),
    /// The columns name themselves ([`AggregateColumn::name`]): `arg_max`, `take_any`, `percentiles`.
    Columns,
}

/// A call being bound.
pub struct AggregateCall<'a> {
    /// The arguments, converted to what the signature asks for; `*` has been expanded into the columns it stands for.
    pub args: &'a [Scalar],
    /// The name that each argument would give a column, where it has one.
    pub names: &'a [Option<String>],
    /// The result type by the signature.
    pub result: ScalarType,
    /// Where the call stands.
    pub span: Span,
}

/// One result column of an aggregate.
#[derive(Debug, Clone)]
pub struct AggregateColumn {
    /// Its name where [`AggregateName::Columns`].
    pub name: Option<String>,
    /// The expression, with aggregate calls inside.
    pub expr: Expr,
    /// Its type.
    pub kind: ScalarType,
}
