//! Constructors of trees, for the translators of other query forms.

use super::*;
use crate::Span;

impl Expr {
    /// A name: a column, a table, a variable.
    pub fn name(text: impl Into<String>) -> Expr {
        Expr::synthetic(ExprKind::Name(Name::synthetic(text)))
    }

    /// A name pattern such as `*`.
    pub fn wildcard(pattern: impl Into<String>) -> Expr {
        Expr::synthetic(ExprKind::Wildcard(pattern.into()))
    }

    /// A literal.
    pub fn literal(literal: Literal) -> Expr {
        Expr::synthetic(ExprKind::Literal(literal))
    }

    /// A string literal.
    pub fn string(text: impl Into<String>) -> Expr {
        Expr::literal(Literal::String(text.into()))
    }

    /// A bool literal.
    pub fn bool(value: bool) -> Expr {
        Expr::literal(Literal::Bool(value))
    }

    /// A long literal.
    pub fn long(value: i64) -> Expr {
        Expr::literal(Literal::Long(value))
    }

    /// A real literal.
    pub fn real(value: f64) -> Expr {
        Expr::literal(Literal::Real(value))
    }

    /// A datetime literal from 100 ns ticks since 0001-01-01.
    pub fn datetime(ticks: i64) -> Expr {
        Expr::literal(Literal::DateTime(ticks))
    }

    /// A timespan literal from 100 ns ticks.
    pub fn timespan(ticks: i64) -> Expr {
        Expr::literal(Literal::TimeSpan(ticks))
    }

    /// `function(arguments)`
    pub fn call(function: impl Into<String>, arguments: impl IntoIterator<Item = Expr>) -> Expr {
        Expr::synthetic(ExprKind::Call(Call::new(function, arguments)))
    }

    /// `left op right`; parentheses are printed where the operands need them.
    pub fn binary(op: BinaryOp, left: Expr, right: Expr) -> Expr {
        Expr::synthetic(ExprKind::Binary {
            op,
            left: Box::new(left),
            right: Box::new(right),
        })
    }

    /// `left and right`
    pub fn and(self, right: Expr) -> Expr {
        Expr::binary(BinaryOp::And, self, right)
    }

    /// `left or right`
    pub fn or(self, right: Expr) -> Expr {
        Expr::binary(BinaryOp::Or, self, right)
    }

    /// `value.member`
    pub fn member(self, member: impl Into<String>) -> Expr {
        Expr::synthetic(ExprKind::Member {
            value: Box::new(self),
            member: Name::synthetic(member),
        })
    }

    /// `value[index]`
    pub fn index(self, index: Expr) -> Expr {
        Expr::synthetic(ExprKind::Index {
            value: Box::new(self),
            index: Box::new(index),
        })
    }

    /// `value['key']`
    pub fn key(self, key: &str) -> Expr {
        self.index(Expr::string(key))
    }

    /// `a and b and c`; `true` if there are no terms.
    pub fn all(terms: impl IntoIterator<Item = Expr>) -> Expr {
        terms
            .into_iter()
            .reduce(Expr::and)
            .unwrap_or_else(|| Expr::bool(true))
    }

    /// `value op (list)`
    pub fn in_list(op: ListOp, value: Expr, list: Vec<Expr>) -> Expr {
        Expr::synthetic(ExprKind::InList {
            op,
            value: Box::new(value),
            list,
        })
    }

    /// `value between (low .. high)`
    pub fn between(value: Expr, low: Expr, high: Expr) -> Expr {
        Expr::synthetic(ExprKind::Between {
            negated: false,
            value: Box::new(value),
            low: Box::new(low),
            high: Box::new(high),
        })
    }

    /// The expression followed by one more operator; starts a pipeline if there is none.
    pub fn pipe(self, kind: OperatorKind) -> Expr {
        let operator = Operator::synthetic(kind);
        let pipeline = match self.kind {
            ExprKind::Pipe(mut pipeline) => {
                pipeline.operators.push(operator);
                pipeline
            }
            kind => Box::new(Pipeline {
                source: Expr::new(kind, self.span),
                operators: vec![operator],
            }),
        };
        Expr::synthetic(ExprKind::Pipe(pipeline))
    }

    /// `source | operators`; the source alone if there are no operators.
    pub fn pipeline(source: Expr, operators: Vec<Operator>) -> Expr {
        if operators.is_empty() {
            return source;
        }
        Expr::synthetic(ExprKind::Pipe(Box::new(Pipeline { source, operators })))
    }
}

impl Call {
    /// A call with unnamed arguments.
    pub fn new(function: impl Into<String>, arguments: impl IntoIterator<Item = Expr>) -> Call {
        Call {
            function: Name::synthetic(function),
            arguments: arguments.into_iter().map(Argument::bare).collect(),
        }
    }
}

impl Argument {
    /// An argument without a name.
    pub fn bare(value: Expr) -> Argument {
        Argument { name: None, value }
    }
}

impl NamedExpr {
    /// `expr`
    pub fn bare(expr: Expr) -> NamedExpr {
        NamedExpr {
            names: Vec::new(),
            tuple: false,
            expr,
        }
    }

    /// `name = expr`
    pub fn named(name: impl Into<String>, expr: Expr) -> NamedExpr {
        NamedExpr {
            names: vec![Name::synthetic(name)],
            tuple: false,
            expr,
        }
    }
}

impl OperatorParameter {
    /// `name=value`
    pub fn new(name: impl Into<String>, value: Expr) -> OperatorParameter {
        OperatorParameter {
            name: Name::synthetic(name),
            value,
        }
    }
}

impl OrderedExpr {
    /// A sort key with a direction.
    pub fn new(expr: Expr, direction: Direction) -> OrderedExpr {
        OrderedExpr {
            expr,
            direction: Some(direction),
            nulls: None,
        }
    }
}

impl Operator {
    /// `count`
    pub fn count() -> Operator {
        Operator::synthetic(OperatorKind::Count(CountOperator { name: None }))
    }

    /// `take count`
    pub fn take(count: Expr) -> Operator {
        Operator::synthetic(OperatorKind::Take(TakeOperator {
            parameters: Vec::new(),
            count,
        }))
    }

    /// `extend columns`
    pub fn extend(columns: Vec<NamedExpr>) -> Operator {
        Operator::synthetic(OperatorKind::Extend(ExtendOperator { columns }))
    }

    /// `project columns`
    pub fn project(columns: Vec<NamedExpr>) -> Operator {
        Operator::synthetic(OperatorKind::Project(ProjectOperator { columns }))
    }

    /// `project-away columns`
    pub fn project_away(columns: Vec<Expr>) -> Operator {
        Operator::synthetic(OperatorKind::ProjectAway(ProjectAwayOperator { columns }))
    }

    /// `serialize columns`
    pub fn serialize(columns: Vec<NamedExpr>) -> Operator {
        Operator::synthetic(OperatorKind::Serialize(SerializeOperator { columns }))
    }

    /// `summarize aggregates by by`
    pub fn summarize(aggregates: Vec<NamedExpr>, by: Vec<NamedExpr>) -> Operator {
        Operator::synthetic(OperatorKind::Summarize(SummarizeOperator {
            parameters: Vec::new(),
            aggregates,
            has_by: !by.is_empty(),
            by,
        }))
    }

    /// `sort by by`
    pub fn sort(by: Vec<OrderedExpr>) -> Operator {
        Operator::synthetic(OperatorKind::Sort(SortOperator {
            parameters: Vec::new(),
            by,
        }))
    }

    /// `join kind=kind (right) on on`
    pub fn join(kind: &str, right: Expr, on: Vec<Expr>) -> Operator {
        Operator::synthetic(OperatorKind::Join(JoinOperator {
            parameters: vec![OperatorParameter::new("kind", Expr::name(kind))],
            right,
            on,
            filter: None,
        }))
    }

    /// `union tables`
    pub fn union(tables: Vec<Expr>) -> Operator {
        Operator::synthetic(OperatorKind::Union(UnionOperator {
            parameters: Vec::new(),
            tables,
        }))
    }

    /// `mv-expand list`, or `mv-expand list to typeof(to)`
    pub fn mv_expand(list: NamedExpr, to: Option<ScalarType>) -> Operator {
        let to = to.map(TypeOf::Scalar);
        Operator::synthetic(OperatorKind::MvExpand(MvExpandOperator {
            parameters: Vec::new(),
            columns: vec![MvExpandColumn { expr: list, to }],
            limit: None,
        }))
    }

    /// `where predicate`
    pub fn filter(predicate: Expr) -> Operator {
        Operator::synthetic(OperatorKind::Where(WhereOperator {
            parameters: Vec::new(),
            predicate,
        }))
    }

    /// An operator without a span.
    pub fn synthetic(kind: OperatorKind) -> Operator {
        Operator {
            kind,
            span: Span::default(),
        }
    }
}

impl Query {
    /// A request of one tabular expression.
    pub fn of(expr: Expr) -> Query {
        Query {
            statements: vec![Statement::Expression(expr)],
        }
    }
}
