//! Scalar expressions: dispatch on the syntax node, and name resolution.

use hindsight_kql_syntax::ast::{BinaryOp, Call, Expr, ExprKind, Name};
use hindsight_kql_syntax::{Code, Diagnostic, Span};

use super::binder::Binder;
use super::comparison::Comparison;
use crate::context::{Entry, unknown_column};
use crate::error::BindResult;
use crate::plan::visible;
use crate::relation::{Relation, Scalar};

impl Binder<'_> {
    /// Binds a scalar expression that may read the columns of `input`.
    pub(crate) fn bind_scalar(&mut self, expr: &Expr, input: &Relation) -> BindResult<Scalar> {
        self.count_work(expr.span)?;
        let span = expr.span;
        match &expr.kind {
            ExprKind::Literal(literal) => Ok(Scalar::constant(self.literal_value(literal, span)?)),
            ExprKind::Name(name) => self.bind_name(&name.text, input, span),
            ExprKind::Parenthesised(inner) => self.bind_scalar(inner, input),
            ExprKind::Call(call) => self.bind_call(call, input, span),
            ExprKind::Member { value, member } => match self.entity(value) {
                Some(entity) => self.bind_entity_property(&entity, &member.text, span),
                None => self.bind_member(value, &member.text, input, span),
            },
            ExprKind::MemberCall { .. } => {
                Err(self.unsupported("a call of another database's function", span))
            }
            ExprKind::Index { value, index } => self.bind_index(value, index, input, span),
            ExprKind::Unary { op, value } => self.bind_unary(*op, value, input),
            ExprKind::Binary { op, left, right } => self.bind_binary(expr, *op, left, right, input),
            ExprKind::InList { op, value, list } => self.bind_list(*op, value, list, input, span),
            ExprKind::Between {
                negated,
                value,
                low,
                high,
            } => self.bind_between(*negated, value, low, high, input, span, false),
            ExprKind::AnyColumn { op, right } => self.bind_any_column(*op, right, input, span),
            ExprKind::Wildcard(_) => {
                Err(self.error(Code::UnresolvedName, "'*' is not an expression here", span))
            }
            ExprKind::TypeOf(_) => {
                Err(self.unsupported("typeof() outside the calls that take a type", span))
            }
            ExprKind::Pipe(_)
            | ExprKind::DataTable(_)
            | ExprKind::ExternalData(_)
            | ExprKind::Source(_) => Err(self.error(
                Code::NotScalar,
                "a tabular expression stands where a scalar is expected",
                span,
            )),
            ExprKind::Missing => Err(self.error(Code::Syntax, "an expression is missing", span)),
        }
    }

    /// Resolves a name: a column of the input first, then a name in scope (`docs/semantics.md §14.3`).
    fn bind_name(&mut self, name: &str, input: &Relation, span: Span) -> BindResult<Scalar> {
        if let Some(column) = input.column(name) {
            return Ok(column.scalar());
        }
        let found = self
            .frame
            .names
            .find(name)
            .map(|(entry, seen)| (entry.clone(), seen.clone()));
        match found {
            Some((Entry::Value { scalar, level }, _)) => {
                let row = !scalar.expr.column_refs().is_empty();
                if row && level != self.frame.level {
                    Err(Diagnostic::new(
                        Code::RowScope,
                        format!(
                            "can't use '{name}' as it is defined outside its row-context scope"
                        ),
                        span,
                    ))
                } else {
                    Ok(scalar)
                }
            }
            // A function without parameters needs no parentheses.
            Some((Entry::Function(function), seen))
                if !function.tabular && function.declaration.parameters.is_empty() =>
            {
                let call = Call {
                    function: Name::new(name.to_owned(), span),
                    arguments: Vec::new(),
                };
                self.call_scalar_function(&call, &function, seen, input, span)
            }
            Some((Entry::Macro(body), seen)) => {
                self.with_names(seen, |binder| binder.bind_scalar(&body, &Relation::unit()))
            }
            Some((Entry::Tabular(_) | Entry::Relation(_) | Entry::Graph(_), _)) => Err(self.error(
                Code::NotScalar,
                format!("'{name}' is a tabular expression where a scalar is expected"),
                span,
            )),
            _ => {
                let error = self.unknown_column(name, input, span);
                Err(self.unresolved(name, error))
            }
        }
    }

    fn unknown_column(&self, name: &str, input: &Relation, span: Span) -> Diagnostic {
        let is_scalar = |entry: &Entry| matches!(entry, Entry::Macro(_) | Entry::Value { .. });
        let scalars = self.frame.names.names(is_scalar);
        let columns = visible(input).map(|column| column.name.as_str());
        let message = unknown_column(name, columns.chain(scalars.iter().map(String::as_str)));
        self.error(Code::UnresolvedName, message, span)
    }

    fn bind_binary(
        &mut self,
        expr: &Expr,
        op: BinaryOp,
        left: &Expr,
        right: &Expr,
        input: &Relation,
    ) -> BindResult<Scalar> {
        if matches!(op, BinaryOp::And | BinaryOp::Or) {
            return self.bind_logic(expr, op, input);
        }
        let (left, right) = self.bind_both(left, right, input)?;
        if let Some(comparison) = Comparison::of(op)
            && let Some(scalar) = self.equality_of_listed_texts(comparison, &left, &right, input)
        {
            return Ok(scalar);
        }
        self.apply_binary(op, left, right, expr.span)
    }

    /// Binds `left op right` for bound operands; not for `and` and `or`.
    pub(crate) fn apply_binary(
        &mut self,
        op: BinaryOp,
        left: Scalar,
        right: Scalar,
        span: Span,
    ) -> BindResult<Scalar> {
        if let Some(comparison) = Comparison::of(op) {
            return self.compare(comparison, left, right, span);
        }
        match op {
            BinaryOp::Add
            | BinaryOp::Subtract
            | BinaryOp::Multiply
            | BinaryOp::Divide
            | BinaryOp::Modulo => self.arithmetic(op, left, right, span),
            _ => match self.bind_text_operator(op, left, right, span)? {
                Some(scalar) => Ok(scalar),
                None => {
                    Err(self.unsupported(format_args!("the operator '{}'", op.spelling()), span))
                }
            },
        }
    }
}
