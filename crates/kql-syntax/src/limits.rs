//! How large a query may be. A query beyond a limit is refused with one diagnostic that names the limit.

/// The size limits of a query. They keep hostile text from taking the stack or the memory of the process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes of the text.
    pub max_bytes: usize,
    /// Tokens.
    pub max_tokens: usize,
    /// Levels of the parser: brackets, calls, signs and subqueries inside one another take one to three each.
    pub max_depth: usize,
    /// Height of an expression's tree: the length of a chain such as `a or b or c …` counts here.
    pub max_height: usize,
    /// Operators of one pipeline.
    pub max_operators: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits {
            max_bytes: 1024 * 1024,
            max_tokens: 500_000,
            max_depth: 150,
            max_height: 1_000,
            max_operators: 1_000,
        }
    }
}
