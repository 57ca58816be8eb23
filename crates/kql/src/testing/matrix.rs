//! The type matrix: one-step queries of every operator with every pair of types, of every function and aggregate with every type of
//! each argument, and of steps with every type of their column.
//!
//! `tests/language_service` compares verdict and result columns with the official binder.

use std::io::Write;

use hindsight_kql_types::ScalarType;

use super::{Outcome, TestCatalog, run_in};
use crate::functions::registry;
use crate::run::ResultTable;
use crate::signature::{ParameterKind, ParameterSignature, Signature};
use crate::{BindOptions, aggregates, session};

/// A type with a literal of it.
struct Typed {
    name: &'static str,
    kind: ScalarType,
    literal: &'static str,
}

const fn typed(name: &'static str, kind: ScalarType, literal: &'static str) -> Typed {
    Typed {
        name,
        kind,
        literal,
    }
}

const TYPES: [Typed; 10] = [
    typed("bool", ScalarType::Bool, "true"),
    typed("int", ScalarType::Int, "int(1)"),
    typed("long", ScalarType::Long, "1"),
    typed("real", ScalarType::Real, "1.5"),
    typed("decimal", ScalarType::Decimal, "decimal(1.5)"),
    typed("string", ScalarType::String, "\"a\""),
    typed("datetime", ScalarType::DateTime, "datetime(2024-01-01)"),
    typed("timespan", ScalarType::TimeSpan, "1h"),
    typed(
        "guid",
        ScalarType::Guid,
        "guid(74be27de-1e4e-49d9-b579-fe0b331d3642)",
    ),
    typed("dynamic", ScalarType::Dynamic, "dynamic([1])"),
];

const OPERATORS: [&str; 45] = [
    "==",
    "!=",
    "<",
    "<=",
    ">",
    ">=",
    "+",
    "-",
    "*",
    "/",
    "%",
    "=~",
    "!~",
    "has",
    "!has",
    "has_cs",
    "!has_cs",
    "hasprefix",
    "!hasprefix",
    "hasprefix_cs",
    "!hasprefix_cs",
    "hassuffix",
    "!hassuffix",
    "hassuffix_cs",
    "!hassuffix_cs",
    "contains",
    "!contains",
    "contains_cs",
    "!contains_cs",
    "startswith",
    "!startswith",
    "startswith_cs",
    "!startswith_cs",
    "endswith",
    "!endswith",
    "endswith_cs",
    "!endswith_cs",
    "matches regex",
    "and",
    "or",
    "in",
    "!in",
    "in~",
    "has_any",
    "between",
];

/// Steps over one column, `c`.
const STEPS: [&str; 25] = [
    "summarize count() by c",
    "sort by c",
    "top 3 by c",
    "distinct c",
    "mv-expand c",
    "where c",
    "parse c with a \":\" b",
    "extend r = -c",
    "extend r = not(c)",
    "extend r = c[0]",
    "extend r = c.a",
    "make-series count() on c step 1",
    "extend r = bin(c, 1)",
    "extend r = bin(c, 1h)",
    "extend r = case(c, 1, 2)",
    "extend r = iff(c, 1, 2)",
    "sample-distinct 2 of c",
    "top-hitters 2 of c",
    "serialize r = prev(c)",
    "serialize r = row_cumsum(c)",
    "search c == 1",
    "reduce by c",
    "parse-kv c as (a:string)",
    "partition by c (count)",
    "summarize countif(c)",
];

/// A query and its name in the list of differences.
struct Cell {
    id: String,
    query: String,
}

/// All queries, each once.
fn cells() -> Vec<Cell> {
    let mut cells = Vec::new();
    operators(&mut cells);
    pairs(&mut cells);
    for step in STEPS {
        for t in &TYPES {
            let query = format!("{} | {step}", table(&[("c", t)]));
            cells.push(cell(format!("step/{step}/{}", t.name), query));
        }
    }
    for function in registry().all() {
        let signatures = function.signatures.iter().copied();
        calls(
            "function",
            "extend",
            function.name(),
            signatures,
            &mut cells,
        );
    }
    for function in aggregates::all() {
        let signatures = function.signatures.iter().copied();
        calls(
            "aggregate",
            "summarize",
            function.name(),
            signatures,
            &mut cells,
        );
    }
    let mut seen = std::collections::HashSet::new();
    cells.retain(|cell| seen.insert(cell.id.clone()));
    cells
}

fn cell(id: String, query: String) -> Cell {
    Cell { id, query }
}

/// A table of the columns, with a row of values and a row of nulls.
fn table(columns: &[(&str, &Typed)]) -> String {
    let declared: Vec<String> = columns
        .iter()
        .map(|(name, t)| format!("{name}:{}", t.name))
        .collect();
    let values: Vec<&str> = columns.iter().map(|(_, t)| t.literal).collect();
    let nulls: Vec<String> = columns
        .iter()
        .map(|(_, t)| match t.kind {
            ScalarType::String => "\"\"".to_owned(),
            _ => format!("{}(null)", t.name),
        })
        .collect();
    format!(
        "datatable({})[{}, {}]",
        declared.join(", "),
        values.join(", "),
        nulls.join(", ")
    )
}

/// Every operator with every pair of types, of columns and of a column beside a literal.
fn operators(cells: &mut Vec<Cell>) {
    for op in OPERATORS {
        for left in &TYPES {
            for right in &TYPES {
                let forms = [
                    ("columns", "a", "b"),
                    ("literal right", "a", right.literal),
                    ("literal left", left.literal, "b"),
                ];
                for (form, a, b) in forms {
                    let expr = match op {
                        "in" | "!in" | "in~" | "has_any" => format!("{a} {op} ({b})"),
                        "between" => format!("{a} between ({b} .. {b})"),
                        _ => format!("{a} {op} {b}"),
                    };
                    let rows = table(&[("a", left), ("b", right)]);
                    let id = format!("operator/{op}/{}/{}/{form}", left.name, right.name);
                    cells.push(cell(id, format!("{rows} | extend r = {expr}")));
                }
            }
        }
    }
}

/// What takes two values of any types: parameters of own functions, branches, common types, keys of joins.
fn pairs(cells: &mut Vec<Cell>) {
    for left in &TYPES {
        for right in &TYPES {
            let mut add = |name: &str, query: String| {
                cells.push(cell(format!("{name}/{}/{}", left.name, right.name), query));
            };
            let rows = table(&[("a", left), ("b", right)]);
            let function = format!(
                "let f = (x:{}) {{ x }}; {rows} | extend r = f(b)",
                left.name
            );
            add("own function", function);
            for call in [
                "iff(true, a, b)",
                "case(true, a, b)",
                "coalesce(a, b)",
                "max_of(a, b)",
            ] {
                let name = call.split('(').next().unwrap_or_default();
                add(name, format!("{rows} | extend r = {call}"));
            }
            let keys = table(&[("k", right)]);
            let join = format!("{rows} | join kind=inner ({keys}) on $left.a == $right.k");
            add("join", join);
        }
    }
}

/// Every overload of a function with every type of each argument.
fn calls<'s>(
    family: &str,
    step: &str,
    name: &str,
    signatures: impl Iterator<Item = &'s str>,
    cells: &mut Vec<Cell>,
) {
    for (overload, text) in signatures.enumerate() {
        let signature = Signature::parse(text).expect("the registry checks it");
        for (index, varied) in signature.parameters.iter().enumerate() {
            let count = signature.min_arguments().max(index + 1);
            for t in &TYPES {
                let arguments: Vec<String> = signature
                    .parameters
                    .iter()
                    .take(count)
                    .enumerate()
                    .map(|(i, parameter)| {
                        if i == index {
                            of_type(varied, t)
                        } else {
                            usual(parameter)
                        }
                    })
                    .collect();
                let columns: Vec<(&str, &Typed)> = TYPES.iter().map(|t| (t.name, t)).collect();
                let columns: Vec<(String, &Typed)> = columns
                    .into_iter()
                    .map(|(name, t)| (format!("c_{name}"), t))
                    .collect();
                let columns: Vec<(&str, &Typed)> = columns
                    .iter()
                    .map(|(name, t)| (name.as_str(), *t))
                    .collect();
                let call = format!("{name}({})", arguments.join(", "));
                let query = format!("{} | {step} r = {call}", table(&columns));
                let id = format!("{family}/{name}/{}.{}/{}", overload + 1, index + 1, t.name);
                cells.push(cell(id, query));
            }
        }
    }
}

/// An argument of a type for a parameter: a column, or a literal if it must be constant.
fn of_type(parameter: &ParameterSignature, t: &Typed) -> String {
    if parameter.constant {
        t.literal.to_owned()
    } else {
        format!("c_{}", t.name)
    }
}

/// A fitting argument for a parameter.
fn usual(parameter: &ParameterSignature) -> String {
    if parameter.kind == ParameterKind::TypeLiteral {
        return "typeof(long)".to_owned();
    }
    let word = match (parameter.constant, parameter.name.as_str()) {
        (true, "part") => Some("\"day\""),
        (true, "kind") => Some("\"regex\""),
        (true, "regex") => Some("\"(a)\""),
        (true, "jsonPath") => Some("\"$.a\""),
        (true, "parser") => Some("\"windows\""),
        (true, "format") => Some("\"dd\""),
        (true, "percentage") => Some("50"),
        _ => None,
    };
    if let Some(word) = word {
        return word.to_owned();
    }
    let fits = |kind: ScalarType| match parameter.kind {
        ParameterKind::Exact(exact) => kind == exact,
        ParameterKind::OneOf(kinds) => kinds.contains(kind),
        ParameterKind::Time => kind == ScalarType::DateTime,
        ParameterKind::Text => kind == ScalarType::String,
        _ => kind == ScalarType::Long,
    };
    // A long where it fits.
    let t = [&TYPES[2]]
        .into_iter()
        .chain(&TYPES)
        .find(|t| fits(t.kind))
        .unwrap_or(&TYPES[2]);
    of_type(parameter, t)
}

/// Prints a line for each query: the code of its refusal or the columns of its result. A query that binds must also run.
#[test]
#[ignore = "it prints for tests/language_service"]
fn the_verdicts_of_the_type_matrix() {
    let context = session::context().expect("DataFusion has the rules");
    for cell in cells() {
        let outcome = run_in(&cell.query, &TestCatalog, BindOptions::default(), &context);
        let (code, failure, tables) = match outcome {
            Outcome::Tables(tables) => (None, None, tables),
            Outcome::Refused(errors) => (errors.first().map(|error| error.code), None, Vec::new()),
            Outcome::Failed(error) => (None, Some(error.to_string()), Vec::new()),
        };
        let columns = |table: &ResultTable| -> Vec<[String; 2]> {
            let columns = table.columns.iter();
            columns
                .map(|c| [c.name.clone(), c.kind.to_string()])
                .collect()
        };
        let verdict = serde_json::json!({
            "id": cell.id,
            "query": cell.query,
            "code": code.map(hindsight_kql_syntax::Code::as_str),
            "failure": failure,
            "columns": tables.last().map(columns),
        });
        writeln!(std::io::stdout(), "cell {verdict}").expect("it can be written");
    }
}
