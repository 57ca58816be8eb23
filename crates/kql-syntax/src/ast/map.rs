//! Rewriting expressions.

use super::{Argument, Call, Expr, ExprKind};

impl Expr {
    /// The expression with each operand and argument replaced by the result of `map`. Sub-queries stay.
    ///
    /// # Errors
    /// The first error of `map`.
    pub fn try_map_operands<E>(
        &self,
        map: &mut impl FnMut(&Expr) -> Result<Expr, E>,
    ) -> Result<Expr, E> {
        let kind = match &self.kind {
            ExprKind::Member { value, member } => ExprKind::Member {
                value: Box::new(map(value)?),
                member: member.clone(),
            },
            ExprKind::Index { value, index } => ExprKind::Index {
                value: Box::new(map(value)?),
                index: Box::new(map(index)?),
            },
            ExprKind::Call(call) => ExprKind::Call(call.try_map_arguments(map)?),
            ExprKind::Unary { op, value } => ExprKind::Unary {
                op: *op,
                value: Box::new(map(value)?),
            },
            ExprKind::Binary { op, left, right } => ExprKind::Binary {
                op: *op,
                left: Box::new(map(left)?),
                right: Box::new(map(right)?),
            },
            ExprKind::InList { op, value, list } => ExprKind::InList {
                op: *op,
                value: Box::new(map(value)?),
                list: list.iter().map(map).collect::<Result<_, E>>()?,
            },
            ExprKind::Between {
                negated,
                value,
                low,
                high,
            } => ExprKind::Between {
                negated: *negated,
                value: Box::new(map(value)?),
                low: Box::new(map(low)?),
                high: Box::new(map(high)?),
            },
            ExprKind::Parenthesised(inner) => ExprKind::Parenthesised(Box::new(map(inner)?)),
            other => other.clone(),
        };
        Ok(Expr::new(kind, self.span))
    }
}

impl Call {
    /// The call with each argument replaced by the result of `map`.
    ///
    /// # Errors
    /// The first error of `map`.
    pub fn try_map_arguments<E>(
        &self,
        map: &mut impl FnMut(&Expr) -> Result<Expr, E>,
    ) -> Result<Call, E> {
        let argument = |argument: &Argument| {
            Ok(Argument {
                name: argument.name.clone(),
                value: map(&argument.value)?,
            })
        };
        Ok(Call {
            function: self.function.clone(),
            arguments: self
                .arguments
                .iter()
                .map(argument)
                .collect::<Result<_, E>>()?,
        })
    }
}
