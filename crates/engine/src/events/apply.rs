//! `$apply` as KQL operators, and which properties there are after it (`D14`).

use hindsight_kql_syntax::ast::{
    BinaryOp, Direction, Expr, ExtendOperator, Literal, NamedExpr, Operator, OperatorKind,
    OrderedExpr, ProjectOperator, SortOperator, SummarizeOperator, TakeOperator,
};
use hindsight_kql_types::ScalarType;

use super::paths;
use super::source::Source;
use crate::odata::{
    self, Aggregate, Fault, Kind, Method, Resolved, Resolver, Transformation, computed, measure,
    predicate, sort_key,
};

/// The properties of the rows at some step.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Scope {
    source: Source,
    /// Properties that `$apply` made: name and kind.
    made: Vec<(String, Kind)>,
    /// Rows are no longer events: the made properties are all there are.
    pub(super) aggregated: bool,
}

/// `$apply`, translated.
#[derive(Debug)]
pub(super) struct Applied {
    /// The operators of its transformations.
    pub(super) operators: Vec<Operator>,
    /// The properties after it.
    pub(super) scope: Scope,
    /// The order that its last transformation gives, where it gives one.
    pub(super) order: Option<Vec<OrderedExpr>>,
    /// A filter of it bounds the time of events.
    pub(super) bounds_time: bool,
}

impl Scope {
    /// The properties of events.
    pub(super) fn events(source: Source) -> Scope {
        Scope {
            source,
            made: Vec::new(),
            aggregated: false,
        }
    }

    /// The KQL of a path.
    pub(super) fn resolve(&self, path: &str) -> Result<Resolved, String> {
        if let Some((made, kind)) = self.made.iter().find(|(made, _)| made == path) {
            return Ok(Resolved {
                expr: Expr::name(self.column(made)),
                kind: *kind,
            });
        }
        if !self.aggregated {
            return paths::resolve(self.source, path);
        }
        Err(format!(
            "'{path}' is not a property of what $apply gives; its properties are {}.",
            self.names().join(", ")
        ))
    }

    /// The names of the made properties.
    pub(super) fn names(&self) -> Vec<&str> {
        self.made.iter().map(|(made, _)| made.as_str()).collect()
    }

    /// The made properties and the columns that hold them.
    pub(super) fn made_columns(&self) -> Vec<(String, String)> {
        let column = |(made, _): &(String, Kind)| (made.clone(), self.column(made));
        self.made.iter().map(column).collect()
    }

    /// The column of a made property. Beside the columns of events its name must not be one of theirs.
    fn column(&self, made: &str) -> String {
        if self.aggregated {
            made.to_owned()
        } else {
            format!("$apply/{made}")
        }
    }

    /// What makes the order of rows definite.
    pub(super) fn tie_breakers(&self) -> Vec<OrderedExpr> {
        let ascending = |column: &str| ordered(Expr::name(column), false);
        if self.aggregated {
            self.names().into_iter().map(ascending).collect()
        } else {
            vec![ascending("itemId")]
        }
    }

    fn add(&mut self, made: &str, kind: Kind, at: usize) -> Result<(), Fault> {
        // A property and a group of properties cannot have one name in a reply.
        let within = |outer: &str, inner: &str| {
            inner
                .strip_prefix(outer)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        let clashes = |known: &str| within(known, made) || within(made, known);
        let taken = self.made.iter().any(|(known, _)| clashes(known))
            || (!self.aggregated && paths::check_selected(self.source, made, at).is_ok());
        if taken {
            return Err(Fault::new(
                at,
                format!("There is already a property '{made}'."),
            ));
        }
        self.made.push((made.to_owned(), kind));
        Ok(())
    }
}

/// A sort key; nulls where KQL puts them.
pub(super) fn ordered(expr: Expr, descending: bool) -> OrderedExpr {
    let direction = if descending {
        Direction::Desc
    } else {
        Direction::Asc
    };
    OrderedExpr {
        expr,
        direction: Some(direction),
        nulls: None,
    }
}

/// `sort by keys`
pub(super) fn sort(by: Vec<OrderedExpr>) -> Operator {
    Operator::synthetic(OperatorKind::Sort(SortOperator {
        parameters: Vec::new(),
        by,
    }))
}

/// `take rows`
pub(super) fn take(rows: i64) -> Operator {
    Operator::synthetic(OperatorKind::Take(TakeOperator {
        parameters: Vec::new(),
        count: Expr::long(rows),
    }))
}

/// `project` of columns as they are.
pub(super) fn project(columns: &[&str]) -> Operator {
    Operator::synthetic(OperatorKind::Project(ProjectOperator {
        columns: columns
            .iter()
            .map(|c| NamedExpr::named(*c, Expr::name(*c)))
            .collect(),
    }))
}

/// Translates the value of `$apply` for events of `source`.
pub(super) fn translate(text: &str, source: Source) -> Result<Applied, Fault> {
    let mut applied = Applied {
        operators: Vec::new(),
        scope: Scope::events(source),
        order: None,
        bounds_time: false,
    };
    for step in odata::parse_apply(text)? {
        applied.order = None;
        applied.step(&step)?;
    }
    Ok(applied)
}

impl Applied {
    fn step(&mut self, step: &Transformation) -> Result<(), Fault> {
        let scope = self.scope.clone();
        let resolver = |path: &str| scope.resolve(path);
        match step {
            Transformation::Filter(node) => {
                let condition = predicate(node, &resolver)?;
                self.operators.extend(odata::filters(vec![condition]));
                self.bounds_time |= !scope.aggregated && odata::mentions(node, "timestamp");
            }
            Transformation::Compute(list) => {
                let mut columns = Vec::new();
                for one in list {
                    let value = computed(&one.value, &resolver)?;
                    self.scope.add(&one.alias.name, value.kind, one.alias.at)?;
                    columns.push(NamedExpr::named(
                        self.scope.column(&one.alias.name),
                        value.expr,
                    ));
                }
                let node = ExtendOperator { columns };
                self.operators
                    .push(Operator::synthetic(OperatorKind::Extend(node)));
            }
            Transformation::TopCount { count, by } => {
                let mut keys = vec![ordered(sort_key(by, &resolver)?, true)];
                keys.extend(scope.tie_breakers());
                self.operators.push(sort(keys.clone()));
                self.operators.push(take(*count));
                self.order = Some(keys);
            }
            Transformation::Aggregate(aggregates) => self.summarize(&[], aggregates, &resolver)?,
            Transformation::GroupBy { paths, aggregates } => {
                self.summarize(paths, aggregates, &resolver)?;
            }
        }
        Ok(())
    }

    fn summarize(
        &mut self,
        paths: &[(String, usize)],
        aggregates: &[Aggregate],
        resolver: &Resolver<'_>,
    ) -> Result<(), Fault> {
        let mut after = Scope {
            source: self.scope.source,
            made: Vec::new(),
            aggregated: true,
        };
        let mut by = Vec::new();
        for (path, at) in paths {
            let Resolved { expr, kind } = resolver(path).map_err(|m| Fault::new(*at, m))?;
            if matches!(kind, Kind::Bag | Kind::List) {
                return Err(Fault::new(
                    *at,
                    "A collection cannot be grouped by; name one of its properties.",
                ));
            }
            after.add(path, kind, *at)?;
            by.push(NamedExpr::named(path, expr));
        }
        let mut columns = Vec::new();
        for aggregate in aggregates {
            let Resolved { expr, kind } = combined(aggregate, resolver)?;
            after.add(&aggregate.alias.name, kind, aggregate.alias.at)?;
            columns.push(NamedExpr::named(&aggregate.alias.name, expr));
        }
        let node = SummarizeOperator {
            parameters: Vec::new(),
            aggregates: columns,
            has_by: !by.is_empty(),
            by,
        };
        self.operators
            .push(Operator::synthetic(OperatorKind::Summarize(node)));
        self.scope = after;
        Ok(())
    }
}

/// An aggregate's KQL. What has no value does not count; where nothing has one, the result is null.
fn combined(aggregate: &Aggregate, resolver: &Resolver<'_>) -> Result<Resolved, Fault> {
    let Some(node) = &aggregate.value else {
        return Ok(number(Expr::call("count", Vec::new())));
    };
    let none = |value: &Expr| Expr::call("isnull", vec![Expr::call("min", vec![value.clone()])]);
    let choice = |test: Expr, yes: Expr, no: Expr| Expr::call("iff", vec![test, yes, no]);
    Ok(match aggregate.method {
        Method::Sum => {
            let Resolved { expr, kind } = measure(node, resolver)?;
            let least = Expr::call("min", vec![expr.clone()]);
            Resolved {
                expr: choice(none(&expr), least, Expr::call("sum", vec![expr])),
                kind,
            }
        }
        Method::Average => {
            let Resolved { expr, kind } = measure(node, resolver)?;
            let null = Expr::literal(Literal::Null(match kind {
                Kind::Span => ScalarType::TimeSpan,
                _ => ScalarType::Real,
            }));
            Resolved {
                expr: choice(none(&expr), null, Expr::call("avg", vec![expr])),
                kind,
            }
        }
        Method::Min | Method::Max => {
            let Resolved { expr, kind } = computed(node, resolver)?;
            let (plain, chosen) = match aggregate.method {
                Method::Min => ("min", "minif"),
                _ => ("max", "maxif"),
            };
            let expr = match kind {
                Kind::Bool => return Err(Fault::new(node.at, "Truth values have no order.")),
                kind if kind.is_text() => Expr::call(chosen, vec![expr.clone(), present(expr)]),
                _ => Expr::call(plain, vec![expr]),
            };
            Resolved { expr, kind }
        }
        Method::CountDistinct => {
            let Resolved { expr, kind } = computed(node, resolver)?;
            number(if kind.is_text() {
                Expr::call("count_distinctif", vec![expr.clone(), present(expr)])
            } else {
                Expr::call("count_distinct", vec![expr])
            })
        }
        Method::Count => number(Expr::call("count", Vec::new())),
    })
}

fn number(expr: Expr) -> Resolved {
    Resolved {
        expr,
        kind: Kind::Number,
    }
}

fn present(text: Expr) -> Expr {
    Expr::binary(
        BinaryOp::NotEqual,
        text,
        Expr::literal(Literal::String(String::new())),
    )
}
