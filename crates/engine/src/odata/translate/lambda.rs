//! `any` and `all` over the members of a list (4.01 part 2 §5.1.1.13): KQL has them as `mv-apply`, which adds a column that says
//! whether the condition holds.

use hindsight_kql_syntax::ast::{
    BinaryOp, DynamicLiteral, Expr, Literal, MvApplyOperator, MvExpandColumn, NamedExpr, Operator,
    OperatorKind, SummarizeOperator,
};

use super::{Kind, Operand, Resolved, Translator, definite};
use crate::odata::Fault;
use crate::odata::ast::Node;

/// The column of a list's member.
const MEMBER: &str = "$member";

/// The column that says whether the lambda holds, added by an operator that goes before.
pub(super) fn translate(
    t: &Translator<'_>,
    path: &str,
    all: bool,
    variable: &str,
    condition: Option<&Node>,
    at: usize,
) -> Result<Operand, Fault> {
    let Some(lambdas) = &t.lambdas else {
        return Err(Fault::new(
            at,
            "A lambda is supported in conditions of filters, outside of other lambdas.",
        ));
    };
    let Resolved { expr: list, kind } =
        (t.resolver)(path).map_err(|message| Fault::new(at, message))?;
    if kind != Kind::List {
        return Err(Fault::new(
            at,
            format!(
                "'{path}' is {}, and any and all look at the members of a list, such as exception/details.",
                kind.describe()
            ),
        ));
    }
    let holds = match condition {
        Some(node) => Some(of_members(t, variable, node)?),
        None => None,
    };
    let column = format!("$lambda/{at}");
    lambdas
        .borrow_mut()
        .push((column.clone(), apply(list, &column, holds, all)));
    Ok(Operand {
        expr: Expr::name(&column),
        kind: Kind::Bool,
        nullable: false,
        at,
    })
}

/// The condition, in which paths that start with the variable are of the member.
fn of_members(t: &Translator<'_>, variable: &str, node: &Node) -> Result<Expr, Fault> {
    let resolver = |path: &str| {
        let mut parts = path.split('/');
        if parts.next() != Some(variable) {
            return (t.resolver)(path);
        }
        let member = parts.fold(Expr::name(MEMBER), Expr::key);
        Ok(Resolved {
            expr: Expr::call("tostring", vec![member]),
            kind: Kind::Loose,
        })
    };
    let inner = Translator::plain(&resolver);
    Ok(definite(inner.truth(node)?).expr)
}

/// `mv-apply $member = list on (summarize column = countif(…) > 0)`
fn apply(list: Expr, column: &str, holds: Option<Expr>, all: bool) -> Operator {
    // A row without members would be lost: it gets one that is nothing.
    let nothing = Expr::literal(Literal::Dynamic(DynamicLiteral::Array(vec![
        DynamicLiteral::Null,
    ])));
    let some = Expr::binary(
        BinaryOp::Greater,
        Expr::call("array_length", vec![list.clone()]),
        Expr::long(0),
    );
    let members = Expr::call("iff", vec![some, list, nothing]);
    let is_member = Expr::call("isnotnull", vec![Expr::name(MEMBER)]);
    let counted = match holds {
        Some(holds) if all => Expr::all(vec![is_member, Expr::call("not", vec![holds])]),
        Some(holds) => Expr::all(vec![is_member, holds]),
        None => is_member,
    };
    let count = Expr::call("countif", vec![counted]);
    let verdict = match all {
        true => Expr::binary(BinaryOp::Equal, count, Expr::long(0)),
        false => Expr::binary(BinaryOp::Greater, count, Expr::long(0)),
    };
    let summarize = SummarizeOperator {
        parameters: Vec::new(),
        aggregates: vec![NamedExpr::named(column, verdict)],
        has_by: false,
        by: Vec::new(),
    };
    Operator::synthetic(OperatorKind::MvApply(MvApplyOperator {
        parameters: Vec::new(),
        columns: vec![MvExpandColumn {
            expr: NamedExpr::named(MEMBER, members),
            to: None,
        }],
        limit: None,
        context_id: None,
        subquery: vec![Operator::synthetic(OperatorKind::Summarize(summarize))],
    }))
}
