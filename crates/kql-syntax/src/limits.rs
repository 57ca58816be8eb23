//! Limits on the size of a query. A query that exceeds a limit is refused with one diagnostic that names the limit.

/// The size limits of a query. They protect the stack and the memory of the process from hostile text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Maximum bytes of the text.
    pub max_bytes: usize,
    /// Maximum number of tokens.
    pub max_tokens: usize,
    /// Maximum recursion depth of the parser. Nested brackets, calls, signs and sub-queries take one to three levels each.
    pub max_depth: usize,
    /// Maximum height of an expression's tree, which includes the length of a chain such as `a or b or c …`.
    pub max_height: usize,
    /// Maximum operators of one pipeline.
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
