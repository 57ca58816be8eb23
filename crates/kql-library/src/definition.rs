//! What a scalar function of the language is: signatures, a sentence, examples and how it is evaluated.

use datafusion::logical_expr::Expr;
use hindsight_kql_syntax::Diagnostic;
use hindsight_kql_types::ScalarType;

use crate::kernel::Kernel;
use crate::scalar::Scalar;

/// A scalar function of the language.
#[derive(Debug)]
pub struct ScalarFunction {
    /// Overloads, first match wins: `strlen(source: text) -> long`. The first one's name is the function's.
    pub signatures: &'static [&'static str],
    /// Other names for it (`iif` for `iff`).
    pub aliases: &'static [&'static str],
    /// One sentence for the reference.
    pub summary: &'static str,
    /// How an unnamed column that it computes is called.
    pub result_name: ResultName,
    /// Whether equal arguments always give equal results.
    pub volatile: bool,
    /// Runnable examples.
    pub examples: &'static [Example],
    /// What it does.
    pub eval: Eval,
}

/// A query and its answer: a header `name:type, …` and a line for each row, cells separated by ` | `.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// The query.
    pub query: &'static str,
    /// The answer.
    pub answer: &'static str,
}

/// An [`Example`] in one line.
pub const fn example(query: &'static str, answer: &'static str) -> Example {
    Example { query, answer }
}

/// The name of a column computed by an unnamed call (`semantics.md §13.1`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultName {
    /// Positional: `Column1`.
    None,
    /// The name of the first argument passes through (`tostring(x)` → `x`).
    FirstArgument,
    /// A prefix before the first argument's name (`strlen(s)` → `strlen_s`).
    Prefixed(&'static str),
    /// A suffix after the first argument's name (`array_sort_asc(d)` → `d_sorted`).
    Suffixed(&'static str),
    /// Always this.
    Fixed(&'static str),
}

/// How a function is evaluated.
#[derive(Debug, Clone, Copy)]
pub enum Eval {
    /// A kernel over whole Arrow arrays.
    Kernel(Kernel),
    /// A DataFusion expression that the optimiser sees through.
    Rewrite(Rewrite),
    /// As [`Eval::Rewrite`], but the call also decides its type: `datetime_diff('week', …)` is a `real`.
    Typed(Typed),
    /// The binder treats it by name (window functions, `toscalar`, `materialize`, `now`, `column_ifexists`).
    Binder,
}

/// Builds the expression of a call from its converted arguments.
pub type Rewrite = fn(&CallArgs<'_>) -> Result<Expr, Diagnostic>;

/// Builds a call whose type depends on more than the types of its arguments.
pub type Typed = fn(&CallArgs<'_>) -> Result<Scalar, Diagnostic>;

/// The arguments of a call being bound, already converted to what the signature asks for.
pub struct CallArgs<'a> {
    /// The arguments.
    pub args: &'a [Scalar],
    /// The result's type.
    pub result: ScalarType,
    /// Where the call stands.
    pub span: hindsight_kql_syntax::Span,
}

impl ScalarFunction {
    /// The function's name: that of its first signature.
    pub fn name(&self) -> &'static str {
        self.signatures
            .first()
            .and_then(|s| s.split('(').next())
            .map_or("", str::trim)
    }
}
