//! What filters of bound plans require of the terms of texts, for sources that have an index of terms.

use datafusion::common::ScalarValue;
use datafusion::logical_expr::{BinaryExpr, Expr, Operator};
use hindsight_kql_types::DynamicRef;
use hindsight_kql_types::terms::{Edges, TermCondition, required_terms};

use crate::call::{InnerKernel, KernelId, kernel_view};
use crate::{list_match, text_match};

/// Both ends of the searched text are at the ends of terms.
const WHOLE: Edges = Edges {
    left: true,
    right: true,
};
/// The end of the searched text may be within a term.
const PREFIX: Edges = Edges {
    left: true,
    right: false,
};
/// The beginning of the searched text may be within a term.
const SUFFIX: Edges = Edges {
    left: false,
    right: true,
};
/// Both ends may be within terms.
const PART: Edges = Edges {
    left: false,
    right: false,
};

/// The operators that search text for a constant, and how its ends lie.
static OPERATORS: [(&InnerKernel, Edges); 13] = [
    (&text_match::EQUALS_FOLDED, WHOLE),
    (&text_match::HAS, WHOLE),
    (&text_match::HAS_CS, WHOLE),
    (&text_match::HAS_PREFIX, PREFIX),
    (&text_match::HAS_PREFIX_CS, PREFIX),
    (&text_match::HAS_SUFFIX, SUFFIX),
    (&text_match::HAS_SUFFIX_CS, SUFFIX),
    (&text_match::CONTAINS, PART),
    (&text_match::CONTAINS_CS, PART),
    (&text_match::STARTS_WITH, PREFIX),
    (&text_match::STARTS_WITH_CS, PREFIX),
    (&text_match::ENDS_WITH, SUFFIX),
    (&text_match::ENDS_WITH_CS, SUFFIX),
];

/// A condition on the terms of text columns that every row meets that passes `filter`; `None` if it requires no term.
pub fn filter_terms(filter: &Expr) -> Option<TermCondition> {
    match filter {
        Expr::BinaryExpr(BinaryExpr { left, op, right }) => match op {
            Operator::And => all(vec![filter_terms(left), filter_terms(right)]),
            Operator::Or => any(vec![filter_terms(left), filter_terms(right)]),
            Operator::Eq => equal(left, right).or_else(|| equal(right, left)),
            _ => None,
        },
        Expr::IsTrue(inner) => filter_terms(inner),
        Expr::ScalarFunction(_) => call(filter),
        _ => None,
    }
}

/// Met by rows that meet all of these; a condition that requires nothing is met by all rows.
fn all(conditions: Vec<Option<TermCondition>>) -> Option<TermCondition> {
    let conditions: Vec<_> = conditions.into_iter().flatten().collect();
    (!conditions.is_empty()).then_some(TermCondition::All(conditions))
}

/// Met by rows that meet one of these; `None` if one of them requires nothing, or if there is none.
fn any(conditions: Vec<Option<TermCondition>>) -> Option<TermCondition> {
    let conditions: Vec<_> = conditions.into_iter().collect::<Option<_>>()?;
    (!conditions.is_empty()).then_some(TermCondition::Any(conditions))
}

fn equal(column: &Expr, value: &Expr) -> Option<TermCondition> {
    searched(column_name(column)?, text(value)?, WHOLE)
}

fn call(filter: &Expr) -> Option<TermCondition> {
    let call = kernel_view(filter)?;
    let [first, second] = call.args else {
        return None;
    };
    let column = column_name(first)?;
    let is = |kernel: &'static InnerKernel| call.id == KernelId::Inner(kernel);
    if let Some((_, edges)) = OPERATORS.iter().find(|(kernel, _)| is(kernel)) {
        return searched(column, text(second)?, *edges);
    }
    // A null item matches any text, as the empty text does.
    let items = |list: &Expr| -> Option<Vec<Option<TermCondition>>> {
        let list = DynamicRef::new(binary(list)?);
        let items = (list.type_name() == "array").then(|| list.iter_array())?;
        let condition = |item: DynamicRef<'_>| {
            let mut text = String::new();
            item.to_text(&mut text);
            searched(column, &text, WHOLE)
        };
        Some(items.map(condition).collect())
    };
    if is(&list_match::HAS_ANY) {
        any(items(second)?)
    } else if is(&list_match::HAS_ALL) {
        all(items(second)?)
    } else {
        None
    }
}

fn searched(column: &str, searched: &str, edges: Edges) -> Option<TermCondition> {
    let terms = required_terms(searched, edges).into_iter();
    let has = |term| TermCondition::Has {
        column: column.to_owned(),
        term,
    };
    all(terms.map(|term| Some(has(term))).collect())
}

fn column_name(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Column(column) => Some(&column.name),
        _ => None,
    }
}

fn text(expr: &Expr) -> Option<&str> {
    match expr {
        Expr::Literal(value, _) => value.try_as_str().flatten(),
        _ => None,
    }
}

fn binary(expr: &Expr) -> Option<&[u8]> {
    match expr {
        Expr::Literal(
            ScalarValue::BinaryView(Some(bytes))
            | ScalarValue::Binary(Some(bytes))
            | ScalarValue::LargeBinary(Some(bytes)),
            _,
        ) => Some(bytes),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use datafusion::prelude::{col, lit};
    use hindsight_kql_types::ScalarType;

    use super::*;
    use crate::call::kernel_call;

    fn operator(kernel: &'static InnerKernel, column: &str, searched: &str) -> Expr {
        let args = vec![col(column), lit(searched)];
        let kinds = vec![ScalarType::String, ScalarType::String];
        kernel_call(kernel, args, kinds, ScalarType::Bool)
    }

    /// `column:term`, `(… & …)`, `(… | …)`.
    fn shown(condition: &TermCondition) -> String {
        let joined = |conditions: &[TermCondition], by: &str| {
            let all: Vec<String> = conditions.iter().map(shown).collect();
            format!("({})", all.join(by))
        };
        match condition {
            TermCondition::Has { column, term } => format!("{column}:{term}"),
            TermCondition::All(conditions) => joined(conditions, " & "),
            TermCondition::Any(conditions) => joined(conditions, " | "),
        }
    }

    fn check(filter: Expr, expected: Option<&str>) {
        let found = filter_terms(&filter).as_ref().map(shown);
        assert_eq!(found.as_deref(), expected, "{filter}");
    }

    #[test]
    fn operators_require_the_terms_within_what_they_search() {
        let has = || operator(&text_match::HAS, "m", "Dead LOCK");
        let part = || operator(&text_match::CONTAINS, "m", "a b");
        check(has(), Some("(m:dead & m:lock)"));
        check(operator(&text_match::HAS_CS, "m", "Lock"), Some("(m:lock)"));
        check(operator(&text_match::HAS_PREFIX, "m", "a b"), Some("(m:a)"));
        check(
            operator(&text_match::STARTS_WITH, "m", "a b"),
            Some("(m:a)"),
        );
        check(operator(&text_match::ENDS_WITH, "m", "a b"), Some("(m:b)"));
        check(part(), None);
        check(operator(&text_match::CONTAINS, "m", "a b c"), Some("(m:b)"));
        check(operator(&text_match::HAS, "m", ""), None);
        check(has().and(part()), Some("((m:dead & m:lock))"));
        check(has().or(part()), None);
        check(
            has().or(col("m").eq(lit("x"))),
            Some("((m:dead & m:lock) | (m:x))"),
        );
        check(!has(), None);
        check(col("m").not_eq(lit("x")), None);
    }
}
