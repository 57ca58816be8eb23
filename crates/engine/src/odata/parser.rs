//! Tokens become a tree: precedence as in OData 4.01 part 2 §5.1.1.17.

use super::Fault;
use super::ast::{Arithmetic, Comparison, MAX_DEPTH, Node, NodeKind};
use super::lexer::{Token, TokenKind, tokens};

/// How tightly `or` binds; the others bind tighter.
const LOOSEST: u8 = 1;

/// Reads one expression.
pub(crate) fn parse(text: &str) -> Result<Node, Fault> {
    let mut parser = Parser::new(text)?;
    let node = parser.expression()?;
    parser.end()?;
    Ok(node)
}

/// Whether the expression reads the path anywhere.
pub(crate) fn mentions(node: &Node, path: &str) -> bool {
    matches!(&node.kind, NodeKind::Path(p) if p == path)
        || node.kind.children().into_iter().any(|n| mentions(n, path))
}

/// The conditions that must all hold: the parts of an `and`, or the whole.
pub(crate) fn conjuncts(node: Node) -> Vec<Node> {
    match node.kind {
        NodeKind::Junction { and: true, parts } => parts,
        _ => vec![node],
    }
}

/// Every path of the rows that an expression reads.
pub(crate) fn paths_of(node: &Node) -> Vec<&str> {
    let (own, variable) = match &node.kind {
        NodeKind::Path(path) => (Some(path.as_str()), None),
        NodeKind::Lambda { path, variable, .. } => (Some(path.as_str()), Some(variable.as_str())),
        _ => (None, None),
    };
    let of_member = |path: &&str| variable.is_some_and(|v| path.split('/').next() == Some(v));
    let inner = node.kind.children().into_iter().flat_map(paths_of);
    own.into_iter()
        .chain(inner.filter(|path| !of_member(path)))
        .collect()
}

/// A binary operator.
enum Operator {
    Junction { and: bool },
    Compare(Comparison),
    In,
    Arithmetic(Arithmetic),
}

impl Operator {
    /// The operator of a keyword and how tightly it binds.
    fn find(word: &str) -> Option<(Operator, u8)> {
        Some(match word {
            "or" => (Operator::Junction { and: false }, LOOSEST),
            "and" => (Operator::Junction { and: true }, 2),
            "eq" => (Operator::Compare(Comparison::Equal), 3),
            "ne" => (Operator::Compare(Comparison::NotEqual), 3),
            "gt" => (Operator::Compare(Comparison::Greater), 4),
            "ge" => (Operator::Compare(Comparison::GreaterOrEqual), 4),
            "lt" => (Operator::Compare(Comparison::Less), 4),
            "le" => (Operator::Compare(Comparison::LessOrEqual), 4),
            "in" => (Operator::In, 4),
            "add" => (Operator::Arithmetic(Arithmetic::Add), 5),
            "sub" => (Operator::Arithmetic(Arithmetic::Subtract), 5),
            "mul" => (Operator::Arithmetic(Arithmetic::Multiply), 6),
            "div" => (Operator::Arithmetic(Arithmetic::Divide), 6),
            "divby" => (Operator::Arithmetic(Arithmetic::DivideBy), 6),
            "mod" => (Operator::Arithmetic(Arithmetic::Modulo), 6),
            _ => return None,
        })
    }
}

/// Reads tokens one after the other.
pub(crate) struct Parser {
    tokens: Vec<Token>,
    next: usize,
    nested: usize,
}

impl Parser {
    /// A parser at the start of `text`.
    pub(crate) fn new(text: &str) -> Result<Parser, Fault> {
        Ok(Parser {
            tokens: tokens(text)?,
            next: 0,
            nested: 0,
        })
    }

    /// Reads an expression.
    pub(crate) fn expression(&mut self) -> Result<Node, Fault> {
        self.binary(LOOSEST)
    }

    /// Passes over a comma, if there is one.
    pub(crate) fn eat_comma(&mut self) -> bool {
        self.eat(&TokenKind::Comma)
    }

    /// Passes over a word, whatever its case, if it is the next token.
    pub(crate) fn eat_word(&mut self, wanted: &str) -> bool {
        let found =
            matches!(self.peek(), TokenKind::Word(word) if word.eq_ignore_ascii_case(wanted));
        self.next += usize::from(found);
        found
    }

    /// Where the next token starts.
    pub(crate) fn at(&self) -> usize {
        self.token().map_or(0, |token| token.at)
    }

    /// Nothing may follow.
    pub(crate) fn end(&self) -> Result<(), Fault> {
        match self.peek() {
            TokenKind::End => Ok(()),
            TokenKind::Word(word) if word.eq_ignore_ascii_case("has") => Err(Fault::new(
                self.at(),
                "The operator 'has' of enumerations is not supported; use contains(property,'text').",
            )),
            TokenKind::Word(word) => Err(Fault::new(
                self.at(),
                format!("An operator such as eq, and, or is expected here, and '{word}' is none."),
            )),
            _ => Err(Fault::new(
                self.at(),
                "An operator such as eq, and, or, or the end is expected here.",
            )),
        }
    }

    /// The next word, whatever it is, with its place.
    pub(crate) fn word(&mut self) -> Option<(String, usize)> {
        let at = self.at();
        let TokenKind::Word(word) = self.peek() else {
            return None;
        };
        let word = word.clone();
        self.next += 1;
        Some((word, at))
    }

    fn token(&self) -> Option<&Token> {
        self.tokens.get(self.next).or(self.tokens.last())
    }

    fn peek(&self) -> &TokenKind {
        self.token().map_or(&TokenKind::End, |token| &token.kind)
    }

    /// Passes over a token, if it is the next.
    pub(super) fn eat(&mut self, kind: &TokenKind) -> bool {
        let found = self.peek() == kind;
        self.next += usize::from(found);
        found
    }

    /// Passes over a token that must be the next.
    pub(super) fn expect(&mut self, kind: &TokenKind, spelling: &str) -> Result<(), Fault> {
        if self.eat(kind) {
            Ok(())
        } else {
            Err(Fault::new(
                self.at(),
                format!("'{spelling}' is expected here."),
            ))
        }
    }

    /// Operators that bind at least as tightly as `least`.
    fn binary(&mut self, least: u8) -> Result<Node, Fault> {
        let mut left = self.unary()?;
        loop {
            let TokenKind::Word(word) = self.peek() else {
                return Ok(left);
            };
            let Some((operator, binds)) = Operator::find(&word.to_ascii_lowercase()) else {
                return Ok(left);
            };
            if binds < least {
                return Ok(left);
            }
            let at = self.at();
            self.next += 1;
            left = match operator {
                Operator::In => node(
                    at,
                    NodeKind::In {
                        value: Box::new(left),
                        list: self.list()?,
                    },
                )?,
                Operator::Junction { and } => junction(at, and, left, self.binary(binds + 1)?)?,
                Operator::Compare(op) => {
                    let right = Box::new(self.binary(binds + 1)?);
                    node(
                        at,
                        NodeKind::Compare {
                            op,
                            left: Box::new(left),
                            right,
                        },
                    )?
                }
                Operator::Arithmetic(op) => {
                    let right = Box::new(self.binary(binds + 1)?);
                    node(
                        at,
                        NodeKind::Arithmetic {
                            op,
                            left: Box::new(left),
                            right,
                        },
                    )?
                }
            };
        }
    }

    /// `not x`, `-x`, and what needs no operator. The only place that recurses, so the only one that counts.
    fn unary(&mut self) -> Result<Node, Fault> {
        let at = self.at();
        self.nested += 1;
        if self.nested > MAX_DEPTH {
            return Err(too_deep(at));
        }
        let result = if self.eat(&TokenKind::Minus) {
            self.unary().and_then(|inner| negated(at, inner))
        } else if self.eat_word("not") {
            self.unary()
                .and_then(|inner| node(at, NodeKind::Not(Box::new(inner))))
        } else {
            self.primary(at)
        };
        self.nested -= 1;
        result
    }

    fn primary(&mut self, at: usize) -> Result<Node, Fault> {
        let kind = self.peek().clone();
        match kind {
            TokenKind::Literal(literal) => {
                self.next += 1;
                node(at, literal)
            }
            TokenKind::Open => {
                self.next += 1;
                let inner = self.expression()?;
                self.expect(&TokenKind::Close, ")")?;
                Ok(inner)
            }
            TokenKind::Word(word) => {
                self.next += 1;
                if self.eat(&TokenKind::Open) {
                    self.call(at, &word)
                } else {
                    path(at, word)
                }
            }
            TokenKind::End => Err(Fault::new(
                at,
                "The expression ends where a property, a literal or a function is expected.",
            )),
            _ => Err(Fault::new(
                at,
                "A property, a literal or a function is expected here.",
            )),
        }
    }

    /// The arguments of a call whose parenthesis is open.
    fn call(&mut self, at: usize, word: &str) -> Result<Node, Fault> {
        for (end, all) in [("/any", false), ("/all", true)] {
            if let Some(path) = word.strip_suffix(end) {
                return self.lambda(at, path, all);
            }
        }
        let mut arguments = Vec::new();
        if !self.eat(&TokenKind::Close) {
            arguments.push(self.expression()?);
            while self.eat_comma() {
                arguments.push(self.expression()?);
            }
            self.expect(&TokenKind::Close, ")")?;
        }
        node(
            at,
            NodeKind::Call {
                name: word.to_ascii_lowercase(),
                arguments,
            },
        )
    }

    /// `d: condition)` of a lambda whose parenthesis is open.
    fn lambda(&mut self, at: usize, path: &str, all: bool) -> Result<Node, Fault> {
        let lambda = |variable: String, condition: Option<Box<Node>>| NodeKind::Lambda {
            path: path.to_owned(),
            all,
            variable,
            condition,
        };
        if !all && self.eat(&TokenKind::Close) {
            return node(at, lambda(String::new(), None));
        }
        let expected = "A name for the members and ':' are expected here, as in details/any(d: d/type eq 'x').";
        let (variable, place) = self.word().ok_or_else(|| Fault::new(self.at(), expected))?;
        let plain = variable.chars().all(|c| c.is_alphanumeric() || c == '_');
        if !plain {
            return Err(Fault::new(place, expected));
        }
        if !self.eat(&TokenKind::Colon) {
            return Err(Fault::new(self.at(), expected));
        }
        let condition = self.expression()?;
        self.expect(&TokenKind::Close, ")")?;
        node(at, lambda(variable, Some(Box::new(condition))))
    }

    fn list(&mut self) -> Result<Vec<Node>, Fault> {
        self.expect(&TokenKind::Open, "(")?;
        let mut list = vec![self.expression()?];
        while self.eat_comma() {
            list.push(self.expression()?);
        }
        self.expect(&TokenKind::Close, ")")?;
        Ok(list)
    }
}

fn path(at: usize, word: String) -> Result<Node, Fault> {
    if word.starts_with('@') {
        return Err(Fault::new(
            at,
            format!("Parameter aliases such as '{word}' are not supported."),
        ));
    }
    if word.starts_with('$') {
        return Err(Fault::new(
            at,
            format!("'{word}' is not supported; name a property, such as timestamp."),
        ));
    }
    if word.ends_with('/') {
        return Err(Fault::new(
            at,
            format!("'{word}' ends where the name of a property is expected."),
        ));
    }
    node(at, NodeKind::Path(word))
}

fn negated(at: usize, inner: Node) -> Result<Node, Fault> {
    match inner.kind {
        NodeKind::Whole(n) => node(at, NodeKind::Whole(-n)),
        NodeKind::Real(n) => node(at, NodeKind::Real(-n)),
        NodeKind::Span(ticks) => node(at, NodeKind::Span(-ticks)),
        _ => node(at, NodeKind::Minus(Box::new(inner))),
    }
}

/// Chains of the same junction stay flat.
fn junction(at: usize, and: bool, left: Node, right: Node) -> Result<Node, Fault> {
    let Node {
        kind,
        at: left_at,
        depth,
    } = left;
    match kind {
        NodeKind::Junction {
            and: same,
            mut parts,
        } if same == and => {
            let depth = depth.max(right.depth + 1);
            parts.push(right);
            if depth > MAX_DEPTH {
                Err(too_deep(at))
            } else {
                Ok(Node {
                    kind: NodeKind::Junction { and, parts },
                    at: left_at,
                    depth,
                })
            }
        }
        kind => node(
            at,
            NodeKind::Junction {
                and,
                parts: vec![
                    Node {
                        kind,
                        at: left_at,
                        depth,
                    },
                    right,
                ],
            },
        ),
    }
}

fn node(at: usize, kind: NodeKind) -> Result<Node, Fault> {
    let depth = 1 + kind
        .children()
        .into_iter()
        .map(|child| child.depth)
        .max()
        .unwrap_or(0);
    if depth > MAX_DEPTH {
        Err(too_deep(at))
    } else {
        Ok(Node { kind, at, depth })
    }
}

fn too_deep(at: usize) -> Fault {
    Fault::new(
        at,
        format!("The expression is nested more than {MAX_DEPTH} levels deep."),
    )
}
