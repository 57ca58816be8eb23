//! Equality of text with a value of another type: the text is converted to that type (`D27`).
//!
//! Text that does not convert is unequal to every value, and every text is unequal to null. Text is never null, so these
//! comparisons are never null either.

use datafusion::logical_expr::{Expr as PlanExpr, LogicalPlan, expr::InList, lit};
use hindsight_kql_types::{ScalarType, Value};

use super::binder::Binder;
use super::comparison::Comparison;
use crate::relation::{Relation, Scalar};

/// The column and the constant of an equality between the two, column first.
struct ColumnAndConstant<'a> {
    field: &'a str,
    constant: &'a Value,
}

impl Binder<'_> {
    /// `left == right` (or `!=`) between a text column whose texts the catalog lists and a constant of another type, as a
    /// comparison of the texts: `success == false` becomes `success IN ('False')`. That is as fast as a comparison of texts
    /// and supports pruning.
    pub(super) fn equality_of_listed_texts(
        &self,
        comparison: Comparison,
        left: &Scalar,
        right: &Scalar,
        input: &Relation,
    ) -> Option<Scalar> {
        let negated = match comparison {
            Comparison::Equal => false,
            Comparison::NotEqual => true,
            _ => return None,
        };
        let sides =
            column_and_constant(left, right).or_else(|| column_and_constant(right, left))?;
        let column = if left.constant.is_some() { right } else { left };
        let texts = self.listed_texts(&input.plan, sides.field)?;
        let equal = texts_equal_to(&texts, std::slice::from_ref(sides.constant));
        Some(member_of(column, equal, negated))
    }

    /// `value in (constants)` as a comparison of the texts, as for [`Binder::equality_of_listed_texts`].
    pub(super) fn membership_of_listed_texts(
        &self,
        value: &Scalar,
        constants: &[Value],
        input: &Relation,
    ) -> Option<Scalar> {
        let of_other_types = constants.iter().any(|c| c.kind() != ScalarType::String);
        if value.kind != ScalarType::String || !of_other_types {
            return None;
        }
        let texts = self.listed_texts(&input.plan, field(value)?)?;
        let mut members = texts_equal_to(&texts, constants);
        members.extend(constants.iter().filter_map(|constant| match constant {
            Value::String(text) => Some(text.clone()),
            _ => None,
        }));
        Some(member_of(value, members, false))
    }

    /// The texts beside `""` that a field of a plan can hold, if every table that provides it lists them.
    fn listed_texts(&self, plan: &LogicalPlan, field: &str) -> Option<Vec<&'static str>> {
        match plan {
            LogicalPlan::TableScan(scan) => {
                let texts = self
                    .request
                    .catalog
                    .listed_texts(scan.table_name.table(), field)?;
                Some(texts.to_vec())
            }
            LogicalPlan::Projection(projection) => {
                let index = projection.schema.index_of_column_by_name(None, field)?;
                match unaliased(projection.expr.get(index)?) {
                    PlanExpr::Column(column) => self.listed_texts(&projection.input, &column.name),
                    _ => None,
                }
            }
            LogicalPlan::Filter(_)
            | LogicalPlan::Sort(_)
            | LogicalPlan::Limit(_)
            | LogicalPlan::SubqueryAlias(_) => {
                self.listed_texts(plan.inputs().first().copied()?, field)
            }
            LogicalPlan::Union(union) => {
                let index = union.schema.index_of_column_by_name(None, field)?;
                let mut all = Vec::new();
                for input in &union.inputs {
                    let (_, leg_field) = input.schema().iter().nth(index)?;
                    for text in self.listed_texts(input, leg_field.name())? {
                        if !all.contains(&text) {
                            all.push(text);
                        }
                    }
                }
                Some(all)
            }
            _ => None,
        }
    }
}

fn column_and_constant<'a>(
    column: &'a Scalar,
    constant: &'a Scalar,
) -> Option<ColumnAndConstant<'a>> {
    let value = constant.constant.as_ref()?;
    let of_other_type = !matches!(value.kind(), ScalarType::String | ScalarType::Dynamic);
    (column.kind == ScalarType::String && of_other_type).then_some(())?;
    Some(ColumnAndConstant {
        field: field(column)?,
        constant: value,
    })
}

/// The field that a scalar reads, if it is a plain column.
fn field(scalar: &Scalar) -> Option<&str> {
    match &scalar.expr {
        PlanExpr::Column(column) => Some(&column.name),
        _ => None,
    }
}

fn unaliased(expr: &PlanExpr) -> &PlanExpr {
    match expr {
        PlanExpr::Alias(alias) => unaliased(&alias.expr),
        other => other,
    }
}

/// The `texts` that convert to one of the values.
fn texts_equal_to(texts: &[&str], values: &[Value]) -> Vec<String> {
    let equals = |text: &str, value: &Value| {
        value.kind() != ScalarType::String
            && !value.is_null()
            && Value::String(text.to_owned()).convert(value.kind()) == *value
    };
    texts
        .iter()
        .filter(|text| values.iter().any(|value| equals(text, value)))
        .map(|text| (*text).to_owned())
        .collect()
}

fn member_of(column: &Scalar, texts: Vec<String>, negated: bool) -> Scalar {
    if texts.is_empty() {
        return Scalar::constant(Value::Bool(negated));
    }
    let texts = texts
        .into_iter()
        .map(|text| lit(crate::value::value_to_scalar(&Value::String(text))))
        .collect();
    let list = InList::new(Box::new(column.expr.clone()), texts, negated);
    Scalar::new(PlanExpr::InList(list), ScalarType::Bool)
}
