//! `$orderby`, `$select` and the numbers of the other options.

use super::Fault;
use super::ast::{Node, NodeKind};
use super::parser::Parser;

/// A key of `$orderby`.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct OrderKey {
    /// What is sorted by.
    pub(crate) expr: Node,
    /// `desc` was written; ascending otherwise.
    pub(crate) descending: bool,
}

/// `timestamp desc, request/duration`
pub(crate) fn order_by(text: &str) -> Result<Vec<OrderKey>, Fault> {
    let mut parser = Parser::new(text)?;
    let mut keys = Vec::new();
    loop {
        let expr = parser.expression()?;
        let descending = parser.eat_word("desc");
        if !descending {
            parser.eat_word("asc");
        }
        keys.push(OrderKey { expr, descending });
        if !parser.eat_comma() {
            break;
        }
    }
    parser
        .end()
        .map_err(|fault| Fault::new(fault.at, "asc, desc, a comma or the end is expected here."))?;
    Ok(keys)
}

/// `id, request/name`: each path with its place. `*` is everything, and so gives an empty list.
pub(crate) fn paths(text: &str) -> Result<Vec<(String, usize)>, Fault> {
    if text.trim() == "*" {
        return Ok(Vec::new());
    }
    let mut parser = Parser::new(text)?;
    let mut paths = Vec::new();
    loop {
        match parser.expression()? {
            Node {
                kind: NodeKind::Path(path),
                at,
                ..
            } => paths.push((path, at)),
            other => {
                return Err(Fault::new(
                    other.at,
                    "A list of properties such as id,timestamp,request/name is expected.",
                ));
            }
        }
        if !parser.eat_comma() {
            break;
        }
    }
    parser
        .end()
        .map_err(|fault| Fault::new(fault.at, "A comma or the end is expected here."))?;
    Ok(paths)
}

/// A number of rows from 0 to `most`.
pub(crate) fn whole_number(text: &str, most: usize) -> Result<usize, Fault> {
    let fault = || {
        Fault::new(
            0,
            format!("'{text}' is not a whole number from 0 to {most}."),
        )
    };
    let number: usize = text.trim().parse().map_err(|_| fault())?;
    if number > most {
        Err(fault())
    } else {
        Ok(number)
    }
}

/// `true` or `false`.
pub(crate) fn flag(text: &str) -> Result<bool, Fault> {
    match text.trim().to_ascii_lowercase().as_str() {
        "true" => Ok(true),
        "false" => Ok(false),
        _ => Err(Fault::new(
            0,
            format!("'{text}' is neither true nor false."),
        )),
    }
}
