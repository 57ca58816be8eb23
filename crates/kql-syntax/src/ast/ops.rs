//! The spellings and the precedence of infix operators (`docs/semantics.md §1.5, §6.1`).

use super::{BinaryOp, ListOp};

/// Every binary operator with its spelling.
const BINARY: [(BinaryOp, &str); 45] = [
    (BinaryOp::Add, "+"),
    (BinaryOp::Subtract, "-"),
    (BinaryOp::Multiply, "*"),
    (BinaryOp::Divide, "/"),
    (BinaryOp::Modulo, "%"),
    (BinaryOp::Less, "<"),
    (BinaryOp::LessOrEqual, "<="),
    (BinaryOp::Greater, ">"),
    (BinaryOp::GreaterOrEqual, ">="),
    (BinaryOp::Equal, "=="),
    (BinaryOp::NotEqual, "!="),
    (BinaryOp::EqualIgnoreCase, "=~"),
    (BinaryOp::NotEqualIgnoreCase, "!~"),
    (BinaryOp::Has, "has"),
    (BinaryOp::NotHas, "!has"),
    (BinaryOp::HasCs, "has_cs"),
    (BinaryOp::NotHasCs, "!has_cs"),
    (BinaryOp::HasPrefix, "hasprefix"),
    (BinaryOp::NotHasPrefix, "!hasprefix"),
    (BinaryOp::HasPrefixCs, "hasprefix_cs"),
    (BinaryOp::NotHasPrefixCs, "!hasprefix_cs"),
    (BinaryOp::HasSuffix, "hassuffix"),
    (BinaryOp::NotHasSuffix, "!hassuffix"),
    (BinaryOp::HasSuffixCs, "hassuffix_cs"),
    (BinaryOp::NotHasSuffixCs, "!hassuffix_cs"),
    (BinaryOp::Contains, "contains"),
    (BinaryOp::NotContains, "!contains"),
    (BinaryOp::ContainsCs, "contains_cs"),
    (BinaryOp::NotContainsCs, "!contains_cs"),
    (BinaryOp::StartsWith, "startswith"),
    (BinaryOp::NotStartsWith, "!startswith"),
    (BinaryOp::StartsWithCs, "startswith_cs"),
    (BinaryOp::NotStartsWithCs, "!startswith_cs"),
    (BinaryOp::EndsWith, "endswith"),
    (BinaryOp::NotEndsWith, "!endswith"),
    (BinaryOp::EndsWithCs, "endswith_cs"),
    (BinaryOp::NotEndsWithCs, "!endswith_cs"),
    (BinaryOp::MatchesRegex, "matches regex"),
    (BinaryOp::Like, "like"),
    (BinaryOp::NotLike, "notlike"),
    (BinaryOp::LikeCs, "likecs"),
    (BinaryOp::NotLikeCs, "notlikecs"),
    (BinaryOp::And, "and"),
    (BinaryOp::Or, "or"),
    // The older spelling of a negated operator.
    (BinaryOp::NotEqual, "<>"),
];

impl BinaryOp {
    /// Every binary operator.
    pub fn all() -> impl Iterator<Item = BinaryOp> {
        BINARY.iter().map(|(op, _)| *op)
    }

    /// The spelling of the operator.
    pub fn spelling(self) -> &'static str {
        BINARY
            .iter()
            .find(|(op, _)| *op == self)
            .map_or("", |(_, text)| text)
    }

    /// The operator with this spelling.
    pub(crate) fn from_spelling(text: &str) -> Option<BinaryOp> {
        BINARY
            .iter()
            .find(|(_, spelling)| *spelling == text)
            .map(|(op, _)| *op)
    }

    /// The precedence of the operator; a larger number binds more strongly.
    pub(crate) fn precedence(self) -> u8 {
        match self {
            BinaryOp::Or => precedence::OR,
            BinaryOp::And => precedence::AND,
            BinaryOp::Add | BinaryOp::Subtract => precedence::ADDITIVE,
            BinaryOp::Multiply | BinaryOp::Divide | BinaryOp::Modulo => precedence::MULTIPLICATIVE,
            _ => precedence::COMPARISON,
        }
    }
}

impl ListOp {
    /// Every operator of a list.
    pub const ALL: [ListOp; 6] = [
        ListOp::In,
        ListOp::NotIn,
        ListOp::InIgnoreCase,
        ListOp::NotInIgnoreCase,
        ListOp::HasAny,
        ListOp::HasAll,
    ];

    /// The spelling of the operator.
    pub fn spelling(self) -> &'static str {
        match self {
            ListOp::In => "in",
            ListOp::NotIn => "!in",
            ListOp::InIgnoreCase => "in~",
            ListOp::NotInIgnoreCase => "!in~",
            ListOp::HasAny => "has_any",
            ListOp::HasAll => "has_all",
        }
    }

    /// The operator with this spelling.
    pub(crate) fn from_spelling(text: &str) -> Option<ListOp> {
        ListOp::ALL.into_iter().find(|op| op.spelling() == text)
    }
}

/// The levels of precedence, lowest first.
pub(crate) mod precedence {
    /// A pipeline.
    pub(crate) const PIPE: u8 = 0;
    /// `or`
    pub(crate) const OR: u8 = 1;
    /// `and`
    pub(crate) const AND: u8 = 2;
    /// Comparisons and string operators; they do not chain.
    pub(crate) const COMPARISON: u8 = 3;
    /// `+ -`
    pub(crate) const ADDITIVE: u8 = 4;
    /// `* / %`
    pub(crate) const MULTIPLICATIVE: u8 = 5;
    /// Signs.
    pub(crate) const UNARY: u8 = 6;
    /// `a.b`, `a[b]`, calls, names, literals.
    pub(crate) const POSTFIX: u8 = 7;
}
