//! `find`.

use crate::ast::{Expr, OperatorParameter};

/// `find [withsource=C] in (T1, …) where pred [project …]`
#[derive(Debug, Clone, PartialEq)]
pub struct FindOperator {
    /// `withsource=…`, `datascope=…`
    pub parameters: Vec<OperatorParameter>,
    /// `in (…)`
    pub tables: Vec<Expr>,
    /// The predicate.
    pub predicate: Expr,
    /// What it returns.
    pub projection: FindProjection,
    /// `project-away …`
    pub away: Vec<Expr>,
}

/// What `find` returns.
#[derive(Debug, Clone, PartialEq)]
pub enum FindProjection {
    /// `project-smart`, or nothing written.
    Smart,
    /// `project a, b:long, pack(*)`
    Columns {
        /// The columns with a written type where there is one.
        columns: Vec<(Expr, Option<hindsight_kql_types::ScalarType>)>,
        /// `pack(*)`
        pack: bool,
    },
}
