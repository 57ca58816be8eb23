//! `search`: rows of which at least one column matches (`docs/semantics.md §23.4`).

use hindsight_kql_syntax::ast::{
    Argument, BinaryOp, Call, Expr, ExprKind, Literal, Name, SEARCH_COLUMN_TERM, SearchOperator,
};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::{ScalarType, Value};

use super::OnEmptyInput;
use super::OperatorInput;
use super::Properties;
use super::RowEffect;
use super::TabularOperator;
use super::union::{bind_legs, matching_tables};
use crate::context::{BindContext, Bound};
use crate::error::BindResult;
use crate::plan::union::{Leg, union_plan};
use crate::plan::{self, Output, hidden_name, parameter, pass, visible};
use crate::relation::{ColumnRole, Relation, Scalar};

impl TabularOperator for SearchOperator {
    fn properties(&self) -> Properties<'_> {
        Properties {
            input: OperatorInput::Rows,
            rows: RowEffect::Loses,
            on_empty_input: OnEmptyInput::NoRows,
            rereads_rows: false,
            names_rows: false,
            adds_rows: false,
            keeps_columns: false,
        }
    }

    fn bind(&self, input: Bound, binder: &mut dyn BindContext, span: Span) -> BindResult<Bound> {
        bind(self, input, binder, span)
    }
}

fn bind(
    node: &SearchOperator,
    mut input: Bound,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Bound> {
    let case_sensitive = match parameter(&node.parameters, &["kind"]) {
        None => false,
        Some(expr) => match binder.constant_word(expr)?.as_str() {
            "case_sensitive" => true,
            "case_insensitive" | "default" => false,
            other => {
                return Err(binder.error(
                    Code::Semantics,
                    format!("unknown search kind '{other}'; the kinds are case_sensitive and case_insensitive"),
                    expr.span,
                ));
            }
        },
    };
    let source = hidden_name("source");
    let subtables = !plan::groups(&input.relation).is_empty();
    if subtables && !node.tables.is_empty() {
        plan::refuse_groups(&input.relation, binder, span)?;
    }
    let legs = legs(node, &mut input, binder, span)?;
    let mut rows = match <[Leg; 1]>::try_from(legs) {
        // Rows of the pipeline keep the subtable keys.
        Ok([leg]) if subtables => labelled(leg, &source, span)?,
        Ok([leg]) => union_plan(vec![leg], Some(&source), false, span)?,
        Err(legs) => union_plan(legs, Some(&source), false, span)?,
    };
    // The predicate does not test the column with the name of the table.
    for column in rows.columns.iter_mut().filter(|c| c.name == source) {
        column.role = ColumnRole::Scratch;
    }
    let predicate = Terms {
        case_sensitive,
        columns: &rows,
    }
    .predicate(&node.predicate);
    let predicate = binder.bind_predicate(&predicate, &rows)?;
    let mut columns: Vec<Output> = plan::groups(&rows).iter().map(pass).collect();
    if let Some(source) = rows.column(&source) {
        columns.push(Output::visible("$table", source.kind, source.expr()));
    }
    columns.extend(visible(&rows).map(pass));
    input.map(|_| rows.filter(predicate, span)?.project(columns, span))
}

/// The rows of one table with a column for its name.
fn labelled(leg: Leg, source: &str, span: Span) -> BindResult<Relation> {
    let label = Scalar::constant(Value::String(leg.label)).expr;
    let mut columns: Vec<Output> = leg.relation.columns.iter().map(pass).collect();
    columns.push(Output::visible(source, ScalarType::String, label));
    leg.relation.project(columns, span)
}

fn legs(
    node: &SearchOperator,
    input: &mut Bound,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Vec<Leg>> {
    if !node.tables.is_empty() {
        return bind_legs(&node.tables, 0, "search_arg", false, binder);
    }
    if !input.relation.is_unit() {
        let label = input.label.take();
        return Ok(vec![Leg {
            label: label.unwrap_or_else(|| "search_arg0".to_owned()),
            relation: input.relation.clone(),
        }]);
    }
    let tables: Vec<Expr> = matching_tables("*", binder, span)?
        .into_iter()
        .map(|name| Expr::new(ExprKind::Name(Name::new(name, span)), span))
        .collect();
    if tables.is_empty() {
        Err(binder.error(Code::UnresolvedName, "there is no table to search", span))
    } else {
        bind_legs(&tables, 0, "search_arg", false, binder)
    }
}

/// The predicate of a case-insensitive search: terms become tests of the columns of `rows`.
pub(super) fn search_predicate(predicate: &Expr, rows: &Relation) -> Expr {
    Terms {
        case_sensitive: false,
        columns: rows,
    }
    .predicate(predicate)
}

/// Turns the terms of a search into tests of columns.
struct Terms<'r> {
    case_sensitive: bool,
    columns: &'r Relation,
}

impl Terms<'_> {
    /// The test of a whole search. A star keeps every row; it cannot stand beside a term.
    fn predicate(&self, expr: &Expr) -> Expr {
        match &expr.kind {
            ExprKind::Wildcard(pattern) if pattern == "*" => {
                Expr::new(ExprKind::Literal(Literal::Bool(true)), expr.span)
            }
            _ => self.rewrite(expr),
        }
    }

    fn rewrite(&self, expr: &Expr) -> Expr {
        let kind = match &expr.kind {
            ExprKind::Parenthesised(inner) => {
                ExprKind::Parenthesised(Box::new(self.rewrite(inner)))
            }
            ExprKind::Literal(Literal::String(term)) => return self.anywhere(term, expr.span),
            // A number is searched as text.
            ExprKind::Literal(Literal::Long(term)) => {
                return self.anywhere(&term.to_string(), expr.span);
            }
            ExprKind::Literal(Literal::Real(term)) => {
                return self.anywhere(&term.to_string(), expr.span);
            }
            ExprKind::Binary {
                op: op @ (BinaryOp::And | BinaryOp::Or),
                left,
                right,
            } => ExprKind::Binary {
                op: *op,
                left: Box::new(self.rewrite(left)),
                right: Box::new(self.rewrite(right)),
            },
            ExprKind::Call(call) if call.function.text == SEARCH_COLUMN_TERM => {
                match call.arguments.as_slice() {
                    [column, term] => return self.in_column(&column.value, &term.value, expr.span),
                    _ => return expr.clone(),
                }
            }
            ExprKind::Call(call) if call.function.text == "not" => ExprKind::Call(Call {
                function: call.function.clone(),
                arguments: call
                    .arguments
                    .iter()
                    .map(|a| Argument {
                        name: a.name.clone(),
                        value: self.rewrite(&a.value),
                    })
                    .collect(),
            }),
            _ => return expr.clone(),
        };
        Expr::new(kind, expr.span)
    }

    /// A term without a column: some text column has it, or the text of some integer column equals it.
    fn anywhere(&self, term: &str, span: Span) -> Expr {
        let (op, text) = self.test(term);
        let literal = || {
            Box::new(Expr::new(
                ExprKind::Literal(Literal::String(text.clone())),
                span,
            ))
        };
        let mut test = Expr::new(
            ExprKind::AnyColumn {
                op,
                right: literal(),
            },
            span,
        );
        let numbers =
            visible(self.columns).filter(|c| matches!(c.kind, ScalarType::Int | ScalarType::Long));
        for column in numbers {
            let name = Expr::new(ExprKind::Name(Name::new(&column.name, span)), span);
            let call = Call {
                function: Name::new("tostring", span),
                arguments: vec![Argument {
                    name: None,
                    value: name,
                }],
            };
            let number = ExprKind::Binary {
                op,
                left: Box::new(Expr::new(ExprKind::Call(call), span)),
                right: literal(),
            };
            test = Expr::new(
                ExprKind::Binary {
                    op: BinaryOp::Or,
                    left: Box::new(test),
                    right: Box::new(Expr::new(number, span)),
                },
                span,
            );
        }
        test
    }

    fn in_column(&self, column: &Expr, term: &Expr, span: Span) -> Expr {
        let (op, right) = match &term.kind {
            ExprKind::Literal(Literal::String(text)) => {
                let (op, text) = self.test(text);
                (
                    op,
                    Expr::new(ExprKind::Literal(Literal::String(text)), term.span),
                )
            }
            _ => (self.op(BinaryOp::Has, BinaryOp::HasCs), term.clone()),
        };
        let kind = ExprKind::Binary {
            op,
            left: Box::new(column.clone()),
            right: Box::new(right),
        };
        Expr::new(kind, span)
    }

    fn op(&self, any_case: BinaryOp, exact: BinaryOp) -> BinaryOp {
        if self.case_sensitive { exact } else { any_case }
    }

    /// The test of a term: stars at its ends and inside it select the operator.
    fn test(&self, term: &str) -> (BinaryOp, String) {
        let starts = term.starts_with('*');
        let ends = term.len() > 1 && term.ends_with('*');
        let inner = term.strip_prefix('*').unwrap_or(term);
        let inner = if ends {
            inner.strip_suffix('*').unwrap_or(inner)
        } else {
            inner
        };
        if inner.contains('*') {
            let parts: Vec<String> = term.split('*').map(regex::escape).collect();
            let flags = if self.case_sensitive { "" } else { "(?i)" };
            return (
                BinaryOp::MatchesRegex,
                format!("{flags}{}", parts.join(".*")),
            );
        }
        let op = match (starts, ends) {
            (false, false) => self.op(BinaryOp::Has, BinaryOp::HasCs),
            (false, true) => self.op(BinaryOp::HasPrefix, BinaryOp::HasPrefixCs),
            (true, false) => self.op(BinaryOp::HasSuffix, BinaryOp::HasSuffixCs),
            (true, true) => self.op(BinaryOp::Contains, BinaryOp::ContainsCs),
        };
        (op, inner.to_owned())
    }
}
