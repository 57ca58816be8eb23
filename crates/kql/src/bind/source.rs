//! Tabular expressions: the sources of pipelines, and pipelines (`docs/semantics.md §14.3, §15.1`).

use hindsight_kql_syntax::ast::{Call, Expr, ExprKind, Pipeline};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::Value;

use super::binder::Binder;
use crate::catalog::TableScope;
use crate::context::{
    BindContext, Bound, Entry, Frame, alias_name, invocation, is_tabular, names_a_scope,
    unknown_function,
};
use crate::error::BindResult;
use crate::operators::datatable;
use crate::relation::{Relation, Scalar};
use crate::subtables::placeholders::{self, InitialRows};

impl Binder<'_> {
    /// Binds a tabular expression or a graph.
    pub(crate) fn bind_tabular(&mut self, expr: &Expr) -> BindResult<Bound> {
        self.count_work(expr.span)?;
        let bound = self.bind_tabular_form(expr)?;
        if let Some(graph) = &bound.graph {
            self.check_size(&graph.plan, expr.span)?;
        }
        bound.map(|relation| self.bounded(relation, expr.span))
    }

    /// Binds a nested tabular expression. Its additional results become results of the request.
    pub(crate) fn bind_inner_tabular(&mut self, expr: &Expr) -> BindResult<Bound> {
        let bound = self.bind_inner(expr)?;
        self.refuse_graph(&bound, expr.span)?;
        Ok(bound)
    }

    /// As [`Binder::bind_inner_tabular`], where a graph may stand as well.
    pub(crate) fn bind_inner(&mut self, expr: &Expr) -> BindResult<Bound> {
        let mut bound = self.bind_tabular(expr)?;
        self.output.results.append(&mut bound.extra_results);
        Ok(bound)
    }

    /// Refuses a graph where rows are expected.
    pub(crate) fn refuse_graph(&self, bound: &Bound, span: Span) -> BindResult<()> {
        if bound.graph.is_none() {
            return Ok(());
        }
        let message = "a graph stands where rows are expected: an operator such as 'graph-match' or 'graph-to-table' makes \
                       rows of it";
        Err(self.error(Code::GraphMismatch, message, span))
    }

    fn bind_tabular_form(&mut self, expr: &Expr) -> BindResult<Bound> {
        let span = expr.span;
        if let Some(invocation) = invocation(expr, &self.frame.names) {
            return self.bind_invocation(&invocation, span);
        }
        match &expr.kind {
            ExprKind::Parenthesised(inner) => self.bind_tabular(inner),
            ExprKind::Name(name) => self.bind_rows_named(&name.text, span),
            ExprKind::Call(call) => self.bind_tabular_call(call, span),
            ExprKind::Pipe(pipeline) => self.bind_pipeline(pipeline),
            ExprKind::Source(operator) => self.bind_operator(operator, Relation::unit().into()),
            ExprKind::DataTable(node) => Ok(datatable::bind(node, self, span)?.into()),
            ExprKind::ExternalData(_) => Err(self.unsupported("externaldata", span)),
            ExprKind::Member { value, member } if names_a_scope(value) => {
                let scope = self.bind_scope(value)?;
                Ok(self.bind_table(&scope, &member.text, span)?.into())
            }
            ExprKind::Member { value, member } => {
                Ok(self.bind_entity_member(value, &member.text, span)?.into())
            }
            _ => Err(self.error(
                Code::UnresolvedName,
                "Failed to resolve table expression",
                span,
            )),
        }
    }

    fn bind_pipeline(&mut self, pipeline: &Pipeline) -> BindResult<Bound> {
        let frame = Frame {
            level: self.frame.level + 1,
            ..self.frame.clone()
        };
        self.within(frame, |binder| binder.bind_stages(pipeline))
    }

    fn bind_stages(&mut self, pipeline: &Pipeline) -> BindResult<Bound> {
        let source = self.bind_tabular(&pipeline.source)?;
        // A name that `as` defines inside a subtable has all rows of the subtable; any other source may have dropped some.
        let initial = match &pipeline.source.kind {
            ExprKind::Name(_) => InitialRows::Named,
            _ => InitialRows::Reduced,
        };
        placeholders::bind(&pipeline.operators, source, initial, self)
    }

    /// Resolves a bare name: a let, then a function, then a table.
    fn bind_rows_named(&mut self, name: &str, span: Span) -> BindResult<Bound> {
        let found = self
            .frame
            .names
            .find(name)
            .map(|(entry, seen)| (entry.clone(), seen.clone()));
        match found {
            Some((Entry::Relation(relation), _)) => Ok(relation.into()),
            Some((Entry::Graph(graph), _)) => Ok(graph.into()),
            Some((Entry::Tabular(body), seen)) => {
                self.with_names(seen, |binder| binder.bind_tabular(&body))
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
                Code::UnresolvedName,
                format!("Failed to resolve table expression named '{name}': it is not a table"),
                span,
            )),
            _ => Ok(self.bind_table(&TableScope::Request, name, span)?.into()),
        }
    }

    fn bind_tabular_call(&mut self, call: &Call, span: Span) -> BindResult<Bound> {
        let name = call.function.text.as_str();
        if let Some((Entry::Function(function), seen)) = self.frame.names.find(name) {
            let (function, seen) = (function.clone(), seen.clone());
            return self.call_tabular_function(call, &function, seen, None, span);
        }
        match (name, call.arguments.as_slice()) {
            ("table", [table, ..]) => {
                let table = self.constant_string(&table.value)?;
                Ok(self.bind_table(&TableScope::Request, &table, span)?.into())
            }
            ("materialize", [body, ..]) => self.bind_materialize(&body.value, span),
            _ if crate::functions::registry().find(name).is_some() => Err(self.error(
                Code::UnresolvedName,
                format!("Failed to resolve table expression: '{name}' is a scalar function"),
                span,
            )),
            _ => {
                let functions = self.tabular_functions();
                let message = unknown_function(name, functions.iter().map(String::as_str));
                let error = self.error(Code::UnknownFunction, message, call.function.span());
                Err(self.consequence(name, error))
            }
        }
    }

    /// The functions that a tabular expression can call: those of the language, then those of the query.
    fn tabular_functions(&self) -> Vec<String> {
        let is_tabular =
            |entry: &Entry| matches!(entry, Entry::Function(function) if function.tabular);
        let of_language = ["table", "materialize"].map(str::to_owned);
        let of_query = self.frame.names.names(is_tabular);
        of_language.into_iter().chain(of_query).collect()
    }

    /// `app('x')`, `cluster('c').database('d')`, …
    pub(crate) fn bind_scope(&mut self, expr: &Expr) -> BindResult<TableScope> {
        let expr = expr.unparenthesised();
        if let ExprKind::MemberCall { value, call } = &expr.kind {
            return self.bind_cluster_database(value, call, expr.span);
        }
        let ExprKind::Call(call) = &expr.kind else {
            return Err(self.error(
                Code::UnresolvedName,
                "Failed to resolve table expression",
                expr.span,
            ));
        };
        if call.function.text == "database" && call.arguments.is_empty() {
            return Ok(TableScope::Request);
        }
        let name = self.scope_name(call, expr.span)?;
        if let ("database", Some((Entry::Alias(scope), _))) = (
            call.function.text.as_str(),
            self.frame.names.find(&alias_name(&name)),
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
                Code::ClusterWithoutDatabase,
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
                Err(self.error(Code::ArgumentCount, message, span))
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
            _ => {
                return Err(self.error(
                    Code::UnresolvedName,
                    "Failed to resolve table expression",
                    span,
                ));
            }
        };
        match call.function.text.as_str() {
            "database" => Ok(TableScope::Database {
                cluster: Some(cluster),
                database: self.scope_name(call, span)?,
            }),
            _ => Err(self.error(
                Code::ClusterWithoutDatabase,
                "cluster() must be followed by database()",
                span,
            )),
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
            None => Err(self.error(
                Code::UnresolvedName,
                "Failed to resolve table expression",
                span,
            )),
        }
    }

    /// The entity that a name denotes inside `macro-expand`.
    pub(super) fn entity(&self, value: &Expr) -> Option<Expr> {
        let (entry, _) = self.frame.names.find(value.as_name()?)?;
        match entry {
            Entry::EntityGroup(entities) => entities.first().cloned(),
            _ => None,
        }
    }

    /// `scope.$current_database` inside `macro-expand`: the name by which the query refers to the entity.
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

    /// Whether `expr`, which may read the columns of `input`, is tabular here.
    pub(crate) fn is_tabular(&self, expr: &Expr, input: Option<&Relation>) -> bool {
        if let (Some(name), Some(input)) = (expr.as_name(), input)
            && input.column(name).is_some()
        {
            return false;
        }
        is_tabular(expr, &self.frame.names)
    }
}
