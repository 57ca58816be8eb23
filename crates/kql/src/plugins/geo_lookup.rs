//! `geo_polygon_lookup` and `geo_line_lookup`: joins rows with a table of shapes that contain the row's point, or are near it
//! (`docs/semantics.md §24`).
//!
//! A shape in one piece lies within its perimeter or length of its first point. So the distance to that point decides for most
//! pairs, and only near pairs are tested exactly.

use hindsight_kql_syntax::ast::{BinaryOp, Call, Expr, Literal, NamedExpr, Operator};
use hindsight_kql_syntax::{Code, Span};
use hindsight_kql_types::{ScalarType, Value};

use super::args::Args;
use super::tree::{add, evaluated_once, name, named, of, op, over, run, run_with};
use crate::context::BindContext;
use crate::error::BindResult;
use crate::plan::{self, free_name};
use crate::relation::Relation;

/// The kind of shapes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// `geo_polygon_lookup`
    Polygon,
    /// `geo_line_lookup`
    Line,
}

/// `geo_polygon_lookup(table, polygon, longitude, latitude [, radius] [, return_unmatched] [, join_hint] [, return_lookup_key])`
/// and `geo_line_lookup`, whose radius is required. The hint changes no result.
pub(crate) fn bind(
    shape: Shape,
    call: &Call,
    input: Relation,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Relation> {
    let mut args = Args::new(call);
    let lookup = args.required("LookupTable", binder, span)?;
    let key = args.required("LookupKey", binder, span)?;
    let longitude = args.required("SourceLongitude", binder, span)?.clone();
    let latitude = args.required("SourceLatitude", binder, span)?.clone();
    let radius = radius(shape, args.option("radius"), binder, span)?;
    let unmatched = flag(args.option("return_unmatched"), binder)?;
    for hint in ["join_hint", "lookup_area_radius"] {
        if let Some(expr) = args.named(hint) {
            metres(expr, binder)?;
        }
    }
    if let Some(expr) = args.next() {
        metres(expr, binder)?;
    }
    let returns_key = flag(args.option("return_lookup_key"), binder)?;
    args.end(binder, span)?;

    let lookup = binder.bind_tabular(lookup)?.relation.finish(span)?;
    let key = plan::column_named(key, &lookup, binder)?.clone();
    if key.kind != ScalarType::Dynamic {
        let message = "the column with the shapes must be dynamic";
        return Err(binder.error(Code::Semantics, message, span));
    }
    let mut shown: Vec<NamedExpr> = input.columns.iter().map(|c| own(&c.name)).collect();
    let mut names: Vec<String> = input.columns.iter().map(|c| c.name.clone()).collect();
    let mut found = Vec::new();
    let columns = lookup.columns.iter().enumerate();
    for (index, column) in columns.filter(|(_, c)| returns_key || c.name != key.name) {
        let inner = format!("$lookup{index}");
        let shown_as = free_name(&column.name, |n| names.iter().any(|o| o == n));
        found.push(named(&inner, name(&column.name)));
        shown.push(named(&shown_as, name(&inner)));
        names.push(shown_as);
    }
    found.extend(bounds(shape, &key.name));
    found.push(named("$one", Expr::long(1)));
    let lookup = evaluated_once(vec![Operator::project(found)], lookup, binder, span)?;

    let point = vec![Operator::serialize(vec![
        named("$row", Expr::call("row_number", [])),
        named("$longitude", Expr::call("toreal", [longitude])),
        named("$latitude", Expr::call("toreal", [latitude])),
        named("$one", Expr::long(1)),
    ])];
    let input = run(point, input, binder, span)?;
    let input = if unmatched {
        binder.materialize(input, span)?
    } else {
        input
    };
    let operators = vec![
        Operator::join("inner", name("$lookup"), vec![name("$one")]),
        Operator::filter(is_near(radius)),
        Operator::filter(matches(shape, radius)),
    ];
    let tables = vec![("$lookup", lookup)];
    let mut matched = run_with(operators, input.clone(), tables, binder, span)?;
    if unmatched {
        matched = binder.materialize(matched, span)?;
        let tables = vec![("$source", input), ("$matched", matched.clone())];
        let unknown = Operator::join("leftanti", name("$matched"), vec![name("$row")]);
        let rest = over("$source", [unknown]);
        let both = vec![Operator::union(vec![rest])];
        matched = run_with(both, matched, tables, binder, span)?;
    }
    run(vec![Operator::project(shown)], matched, binder, span)
}

/// A column of the source.
fn own(column: &str) -> NamedExpr {
    NamedExpr::bare(name(column))
}

/// The radius; a line needs one.
fn radius(
    shape: Shape,
    expr: Option<&Expr>,
    binder: &mut dyn BindContext,
    span: Span,
) -> BindResult<Option<f64>> {
    match (expr, shape) {
        (Some(expr), _) => metres(expr, binder).map(Some),
        (None, Shape::Polygon) => Ok(None),
        (None, Shape::Line) => {
            let message = "the argument radius is missing";
            Err(binder.error(Code::ArgumentCount, message, span))
        }
    }
}

/// A constant distance.
fn metres(expr: &Expr, binder: &mut dyn BindContext) -> BindResult<f64> {
    match binder.bind_constant(expr)?.convert(ScalarType::Real) {
        Value::Real(metres) if metres >= 0.0 => Ok(metres),
        _ => {
            let message = "a distance in metres is expected";
            Err(binder.error(Code::Semantics, message, expr.span))
        }
    }
}

fn flag(expr: Option<&Expr>, binder: &mut dyn BindContext) -> BindResult<bool> {
    expr.map_or(Ok(false), |expr| binder.constant_bool(expr))
}

/// The shape, a point of it, and the distance from that point within which all of it lies; null if it has several parts.
fn bounds(shape: Shape, key: &str) -> [NamedExpr; 4] {
    let coordinates = || name(key).member("coordinates");
    let (kind, first, length) = match shape {
        Shape::Polygon => (
            "Polygon",
            coordinates().index(Expr::long(0)).index(Expr::long(0)),
            "geo_polygon_perimeter",
        ),
        Shape::Line => (
            "LineString",
            coordinates().index(Expr::long(0)),
            "geo_line_length",
        ),
    };
    let coordinate = |index| Expr::call("toreal", [first.clone().index(Expr::long(index))]);
    let text = Expr::call("tostring", [name(key).member("type")]);
    let in_one_piece = op(BinaryOp::Equal, text, Expr::string(kind));
    let unknown = Expr::literal(Literal::Null(ScalarType::Real));
    let reach = Expr::call("iff", [in_one_piece, of(length, key), unknown]);
    [
        named("$shape", name(key)),
        named("$first_longitude", coordinate(0)),
        named("$first_latitude", coordinate(1)),
        named("$reach", reach),
    ]
}

/// Whether the point may match a shape: within the reach and the radius of the shape's first point. A metre more covers
/// rounding.
fn is_near(radius: Option<f64>) -> Expr {
    let points = [
        "$longitude",
        "$latitude",
        "$first_longitude",
        "$first_latitude",
    ];
    let distance = Expr::call("geo_distance_2points", points.map(name));
    let most = add(name("$reach"), Expr::real(radius.unwrap_or(0.0) + 1.0));
    of("isnull", "$reach").or(op(BinaryOp::LessOrEqual, distance, most))
}

/// Whether the point matches a shape.
fn matches(shape: Shape, radius: Option<f64>) -> Expr {
    let arguments = ["$longitude", "$latitude", "$shape"].map(name);
    let function = match shape {
        Shape::Polygon => "geo_distance_point_to_polygon",
        Shape::Line => "geo_distance_point_to_line",
    };
    match radius {
        None => Expr::call("geo_point_in_polygon", arguments),
        Some(radius) => op(
            BinaryOp::LessOrEqual,
            Expr::call(function, arguments),
            Expr::real(radius),
        ),
    }
}
