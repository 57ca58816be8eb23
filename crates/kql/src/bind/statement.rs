//! Statements (`semantics.md §14.1, §14.2`).

use std::sync::Arc;

use hindsight_kql_syntax::ast::{
    Expr, ExprKind, LetStatement, LetValue, Name, Parameter, ParameterType, Query, Statement,
};
use hindsight_kql_syntax::{Diagnostic, Span};
use hindsight_kql_types::{ScalarType, Value};

use super::{BindResult, Binder, Entry};
use crate::context::alias_name;
use crate::relation::{Relation, Scalar};

impl Binder<'_> {
    /// Binds every statement in order; tabular ones become results.
    ///
    /// # Errors
    /// One diagnostic for each result that cannot be bound. None where binding only waits for rows.
    pub(crate) fn bind_query(&mut self, query: &Query) -> Result<(), Vec<Diagnostic>> {
        // `set` holds for the whole request, wherever it stands.
        for statement in &query.statements {
            if let Statement::Set { name, value } = statement {
                self.bind_set(name, value.as_ref()).map_err(|e| vec![e])?;
            }
        }
        let mut errors = Vec::new();
        for statement in &query.statements {
            let Err(error) = self.bind_statement(statement) else {
                continue;
            };
            if self.needed.is_none() {
                errors.push(error);
            }
            // No other statement reads a result, but any may read a name.
            if self.needed.is_some() || !matches!(statement, Statement::Expression(_)) {
                return Err(errors);
            }
            self.operator = None;
            self.windows.clear();
            self.subtable_values.clear();
        }
        if errors.is_empty() && self.results.is_empty() {
            let message = "the query has no tabular expression";
            errors.push(self.error("SEM0001", message, Span::default()));
        }
        match errors.is_empty() {
            true => Ok(()),
            false => Err(errors),
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

    fn bind_result(&mut self, expr: &Expr) -> BindResult<()> {
        self.render = None;
        self.label = None;
        self.no_result = false;
        let relation = self.bind_tabular(expr)?;
        let (name, render) = (self.label.take(), self.render.take());
        match std::mem::take(&mut self.no_result) {
            true => Ok(()),
            false => self.add_result(name, relation, render, expr.span),
        }
    }

    /// `let name = …`
    pub(crate) fn bind_let(&mut self, item: &LetStatement) -> BindResult<()> {
        let name = &item.name.text;
        if self.env.defined_here(name) {
            let message = "Let with the same name was already used in current context";
            return Err(self.error("SEM0079", message, item.name.span()));
        }
        let entry = match &item.value {
            LetValue::Function(function) => Entry::Function(Arc::new(function.clone())),
            LetValue::EntityGroup(entities) => Entry::EntityGroup(Arc::new(entities.clone())),
            LetValue::Expr(expr) => self.let_entry(expr)?,
        };
        self.env = self.env.with(name, entry);
        Ok(())
    }

    fn let_entry(&mut self, expr: &Expr) -> BindResult<Entry> {
        let inner = expr.unparenthesised();
        if self.is_tabular(expr, None) {
            let pinned =
                matches!(&inner.kind, ExprKind::Call(call) if call.function.text == "materialize");
            let steps = self.steps.len();
            let relation = self.bind_tabular(inner)?;
            if pinned {
                return Ok(Entry::Relation(relation));
            }
            // It was bound to find its errors; each use binds it anew.
            self.steps.truncate(steps);
            self.render = None;
            self.label = None;
            return Ok(Entry::Tabular(Arc::new(expr.clone())));
        }
        let steps = self.steps.len();
        let scalar = self.bind_scalar(expr, &Relation::unit())?;
        let pinned =
            matches!(&inner.kind, ExprKind::Call(call) if call.function.text == "toscalar");
        if pinned || scalar.constant.is_some() {
            return Ok(Entry::Value {
                scalar,
                level: self.level,
            });
        }
        if self.steps.len() > steps {
            // A formula over `toscalar` keeps the values that its binding pinned.
            return Ok(Entry::Value {
                scalar,
                level: self.level,
            });
        }
        Ok(Entry::Macro(Arc::new(expr.clone())))
    }

    /// `alias database Name = app('x')`: `database('Name')` means the target from here on.
    fn bind_alias(&mut self, name: &Name, target: &Expr) -> BindResult<()> {
        let scope = self.bind_scope(target)?;
        self.env = self.env.with(alias_name(&name.text), Entry::Alias(scope));
        Ok(())
    }

    fn bind_set(&mut self, name: &Name, value: Option<&Expr>) -> BindResult<()> {
        let value = match value.map(|v| (&v.kind, v)) {
            None => Value::Bool(true),
            Some((ExprKind::Name(word), _)) => Value::String(word.text.clone()),
            Some((_, expr)) => self.bind_constant(expr)?,
        };
        if name.text == "query_now" {
            match value {
                Value::DateTime(ticks) => self.now_ticks = ticks,
                _ => {
                    let message = "the option 'query_now' takes a datetime literal";
                    return Err(self.error("SEM0020", message, name.span()));
                }
            }
        }
        self.settings.values.insert(name.text.clone(), value);
        Ok(())
    }

    /// `declare query_parameters (…)`: values come as text with the request.
    pub(crate) fn bind_query_parameters(&mut self, parameters: &[Parameter]) -> BindResult<()> {
        for parameter in parameters {
            let ParameterType::Scalar(kind) = parameter.kind else {
                return Err(self.unsupported("a tabular query parameter", parameter.name.span()));
            };
            let scalar = self.query_parameter(parameter, kind)?;
            let entry = Entry::Value {
                scalar,
                level: self.level,
            };
            // A later `let` may take the name over, so it belongs to an outer block.
            self.env = self.env.with(&parameter.name.text, entry).block();
        }
        Ok(())
    }

    fn query_parameter(&mut self, parameter: &Parameter, kind: ScalarType) -> BindResult<Scalar> {
        let name = &parameter.name.text;
        if let Some(text) = self.options.parameters.get(name) {
            let value = Value::String(unquoted(text, kind).to_owned()).convert(kind);
            let bad = kind != ScalarType::String && value.is_null() && !text.contains("null");
            if bad {
                let message = format!("the value of the query parameter '{name}' is no {kind}");
                return Err(self.error("SEM0001", message, parameter.name.span()));
            }
            return Ok(Scalar::constant(value));
        }
        match &parameter.default {
            Some(default) => Ok(Scalar::constant(self.bind_constant(default)?.convert(kind))),
            None => Err(self.error(
                "SEM0001",
                format!("the query parameter '{name}' has no value"),
                parameter.name.span(),
            )),
        }
    }
}

/// Clients send strings bare or as literals (`'x'`, `datetime(…)`).
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
