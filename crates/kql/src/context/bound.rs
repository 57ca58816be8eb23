//! What expressions and operators are bound to.

use datafusion::logical_expr::Expr as PlanExpr;
use hindsight_kql_syntax::ast::RenderOperator;
use hindsight_kql_types::ScalarType;

use crate::error::BindResult;
use crate::query::BoundResult;
use crate::relation::{Relation, Scalar};

/// What a pipeline is bound to so far.
#[derive(Debug)]
pub(crate) struct Bound {
    /// The rows.
    pub(crate) relation: Relation,
    /// The name that `as` or a branch of `fork` gave them.
    pub(crate) label: Option<String>,
    /// The name by which the operators behind may read these rows (`as`).
    pub(crate) defines: Option<String>,
    /// How `render` wants the rows to be drawn.
    pub(crate) render: Option<RenderOperator>,
    /// Results that stand before these rows (`fork`, `facet`, `preview`).
    pub(crate) extra_results: Vec<BoundResult>,
}

impl From<Relation> for Bound {
    fn from(relation: Relation) -> Bound {
        Bound {
            relation,
            label: None,
            defines: None,
            render: None,
            extra_results: Vec::new(),
        }
    }
}

impl Bound {
    /// What an operator makes of the rows; all else stays.
    pub(crate) fn map(
        self,
        operator: impl FnOnce(Relation) -> BindResult<Relation>,
    ) -> BindResult<Bound> {
        Ok(Bound {
            relation: operator(self.relation)?,
            ..self
        })
    }

    /// These rows, behind a pipeline that was bound to `before`: what that pipeline said of its rows holds where these
    /// say nothing.
    pub(crate) fn behind(self, before: Bound) -> Bound {
        let mut extra_results = before.extra_results;
        extra_results.extend(self.extra_results);
        Bound {
            relation: self.relation,
            label: self.label.or(before.label),
            defines: self.defines,
            render: self.render.or(before.render),
            extra_results,
        }
    }
}

/// Which operator's rules of numbering and clashes hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NamingMode {
    /// `project`: numbered columns do not look at the input's names.
    Project,
    /// `extend`, `serialize`: a name of the input replaces that column; two targets never share a name.
    Extend,
    /// Keys and aggregates of `summarize`, `make-series`.
    Summarize,
    /// `distinct`.
    Distinct,
    /// `print`: unnamed columns are numbered by their position, from 0.
    Print,
}

/// One column of a list.
#[derive(Debug, Clone)]
pub(crate) struct BoundColumn {
    /// Its name, unique in the list.
    pub(crate) name: String,
    /// What computes it.
    pub(crate) scalar: Scalar,
    /// The name was written (`Name = …`, or a plain column).
    pub(crate) explicit: bool,
}

/// One column of aggregates.
#[derive(Debug, Clone)]
pub(crate) struct BoundAggregate {
    /// Its name, unique among keys and aggregates.
    pub(crate) name: String,
    /// A scalar expression with DataFusion aggregate calls inside, over the input's fields.
    pub(crate) expr: PlanExpr,
    /// Its type.
    pub(crate) kind: ScalarType,
}
