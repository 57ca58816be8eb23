//! Tabular expressions: what may start a pipeline, and pipelines (`semantics.md §14.3, §15.1`).

use hindsight_kql_syntax::Span;
use hindsight_kql_syntax::ast::{Call, Expr, ExprKind, Pipeline};
use hindsight_kql_types::Value;

use super::{BindResult, Binder, Entry};
use crate::catalog::TableScope;
use crate::context::alias_name;
use crate::relation::{Relation, Scalar};
use crate::subtables::placeholders::{self, Begins};

impl Binder<'_> {
    /// Binds a tabular expression.
    pub(crate) fn bind_tabular(&mut self, expr: &Expr) -> BindResult<Relation> {
        self.count_work(expr.span)?;
        let relation = self.bind_tabular_form(expr)?;
        self.bounded(relation, expr.span)
    }

    fn bind_tabular_form(&mut self, expr: &Expr) -> BindResult<Relation> {
        let span = expr.span;
        if let Some(invocation) = super::pattern::invocation(expr, &self.env) {
            return self.bind_invocation(&invocation, span);
        }
        match &expr.kind {
            ExprKind::Parenthesised(inner) => self.bind_tabular(inner),
            ExprKind::Name(name) => self.bind_rows_named(&name.text, span),
            ExprKind::Call(call) => self.bind_tabular_call(call, span),
            ExprKind::Pipe(pipeline) => self.bind_pipeline(pipeline),
            ExprKind::Source(operator) => self.bind_operator(operator, Relation::unit()),
            ExprKind::DataTable(node) => crate::operators::datatable::bind(node, self, span),
            ExprKind::ExternalData(_) => Err(self.unsupported("externaldata", span)),
            ExprKind::Member { value, member } if crate::context::names_a_scope(value) => {
                let scope = self.bind_scope(value)?;
                self.bind_table(&scope, &member.text, span)
            }
            ExprKind::Member { value, member } => {
                self.bind_entity_member(value, &member.text, span)
            }
            _ => Err(self.error("SEM0100", "Failed to resolve table expression", span)),
        }
    }

    fn bind_pipeline(&mut self, pipeline: &Pipeline) -> BindResult<Relation> {
        let before = self.env.clone();
        self.level += 1;
        let result = self.bind_stages(pipeline);
        self.level -= 1;
        self.env = before;
        result
    }

    fn bind_stages(&mut self, pipeline: &Pipeline) -> BindResult<Relation> {
        let relation = self.bind_tabular(&pipeline.source)?;
        // What `as` named inside a subtable is all of it; any other source has taken steps of its own.
        let begins = match &pipeline.source.kind {
            ExprKind::Name(_) => Begins::Named,
            _ => Begins::Reduced,
        };
        placeholders::bind(&pipeline.operators, relation, begins, self)
    }

    /// A bare name: let, then function, then table.
    fn bind_rows_named(&mut self, name: &str, span: Span) -> BindResult<Relation> {
        let found = self
            .env
            .find(name)
            .map(|(entry, seen)| (entry.clone(), seen.clone()));
        match found {
            Some((Entry::Relation(relation), _)) => Ok(relation),
            Some((Entry::Tabular(body), seen)) => {
                let before = std::mem::replace(&mut self.env, seen);
                let result = self.bind_tabular(&body);
                self.env = before;
                result
            }
            Some((Entry::Function(function), seen)) => {
                let call = Call {
                    function: hindsight_kql_syntax::ast::Name::new(name, span),
                    arguments: Vec::new(),
                };
                self.call_tabular_function(&call, &function, seen, None, span)
            }
            Some((
                Entry::Macro(_) | Entry::Value { .. } | Entry::EntityGroup(_) | Entry::Pattern(_),
                _,
            )) => Err(self.error(
                "SEM0100",
                format!("Failed to resolve table expression named '{name}': it is no table"),
                span,
            )),
            _ => self.bind_table(&TableScope::Request, name, span),
        }
    }

    fn bind_tabular_call(&mut self, call: &Call, span: Span) -> BindResult<Relation> {
        let name = call.function.text.as_str();
        if let Some((Entry::Function(function), seen)) = self.env.find(name) {
            let (function, seen) = (function.clone(), seen.clone());
            return self.call_tabular_function(call, &function, seen, None, span);
        }
        match (name, call.arguments.as_slice()) {
            ("table", [table, ..]) => {
                let table = self.constant_string(&table.value)?;
                self.bind_table(&TableScope::Request, &table, span)
            }
            ("materialize", [body, ..]) => self.bind_materialize(&body.value, span),
            _ if crate::functions::registry().find(name).is_some() => Err(self.error(
                "SEM0100",
                format!("Failed to resolve table expression: '{name}' is a scalar function"),
                span,
            )),
            _ => Err(self.error(
                "SEM0260",
                format!("Unknown function: '{name}'."),
                call.function.span(),
            )),
        }
    }

    /// `app('x')`, `cluster('c').database('d')`, …
    pub(crate) fn bind_scope(&mut self, expr: &Expr) -> BindResult<TableScope> {
        let expr = expr.unparenthesised();
        if let ExprKind::MemberCall { value, call } = &expr.kind {
            return self.bind_cluster_database(value, call, expr.span);
        }
        let ExprKind::Call(call) = &expr.kind else {
            return Err(self.error("SEM0100", "Failed to resolve table expression", expr.span));
        };
        if call.function.text == "database" && call.arguments.is_empty() {
            return Ok(TableScope::Request);
        }
        let name = self.scope_name(call, expr.span)?;
        if let ("database", Some((Entry::Alias(scope), _))) = (
            call.function.text.as_str(),
            self.env.find(&alias_name(&name)),
        ) {
            return Ok(scope.clone());
        }
        match call.function.text.as_str() {
            "app" => Ok(TableScope::App(name)),
            "workspace" => Ok(TableScope::Workspace(name)),
            "resource" => Ok(TableScope::Resource(name)),
            "database" => Ok(TableScope::Database {
                cluster: None,
                database: name,
            }),
            _ => Err(self.error(
                "SEM0048",
                "cluster() must be followed by database()",
                expr.span,
            )),
        }
    }

    fn scope_name(&mut self, call: &Call, span: Span) -> BindResult<String> {
        match call.arguments.as_slice() {
            [argument] => self.constant_string(&argument.value),
            _ => {
                let message = format!("{}(): function expects 1 argument(s).", call.function.text);
                Err(self.error("SEM0219", message, span))
            }
        }
    }

    /// `cluster('c').database('d')`
    fn bind_cluster_database(
        &mut self,
        value: &Expr,
        call: &Call,
        span: Span,
    ) -> BindResult<TableScope> {
        let cluster = match &value.unparenthesised().kind {
            ExprKind::Call(outer) if outer.function.text == "cluster" => {
                self.scope_name(outer, span)?
            }
            _ => return Err(self.error("SEM0100", "Failed to resolve table expression", span)),
        };
        match call.function.text.as_str() {
            "database" => Ok(TableScope::Database {
                cluster: Some(cluster),
                database: self.scope_name(call, span)?,
            }),
            _ => Err(self.error("SEM0048", "cluster() must be followed by database()", span)),
        }
    }

    /// `scope.T` inside `macro-expand`, where `scope` is an entity.
    fn bind_entity_member(
        &mut self,
        value: &Expr,
        member: &str,
        span: Span,
    ) -> BindResult<Relation> {
        match self.entity(value) {
            Some(entity) => {
                let scope = self.bind_scope(&entity)?;
                self.bind_table(&scope, member, span)
            }
            None => Err(self.error("SEM0100", "Failed to resolve table expression", span)),
        }
    }

    /// The entity that a name stands for inside `macro-expand`.
    pub(super) fn entity(&self, value: &Expr) -> Option<Expr> {
        let (entry, _) = self.env.find(super::lists::bare_name(value)?)?;
        match entry {
            Entry::EntityGroup(entities) => entities.first().cloned(),
            _ => None,
        }
    }

    /// `scope.$current_database` inside `macro-expand`: the name that the entity was written with.
    pub(super) fn bind_entity_property(
        &mut self,
        entity: &Expr,
        property: &str,
        span: Span,
    ) -> BindResult<Scalar> {
        let name = match self.bind_scope(entity)? {
            TableScope::App(name) | TableScope::Workspace(name) | TableScope::Resource(name) => {
                name
            }
            TableScope::Database { database, .. } => database,
            TableScope::Request => String::new(),
        };
        match property {
            "$current_database" if !name.is_empty() => Ok(Scalar::constant(Value::String(name))),
            _ => Err(self.unsupported(format_args!("'{property}' of an entity"), span)),
        }
    }
}
