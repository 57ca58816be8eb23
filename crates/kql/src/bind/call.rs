//! Calls of built-in functions (`docs/semantics.md §28.4`).

use hindsight_kql_syntax::ast::{Call, Expr, ExprKind, Literal, TypeOf};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::{Dynamic, ScalarType, Value};

use super::binder::Binder;
use crate::aggregates;
use crate::call::function_call;
use crate::context::{BindContext, Entry, argument_count, unknown_function};
use crate::convert::convert;
use crate::definition::{CallArgs, Eval, ScalarFunction};
use crate::error::BindResult;
use crate::fold::fold;
use crate::functions::registry;
use crate::ingestion_time;
use crate::plan::visible;
use crate::reference;
use crate::relation::{Column, Relation, Scalar};
use crate::signature::Signature;
use crate::window;

impl Binder<'_> {
    /// A call in a scalar expression.
    pub(crate) fn bind_call(
        &mut self,
        call: &Call,
        input: &Relation,
        span: Span,
    ) -> BindResult<Scalar> {
        let name = call.function.text.as_str();
        if let Some((Entry::Function(function), seen)) = self.frame.names.find(name) {
            let (function, seen) = (function.clone(), seen.clone());
            return self.call_scalar_function(call, &function, seen, input, span);
        }
        if self.expression.aggregates.is_some()
            && let Some(found) = self.aggregate_named(call)
        {
            return self.bind_aggregate_call(call, found, span);
        }
        if let Some(scalar) = self.bind_special(call, input, span)? {
            return Ok(scalar);
        }
        let Some((function, signatures)) = registry().find(name) else {
            let error = self.unknown_function(call, span);
            let error = self.consequence(name, error);
            // The arguments have errors of their own.
            return self
                .both(|_| Err(error), |binder| binder.bind_arguments(call, input))
                .map(|(scalar, _)| scalar);
        };
        let args = self.bind_arguments(call, input)?;
        self.call_builtin(function, signatures, name, args, span)
    }

    fn unknown_function(&self, call: &Call, span: Span) -> hindsight_kql_syntax::Diagnostic {
        let name = &call.function.text;
        match aggregates::find(name) {
            Some(_) => self.error(
                Code::MisplacedAggregate,
                format!("the aggregate function '{name}' is not allowed here"),
                span,
            ),
            None => {
                let message = if reference::has_function(name) {
                    format!("The function '{name}' is not supported.")
                } else {
                    let of_query = self.scalar_functions();
                    let mut known: Vec<&str> = self.functions_of_language().collect();
                    known.extend(of_query.iter().map(String::as_str));
                    unknown_function(name, known)
                };
                self.error(Code::UnknownFunction, message, call.function.span())
            }
        }
    }

    /// The scalar functions that the query defines.
    fn scalar_functions(&self) -> Vec<String> {
        let is_scalar =
            |entry: &Entry| matches!(entry, Entry::Function(function) if !function.tabular);
        self.frame.names.names(is_scalar)
    }

    /// The functions of the language that can be called here.
    fn functions_of_language(&self) -> impl Iterator<Item = &'static str> {
        let in_aggregation = self.expression.aggregates.is_some();
        let aggregates = in_aggregation.then(aggregates::names).into_iter().flatten();
        let scalar = registry().names().chain(reference::special_functions());
        scalar.chain(aggregates)
    }

    pub(crate) fn bind_arguments(
        &mut self,
        call: &Call,
        input: &Relation,
    ) -> BindResult<Vec<Scalar>> {
        let args = self.each(&call.arguments, |binder, argument| {
            let value = &argument.value;
            match &value.kind {
                ExprKind::TypeOf(_) => Err(binder.unsupported(
                    format_args!("typeof() as an argument of '{}'", call.function.text),
                    value.span,
                )),
                // Functions over whole rows (`pack(*)`, `hash_many(*)`) expand `*` into the columns.
                ExprKind::Wildcard(pattern) => {
                    let columns = binder.matching_columns(pattern, input, value.span)?;
                    Ok(columns.iter().map(Column::scalar).collect())
                }
                _ => Ok(vec![binder.bind_scalar(value, input)?]),
            }
        })?;
        Ok(args.into_iter().flatten().collect())
    }

    /// Calls a function of the library by name with bound arguments.
    fn call_by_name(&self, name: &str, args: Vec<Scalar>, span: Span) -> BindResult<Scalar> {
        match registry().find(name) {
            Some((function, signatures)) => {
                self.call_builtin(function, signatures, name, args, span)
            }
            None => {
                let message = unknown_function(name, registry().names());
                Err(self.error(Code::UnknownFunction, message, span))
            }
        }
    }

    fn call_builtin(
        &self,
        function: &'static ScalarFunction,
        signatures: &[Signature],
        name: &str,
        args: Vec<Scalar>,
        span: Span,
    ) -> BindResult<Scalar> {
        let constant = !function.volatile && args.iter().all(|a| a.constant.is_some());
        let resolved = self.resolve_overload(name, signatures, args, span)?;
        let call = CallArgs {
            args: &resolved.args,
            result: resolved.result,
            span,
        };
        let expr = match function.eval {
            Eval::Rewrite(rewrite) => rewrite(&call)?,
            Eval::Kernel(kernel) => function_call(
                function,
                kernel,
                resolved.args.iter().map(|a| a.expr.clone()).collect(),
                resolved.args.iter().map(|a| a.kind).collect(),
                resolved.result,
            ),
            Eval::Typed(typed) => return Ok(fold(typed(&call)?, constant)),
            Eval::Binder => {
                return Err(self.unsupported(format_args!("the function '{name}' here"), span));
            }
        };
        Ok(fold(Scalar::new(expr, resolved.result), constant))
    }

    /// Binds the functions that depend on more than the values of their arguments.
    fn bind_special(
        &mut self,
        call: &Call,
        input: &Relation,
        span: Span,
    ) -> BindResult<Option<Scalar>> {
        let name = call.function.text.as_str();
        let arguments: Vec<&Expr> = call.arguments.iter().map(|a| &a.value).collect();
        // Hints may precede the body of `toscalar`.
        if name != "toscalar"
            && let Some((min, max)) = reference::argument_counts(name)
            && (arguments.len() < min || max.is_some_and(|max| arguments.len() > max))
        {
            return Err(argument_count(&self.frame, name, min, max, span));
        }
        match (name, arguments.as_slice()) {
            ("now", []) => Ok(Some(Scalar::constant(Value::DateTime(
                self.request.now_ticks(),
            )))),
            ("now" | "ago", [offset]) => self.shifted_now(name, offset, input, span).map(Some),
            ("toscalar", [body]) => self.bind_toscalar(body, span).map(Some),
            ("toscalar", [.., body]) => self.bind_toscalar(body, span).map(Some),
            ("materialize", _) => Err(self.error(
                Code::NotScalar,
                "materialize() is tabular and a scalar is expected",
                span,
            )),
            ("pack_all", [] | [_]) => self
                .bind_pack_all(arguments.first().copied(), input)
                .map(Some),
            ("bag_pack_columns", [_, ..]) => self.bind_pack_columns(&arguments, input).map(Some),
            ("column_ifexists" | "columnifexists", [column, default]) => {
                self.bind_column_ifexists(column, default, input).map(Some)
            }
            ("extract" | "extract_json" | "extractjson" | "percentile_tdigest", [.., kind])
                if arguments.len() > 2 && matches!(kind.kind, ExprKind::TypeOf(_)) =>
            {
                self.bind_typed_extract(call, kind, input, span).map(Some)
            }
            ("iscolumnexists", [column]) => {
                let name = self.column_name(column)?;
                let exists = visible(input).any(|c| c.name == name);
                Ok(Some(Scalar::constant(Value::Bool(exists))))
            }
            ("iscolumnexists", _) => {
                let message = "iscolumnexists(): function expects 1 argument(s).";
                Err(self.error(Code::ArgumentCount, message, span))
            }
            ("current_database", []) => {
                let name = Value::String(self.request.catalog.database_name());
                Ok(Some(Scalar::constant(name)))
            }
            ("ingestion_time", []) => Ok(Some(ingestion_time::call())),
            ("current_cluster_endpoint", []) => Ok(Some(self.bind_endpoint())),
            ("current_principal", []) => Ok(Some(self.bind_principal())),
            ("current_principal_details", []) => Ok(Some(self.bind_principal_details())),
            ("current_principal_is_member_of", [_, ..]) => {
                self.bind_principal_is_member(&arguments, input).map(Some)
            }
            ("column_names_of", [table]) => self.bind_column_names(table).map(Some),
            ("bin_auto", [value]) => self.bind_bin_auto(value, input, span).map(Some),
            _ if window::is_window(name) => {
                let args = self.bind_arguments(call, input)?;
                window::bind_call(name, args, input, self, span).map(Some)
            }
            _ => Ok(None),
        }
    }

    /// `now(offset)` and `ago(offset)`
    fn shifted_now(
        &mut self,
        function: &str,
        offset: &Expr,
        input: &Relation,
        span: Span,
    ) -> BindResult<Scalar> {
        let now = Scalar::constant(Value::DateTime(self.request.now_ticks()));
        let offset = self.bind_scalar(offset, input)?;
        let op = if function == "ago" {
            hindsight_kql_syntax::ast::BinaryOp::Subtract
        } else {
            hindsight_kql_syntax::ast::BinaryOp::Add
        };
        match offset.kind {
            ScalarType::TimeSpan => self.arithmetic(op, now, offset, span),
            other => Err(self.error(
                Code::ArgumentType,
                format!("{function}(): argument 1 is {other} and must be timespan"),
                span,
            )),
        }
    }

    /// A bag of all columns of the input; `pack_all(true)` omits null and empty values.
    fn bind_pack_all(
        &mut self,
        ignore_empty: Option<&Expr>,
        input: &Relation,
    ) -> BindResult<Scalar> {
        let skip_empty = ignore_empty.map_or(Ok(false), |expr| self.constant_bool(expr))?;
        let columns = visible(input).map(|c| (c.name.clone(), c.scalar()));
        Ok(crate::functions::bag::pack_columns(columns, skip_empty))
    }

    /// A bag of columns, keyed by their names.
    fn bind_pack_columns(&mut self, columns: &[&Expr], input: &Relation) -> BindResult<Scalar> {
        let mut named = Vec::new();
        for column in columns {
            let name = super::result_name::result_name(column).ok_or_else(|| {
                self.error(
                    Code::Semantics,
                    "bag_pack_columns(): each argument must be a column",
                    column.span,
                )
            })?;
            named.push((name, self.bind_scalar(column, input)?));
        }
        Ok(crate::functions::bag::pack_columns(
            named.into_iter(),
            false,
        ))
    }

    /// `extract(…, typeof(T))` and similar: the match, converted to the type; null if the conversion fails.
    fn bind_typed_extract(
        &mut self,
        call: &Call,
        kind: &Expr,
        input: &Relation,
        span: Span,
    ) -> BindResult<Scalar> {
        let ExprKind::TypeOf(TypeOf::Scalar(kind)) = &kind.kind else {
            return Err(self.unsupported("typeof() of a row here", kind.span));
        };
        let mut untyped = call.clone();
        untyped.arguments.pop();
        let args = self.bind_arguments(&untyped, input)?;
        let text = self.call_by_name(&call.function.text, args, span)?;
        Ok(convert(text, *kind))
    }

    /// `bin_auto(x)`: `bin_at` with the size and the fixed point of `set` statements (`docs/semantics.md §10`).
    fn bind_bin_auto(&mut self, value: &Expr, input: &Relation, span: Span) -> BindResult<Scalar> {
        let value = self.bind_scalar(value, input)?;
        let option = |name: &str| {
            self.request
                .settings
                .get(name)
                .cloned()
                .map(Scalar::constant)
        };
        let Some(size) = option("query_bin_auto_size") else {
            let message = "bin_auto(): the size must be given by 'set query_bin_auto_size'";
            return Err(self.error(Code::Semantics, message, span));
        };
        match option("query_bin_auto_at") {
            Some(at) => self.call_by_name("bin_at", vec![value, size, at], span),
            None => self.call_by_name("bin", vec![value, size], span),
        }
    }

    /// `column_names_of(T)`: the column names of a table as an array. The rows of the table are not read.
    fn bind_column_names(&mut self, table: &Expr) -> BindResult<Scalar> {
        let bound = self.without_steps(|binder| binder.bind_inner_tabular(table))?;
        let names = visible(&bound.relation).map(|c| Dynamic::String(c.name.clone()));
        let names = Dynamic::Array(names.collect()).encode();
        Ok(Scalar::constant(Value::Dynamic(names)))
    }

    fn bind_column_ifexists(
        &mut self,
        column: &Expr,
        default: &Expr,
        input: &Relation,
    ) -> BindResult<Scalar> {
        let name = self.column_name(column)?;
        match input.column(&name) {
            Some(column) => Ok(column.scalar()),
            None => self.bind_scalar(default, input),
        }
    }

    /// The name of a column, as a constant string.
    fn column_name(&mut self, column: &Expr) -> BindResult<String> {
        match &column.unparenthesised().kind {
            ExprKind::Literal(Literal::String(name)) => Ok(name.clone()),
            _ => self.constant_string(column),
        }
    }
}
