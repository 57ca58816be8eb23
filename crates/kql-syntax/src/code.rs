//! The catalogue of diagnostics: the codes of all errors in queries (`docs/semantics.md §28.4`).

use std::fmt;

macro_rules! codes {
    ($($(#[$meaning:meta])* $name:ident = $text:literal,)*) => {
        /// The code of an error in a query, as the cloud's engine numbers it.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $($(#[$meaning])* $name,)*
        }

        impl Code {
            /// Every code.
            pub const ALL: &[Code] = &[$(Code::$name,)*];

            /// The code as the query API reports it: `SEM0100`.
            pub const fn as_str(self) -> &'static str {
                match self {
                    $(Code::$name => $text,)*
                }
            }
        }
    };
}

codes! {
    /// The text cannot be parsed, or a literal is malformed.
    Syntax = "SYN0002",
    /// The text is a management command and not a query.
    ManagementCommand = "SYN0100",
    /// An error without a code of its own, or a construct that Hindsight does not support.
    Semantics = "SEM0001",
    /// A result has more columns than `maxoutputcolumns`.
    TooManyColumns = "SEM0004",
    /// The value of a `set` option is invalid.
    BadOption = "SEM0020",
    /// The row count of `top` or `take` has a wrong type.
    BadRowCount = "SEM0025",
    /// A column name occurs twice.
    DuplicateColumn = "SEM0034",
    /// A pattern is used with arguments or a path that it does not declare.
    UndeclaredPattern = "SEM0036",
    /// A scalar constant is expected.
    NotConstant = "SEM0040",
    /// A cluster is named without a database.
    ClusterWithoutDatabase = "SEM0048",
    /// An application, a workspace or a database cannot be resolved.
    UnresolvedDatabase = "SEM0056",
    /// A function calls itself.
    RecursiveFunction = "SEM0057",
    /// The compared types have no common order.
    Incomparable = "SEM0064",
    /// An operand of `=~`, `!~`, `in~` or `!in~` is not a string.
    TextEqualityOfOtherType = "SEM0065",
    /// A name is defined by two `let` statements.
    DuplicateLet = "SEM0079",
    /// An expression is tabular where a scalar is expected.
    NotScalar = "SEM0085",
    /// A table, a column or another name cannot be resolved.
    UnresolvedName = "SEM0100",
    /// A graph stands where rows are expected, or the reverse.
    GraphMismatch = "SEM0104",
    /// An operand has the wrong type.
    OperandType = "SEM0201",
    /// A string literal is expected.
    NotStringLiteral = "SEM0207",
    /// `between` is applied to a type without an order.
    UnorderedBetween = "SEM0208",
    /// The regular expression of `extract_all` has too few or too many groups.
    GroupCount = "SEM0213",
    /// A string literal must not be empty.
    EmptyLiteral = "SEM0217",
    /// A call has the wrong number of arguments.
    ArgumentCount = "SEM0219",
    /// The number of arguments of a call is outside the function's range.
    ArgumentRange = "SEM0223",
    /// The bounds of `between` do not fit each other.
    BetweenBounds = "SEM0232",
    /// The bounds of `between` do not fit its value.
    BetweenValue = "SEM0234",
    /// The part of a date is unknown.
    UnknownDatePart = "SEM0235",
    /// An aggregate, or a call that returns several columns, is not allowed here.
    MisplacedAggregate = "SEM0237",
    /// The type of an argument does not match its parameter.
    ArgumentType = "SEM0252",
    /// The value of `format_datetime` is not a datetime.
    FormatValue = "SEM0254",
    /// A format has an unknown specifier.
    FormatElement = "SEM0255",
    /// A function is unknown.
    UnknownFunction = "SEM0260",
    /// A regular expression is malformed.
    RegularExpression = "SEM0420",
    /// The expression of `mv-expand` is not dynamic.
    NotDynamic = "SEM0447",
    /// `make-graph` has undirected edges.
    UndirectedGraph = "SEM0456",
    /// `parse` has flags without `kind=regex`.
    ParseFlagsWithoutRegex = "SEM0472",
    /// A flag of `parse` is unknown.
    ParseFlag = "SEM0473",
    /// The pattern of `parse` is ambiguous, empty or malformed.
    ParsePattern = "SEM0476",
    /// `parse-where` does not have this kind of `parse`.
    ParseWhereKind = "SEM0477",
    /// A sort key is dynamic.
    DynamicSortKey = "SEM0480",
    /// Branches or arguments have no common type.
    NoCommonType = "SEM0525",
    /// An operand of a string operator is not a string.
    NotText = "SEM0709",
    /// The id of a node is dynamic.
    DynamicNodeId = "SEM1006",
    /// Patterns of a graph have no variable in common.
    DisconnectedPatterns = "SEM1011",
    /// The range of an edge is empty.
    EdgeRange = "SEM1013",
    /// The ids of source and target have different types.
    EndpointTypes = "SEM1019",
    /// `graph-shortest-paths` has several patterns.
    SeveralSequences = "SEM1023",
    /// A node or an edge has no such property.
    UnknownProperty = "SEM1040",
    /// A predicate reads a property of a path.
    PathProperty = "SEM1054",
    /// The ids of nodes and edges have different types.
    NodeIdType = "SEM1079",
    /// A predicate of shortest paths compares two elements.
    ComparedElements = "CRT0001",
    /// A sub-query that runs once reads the value of a row.
    RowScope = "CRT0018",
}

impl Code {
    /// Whether the error is a syntax error, so that the query was not bound.
    pub const fn is_syntax(self) -> bool {
        matches!(self, Code::Syntax | Code::ManagementCommand)
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The rule book describes every code.
    #[test]
    fn every_code_is_in_the_rule_book() {
        let chapter = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../docs/semantics/28-results-rendering-errors-limits.md"
        );
        let text = std::fs::read_to_string(chapter).expect("the chapter can be read");
        for code in Code::ALL {
            assert!(text.contains(code.as_str()), "{code}");
        }
    }

    #[test]
    fn codes_are_in_order_and_distinct() {
        let text: Vec<&str> = Code::ALL.iter().map(|code| code.as_str()).collect();
        for family in ["SYN", "SEM", "CRT"] {
            let of_family = text.iter().filter(|code| code.starts_with(family));
            assert!(of_family.is_sorted(), "{text:?}");
        }
        let distinct: std::collections::BTreeSet<&&str> = text.iter().collect();
        assert_eq!(distinct.len(), text.len());
    }
}
