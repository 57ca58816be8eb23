//! The conditions of `join` and `lookup`: pairs of columns that must be equal.

use datafusion::logical_expr::Expr as PlanExpr;
use hindsight_kql_syntax::ast::{BinaryOp, Expr, ExprKind};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::ScalarType;

use crate::context::{BindContext, unknown_column};
use crate::convert::{convert, widest};
use crate::error::BindResult;
use crate::plan::{groups, visible};
use crate::real_key::as_key;
use crate::relation::{Column, Relation};

/// A pair of columns that must be equal, and their common type.
#[derive(Debug, Clone)]
pub(crate) struct JoinKey {
    pub(crate) left: Column,
    pub(crate) right: Column,
    kind: ScalarType,
}

impl JoinKey {
    /// The expression of the left side, over the left fields.
    pub(crate) fn left_expr(&self) -> PlanExpr {
        as_key(convert(self.left.scalar(), self.kind).expr, self.kind)
    }

    /// The expression of the right side over the field `field`.
    pub(crate) fn right_expr(&self, field: &str) -> PlanExpr {
        let column = Column {
            field: field.to_owned(),
            ..self.right.clone()
        };
        as_key(convert(column.scalar(), self.kind).expr, self.kind)
    }
}

/// The condition that two columns are equal; `None` if their types are not comparable.
pub(crate) fn equal_columns(left: &Column, right: &Column) -> Option<JoinKey> {
    Some(JoinKey {
        left: left.clone(),
        right: right.clone(),
        kind: common_kind(left.kind, right.kind)?,
    })
}

/// If the right side has subtables (`partition by k (as T | join (T) on …)`), rows match only rows of the same subtable.
pub(crate) fn subtable_keys(
    left: &Relation,
    right: &Relation,
    binder: &dyn BindContext,
    span: Span,
) -> BindResult<Vec<JoinKey>> {
    let groups = groups(right);
    if groups.iter().any(|c| left.column(&c.name).is_none()) {
        return Err(binder.unsupported("rows of a subtable outside of it", span));
    }
    // A dynamic column is redundant, because the row number also identifies the row.
    let keys = groups
        .iter()
        .filter_map(|right| equal_columns(left.column(&right.name)?, right));
    Ok(keys.collect())
}

/// Binds `on a, $left.b == $right.c and …`.
pub(crate) fn join_keys(
    on: &[Expr],
    left: &Relation,
    right: &Relation,
    binder: &dyn BindContext,
    span: Span,
) -> BindResult<Vec<JoinKey>> {
    let mut keys = Vec::new();
    for condition in on {
        add_condition(condition, left, right, binder, &mut keys)?;
    }
    if keys.is_empty() {
        Err(binder.error(Code::Syntax, "a join condition ('on …') is expected", span))
    } else {
        Ok(keys)
    }
}

fn add_condition(
    condition: &Expr,
    left: &Relation,
    right: &Relation,
    binder: &dyn BindContext,
    keys: &mut Vec<JoinKey>,
) -> BindResult<()> {
    let condition = condition.unparenthesised();
    let pair = match &condition.kind {
        ExprKind::Binary {
            op: BinaryOp::And,
            left: first,
            right: second,
        } => {
            add_condition(first, left, right, binder, keys)?;
            return add_condition(second, left, right, binder, keys);
        }
        ExprKind::Binary {
            op: BinaryOp::Equal,
            left: first,
            right: second,
        } => sides(first, second),
        _ => condition.as_name().map(|name| (name, name)),
    };
    let Some((left_name, right_name)) = pair else {
        return Err(binder.error(
            Code::Semantics,
            "join conditions must be column names, or equalities between '$left.x' and '$right.y'",
            condition.span,
        ));
    };
    let left = column(left, left_name, binder, condition.span)?;
    let right = column(right, right_name, binder, condition.span)?;
    let kind = common_kind(left.kind, right.kind).ok_or_else(|| {
        let message = format!(
            "the join key '{left_name}' is {} on the left and '{right_name}' is {} on the right",
            left.kind, right.kind
        );
        binder.error(Code::Semantics, message, condition.span)
    })?;
    keys.push(JoinKey { left, right, kind });
    Ok(())
}

/// The names in `$left.a == $right.b`, in either order.
fn sides<'e>(first: &'e Expr, second: &'e Expr) -> Option<(&'e str, &'e str)> {
    match (side(first)?, side(second)?) {
        (("$left", a), ("$right", b)) | (("$right", b), ("$left", a)) => Some((a, b)),
        _ => None,
    }
}

fn side(expr: &Expr) -> Option<(&str, &str)> {
    match &expr.unparenthesised().kind {
        ExprKind::Member { value, member } => Some((value.as_name()?, &member.text)),
        _ => None,
    }
}

fn column(
    relation: &Relation,
    name: &str,
    binder: &dyn BindContext,
    span: Span,
) -> BindResult<Column> {
    relation.column(name).cloned().ok_or_else(|| {
        let known = visible(relation).map(|column| column.name.as_str());
        let message = unknown_column(name, known);
        binder.error(Code::UnresolvedName, message, span)
    })
}

/// The common type of two keys: the same type, or the wider numeric type. A dynamic cannot be a key.
fn common_kind(left: ScalarType, right: ScalarType) -> Option<ScalarType> {
    match (left, right) {
        (ScalarType::Dynamic, _) | (_, ScalarType::Dynamic) => None,
        (a, b) if a == b => Some(a),
        (a, b) => widest(a, b),
    }
}
