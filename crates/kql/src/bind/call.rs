//! Calls of built-in functions: overload resolution, argument conversion, constant folding (`docs/semantics.md §28.4`).

use hindsight_kql_syntax::ast::{Call, Expr, ExprKind, Literal, TypeOf};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::{Dynamic, ScalarType, Value};

use super::binder::Binder;
use crate::call::function_call;
use crate::context::{BindContext, Entry};
use crate::convert::{convert, widest};
use crate::definition::{CallArgs, Eval, ScalarFunction};
use crate::error::BindResult;
use crate::fold::fold;
use crate::functions::registry;
use crate::plan::visible;
use crate::relation::{Relation, Scalar};
use crate::signature::{ParameterKind, ResultKind, Signature};
use crate::window;

/// The arguments of a call, converted for the resolved overload.
pub(crate) struct Resolved {
    /// The converted arguments.
    pub(crate) args: Vec<Scalar>,
    /// The result's type.
    pub(crate) result: ScalarType,
}

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
            return Err(self.unknown_function(call, span));
        };
        let args = self.bind_arguments(call, input)?;
        self.call_builtin(function, signatures, name, args, span)
    }

    fn unknown_function(&self, call: &Call, span: Span) -> hindsight_kql_syntax::Diagnostic {
        let name = &call.function.text;
        match crate::aggregates::find(name) {
            Some(_) => self.error(
                Code::MisplacedAggregate,
                format!("the aggregate function '{name}' is not allowed here"),
                span,
            ),
            None => {
                let message = if crate::reference::has_function(name) {
                    format!("The function '{name}' is not supported.")
                } else {
                    format!("Unknown function: '{name}'.")
                };
                self.error(Code::UnknownFunction, message, call.function.span())
            }
        }
    }

    pub(crate) fn bind_arguments(
        &mut self,
        call: &Call,
        input: &Relation,
    ) -> BindResult<Vec<Scalar>> {
        let mut args = Vec::with_capacity(call.arguments.len());
        for argument in &call.arguments {
            match &argument.value.kind {
                ExprKind::TypeOf(_) => {
                    return Err(self.unsupported(
                        format_args!("typeof() as an argument of '{}'", call.function.text),
                        argument.value.span,
                    ));
                }
                // Functions over whole rows (`pack(*)`, `hash_many(*)`) expand `*` into the columns.
                ExprKind::Wildcard(pattern) => {
                    for column in self.matching_columns(pattern, input, argument.value.span)? {
                        args.push(column.scalar());
                    }
                }
                _ => args.push(self.bind_scalar(&argument.value, input)?),
            }
        }
        Ok(args)
    }

    /// Calls a function of the library by name with bound arguments.
    fn call_by_name(&self, name: &str, args: Vec<Scalar>, span: Span) -> BindResult<Scalar> {
        match registry().find(name) {
            Some((function, signatures)) => {
                self.call_builtin(function, signatures, name, args, span)
            }
            None => Err(self.error(
                Code::UnknownFunction,
                format!("Unknown function: '{name}'."),
                span,
            )),
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

    /// Returns the first overload that accepts the arguments, with the arguments converted.
    pub(crate) fn resolve_overload(
        &self,
        name: &str,
        signatures: &[Signature],
        args: Vec<Scalar>,
        span: Span,
    ) -> BindResult<Resolved> {
        let fits_count = |s: &&Signature| {
            args.len() >= s.min_arguments() && s.max_arguments().is_none_or(|max| args.len() <= max)
        };
        let by_count: Vec<&Signature> = signatures.iter().filter(fits_count).collect();
        if by_count.is_empty() {
            return Err(self.wrong_count(name, signatures, span));
        }
        // An overload with the exact types takes precedence over one that widens an argument: a decimal is not converted to a
        // real if both overloads exist.
        let exact = |s: &&Signature| {
            let mut kinds = args.iter().enumerate();
            kinds.all(|(i, arg)| {
                let parameter = s.parameter(i).map(|p| p.kind);
                parameter == Some(ParameterKind::Exact(arg.kind))
            })
        };
        let (first, rest): (Vec<_>, Vec<_>) = by_count.into_iter().partition(exact);
        let mut failure = None;
        for signature in first.into_iter().chain(rest) {
            match self.try_overload(name, signature, &args, span) {
                Ok(resolved) => return Ok(resolved),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        Err(failure.unwrap_or_else(|| self.wrong_count(name, signatures, span)))
    }

    fn wrong_count(
        &self,
        name: &str,
        signatures: &[Signature],
        span: Span,
    ) -> hindsight_kql_syntax::Diagnostic {
        let min = signatures
            .iter()
            .map(Signature::min_arguments)
            .min()
            .unwrap_or(0);
        let max = signatures
            .iter()
            .map(Signature::max_arguments)
            .try_fold(0, |most, max| max.map(|max| most.max(max)));
        match max {
            Some(max) if max == min => self.error(
                Code::ArgumentCount,
                format!("{name}(): function expects {min} argument(s)."),
                span,
            ),
            Some(max) => self.error(
                Code::ArgumentRange,
                format!("{name}(): function expects [{min}..{max}] argument(s)."),
                span,
            ),
            None => self.error(
                Code::ArgumentRange,
                format!("{name}(): function expects at least {min} argument(s)."),
                span,
            ),
        }
    }

    fn try_overload(
        &self,
        name: &str,
        signature: &Signature,
        args: &[Scalar],
        span: Span,
    ) -> BindResult<Resolved> {
        let kinds: Vec<ParameterKind> = (0..args.len())
            .map(|i| {
                signature
                    .parameter(i)
                    .map_or(ParameterKind::Any, |p| p.kind)
            })
            .collect();
        let common = self.common_kind(name, &kinds, args, span)?;
        let text = ParameterKind::Exact(ScalarType::String);
        let mut converted = Vec::with_capacity(args.len());
        for (index, (arg, kind)) in args.iter().zip(&kinds).enumerate() {
            let constant = signature.parameter(index).is_some_and(|p| p.constant);
            if constant && arg.constant.is_none() {
                let message = format!(
                    "{name}(): failed to cast argument {} to scalar constant",
                    index + 1
                );
                return Err(self.error(Code::NotConstant, message, span));
            }
            // A constant is of the parameter's own type.
            let is_text = constant && arg.kind == ScalarType::Dynamic && *kind == text;
            let target = target_kind(*kind, arg, common).filter(|_| !is_text);
            let Some(target) = target else {
                return Err(self.wrong_type(name, index, *kind, arg.kind, span));
            };
            converted.push(convert(arg.clone(), target));
        }
        let result = match signature.result {
            ResultKind::Exact(kind) => kind,
            ResultKind::Argument(index) => {
                converted.get(index).map_or(ScalarType::Dynamic, |a| a.kind)
            }
            ResultKind::Common => match common {
                Some(kind) => kind,
                None => converted
                    .iter()
                    .map(|a| a.kind)
                    .filter(|k| k.is_number())
                    .reduce(|a, b| widest(a, b).unwrap_or(a))
                    .or_else(|| converted.first().map(|a| a.kind))
                    .unwrap_or(ScalarType::Dynamic),
            },
        };
        Ok(Resolved {
            args: converted,
            result,
        })
    }

    fn wrong_type(
        &self,
        name: &str,
        index: usize,
        expected: ParameterKind,
        actual: ScalarType,
        span: Span,
    ) -> hindsight_kql_syntax::Diagnostic {
        let (code, what) = match expected {
            ParameterKind::Number | ParameterKind::Exact(ScalarType::Real) => {
                (Code::OperandType, "a number".to_owned())
            }
            ParameterKind::Integer | ParameterKind::Exact(ScalarType::Long) => {
                (Code::ArgumentType, "an integer".to_owned())
            }
            ParameterKind::OneOf(kinds) if kinds.contains(ScalarType::Real) => {
                (Code::OperandType, kinds.in_words())
            }
            ParameterKind::OneOf(kinds) => (Code::ArgumentType, kinds.in_words()),
            ParameterKind::Time => (Code::ArgumentType, "a datetime or timespan".to_owned()),
            ParameterKind::Orderable => {
                (Code::ArgumentType, "a value that has an order".to_owned())
            }
            ParameterKind::Exact(kind) => (Code::ArgumentType, format!("{kind}")),
            _ => (Code::ArgumentType, "another type".to_owned()),
        };
        self.error(
            code,
            format!(
                "{name}(): argument {} is {actual} and must be {what}",
                index + 1
            ),
            span,
        )
    }

    /// The common type of all `common` arguments (SEM0525 if there is none).
    fn common_kind(
        &self,
        name: &str,
        kinds: &[ParameterKind],
        args: &[Scalar],
        span: Span,
    ) -> BindResult<Option<ScalarType>> {
        let mut common = None;
        for (arg, _) in args
            .iter()
            .zip(kinds)
            .filter(|(_, k)| **k == ParameterKind::Common)
        {
            common = match common {
                None => Some(arg.kind),
                Some(kind) if kind == arg.kind => Some(kind),
                Some(kind) => match widest(kind, arg.kind) {
                    Some(kind) => Some(kind),
                    None => {
                        let message = format!(
                            "{name}(): the arguments have no common type ({kind} and {})",
                            arg.kind
                        );
                        return Err(self.error(Code::NoCommonType, message, span));
                    }
                },
            };
        }
        Ok(common)
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
        match (name, arguments.as_slice()) {
            ("now", []) => Ok(Some(Scalar::constant(Value::DateTime(
                self.request.now_ticks,
            )))),
            ("now", [offset]) => self.shifted_now(offset, false, input, span).map(Some),
            ("ago", [offset]) => self.shifted_now(offset, true, input, span).map(Some),
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
            ("current_database", []) => {
                let name = Value::String(self.request.catalog.database_name());
                Ok(Some(Scalar::constant(name)))
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

    fn shifted_now(
        &mut self,
        offset: &Expr,
        back: bool,
        input: &Relation,
        span: Span,
    ) -> BindResult<Scalar> {
        let now = Scalar::constant(Value::DateTime(self.request.now_ticks));
        let offset = self.bind_scalar(offset, input)?;
        let op = if back {
            hindsight_kql_syntax::ast::BinaryOp::Subtract
        } else {
            hindsight_kql_syntax::ast::BinaryOp::Add
        };
        match offset.kind {
            ScalarType::TimeSpan => self.arithmetic(op, now, offset, span),
            other => Err(self.error(
                Code::ArgumentType,
                format!("the offset must be a timespan and is {other}"),
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
                    "bag_pack_columns takes columns",
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
            let message = "bin_auto() needs 'set query_bin_auto_size'";
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
        let name = match &column.unparenthesised().kind {
            ExprKind::Literal(Literal::String(name)) => name.clone(),
            _ => self.constant_string(column)?,
        };
        match input.column(&name) {
            Some(column) => Ok(column.scalar()),
            None => self.bind_scalar(default, input),
        }
    }
}

/// The type that an argument is converted to for a parameter; `None` if it does not match.
fn target_kind(
    parameter: ParameterKind,
    arg: &Scalar,
    common: Option<ScalarType>,
) -> Option<ScalarType> {
    let kind = arg.kind;
    match parameter {
        ParameterKind::Any => Some(kind),
        ParameterKind::OneOf(kinds) => kinds.contains(kind).then_some(kind),
        // Kernels convert arguments to text themselves, because the conversion depends on the argument's type.
        ParameterKind::Text => Some(ScalarType::String),
        ParameterKind::Common => common,
        ParameterKind::Number => kind.is_number().then_some(kind),
        ParameterKind::Integer => kind.is_integer().then_some(kind),
        ParameterKind::Time => {
            matches!(kind, ScalarType::DateTime | ScalarType::TimeSpan).then_some(kind)
        }
        ParameterKind::Orderable => {
            (!matches!(kind, ScalarType::Dynamic | ScalarType::Guid)).then_some(kind)
        }
        ParameterKind::Exact(to) if to == kind => Some(to),
        ParameterKind::Exact(to) => {
            let widens = matches!(
                (kind, to),
                (ScalarType::Int, ScalarType::Long)
                    | (
                        ScalarType::Int | ScalarType::Long | ScalarType::Decimal,
                        ScalarType::Real
                    )
                    | (ScalarType::Int | ScalarType::Long, ScalarType::Decimal)
                    | (ScalarType::Dynamic, ScalarType::String)
            );
            // A bare `dynamic(null)` and a narrowing of a constant int match if the value does.
            let narrows = matches!((&arg.constant, to), (Some(Value::Long(v)), ScalarType::Int) if i32::try_from(*v).is_ok());
            (widens || narrows).then_some(to)
        }
    }
}
