//! `any` and `all` over the members of a list (4.01 part 2 §5.1.1.13): KQL has them as `mv-apply`, which adds a column that says
//! whether the condition holds.

use hindsight_kql_syntax::ast::{
    BinaryOp, DynamicLiteral, Expr, Literal, MvApplyOperator, MvExpandColumn, Operator,
    OperatorKind, SummarizeOperator,
};

use super::operand::{Kind, Operand, Resolved, definite};
use super::translator::Translator;
use crate::odata::Fault;
use crate::odata::ast::Node;
use crate::tree::{all as every, binary, call, key, literal, long, name, named, operator};

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
        expr: name(&column),
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
        let member = parts.fold(name(MEMBER), key);
        Ok(Resolved {
            expr: call("tostring", vec![member]),
            kind: Kind::Loose,
        })
    };
    let inner = Translator::plain(&resolver);
    Ok(definite(inner.truth(node)?).expr)
}

/// `mv-apply $member = list on (summarize column = countif(…) > 0)`
fn apply(list: Expr, column: &str, holds: Option<Expr>, all: bool) -> Operator {
    // A row without members would be lost: it gets one that is nothing.
    let nothing = literal(Literal::Dynamic(DynamicLiteral::Array(vec![
        DynamicLiteral::Null,
    ])));
    let some = binary(
        BinaryOp::Greater,
        call("array_length", vec![list.clone()]),
        long(0),
    );
    let members = call("iff", vec![some, list, nothing]);
    let is_member = call("isnotnull", vec![name(MEMBER)]);
    let counted = match holds {
        Some(holds) if all => every(vec![is_member, call("not", vec![holds])]),
        Some(holds) => every(vec![is_member, holds]),
        None => is_member,
    };
    let count = call("countif", vec![counted]);
    let verdict = if all {
        binary(BinaryOp::Equal, count, long(0))
    } else {
        binary(BinaryOp::Greater, count, long(0))
    };
    let summarize = SummarizeOperator {
        parameters: Vec::new(),
        aggregates: vec![named(column, verdict)],
        has_by: false,
        by: Vec::new(),
    };
    operator(OperatorKind::MvApply(MvApplyOperator {
        parameters: Vec::new(),
        columns: vec![MvExpandColumn {
            expr: named(MEMBER, members),
            to: None,
        }],
        limit: None,
        context_id: None,
        subquery: vec![operator(OperatorKind::Summarize(summarize))],
    }))
}
