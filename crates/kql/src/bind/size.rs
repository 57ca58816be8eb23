//! How large a query may become: macros of macros, and unions of unions, grow without bound from a short text.

use datafusion::logical_expr::LogicalPlan;
use hindsight_kql_syntax::{Code, Span};

use super::binder::Binder;
use crate::error::BindResult;
use crate::relation::Relation;
use crate::work::CancellationToken;

/// How many expressions one query may expand to.
const MAX_WORK: usize = 400_000;
/// The nodes of a plan: a union of all tables of a hundred applications has about 4,000.
const MAX_NODES: usize = 10_000;
/// The nodes of a plan from the result to a table: threads that run queries have the stack for so many.
const MAX_DEPTH: usize = 4_000;
/// Every so many expressions the work is asked whether it is still wanted.
const ASKED_EVERY: usize = 256;

impl Binder<'_> {
    /// Counts one more bound expression.
    pub(crate) fn count_work(&mut self, span: Span) -> BindResult<()> {
        self.output.work += 1;
        if self.output.work > MAX_WORK {
            return Err(self.error(
                Code::Semantics,
                "the query expands to too many expressions",
                span,
            ));
        }
        if self.output.work.is_multiple_of(ASKED_EVERY)
            && CancellationToken::current().is_cancelled()
        {
            return Err(self.error(Code::Semantics, "the query was cancelled", span));
        }
        Ok(())
    }

    /// The relation, unless its plan has become too large. Looking is work too.
    pub(crate) fn bounded(&mut self, relation: Relation, span: Span) -> BindResult<Relation> {
        let size = Size::of(&relation.plan);
        self.output.work += size.nodes;
        let message = if size.nodes > MAX_NODES {
            format!(
                "the query reads and combines too much: its plan has more than {MAX_NODES} steps"
            )
        } else if size.depth > MAX_DEPTH {
            format!("the query has more than {MAX_DEPTH} steps one after the other")
        } else {
            return Ok(relation);
        };
        Err(self.error(Code::Semantics, message, span))
    }
}

/// The size of a plan, counted no further than the limits.
struct Size {
    nodes: usize,
    depth: usize,
}

impl Size {
    /// Without recursion, which a deep plan is not fit for.
    fn of(plan: &LogicalPlan) -> Size {
        let mut size = Size { nodes: 0, depth: 0 };
        let mut open = vec![(plan, 1)];
        while let Some((plan, depth)) = open.pop() {
            size.nodes += 1;
            size.depth = size.depth.max(depth);
            if size.nodes > MAX_NODES || size.depth > MAX_DEPTH {
                break;
            }
            open.extend(plan.inputs().into_iter().map(|input| (input, depth + 1)));
        }
        size
    }
}
