//! `scan`.

use crate::ast::{Expr, Name, OperatorParameter, OrderedExpr, Parameter};

/// `scan [with_match_id=id] [declare (…)] with ( step … ; )`
#[derive(Debug, Clone, PartialEq)]
pub struct ScanOperator {
    /// `with_match_id=…`, `kind=…`
    pub parameters: Vec<OperatorParameter>,
    /// `order by …` inside, `partition by …` inside.
    pub order_by: Vec<OrderedExpr>,
    /// `partition by …`
    pub partition_by: Vec<Expr>,
    /// `declare (…)`
    pub declare: Vec<Parameter>,
    /// The steps.
    pub steps: Vec<ScanStep>,
}

/// `step name [optional] [output=all|last|none] : condition [=> a = x, …];`
#[derive(Debug, Clone, PartialEq)]
pub struct ScanStep {
    /// The step.
    pub name: Name,
    /// `optional`
    pub optional: bool,
    /// `output=…`
    pub output: Option<Name>,
    /// The condition.
    pub condition: Expr,
    /// The assignments.
    pub assignments: Vec<(Name, Expr)>,
}
