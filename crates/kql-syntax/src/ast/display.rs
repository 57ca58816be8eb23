//! Syntax trees as text. What is printed reads back as an equal tree.

use std::fmt::{self, Display, Formatter};

use super::precedence::{COMPARISON, PIPE, POSTFIX, UNARY};
use super::*;
use crate::lexer::{is_bare_name, is_name_part};

/// Words that are bracketed when they are names, because a rule of the grammar may read them otherwise.
const WORDS: [&str; 47] = [
    "and",
    "or",
    "in",
    "between",
    "has",
    "contains",
    "startswith",
    "endswith",
    "matches",
    "like",
    "by",
    "on",
    "with",
    "as",
    "of",
    "to",
    "step",
    "where",
    "asc",
    "desc",
    "nulls",
    "first",
    "last",
    "missing",
    "default",
    "limit",
    "true",
    "false",
    "True",
    "False",
    "TRUE",
    "FALSE",
    "null",
    "let",
    "set",
    "declare",
    "alias",
    "restrict",
    "view",
    "print",
    "union",
    "search",
    "find",
    "evaluate",
    "entity_group",
    "optional",
    "project",
];

/// Writes a string literal.
fn write_string(f: &mut Formatter<'_>, quote: char, text: &str) -> fmt::Result {
    use fmt::Write;
    f.write_char(quote)?;
    for c in text.chars() {
        match c {
            '\\' => f.write_str("\\\\")?,
            '\n' => f.write_str("\\n")?,
            '\r' => f.write_str("\\r")?,
            '\t' => f.write_str("\\t")?,
            c if c == quote => write!(f, "\\{c}")?,
            c if c.is_control() || matches!(c, '\u{2028}' | '\u{2029}') => {
                write!(f, "\\u{:04x}", c as u32)?
            }
            c => f.write_char(c)?,
        }
    }
    f.write_char(quote)
}

/// Writes a name where any word may stand: after `kind=`, after a dot, before `(`.
fn write_bare(f: &mut Formatter<'_>, name: &Name) -> fmt::Result {
    if is_bare_name(&name.text) {
        f.write_str(&name.text)
    } else {
        write_bracketed(f, &name.text)
    }
}

fn write_bracketed(f: &mut Formatter<'_>, text: &str) -> fmt::Result {
    f.write_str("[")?;
    write_string(f, '\'', text)?;
    f.write_str("]")
}

impl Display for Name {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if is_bare_name(&self.text) && !WORDS.contains(&self.text.as_str()) {
            f.write_str(&self.text)
        } else {
            write_bracketed(f, &self.text)
        }
    }
}

/// Items with commas between them.
pub(crate) struct Commas<'a, T>(pub(crate) &'a [T]);

impl<T: Display> Display for Commas<'_, T> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, item) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            item.fmt(f)?;
        }
        Ok(())
    }
}

/// Operator parameters, each with a space in front.
pub(crate) struct Parameters<'a>(pub(crate) &'a [OperatorParameter]);

impl Display for Parameters<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0
            .iter()
            .try_for_each(|parameter| write!(f, " {parameter}"))
    }
}

/// `(name:type, …)`
pub(crate) struct Schema<'a>(pub(crate) &'a [ColumnDeclaration]);

impl Display for Schema<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "({})", Commas(self.0))
    }
}

/// Statements with `;` between them.
pub(crate) struct Statements<'a>(pub(crate) &'a [Statement]);

impl Display for Statements<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, statement) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(";\n")?;
            }
            statement.fmt(f)?;
        }
        Ok(())
    }
}

/// `(operator | operator)`
pub(crate) struct Subpipe<'a>(pub(crate) &'a [Operator]);

impl Display for Subpipe<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("(")?;
        for (index, operator) in self.0.iter().enumerate() {
            if index > 0 {
                f.write_str(" | ")?;
            }
            operator.fmt(f)?;
        }
        f.write_str(")")
    }
}

impl Display for Query {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Statements(&self.statements).fmt(f)
    }
}

impl Display for Statement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Statement::Let(statement) => statement.fmt(f),
            Statement::Set { name, value } => {
                f.write_str("set ")?;
                write_bare(f, name)?;
                match value {
                    Some(value) => {
                        f.write_str("=")?;
                        write_value(f, value)
                    }
                    None => Ok(()),
                }
            }
            Statement::QueryParameters(parameters) => {
                write!(f, "declare query_parameters({})", Commas(parameters))
            }
            Statement::Alias { name, target } => write!(f, "alias database {name} = {target}"),
            Statement::Pattern { name, text, .. } => write!(f, "declare pattern {name} {text}"),
            Statement::Restrict { entities, .. } => {
                write!(f, "restrict access to ({})", Commas(entities))
            }
            Statement::Expression(expr) => expr.fmt(f),
        }
    }
}

impl Display for LetStatement {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "let {} = ", self.name)?;
        match &self.value {
            LetValue::Expr(expr) => expr.fmt(f),
            LetValue::Function(function) => function.fmt(f),
            LetValue::EntityGroup(entities) => write!(f, "entity_group [{}]", Commas(entities)),
        }
    }
}

impl Display for FunctionDeclaration {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.view {
            f.write_str("view ")?;
        }
        write!(
            f,
            "({}) {{ {} }}",
            Commas(&self.parameters),
            Statements(&self.body)
        )
    }
}

impl Display for Parameter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:", self.name)?;
        match &self.kind {
            ParameterType::Scalar(kind) => f.write_str(kind.name())?,
            ParameterType::AnyTable => f.write_str("(*)")?,
            ParameterType::Table(columns) => Schema(columns).fmt(f)?,
        }
        match &self.default {
            Some(default) => write!(f, " = {default}"),
            None => Ok(()),
        }
    }
}

impl Display for ColumnDeclaration {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.name, self.kind.name())
    }
}

impl Display for TypeOf {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            TypeOf::Scalar(kind) => write!(f, "({})", kind.name()),
            TypeOf::Row {
                star: false,
                columns,
            } => Schema(columns).fmt(f),
            TypeOf::Row {
                star: true,
                columns,
            } if columns.is_empty() => f.write_str("(*)"),
            TypeOf::Row {
                star: true,
                columns,
            } => write!(f, "(*, {})", Commas(columns)),
        }
    }
}

impl Display for Pipeline {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let nested = matches!(self.source.kind, ExprKind::Pipe(_));
        write_expr(f, &self.source, if nested { PIPE + 1 } else { PIPE })?;
        self.operators
            .iter()
            .try_for_each(|operator| write!(f, " | {operator}"))
    }
}

impl Display for Call {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_bare(f, &self.function)?;
        write!(f, "({})", Commas(&self.arguments))
    }
}

impl Display for Argument {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if let Some(name) = &self.name {
            write_bare(f, name)?;
            f.write_str("=")?;
        }
        self.value.fmt(f)
    }
}

impl Display for NamedExpr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self.names.as_slice() {
            [] => {}
            // `mv-expand kind = x` would read as its parameter.
            [name]
                if !self.tuple
                    && matches!(
                        name.text.as_str(),
                        "kind" | "bagexpansion" | "with_itemindex"
                    ) =>
            {
                write_bracketed(f, &name.text)?;
                f.write_str(" = ")?;
            }
            [name] if !self.tuple => write!(f, "{name} = ")?,
            names => write!(f, "({}) = ", Commas(names))?,
        }
        write_expr(f, &self.expr, PIPE + 1)
    }
}

/// Writes the value of a parameter: words and signed numbers stand bare.
fn write_value(f: &mut Formatter<'_>, value: &Expr) -> fmt::Result {
    match &value.kind {
        ExprKind::Name(name) => write_bare(f, name),
        ExprKind::Literal(literal) => write_signed(f, literal),
        _ => value.fmt(f),
    }
}

impl Display for OperatorParameter {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}=", self.name.text)?;
        write_value(f, &self.value)
    }
}

impl Display for RenderProperty {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}=", self.name.text)?;
        for (index, value) in self.values.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            write_value(f, value)?;
        }
        Ok(())
    }
}

impl Display for OrderedExpr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_expr(f, &self.expr, PIPE + 1)?;
        if let Some(direction) = self.direction {
            write!(f, " {direction}")?;
        }
        match self.nulls {
            Some(Nulls::First) => f.write_str(" nulls first"),
            Some(Nulls::Last) => f.write_str(" nulls last"),
            None => Ok(()),
        }
    }
}

impl Display for Direction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Direction::Asc => "asc",
            Direction::Desc => "desc",
        })
    }
}

impl Display for DataTable {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "datatable{} [", Schema(&self.columns))?;
        for (index, value) in self.values.iter().enumerate() {
            if index > 0 {
                f.write_str(", ")?;
            }
            write_value(f, value)?;
        }
        f.write_str("]")
    }
}

impl Display for ExternalData {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "externaldata{} [{}]",
            Schema(&self.columns),
            Commas(&self.uris)
        )?;
        if self.properties.is_empty() {
            return Ok(());
        }
        write!(f, " with ({})", Commas(&self.properties))
    }
}

impl Display for Expr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write_expr(f, self, PIPE)
    }
}

/// How strongly the outermost form of an expression binds.
fn strength(expr: &Expr) -> u8 {
    match &expr.kind {
        ExprKind::Pipe(_) | ExprKind::Source(_) => PIPE,
        ExprKind::Binary { op, .. } => op.precedence(),
        ExprKind::InList { .. } | ExprKind::Between { .. } | ExprKind::AnyColumn { .. } => {
            COMPARISON
        }
        ExprKind::Call(call) if call.function.text == SEARCH_COLUMN_TERM => COMPARISON,
        ExprKind::Unary { .. } => UNARY,
        _ => POSTFIX,
    }
}

/// Writes an expression, in parentheses when it binds more weakly than `weakest`.
pub(crate) fn write_expr(f: &mut Formatter<'_>, expr: &Expr, weakest: u8) -> fmt::Result {
    if strength(expr) < weakest {
        f.write_str("(")?;
        write_kind(f, &expr.kind)?;
        return f.write_str(")");
    }
    write_kind(f, &expr.kind)
}

fn write_kind(f: &mut Formatter<'_>, kind: &ExprKind) -> fmt::Result {
    match kind {
        ExprKind::Literal(literal) => literal.fmt(f),
        ExprKind::Name(name) => name.fmt(f),
        ExprKind::Wildcard(pattern) => f.write_str(pattern),
        ExprKind::Call(call) => write_call(f, call),
        ExprKind::Member { value, member } => write_member(f, value, member),
        ExprKind::MemberCall { value, call } => {
            write_expr(f, value, POSTFIX)?;
            f.write_str(".")?;
            call.fmt(f)
        }
        ExprKind::Index { value, index } => {
            write_expr(f, value, POSTFIX)?;
            f.write_str("[")?;
            write_expr(f, index, PIPE + 1)?;
            f.write_str("]")
        }
        ExprKind::Unary { op, value } => {
            f.write_str(match op {
                UnaryOp::Minus => "-",
                UnaryOp::Plus => "+",
            })?;
            write_expr(f, value, UNARY)
        }
        ExprKind::Binary { op, left, right } => write_chain(f, *op, left, right),
        ExprKind::InList { op, value, list } => {
            write_expr(f, value, COMPARISON + 1)?;
            write!(f, " {} ({})", op.spelling(), Commas(list))
        }
        ExprKind::Between {
            negated,
            value,
            low,
            high,
        } => {
            write_expr(f, value, COMPARISON + 1)?;
            f.write_str(if *negated {
                " !between ("
            } else {
                " between ("
            })?;
            write_expr(f, low, PIPE + 1)?;
            f.write_str(" .. ")?;
            write_expr(f, high, PIPE + 1)?;
            f.write_str(")")
        }
        ExprKind::AnyColumn { op, right } => {
            write!(f, "* {} ", op.spelling())?;
            write_expr(f, right, COMPARISON + 1)
        }
        ExprKind::Pipe(pipeline) => pipeline.fmt(f),
        ExprKind::DataTable(table) => table.fmt(f),
        ExprKind::ExternalData(data) => data.fmt(f),
        ExprKind::Source(operator) => operator.fmt(f),
        ExprKind::TypeOf(kind) => write!(f, "typeof{kind}"),
        ExprKind::Parenthesised(inner) => {
            f.write_str("(")?;
            write_expr(f, inner, PIPE)?;
            f.write_str(")")
        }
        // No text stands for it: printing a tree that was refused still shows the rest.
        ExprKind::Missing => Ok(()),
    }
}

fn write_call(f: &mut Formatter<'_>, call: &Call) -> fmt::Result {
    if let (SEARCH_COLUMN_TERM, [column, term]) =
        (call.function.text.as_str(), call.arguments.as_slice())
    {
        write_expr(f, &column.value, COMPARISON + 1)?;
        f.write_str(":")?;
        return write_expr(f, &term.value, COMPARISON + 1);
    }
    call.fmt(f)
}

/// A dotted name is bare or a pattern; any other text is a key.
fn write_member(f: &mut Formatter<'_>, value: &Expr, member: &Name) -> fmt::Result {
    write_expr(f, value, POSTFIX)?;
    let pattern = member.text.bytes().all(|b| is_name_part(b) || b == b'*');
    if is_bare_name(&member.text) || (pattern && member.text.contains('*')) {
        return write!(f, ".{}", member.text);
    }
    write_bracketed(f, &member.text)
}

/// Writes a chain such as `a or b or c` without one call per term: it leans to the left and may be long.
fn write_chain(f: &mut Formatter<'_>, op: BinaryOp, left: &Expr, right: &Expr) -> fmt::Result {
    let mut links = vec![(op, right)];
    let mut first = left;
    loop {
        let (outer, _) = links[links.len() - 1];
        let weakest = outer.precedence() + u8::from(outer.precedence() == COMPARISON);
        match &first.kind {
            ExprKind::Binary { op, left, right } if op.precedence() >= weakest => {
                links.push((*op, right));
                first = left;
            }
            _ => {
                write_expr(f, first, weakest)?;
                break;
            }
        }
    }
    for (op, right) in links.into_iter().rev() {
        write!(f, " {} ", op.spelling())?;
        write_expr(f, right, op.precedence() + 1)?;
    }
    Ok(())
}

/// Writes a literal whose sign may stand bare: in `datatable`, in parameters.
fn write_signed(f: &mut Formatter<'_>, literal: &Literal) -> fmt::Result {
    match literal {
        Literal::Long(value) => write!(f, "{value}"),
        Literal::Real(value) if value.is_finite() => write!(f, "{value:?}"),
        _ => literal.fmt(f),
    }
}

impl Display for Literal {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Literal::Bool(value) => write!(f, "{value}"),
            Literal::Int(value) => write!(f, "int({value})"),
            Literal::Long(value) if *value < 0 => write!(f, "long({value})"),
            Literal::Long(value) => write!(f, "{value}"),
            Literal::Real(value) => write_real(f, *value),
            Literal::Decimal(text) => write!(f, "decimal({text})"),
            Literal::String(text) => write_string(f, '"', text),
            Literal::DateTime(ticks) => crate::literal::write_datetime(f, *ticks),
            Literal::DateTimeNow => f.write_str("datetime()"),
            Literal::TimeSpan(ticks) => crate::literal::write_timespan(f, *ticks),
            Literal::Guid(value) => write!(f, "guid({value})"),
            Literal::Dynamic(value) => write!(f, "dynamic({value})"),
            Literal::Null(kind) => write!(f, "{}(null)", kind.name()),
        }
    }
}

fn write_real(f: &mut Formatter<'_>, value: f64) -> fmt::Result {
    if value.is_nan() {
        f.write_str("real(nan)")
    } else if value.is_infinite() {
        f.write_str(if value > 0.0 {
            "real(+inf)"
        } else {
            "real(-inf)"
        })
    } else if value.is_sign_negative() {
        write!(f, "real({value:?})")
    } else {
        write!(f, "{value:?}")
    }
}

impl Display for DynamicLiteral {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            DynamicLiteral::Null => f.write_str("null"),
            DynamicLiteral::Bool(value) => write!(f, "{value}"),
            DynamicLiteral::Long(value) => write!(f, "{value}"),
            DynamicLiteral::Real(value) if value.is_finite() => write!(f, "{value:?}"),
            DynamicLiteral::Real(value) => write_real(f, *value),
            DynamicLiteral::String(text) => write_string(f, '"', text),
            DynamicLiteral::DateTime(ticks) => crate::literal::write_datetime(f, *ticks),
            DynamicLiteral::Array(items) => write!(f, "[{}]", Commas(items)),
            DynamicLiteral::Bag(entries) => {
                f.write_str("{")?;
                for (index, (key, value)) in entries.iter().enumerate() {
                    if index > 0 {
                        f.write_str(", ")?;
                    }
                    write_string(f, '"', key)?;
                    write!(f, ": {value}")?;
                }
                f.write_str("}")
            }
        }
    }
}
