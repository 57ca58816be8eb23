//! `bag_unpack`: one column for each key of the bags in a column.

use std::collections::BTreeMap;

use arrow::array::{Array, AsArray, RecordBatch};
use hindsight_kql_syntax::ast::{Call, ColumnDeclaration, Expr, TypeOf};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::dynamic::Kind;
use hindsight_kql_types::{DynamicRef, ScalarType, Value};

use super::args::Args;
use crate::context::BindContext;
use crate::convert::convert;
use crate::error::BindResult;
use crate::plan::{self, Output, pass};
use crate::relation::{Column, Relation, Scalar};

/// The maximum number of distinct keys.
const MAX_COLUMNS: usize = 10_000;

/// The handling of a key that is also the name of a column of the input.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Conflict {
    Error,
    Replace,
    Keep,
}

impl Conflict {
    fn read(expr: &Expr, binder: &mut dyn BindContext) -> BindResult<Conflict> {
        match binder.constant_string(expr)?.as_str() {
            "error" => Ok(Conflict::Error),
            "replace_source" => Ok(Conflict::Replace),
            "keep_source" => Ok(Conflict::Keep),
            other => {
                let message = format!("unknown columnsConflict '{other}'");
                Err(binder.error(Code::Semantics, message, expr.span))
            }
        }
    }
}

/// The arguments of a call.
struct Unpack {
    /// The column with the bags.
    column: String,
    /// The prefix of the names of the new columns.
    prefix: String,
    conflict: Conflict,
    /// Keys to ignore.
    ignored: Vec<String>,
}

pub(crate) fn bind(
    call: &Call,
    schema: Option<&TypeOf>,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let unpack = Unpack::read(call, &input, binder, span)?;
    match schema {
        Some(TypeOf::Row { star, columns }) => unpack.declared(*star, columns, input, binder, span),
        Some(TypeOf::Scalar(_)) => {
            Err(binder.error(Code::Semantics, "a schema of columns is expected", span))
        }
        None => {
            let (input, rows) = binder.discover(input, span)?;
            let keys = keys_of(rows.batches(), &unpack.column);
            unpack.found(keys, input, binder, span)
        }
    }
}

impl Unpack {
    fn read(
        call: &Call,
        input: &Relation,
        binder: &mut dyn BindContext,
        span: Span,
    ) -> BindResult<Unpack> {
        let mut args = Args::new(call);
        let column = args.required("Column", binder, span)?;
        let column = plan::column_named(column, input, binder)?.clone();
        let prefix = match args.option("OutputColumnPrefix") {
            Some(expr) => binder.constant_string(expr)?,
            None => String::new(),
        };
        let conflict = match args.option("columnsConflict") {
            None => Conflict::Error,
            Some(expr) => Conflict::read(expr, binder)?,
        };
        let ignored = match args.option("ignoredProperties") {
            None => Vec::new(),
            Some(expr) => texts(&binder.bind_constant(expr)?),
        };
        args.end(binder, span)?;
        if column.kind != ScalarType::Dynamic {
            return Err(binder.error(Code::Semantics, "the unpacked column must be dynamic", span));
        }
        Ok(Unpack {
            column: column.name,
            prefix,
            conflict,
            ignored,
        })
    }

    /// The columns of the input, then those of the keys that occur in the bags.
    fn found(
        &self,
        keys: BTreeMap<String, Option<ScalarType>>,
        input: Relation,
        binder: &dyn BindContext,
        span: Span,
    ) -> BindResult<Relation> {
        if keys.len() > MAX_COLUMNS {
            let message = format!(
                "the bags have more than {MAX_COLUMNS} keys, the most columns that bag_unpack() may add"
            );
            return Err(binder.error(Code::Semantics, message, span));
        }
        let Some(bag) = input.column(&self.column).cloned() else {
            return Ok(input);
        };
        let mut outputs: Vec<(String, Option<Output>)> = input
            .columns
            .iter()
            .map(|c| (c.name.clone(), (c.name != self.column).then(|| pass(c))))
            .collect();
        let own = outputs.len();
        let keys = keys.into_iter();
        for (key, kind) in keys.filter(|(key, _)| !self.ignored.contains(key)) {
            let name = format!("{}{key}", self.prefix);
            let kind = kind.unwrap_or(ScalarType::Dynamic);
            let value = property(&bag, &key, kind, binder, span)?;
            let output = Output::visible(&name, value.kind, value.expr);
            match outputs.iter_mut().take(own).find(|o| o.0 == name) {
                None => outputs.push((name, Some(output))),
                Some(place) if place.1.is_none() || self.conflict == Conflict::Replace => {
                    place.1 = Some(output);
                }
                Some(_) if self.conflict == Conflict::Keep => {}
                Some(_) => {
                    let message = format!("the key '{name}' is already a column");
                    return Err(binder.error(Code::Semantics, message, span));
                }
            }
        }
        let outputs = outputs.into_iter().filter_map(|(_, o)| o);
        plan::project(input, outputs.collect::<Vec<Output>>(), span)
    }

    /// The columns that the query declares; the data is not read.
    fn declared(
        &self,
        star: bool,
        columns: &[ColumnDeclaration],
        input: Relation,
        binder: &dyn BindContext,
        span: Span,
    ) -> BindResult<Relation> {
        let Some(bag) = input.column(&self.column).cloned() else {
            return Ok(input);
        };
        let mut outputs: Vec<Output> = if star {
            input
                .columns
                .iter()
                .filter(|c| c.name != self.column)
                .map(pass)
                .collect()
        } else {
            Vec::new()
        };
        for column in columns {
            let written = &column.name.text;
            let own = input.column(written).filter(|c| c.name != self.column);
            let output = match (own, written.strip_prefix(&self.prefix)) {
                (Some(own), _) if star => {
                    let message = format!("the column '{}' is declared twice", own.name);
                    return Err(binder.error(Code::Semantics, message, column.name.span()));
                }
                (Some(own), _) => {
                    let value = convert(own.scalar(), column.kind);
                    Output::visible(written, value.kind, value.expr)
                }
                (None, Some(key)) => {
                    let value = property(&bag, key, column.kind, binder, span)?;
                    Output::visible(written, value.kind, value.expr)
                }
                (None, None) => Output::visible(written, column.kind, plan::missing(column.kind)),
            };
            outputs.push(output);
        }
        plan::project(input, outputs, span)
    }
}

fn property(
    bag: &Column,
    key: &str,
    kind: ScalarType,
    binder: &dyn BindContext,
    span: Span,
) -> BindResult<Scalar> {
    let key = Scalar::constant(Value::String(key.to_owned()));
    Ok(convert(binder.access(bag.scalar(), key, span)?, kind))
}

/// The keys of the bags in a column, and the common type of the values of each; `None` if all are null.
fn keys_of(rows: &[RecordBatch], column: &str) -> BTreeMap<String, Option<ScalarType>> {
    let mut keys: BTreeMap<String, Option<ScalarType>> = BTreeMap::new();
    for batch in rows {
        let Some(bags) = batch
            .column_by_name(column)
            .and_then(|c| c.as_binary_view_opt())
        else {
            continue;
        };
        for row in (0..bags.len()).filter(|row| bags.is_valid(*row)) {
            if keys.len() > MAX_COLUMNS {
                return keys;
            }
            let bag = DynamicRef::new(bags.value(row));
            if bag.kind() != Kind::Bag {
                continue;
            }
            for (key, value) in bag.iter_bag() {
                let kind = kind_of(value.kind());
                match keys.get_mut(key) {
                    Some(known) => *known = common(*known, kind),
                    None => {
                        keys.insert(key.to_owned(), kind);
                    }
                }
            }
        }
    }
    keys
}

fn kind_of(kind: Kind) -> Option<ScalarType> {
    match kind {
        Kind::Null => None,
        Kind::Bool => Some(ScalarType::Bool),
        Kind::Long => Some(ScalarType::Long),
        Kind::Real => Some(ScalarType::Real),
        Kind::String => Some(ScalarType::String),
        Kind::DateTime => Some(ScalarType::DateTime),
        Kind::Array | Kind::Bag => Some(ScalarType::Dynamic),
    }
}

fn common(a: Option<ScalarType>, b: Option<ScalarType>) -> Option<ScalarType> {
    match (a, b) {
        (None, other) | (other, None) => other,
        (Some(a), Some(b)) if a == b => Some(a),
        (Some(a), Some(b)) => Some(crate::convert::widest(a, b).unwrap_or(ScalarType::Dynamic)),
    }
}

/// The texts of a dynamic array.
fn texts(value: &Value) -> Vec<String> {
    let Value::Dynamic(bytes) = value else {
        return Vec::new();
    };
    DynamicRef::new(bytes)
        .iter_array()
        .filter_map(|v| v.as_str().map(str::to_owned))
        .collect()
}
