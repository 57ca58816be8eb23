//! `make-series`.

use crate::ast::{Expr, NamedExpr, OperatorParameter};

/// `make-series [kind=nonempty] agg [default=v], … on axis [from a] [to b] step s [by …]`
#[derive(Debug, Clone, PartialEq)]
pub struct MakeSeriesOperator {
    /// `kind=…` and hints.
    pub parameters: Vec<OperatorParameter>,
    /// The series.
    pub aggregates: Vec<SeriesAggregate>,
    /// The axis.
    pub axis: NamedExpr,
    /// Its bins.
    pub bins: SeriesBins,
    /// `by …`
    pub by: Vec<NamedExpr>,
}

/// `agg [default = v]`
#[derive(Debug, Clone, PartialEq)]
pub struct SeriesAggregate {
    /// The aggregate.
    pub aggregate: NamedExpr,
    /// The value of bins without rows.
    pub default: Option<Expr>,
}

/// How the axis is cut.
#[derive(Debug, Clone, PartialEq)]
pub enum SeriesBins {
    /// `[from a] [to b] step s`
    FromToStep {
        /// First bin.
        from: Option<Expr>,
        /// End, exclusive.
        to: Option<Expr>,
        /// Width.
        step: Expr,
    },
    /// `in range(a, b, s)`: the older form, whose end is inclusive.
    InRange {
        /// First bin.
        from: Expr,
        /// End, inclusive.
        to: Expr,
        /// Width.
        step: Expr,
    },
}
