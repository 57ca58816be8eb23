//! A query with a condition over its rows, as `POST /test/wait` states it.

use hindsight_kql_syntax::ast::{Expr, ExprKind, NamedExpr, Operator, OperatorKind, Statement};
use hindsight_kql_syntax::parse_expression;

use super::QueryEngine;
use crate::error::EngineError;
use crate::request::{PreparedQuery, QueryRequest};

/// The name of the condition's column.
const CONDITION: &str = "condition";

impl QueryEngine {
    /// As [`QueryEngine::prepare`], for a query with one tabular statement and a condition over its rows: an expression over aggregates,
    /// such as `count() > 2 and countif(success == false) == 0`. The result has one more table, the last one, with one row and one
    /// column: the value of the condition. Both are computed over the same snapshot; a volatile query is evaluated twice.
    ///
    /// # Errors
    /// As [`QueryEngine::prepare`], and [`EngineError::BadParameter`] for a query with another number of tabular statements. Diagnostics
    /// refer to the query followed by the condition on a line of its own.
    pub async fn prepare_with_condition(
        &self,
        request: QueryRequest,
        condition: &str,
    ) -> Result<PreparedQuery, EngineError> {
        let mut prepared = self.prepare(request).await?;
        let mut tabular = prepared.query.statements.iter().filter_map(tabular);
        let (Some(rows), None) = (tabular.next(), tabular.next()) else {
            return Err(EngineError::BadParameter {
                parameter: "condition".to_owned(),
                message: "A condition needs a query with one tabular statement".to_owned(),
                position: None,
            });
        };
        let query = &prepared.request.query;
        let text = format!("{query}\n{condition}");
        // Blanks in the place of the query, so that the spans of the condition are those in `text`.
        let blank = |byte| if byte == b'\n' { '\n' } else { ' ' };
        let blanks: String = query.bytes().map(blank).collect();
        let condition =
            parse_expression(&format!("{blanks}\n{condition}")).map_err(|diagnostics| {
                EngineError::Query {
                    text: text.clone(),
                    diagnostics,
                }
            })?;
        let aggregates = vec![NamedExpr::named(CONDITION, condition)];
        let value =
            without_render(rows.clone()).pipe(Operator::summarize(aggregates, Vec::new()).kind);
        prepared.query.statements.push(Statement::Expression(value));
        prepared.is_text_parsed = false;
        prepared.request.query = text.into();
        Ok(prepared)
    }
}

fn tabular(statement: &Statement) -> Option<&Expr> {
    match statement {
        Statement::Expression(expr) => Some(expr),
        _ => None,
    }
}

/// The expression without a `render` at its end, after which no operator may stand.
fn without_render(mut expr: Expr) -> Expr {
    if let ExprKind::Pipe(pipeline) = &mut expr.kind {
        let last = pipeline.operators.last();
        if last.is_some_and(|last| matches!(last.kind, OperatorKind::Render(_))) {
            pipeline.operators.pop();
        }
        if pipeline.operators.is_empty() {
            return pipeline.source.clone();
        }
    }
    expr
}
