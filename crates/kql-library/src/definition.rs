//! The definition of a scalar function as data: signatures, summary, examples and evaluation.

use datafusion::logical_expr::Expr;
use hindsight_kql_syntax::Diagnostic;
use hindsight_kql_types::ScalarType;

use crate::kernel::Kernel;
use crate::scalar::Scalar;

/// A scalar function of the language.
#[derive(Debug)]
pub struct ScalarFunction {
    /// Overloads; the first match applies: `strlen(source: text) -> long`. The name in the first overload is the function's
    /// name.
    pub signatures: &'static [&'static str],
    /// Aliases (`iif` for `iff`).
    pub aliases: &'static [&'static str],
    /// One sentence for the language reference.
    pub summary: &'static str,
    /// The naming rule of an unnamed column that it computes.
    pub result_name: ResultName,
    /// Whether the function is volatile: equal arguments may produce different results.
    pub volatile: bool,
    /// Executable examples.
    pub examples: &'static [Example],
    /// How it is evaluated.
    pub eval: Eval,
}

/// A query and its expected result: a header `name:type, …` and one line per row, cells separated by ` | `.
#[derive(Debug, Clone, Copy)]
pub struct Example {
    /// The query.
    pub query: &'static str,
    /// The expected result.
    pub answer: &'static str,
}

/// An [`Example`] on one line.
pub const fn example(query: &'static str, answer: &'static str) -> Example {
    Example { query, answer }
}

/// The naming rule of a column computed by an unnamed call (`docs/semantics.md §13.1`).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ResultName {
    /// The positional name: `Column1`.
    None,
    /// The name of the first argument (`tostring(x)` → `x`).
    FirstArgument,
    /// The name of the first argument with a prefix (`strlen(s)` → `strlen_s`).
    Prefixed(&'static str),
    /// The name of the first argument with a suffix (`array_sort_asc(d)` → `d_sorted`).
    Suffixed(&'static str),
    /// A fixed name.
    Fixed(&'static str),
}

/// The evaluation of a function.
#[derive(Debug, Clone, Copy)]
pub enum Eval {
    /// A kernel over whole Arrow arrays.
    Kernel(Kernel),
    /// A rewrite to a DataFusion expression, which the optimizer can analyze.
    Rewrite(Rewrite),
    /// Like [`Eval::Rewrite`], but the call also determines the result type: `datetime_diff('week', …)` is a `real`.
    Typed(Typed),
    /// The binder handles the function by name (window functions, `toscalar`, `materialize`, `now`, `column_ifexists`).
    Binder,
}

/// Builds the expression of a call from its converted arguments.
pub type Rewrite = fn(&CallArgs<'_>) -> Result<Expr, Diagnostic>;

/// Builds a call whose result type depends on more than the argument types.
pub type Typed = fn(&CallArgs<'_>) -> Result<Scalar, Diagnostic>;

/// The arguments of a call during binding, converted to the parameter types of the signature.
pub struct CallArgs<'a> {
    /// The arguments.
    pub args: &'a [Scalar],
    /// The result's type.
    pub result: ScalarType,
    /// The position of the call in the query text.
    pub span: hindsight_kql_syntax::Span,
}

impl ScalarFunction {
    /// The function's name: the name in its first signature.
    pub fn name(&self) -> &'static str {
        self.signatures
            .first()
            .and_then(|s| s.split('(').next())
            .map_or("", str::trim)
    }
}
