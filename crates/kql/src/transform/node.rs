//! The logical node around a [`Transform`].

use std::cmp::Ordering;
use std::collections::HashSet;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::datatypes::{Field, Schema};
use datafusion::common::{DFSchema, DFSchemaRef, Result};
use datafusion::logical_expr::{Expr, Extension, LogicalPlan, UserDefinedLogicalNodeCore};

use super::Reads;
use super::Transform;
use super::only_input::only_input;
use crate::random::RandomSource;
use crate::relation::{Column, Relation};

/// A transform with its input and its output schema.
#[derive(Clone)]
pub(crate) struct TransformNode {
    pub(crate) transform: Arc<dyn Transform>,
    input: LogicalPlan,
    schema: DFSchemaRef,
    identity: String,
}

/// Runs `transform` over `input`. `columns` are all the fields of the output, in order.
///
/// # Errors
/// Two columns have the same name.
pub(crate) fn transformed(
    transform: Arc<dyn Transform>,
    input: LogicalPlan,
    columns: Vec<impl Into<Column>>,
    serialized: bool,
) -> Result<Relation> {
    let columns: Vec<Column> = columns.into_iter().map(Into::into).collect();
    let fields = columns
        .iter()
        .map(|c| Field::new(&c.name, c.kind.arrow(), true))
        .collect::<Vec<_>>();
    let schema = DFSchema::try_from(Schema::new(fields))?;
    let node = TransformNode {
        identity: format!("{transform:?}"),
        transform,
        input,
        schema: Arc::new(schema),
    };
    Ok(Relation {
        plan: LogicalPlan::Extension(Extension {
            node: Arc::new(node),
        }),
        columns,
        serialized,
    })
}

/// Whether the output of an extension node depends on the order of its input rows.
pub(crate) fn depends_on_order(extension: &Extension) -> bool {
    let node = extension.node.as_any().downcast_ref::<TransformNode>();
    node.is_none_or(|node| node.transform.reads() == Reads::OneStream)
}

/// [`Transform::random_rows`] of an extension node.
pub(crate) fn random_rows(extension: &Extension) -> Option<(usize, &RandomSource)> {
    let node = extension.node.as_any().downcast_ref::<TransformNode>()?;
    node.transform.random_rows()
}

/// The node over `input`, which has the fields of the present input and further ones that the output then has as well; `None`
/// if the transform does not keep rows ([`Transform::keeps_rows`]).
pub(crate) fn with_wider_input(
    extension: &Extension,
    input: LogicalPlan,
) -> Result<Option<Extension>> {
    let node = extension.node.as_any().downcast_ref::<TransformNode>();
    let Some(node) = node.filter(|node| node.transform.keeps_rows()) else {
        return Ok(None);
    };
    let own = node.input.schema().fields().len();
    let added = node.schema.iter().skip(own);
    let fields = input.schema().iter().chain(added);
    let fields = fields.map(|(qualifier, field)| (qualifier.cloned(), Arc::clone(field)));
    let metadata = node.schema.metadata().clone();
    let schema = DFSchema::new_with_metadata(fields.collect(), metadata)?;
    Ok(Some(Extension {
        node: Arc::new(TransformNode {
            schema: Arc::new(schema),
            input,
            ..node.clone()
        }),
    }))
}

impl fmt::Debug for TransformNode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.identity)
    }
}

impl PartialEq for TransformNode {
    fn eq(&self, other: &TransformNode) -> bool {
        self.identity == other.identity && self.input == other.input && self.schema == other.schema
    }
}

impl Eq for TransformNode {}

impl PartialOrd for TransformNode {
    fn partial_cmp(&self, other: &TransformNode) -> Option<Ordering> {
        (self == other).then_some(Ordering::Equal)
    }
}

impl Hash for TransformNode {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.identity.hash(state);
        self.input.hash(state);
    }
}

impl TransformNode {
    /// The fields over an input that may lack some fields that were only passed through. A field that the transform adds has
    /// a name that no field of the input has, because both are fields of the output.
    fn schema_over(&self, input: &LogicalPlan) -> Result<DFSchemaRef> {
        let (before, now) = (self.input.schema(), input.schema());
        let has = |schema: &DFSchemaRef, name: &str| schema.has_column_with_unqualified_name(name);
        let lost = |name: &str| has(before, name) && !has(now, name);
        if !self.schema.fields().iter().any(|f| lost(f.name())) {
            return Ok(Arc::clone(&self.schema));
        }
        let fields = self.schema.iter().filter(|(_, field)| !lost(field.name()));
        let fields = fields.map(|(qualifier, field)| (qualifier.cloned(), Arc::clone(field)));
        let metadata = self.schema.metadata().clone();
        Ok(Arc::new(DFSchema::new_with_metadata(
            fields.collect(),
            metadata,
        )?))
    }
}

impl UserDefinedLogicalNodeCore for TransformNode {
    fn name(&self) -> &str {
        self.transform.name()
    }

    fn inputs(&self) -> Vec<&LogicalPlan> {
        vec![&self.input]
    }

    fn schema(&self) -> &DFSchemaRef {
        &self.schema
    }

    fn expressions(&self) -> Vec<Expr> {
        Vec::new()
    }

    fn prevent_predicate_push_down_columns(&self) -> HashSet<String> {
        let passes = self.transform.allows_predicate_pushdown();
        let below = self.input.schema();
        let names = self.schema.fields().iter().map(|field| field.name());
        let made = names.filter(|name| !passes || !below.has_column_with_unqualified_name(name));
        made.cloned().collect()
    }

    fn fmt_for_explain(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.identity)
    }

    fn with_exprs_and_inputs(
        &self,
        _: Vec<Expr>,
        inputs: Vec<LogicalPlan>,
    ) -> Result<TransformNode> {
        let input = only_input(inputs, self.transform.name())?;
        let schema = self.schema_over(&input)?;
        Ok(TransformNode {
            input,
            schema,
            ..self.clone()
        })
    }

    /// Of the fields that are only passed through, those that the plan above reads.
    fn necessary_children_exprs(&self, above: &[usize]) -> Option<Vec<Vec<usize>>> {
        let fields = self.input.schema().fields();
        let Some(own) = self.transform.required_columns() else {
            return Some(vec![(0..fields.len()).collect()]);
        };
        let read = |name: &String| {
            let mut above = above.iter().filter_map(|i| self.schema.fields().get(*i));
            own.contains(name) || above.any(|field| field.name() == name)
        };
        let needed = (0..fields.len()).filter(|i| fields.get(*i).is_some_and(|f| read(f.name())));
        let mut needed: Vec<usize> = needed.collect();
        if needed.is_empty() {
            // Some column is needed to count the rows.
            needed.push(0);
        }
        Some(vec![needed])
    }
}
