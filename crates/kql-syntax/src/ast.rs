//! The syntax tree. Every node prints as KQL (`Display`), which parses to an equal tree.
//!
//! The nodes of tabular operators are in [`crate::operators`], beside their grammar.

use hindsight_kql_types::ScalarType;

mod build;
mod display;
mod map;
mod ops;

use crate::Span;
pub use crate::operators::*;
pub(crate) use display::{Commas, Parameters, Schema, Statements, Subpipe, write_expr};
pub(crate) use ops::precedence;

/// A whole request: statements separated by `;`.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Query {
    /// The statements in the order of the text.
    pub statements: Vec<Statement>,
}

/// One statement (`docs/semantics.md §14.1`).
#[derive(Debug, Clone, PartialEq)]
pub enum Statement {
    /// `let Name = …`
    Let(LetStatement),
    /// `set Option [= value]`
    Set {
        /// The option.
        name: Name,
        /// Its value: a literal or a bare name.
        value: Option<Expr>,
    },
    /// `declare query_parameters (a:long = 1, …)`
    QueryParameters(Vec<Parameter>),
    /// `alias database A = cluster(…).database(…)`
    Alias {
        /// The new name.
        name: Name,
        /// The database.
        target: Expr,
    },
    /// `declare pattern Name [= (…) { … }]`
    Pattern(PatternDeclaration),
    /// `restrict access to (…)`
    Restrict {
        /// The permitted entities.
        entities: Vec<Expr>,
        /// Its span.
        span: Span,
    },
    /// A tabular expression whose rows are a result of the request.
    Expression(Expr),
}

/// `declare pattern Name = (a:string, …)[path:string] { ('x').['y'] = { body }; … }`
#[derive(Debug, Clone, PartialEq)]
pub struct PatternDeclaration {
    /// The pattern's name.
    pub name: Name,
    /// The mapping; none if the pattern is only declared.
    pub mapping: Option<PatternMapping>,
    /// Its span.
    pub span: Span,
}

/// The parameters and the rules of a pattern.
#[derive(Debug, Clone, PartialEq)]
pub struct PatternMapping {
    /// The arguments' names and types.
    pub parameters: Vec<ColumnDeclaration>,
    /// The path's name and type, if the pattern has one.
    pub path: Option<ColumnDeclaration>,
    /// The tabular expression of each combination of values.
    pub rules: Vec<PatternRule>,
}

/// `('x', …).['y'] = { body }`
#[derive(Debug, Clone, PartialEq)]
pub struct PatternRule {
    /// The arguments' values: literals.
    pub arguments: Vec<Expr>,
    /// The path's value.
    pub path: Option<Expr>,
    /// The tabular expression; its last statement is the expression.
    pub body: Vec<Statement>,
}

/// `let Name = value`
#[derive(Debug, Clone, PartialEq)]
pub struct LetStatement {
    /// The name that is bound.
    pub name: Name,
    /// Its value: a scalar, a pipeline or a function.
    pub value: LetValue,
}

/// The right side of a `let`.
#[derive(Debug, Clone, PartialEq)]
pub enum LetValue {
    /// A scalar or tabular expression.
    Expr(Expr),
    /// `[view] (parameters) { body }`
    Function(FunctionDeclaration),
    /// `entity_group [ … ]`
    EntityGroup(Vec<Expr>),
}

/// `[view] (parameters) { statements; expression }`
#[derive(Debug, Clone, PartialEq)]
pub struct FunctionDeclaration {
    /// Whether wildcards and `search` match it.
    pub view: bool,
    /// Tabular parameters first, then scalar ones.
    pub parameters: Vec<Parameter>,
    /// The body; its last statement is the expression.
    pub body: Vec<Statement>,
    /// Its span.
    pub span: Span,
}

/// A parameter of a function or of the query.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: Name,
    /// Its type.
    pub kind: ParameterType,
    /// Its default: a literal.
    pub default: Option<Expr>,
}

/// The type of a parameter.
#[derive(Debug, Clone, PartialEq)]
pub enum ParameterType {
    /// `x:long`
    Scalar(ScalarType),
    /// `T:(*)`
    AnyTable,
    /// `T:(a:long, b:string)`
    Table(Vec<ColumnDeclaration>),
}

/// `name:type` in a schema.
#[derive(Debug, Clone, PartialEq)]
pub struct ColumnDeclaration {
    /// The column's name.
    pub name: Name,
    /// Its type.
    pub kind: ScalarType,
}

/// An identifier with its span. The bracketed and the bare spelling are the same name.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Name {
    /// The text without brackets, unescaped.
    pub text: String,
    /// Its span.
    pub span: NameSpan,
}

/// A span that does not affect hashes, so that names can be keys.
#[derive(Debug, Clone, Copy, Default)]
pub struct NameSpan(pub Span);

impl PartialEq for NameSpan {
    fn eq(&self, _: &NameSpan) -> bool {
        true
    }
}

impl Eq for NameSpan {}

impl std::hash::Hash for NameSpan {
    fn hash<H: std::hash::Hasher>(&self, _: &mut H) {}
}

impl Name {
    /// A name with its span.
    pub fn new(text: impl Into<String>, span: Span) -> Name {
        Name {
            text: text.into(),
            span: NameSpan(span),
        }
    }

    /// A name without a span, for trees that are not parsed from text.
    pub fn synthetic(text: impl Into<String>) -> Name {
        Name::new(text, Span::default())
    }

    /// The span of the name.
    pub fn span(&self) -> Span {
        self.span.0
    }
}

/// A scalar or tabular expression. The grammar does not distinguish them; the binder does.
#[derive(Debug, Clone, PartialEq)]
pub struct Expr {
    /// Its form.
    pub kind: ExprKind,
    /// Its span.
    pub span: Span,
}

/// The forms of an expression.
#[derive(Debug, Clone, PartialEq)]
pub enum ExprKind {
    /// A literal.
    Literal(Literal),
    /// A name: column, let, table, parameter.
    Name(Name),
    /// A name pattern with `*`: `a*`, `*`. Only in a list of names, which includes arguments.
    Wildcard(String),
    /// `f(a, b)`; arguments may be named (`f(x=1)`) or wildcards.
    Call(Call),
    /// `value.name`, also `app('x').requests`, `database('d').T`.
    Member {
        /// The left side.
        value: Box<Expr>,
        /// The name after the dot; a pattern such as `T*` in a list of tables.
        member: Name,
    },
    /// `value.f(a)`: `cluster('c').database('d')`, a function of another database.
    MemberCall {
        /// The left side.
        value: Box<Expr>,
        /// The call after the dot.
        call: Call,
    },
    /// `value[index]`, also `value.['name']`.
    Index {
        /// The left side.
        value: Box<Expr>,
        /// The key or position.
        index: Box<Expr>,
    },
    /// `-x`, `+x`
    Unary {
        /// The operator.
        op: UnaryOp,
        /// Its operand.
        value: Box<Expr>,
    },
    /// `a op b`, the string operators included.
    Binary {
        /// The operator.
        op: BinaryOp,
        /// Left side.
        left: Box<Expr>,
        /// Right side.
        right: Box<Expr>,
    },
    /// `x in (…)`, `x has_any (…)` and the other operators with a list.
    InList {
        /// The operator.
        op: ListOp,
        /// Left side.
        value: Box<Expr>,
        /// The list: scalars, dynamic arrays, or one tabular expression.
        list: Vec<Expr>,
    },
    /// `x [!]between (low .. high)`
    Between {
        /// `!between`.
        negated: bool,
        /// The value.
        value: Box<Expr>,
        /// Lower bound, inclusive.
        low: Box<Expr>,
        /// Upper bound, inclusive.
        high: Box<Expr>,
    },
    /// `* op x`: any column. Only in `where` and `search`.
    AnyColumn {
        /// The operator.
        op: BinaryOp,
        /// The right side.
        right: Box<Expr>,
    },
    /// `source | op | op`
    Pipe(Box<Pipeline>),
    /// `datatable (schema) [ … ]`
    DataTable(DataTable),
    /// `externaldata (schema) [ … ] with ( … )`
    ExternalData(ExternalData),
    /// An operator that starts a pipeline: `print`, `range`, `union`, `search`, `find`, `macro-expand`, `evaluate`.
    Source(Box<Operator>),
    /// `[name, name] = expr` and `(a, b) = expr` targets are in [`NamedExpr`]; this is `typeof(long)`.
    TypeOf(TypeOf),
    /// `(expr)` around a tabular expression or scalar; kept so that printing keeps grouping.
    Parenthesised(Box<Expr>),
    /// The place of an expression with a syntax error. There is a diagnostic, so the binder never sees it.
    Missing,
}

/// The argument of `typeof(…)`.
#[derive(Debug, Clone, PartialEq)]
pub enum TypeOf {
    /// `typeof(long)`
    Scalar(ScalarType),
    /// `typeof(*, x:real)`
    Row {
        /// Whether `*` is written.
        star: bool,
        /// Declared columns.
        columns: Vec<ColumnDeclaration>,
    },
}

/// `source | operator | operator …`
#[derive(Debug, Clone, PartialEq)]
pub struct Pipeline {
    /// A table, a call, a parenthesised pipeline or an operator that needs no input.
    pub source: Expr,
    /// At least one operator.
    pub operators: Vec<Operator>,
}

/// A function call.
#[derive(Debug, Clone, PartialEq)]
pub struct Call {
    /// The function.
    pub function: Name,
    /// Its arguments.
    pub arguments: Vec<Argument>,
}

/// An argument of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Argument {
    /// `name=value`
    pub name: Option<Name>,
    /// The value.
    pub value: Expr,
}

/// `expr`, `Name = expr` or `(A, B) = expr`: an item of `project`, `extend`, `summarize`, `print`, ….
#[derive(Debug, Clone, PartialEq)]
pub struct NamedExpr {
    /// The written names: none, one, or the list of `(A, B) =`.
    pub names: Vec<Name>,
    /// Whether the names are in parentheses, even if there is one.
    pub tuple: bool,
    /// The expression.
    pub expr: Expr,
}

/// `name = value` of `kind=…`, `hint.…=…`, `withsource=…` and other operator parameters.
#[derive(Debug, Clone, PartialEq)]
pub struct OperatorParameter {
    /// The parameter, dots included (`hint.strategy`).
    pub name: Name,
    /// Its value: a literal, or a name for words such as `inner`.
    pub value: Expr,
}

/// `expr [asc|desc] [nulls first|last]`
#[derive(Debug, Clone, PartialEq)]
pub struct OrderedExpr {
    /// The key.
    pub expr: Expr,
    /// The written direction.
    pub direction: Option<Direction>,
    /// The written place of nulls.
    pub nulls: Option<Nulls>,
}

/// `asc` or `desc`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    /// Smallest first.
    Asc,
    /// Largest first.
    Desc,
}

/// `nulls first` or `nulls last`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Nulls {
    /// Before all values.
    First,
    /// After all values.
    Last,
}

/// A literal (`docs/semantics.md §1.3`). A typed null is `Null(type)`; there is no null string.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// `true`, `bool(1)`
    Bool(bool),
    /// `int(5)`
    Int(i32),
    /// `12`, `0x1F`, `long(12)`
    Long(i64),
    /// `1.5`, `real(nan)`
    Real(f64),
    /// `decimal(1.5)`: the written digits, normalised (`-?digits[.digits][e±n]`).
    Decimal(String),
    /// Any form of string, unescaped, with adjacent literals concatenated.
    String(String),
    /// `datetime(…)`: 100 ns ticks since 0001-01-01.
    DateTime(i64),
    /// `datetime()` without content: the current time.
    DateTimeNow,
    /// `1d`, `time(…)`: 100 ns ticks.
    TimeSpan(i64),
    /// `guid(…)`
    Guid(uuid::Uuid),
    /// `dynamic(…)`
    Dynamic(DynamicLiteral),
    /// `long(null)`
    Null(ScalarType),
}

/// The content of `dynamic(…)` (`docs/semantics.md §9.1`).
#[derive(Debug, Clone, PartialEq)]
pub enum DynamicLiteral {
    /// `null`
    Null,
    /// `true`
    Bool(bool),
    /// `5`, `0x10`, `long(5)`; timespan literals are their ticks.
    Long(i64),
    /// `1.5`, `real(1.5)`
    Real(f64),
    /// `"text"`, `guid(…)`
    String(String),
    /// `datetime(…)`
    DateTime(i64),
    /// `[ … ]`
    Array(Vec<DynamicLiteral>),
    /// `{ … }` in the order of the text.
    Bag(Vec<(String, DynamicLiteral)>),
}

/// A unary operator.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnaryOp {
    /// `-x`
    Minus,
    /// `+x`
    Plus,
}

/// A binary operator. The doc comment is its spelling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(
    missing_docs,
    reason = "each variant is named as it is spelled; `BinaryOp::spelling` gives the text"
)]
pub enum BinaryOp {
    Add,
    Subtract,
    Multiply,
    Divide,
    Modulo,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
    Equal,
    NotEqual,
    EqualIgnoreCase,
    NotEqualIgnoreCase,
    Has,
    NotHas,
    HasCs,
    NotHasCs,
    HasPrefix,
    NotHasPrefix,
    HasPrefixCs,
    NotHasPrefixCs,
    HasSuffix,
    NotHasSuffix,
    HasSuffixCs,
    NotHasSuffixCs,
    Contains,
    NotContains,
    ContainsCs,
    NotContainsCs,
    StartsWith,
    NotStartsWith,
    StartsWithCs,
    NotStartsWithCs,
    EndsWith,
    NotEndsWith,
    EndsWithCs,
    NotEndsWithCs,
    MatchesRegex,
    Like,
    NotLike,
    LikeCs,
    NotLikeCs,
    And,
    Or,
}

/// An operator with a list on its right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[allow(
    missing_docs,
    reason = "each variant is named as it is spelled; `ListOp::spelling` gives the text"
)]
pub enum ListOp {
    In,
    NotIn,
    InIgnoreCase,
    NotInIgnoreCase,
    HasAny,
    HasAll,
}

/// `datatable (schema) [ values ]`
#[derive(Debug, Clone, PartialEq)]
pub struct DataTable {
    /// The columns.
    pub columns: Vec<ColumnDeclaration>,
    /// The values, row by row: literals (a signed number is one).
    pub values: Vec<Expr>,
}

/// `externaldata (schema) [ uris ] with (properties)`
#[derive(Debug, Clone, PartialEq)]
pub struct ExternalData {
    /// The columns.
    pub columns: Vec<ColumnDeclaration>,
    /// The places of the data.
    pub uris: Vec<Expr>,
    /// `with (…)`
    pub properties: Vec<OperatorParameter>,
}

impl Expr {
    /// An expression with its span.
    pub fn new(kind: ExprKind, span: Span) -> Expr {
        Expr { kind, span }
    }

    /// An expression without a span, for trees that are not parsed from text.
    pub fn synthetic(kind: ExprKind) -> Expr {
        Expr::new(kind, Span::default())
    }

    /// The expression without the parentheses around it.
    pub fn unparenthesised(&self) -> &Expr {
        match &self.kind {
            ExprKind::Parenthesised(inner) => inner.unparenthesised(),
            _ => self,
        }
    }

    /// The name, if the expression is a name, also in parentheses.
    pub fn as_name(&self) -> Option<&str> {
        match &self.unparenthesised().kind {
            ExprKind::Name(name) => Some(&name.text),
            _ => None,
        }
    }
}
