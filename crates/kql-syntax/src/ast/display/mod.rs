//! The printer of syntax trees. The printed text parses to an equal tree.

mod commas;
mod expr;
mod literal;

use std::fmt::{self, Display, Formatter};

use super::precedence::PIPE;
use super::*;
use crate::lexer::is_bare_name;

pub(crate) use commas::Commas;
pub(crate) use expr::write_expr;
use literal::{write_signed, write_string};

/// Words that are bracketed as names, because a rule of the grammar could parse them as keywords.
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

/// Writes a name in a place where any word is allowed: after `kind=`, after a dot, before `(`.
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

/// Operator parameters, each after a space.
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
            Statement::Pattern(pattern) => write!(f, "declare pattern {pattern}"),
            Statement::Restrict { entities, .. } => {
                write!(f, "restrict access to ({})", Commas(entities))
            }
            Statement::Expression(expr) => expr.fmt(f),
        }
    }
}

impl Display for PatternDeclaration {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.name.fmt(f)?;
        let Some(mapping) = &self.mapping else {
            return Ok(());
        };
        write!(f, " = {}", Schema(&mapping.parameters))?;
        if let Some(path) = &mapping.path {
            write!(f, "[{path}]")?;
        }
        f.write_str(" { ")?;
        for rule in &mapping.rules {
            write!(f, "({})", Commas(&rule.arguments))?;
            if let Some(path) = &rule.path {
                write!(f, ".[{path}]")?;
            }
            write!(f, " = {{ {} }}; ", Statements(&rule.body))?;
        }
        f.write_str("}")
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
            // `mv-expand kind = x` would be parsed as its parameter.
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

/// Writes the value of a parameter: words and signed numbers without parentheses.
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
