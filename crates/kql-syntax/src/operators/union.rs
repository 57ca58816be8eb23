//! `union`.

use crate::ast::{Expr, OperatorParameter};

/// `union [kind=…] [withsource=…] [isfuzzy=…] T1, (pipe), V*`
#[derive(Debug, Clone, PartialEq)]
pub struct UnionOperator {
    /// `kind=…`, `withsource=…`, `isfuzzy=…`, hints.
    pub parameters: Vec<OperatorParameter>,
    /// The legs.
    pub tables: Vec<Expr>,
}
