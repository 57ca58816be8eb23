//! Statements (`docs/semantics.md §14.1, §14.2`).

use std::sync::Arc;

use hindsight_kql_syntax::ast::{
    Expr, ExprKind, LetStatement, LetValue, Name, Parameter, ParameterType, Query, Statement,
};
use hindsight_kql_syntax::{Code, Diagnostic, Span};
use hindsight_kql_types::{ScalarType, Value};

use super::binder::Binder;
use crate::context::{BindContext, Bound, Entry, alias_name, function_entry};
use crate::error::BindResult;
use crate::relation::{Relation, Scalar};

impl Binder<'_> {
    /// Binds every statement in order; tabular statements become results.
    ///
    /// # Errors
    /// All independent errors of the request, in the order of the text. None if binding only needs rows.
    pub(crate) fn bind_query(&mut self, query: &Query) -> Result<(), Vec<Diagnostic>> {
        for statement in &query.statements {
            let Err(error) = self.bind_statement(statement) else {
                continue;
            };
            let defined = defined_names(statement);
            if self.report_undefined(defined, error).is_err() {
                return Err(std::mem::take(&mut self.output.errors).in_order());
            }
        }
        let mut errors = std::mem::take(&mut self.output.errors).in_order();
        if errors.is_empty() && self.output.results.is_empty() {
            let message = "the query has no tabular expression";
            errors.push(self.error(Code::Semantics, message, Span::default()));
        }
        if errors.is_empty() {
            Ok(())
        } else {
            Err(errors)
        }
    }

    fn bind_statement(&mut self, statement: &Statement) -> BindResult<()> {
        match statement {
            Statement::Let(item) => self.bind_let(item),
            Statement::Set { .. } => Ok(()),
            Statement::QueryParameters(parameters) => self.bind_query_parameters(parameters),
            Statement::Alias { name, target } => self.bind_alias(name, target),
            Statement::Pattern(pattern) => self.bind_pattern_declaration(pattern),
            Statement::Restrict { entities, .. } => self.bind_restrict(entities),
            Statement::Expression(expr) => self.bind_result(expr),
        }
    }

    /// Binds a tabular expression as a result. Its additional results precede it.
    fn bind_result(&mut self, expr: &Expr) -> BindResult<()> {
        let bound = self.with_own_expressions(|binder| binder.bind_tabular(expr))?;
        self.refuse_graph(&bound, expr.span)?;
        for (name, rows) in bound.tables {
            self.frame.names = self.frame.names.with(name, Entry::Relation(rows));
        }
        self.output.results.extend(bound.extra_results);
        let result = self.result(bound.label, bound.relation, bound.render, expr.span)?;
        self.output.results.push(result);
        Ok(())
    }

    /// `let name = …`
    pub(crate) fn bind_let(&mut self, item: &LetStatement) -> BindResult<()> {
        let name = &item.name.text;
        if self.frame.names.defined_here(name) {
            let message = "Let with the same name was already used in current context";
            return Err(self.error(Code::DuplicateLet, message, item.name.span()));
        }
        let entry = match &item.value {
            LetValue::Function(function) => function_entry(function, &self.frame.names),
            LetValue::EntityGroup(entities) => Entry::EntityGroup(Arc::new(entities.clone())),
            LetValue::Expr(expr) => self.let_entry(expr)?,
        };
        self.frame.names = self.frame.names.with(name, entry);
        Ok(())
    }

    fn let_entry(&mut self, expr: &Expr) -> BindResult<Entry> {
        let inner = expr.unparenthesised();
        let calls =
            |name: &str| matches!(&inner.kind, ExprKind::Call(call) if call.function.text == name);
        if self.is_tabular(expr, None) {
            if calls("materialize") {
                let bound = self.bind_inner(inner)?;
                return Ok(match bound.graph {
                    Some(graph) => Entry::Graph(graph),
                    None => Entry::Relation(bound.relation),
                });
            }
            // The value is bound here only to report its errors; each use binds it again.
            self.without_steps(|binder| binder.bind_inner(inner))?;
            return Ok(Entry::Tabular(Arc::new(expr.clone())));
        }
        let steps = self.output.steps.len();
        let scalar = self.bind_scalar(expr, &Relation::unit())?;
        // An expression over `toscalar` keeps the values computed for it here.
        let pinned = calls("toscalar") || self.output.steps.len() > steps;
        if pinned || scalar.constant.is_some() {
            Ok(self.frame.value(scalar))
        } else {
            Ok(Entry::Macro(Arc::new(expr.clone())))
        }
    }

    /// Binds the statements of a body: lets, then one tabular expression.
    pub(crate) fn bind_statements(&mut self, body: &[Statement], span: Span) -> BindResult<Bound> {
        let mut result = None;
        for statement in body {
            match statement {
                Statement::Let(item) => self.bind_let(item)?,
                Statement::Expression(expr) if result.is_none() => {
                    let bound = self.bind_tabular(expr)?;
                    self.refuse_graph(&bound, expr.span)?;
                    result = Some(bound);
                }
                _ => {
                    let message = "the body must be 'let' statements and one tabular expression";
                    return Err(self.error(Code::Semantics, message, span));
                }
            }
        }
        result
            .ok_or_else(|| self.error(Code::Semantics, "the body has no tabular expression", span))
    }

    /// `alias database Name = app('x')`: `database('Name')` denotes the target in the following statements.
    fn bind_alias(&mut self, name: &Name, target: &Expr) -> BindResult<()> {
        let scope = self.bind_scope(target)?;
        self.frame.names = self
            .frame
            .names
            .with(alias_name(&name.text), Entry::Alias(scope));
        Ok(())
    }

    /// `declare query_parameters (…)`: the request passes the values as text.
    pub(crate) fn bind_query_parameters(&mut self, parameters: &[Parameter]) -> BindResult<()> {
        for parameter in parameters {
            let ParameterType::Scalar(kind) = parameter.kind else {
                return Err(self.unsupported("a tabular query parameter", parameter.name.span()));
            };
            let scalar = self.query_parameter(parameter, kind)?;
            let entry = self.frame.value(scalar);
            // A later `let` may redefine the name, so the parameter belongs to an outer block.
            self.frame.names = self.frame.names.with(&parameter.name.text, entry).block();
        }
        Ok(())
    }

    fn query_parameter(&mut self, parameter: &Parameter, kind: ScalarType) -> BindResult<Scalar> {
        let name = &parameter.name.text;
        if let Some(text) = self.request.parameters().get(name) {
            let value = Value::String(unquoted(text, kind).to_owned()).convert(kind);
            let bad = kind != ScalarType::String && value.is_null() && !text.contains("null");
            if bad {
                let message =
                    format!("the value of the query parameter '{name}' is not of type {kind}");
                return Err(self.error(Code::Semantics, message, parameter.name.span()));
            }
            return Ok(Scalar::constant(value));
        }
        match &parameter.default {
            Some(default) => Ok(Scalar::constant(self.bind_constant(default)?.convert(kind))),
            None => Err(self.error(
                Code::Semantics,
                format!("the query parameter '{name}' has no value"),
                parameter.name.span(),
            )),
        }
    }
}

/// The names that a statement defines.
fn defined_names(statement: &Statement) -> Vec<&str> {
    match statement {
        Statement::Let(item) => vec![&item.name.text],
        Statement::QueryParameters(parameters) => {
            parameters.iter().map(|p| p.name.text.as_str()).collect()
        }
        Statement::Alias { name, .. } => vec![&name.text],
        Statement::Pattern(pattern) => vec![&pattern.name.text],
        Statement::Set { .. } | Statement::Restrict { .. } | Statement::Expression(_) => Vec::new(),
    }
}

/// Clients pass strings bare or as literals (`'x'`, `datetime(…)`).
fn unquoted(text: &str, kind: ScalarType) -> &str {
    let trimmed = text.trim();
    if kind == ScalarType::String {
        for quote in ['"', '\''] {
            if let Some(inner) = trimmed
                .strip_prefix(quote)
                .and_then(|t| t.strip_suffix(quote))
            {
                return inner;
            }
        }
        return text;
    }
    trimmed
        .strip_prefix(kind.name())
        .and_then(|t| t.trim().strip_prefix('('))
        .and_then(|t| t.strip_suffix(')'))
        .map_or(trimmed, |t| t.trim_matches(['"', '\'']))
}
