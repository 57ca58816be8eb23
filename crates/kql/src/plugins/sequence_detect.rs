//! `sequence_detect`: the occurrences of a sequence of predicates (`docs/semantics.md §24`).
//!
//! An occurrence has a row for each predicate, each later than the one before by at most the step window, and the last one at
//! most the span after the first. The rows of a step are joined with those of the next one by windows of the step: the next
//! row lies in the same window or in the one after it, so that only rows of neighbouring windows are compared.

use hindsight_kql_syntax::ast::{BinaryOp, Call, Expr, NamedExpr, Operator};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::ScalarType;

use super::args::Args;
use super::tree::{
    columns_of, evaluated_once, greater, multiply, name, named, names, op, over, run, run_with,
    subtract,
};
use super::windows::{constant, literal, numbers, ticks};
use crate::context::BindContext;
use crate::error::BindResult;
use crate::plan::{self, free_name};
use crate::relation::Relation;

/// The maximum number of predicates. Each is a join.
const MAX_STEPS: usize = 16;

/// `sequence_detect(axis, step window, span, [name =] predicate, …, dimension, …)`
pub(crate) fn bind(
    call: &Call,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let mut args = Args::new(call);
    let axis = args.required("TimelineColumn", binder, span)?;
    let axis = plan::column_named(axis, &input, binder)?.clone();
    if !matches!(axis.kind, ScalarType::DateTime | ScalarType::TimeSpan) {
        let message =
            "the timeline must be a datetime or a timespan, as the duration is a timespan";
        return Err(binder.error(Code::Semantics, message, span));
    }
    let mut limit = |what: &str, binder: &mut dyn BindContext| -> BindResult<Expr> {
        let expr = args.required(what, binder, span)?;
        let value = constant(expr, ScalarType::TimeSpan, binder)?;
        if ticks(&value).is_some_and(|ticks| ticks > 0) {
            return Ok(literal(&value));
        }
        let message = format!("{what} must be greater than zero");
        Err(binder.error(Code::Semantics, message, expr.span))
    };
    let window = limit("MaxSequenceStepWindow", binder)?;
    let longest = limit("MaxSequenceSpan", binder)?;

    let steps = Steps::read(call, &axis.name, input, binder, span)?;
    let Steps { dimensions, .. } = &steps;
    let at = columns_of(&["$at"], dimensions);
    let first = vec![
        Operator::filter(name(&of_step("$is", 0))),
        Operator::summarize(Vec::new(), at),
        Operator::project(steps.times(0)),
    ];
    let rows = steps.rows.clone();
    let mut found = run(first, rows.clone(), binder, span)?;
    for step in 1..steps.names.len() {
        let operators = steps.follow(step, &window, &longest);
        found = run_with(
            operators,
            found,
            vec![("$rows", rows.clone())],
            binder,
            span,
        )?;
    }
    run(vec![steps.shown()], found, binder, span)
}

/// The predicates and the dimensions.
struct Steps {
    /// The names of the columns with the times of the steps.
    names: Vec<String>,
    dimensions: Vec<String>,
    /// The rows that meet a predicate: the time `$at`, the dimensions, and `$is<n>` for each predicate.
    rows: Relation,
}

impl Steps {
    fn read(
        call: &Call,
        axis: &str,
        input: Relation,
        binder: &mut dyn BindContext,
        span: Span,
    ) -> BindResult<Steps> {
        let rest = || call.arguments.iter().skip(3);
        let values = rest().enumerate();
        let values = values.map(|(n, argument)| named(&of_step("$is", n), argument.value.clone()));
        let rows = run(
            vec![Operator::extend(values.collect())],
            input.clone(),
            binder,
            span,
        )?;
        let is_predicate = |n: usize| {
            let column = rows.column(&of_step("$is", n));
            column.is_some_and(|column| column.kind == ScalarType::Bool)
        };
        let count = (0..rest().count()).take_while(|n| is_predicate(*n)).count();
        if !(1..=MAX_STEPS).contains(&count) {
            let message = format!("1 to {MAX_STEPS} predicates are expected");
            return Err(binder.error(Code::ArgumentCount, message, span));
        }
        let mut dimensions = Vec::new();
        for argument in rest().skip(count) {
            let column = plan::column_named(&argument.value, &input, binder)?;
            dimensions.push(column.name.clone());
        }
        let mut names: Vec<String> = Vec::new();
        for argument in rest().take(count) {
            let written = argument.name.as_ref().map(|name| name.text.as_str());
            let step = written.or(argument.value.as_name()).unwrap_or_default();
            let taken = |name: &str| dimensions.iter().chain(&names).any(|n| n == name);
            let name = free_name(&format!("{step}_{axis}"), taken);
            names.push(name);
        }
        let predicates: Vec<String> = (0..count).map(|n| of_step("$is", n)).collect();
        let any = predicates.iter().map(|p| name(p)).reduce(Expr::or);
        let mut kept = vec![named("$at", name(axis))];
        kept.extend(columns_of(&[], &dimensions));
        kept.extend(columns_of(&[], &predicates));
        let mut operators: Vec<Operator> = any.map(Operator::filter).into_iter().collect();
        operators.push(Operator::project(kept));
        let rows = evaluated_once(operators, rows, binder, span)?;
        Ok(Steps {
            names,
            dimensions,
            rows,
        })
    }

    /// The dimensions and the times of the steps up to `step`; `$at` is the time of the last one.
    fn times(&self, step: usize) -> Vec<NamedExpr> {
        let mut times = columns_of(&[], &self.dimensions);
        for earlier in 0..step {
            times.extend(columns_of(&[&of_step("$time", earlier)], &[]));
        }
        times.push(named(&of_step("$time", step), name("$at")));
        times
    }

    /// Extends the sequences that have reached the step before by the rows of `step`.
    fn follow(&self, step: usize, window: &Expr, longest: &Expr) -> Vec<Operator> {
        let before = name(&of_step("$time", step - 1));
        let bin = |time: Expr| Expr::call("bin", [time, window.clone()]);
        let earlier = multiply(window.clone(), name("$n"));
        let next = [
            Operator::filter(name(&of_step("$is", step))),
            Operator::summarize(Vec::new(), columns_of(&["$at"], &self.dimensions)),
            numbers(1),
            Operator::extend(vec![named("$window", subtract(bin(name("$at")), earlier))]),
        ];
        let at_most = |gap: Expr, most: &Expr| op(BinaryOp::LessOrEqual, gap, most.clone());
        let gap = subtract(name("$at"), before.clone());
        let total = subtract(name("$at"), name(&of_step("$time", 0)));
        vec![
            Operator::extend(vec![named("$window", bin(before.clone()))]),
            Operator::join(
                "inner",
                over("$rows", next),
                names(&["$window"], &self.dimensions),
            ),
            Operator::filter(
                greater(name("$at"), before)
                    .and(at_most(gap, window))
                    .and(at_most(total, longest)),
            ),
            Operator::project(self.times(step)),
        ]
    }

    /// The columns of the result.
    fn shown(&self) -> Operator {
        let mut shown = columns_of(&[], &self.dimensions);
        for (step, column) in self.names.iter().enumerate() {
            shown.push(named(column, name(&of_step("$time", step))));
        }
        let last = of_step("$time", self.names.len().saturating_sub(1));
        let duration = subtract(name(&last), name(&of_step("$time", 0)));
        shown.push(named("Duration", duration));
        Operator::project(shown)
    }
}

/// The column of a step.
fn of_step(column: &str, step: usize) -> String {
    format!("{column}{step}")
}
