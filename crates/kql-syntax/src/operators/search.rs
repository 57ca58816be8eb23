//! `search`.

use crate::ast::{Expr, OperatorParameter};

/// `search [kind=…] [in (T1, …)] predicate`
#[derive(Debug, Clone, PartialEq)]
pub struct SearchOperator {
    /// `kind=…`
    pub parameters: Vec<OperatorParameter>,
    /// `in (…)`
    pub tables: Vec<Expr>,
    /// The predicate; `col:"x"` is a call of [`SEARCH_COLUMN_TERM`].
    pub predicate: Expr,
}

/// The name of the call that stands for `col:"x"`; its arguments are the column and the term.
pub const SEARCH_COLUMN_TERM: &str = "$column_term";
