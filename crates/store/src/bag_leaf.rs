//! A promoted column where nothing promotes it: the key is read from the bag.
//!
//! Segments differ in what they promote, so expressions are adapted file by file.

use std::fmt::{self, Display, Formatter};
use std::hash::{Hash, Hasher};
use std::sync::Arc;

use arrow::array::AsArray;
use arrow::datatypes::{DataType, Schema, SchemaRef};
use arrow::record_batch::RecordBatch;
use datafusion::common::ScalarValue;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::error::{DataFusionError, Result};
use datafusion::logical_expr::ColumnarValue;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::{Column, lit};
use datafusion::physical_expr_adapter::{
    DefaultPhysicalExprAdapterFactory, PhysicalExprAdapter, PhysicalExprAdapterFactory,
};

use crate::promote::PromotedColumn;

/// Reads one key of a bag.
#[derive(Debug)]
pub(crate) struct BagLeaf {
    bag: Arc<dyn PhysicalExpr>,
    column: PromotedColumn,
}

impl BagLeaf {
    /// The key of `column` in the bag that lies in `schema`.
    pub(crate) fn in_schema(
        column: &PromotedColumn,
        schema: &Schema,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        Ok(Arc::new(BagLeaf {
            bag: Arc::new(Column::new_with_schema(&column.bag, schema)?),
            column: column.clone(),
        }))
    }
}

// Written out because the derived ones move out of the trait object.
impl PartialEq for BagLeaf {
    fn eq(&self, other: &BagLeaf) -> bool {
        self.bag.eq(&other.bag) && self.column == other.column
    }
}

impl Eq for BagLeaf {}

impl Hash for BagLeaf {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.bag.hash(state);
        self.column.hash(state);
    }
}

impl Display for BagLeaf {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "leaf({}, {:?})", self.bag, self.column.key)
    }
}

impl PhysicalExpr for BagLeaf {
    fn data_type(&self, _input_schema: &Schema) -> Result<DataType> {
        Ok(self.column.kind.arrow())
    }

    fn nullable(&self, _input_schema: &Schema) -> Result<bool> {
        Ok(true)
    }

    fn evaluate(&self, batch: &RecordBatch) -> Result<ColumnarValue> {
        let bags = self.bag.evaluate(batch)?.into_array(batch.num_rows())?;
        let bags = bags.as_binary_view_opt().ok_or_else(|| {
            DataFusionError::Internal(format!("{} is not a bag", self.column.bag))
        })?;
        Ok(ColumnarValue::Array(self.column.extract(bags)))
    }

    fn children(&self) -> Vec<&Arc<dyn PhysicalExpr>> {
        vec![&self.bag]
    }

    fn with_new_children(
        self: Arc<Self>,
        mut children: Vec<Arc<dyn PhysicalExpr>>,
    ) -> Result<Arc<dyn PhysicalExpr>> {
        let bag = children
            .pop()
            .ok_or_else(|| DataFusionError::Internal("a leaf lost its bag".to_owned()))?;
        Ok(Arc::new(BagLeaf {
            bag,
            column: self.column.clone(),
        }))
    }

    fn fmt_sql(&self, f: &mut Formatter<'_>) -> fmt::Result {
        Display::fmt(self, f)
    }
}

/// Adapts expressions over a table to the columns that one file has.
#[derive(Debug)]
pub(crate) struct StoreExprAdapterFactory {
    promoted: Arc<[PromotedColumn]>,
}

impl StoreExprAdapterFactory {
    pub(crate) fn new(promoted: Arc<[PromotedColumn]>) -> StoreExprAdapterFactory {
        StoreExprAdapterFactory { promoted }
    }
}

impl PhysicalExprAdapterFactory for StoreExprAdapterFactory {
    fn create(
        &self,
        logical: SchemaRef,
        physical: SchemaRef,
    ) -> Result<Arc<dyn PhysicalExprAdapter>> {
        Ok(Arc::new(StoreExprAdapter {
            rest: DefaultPhysicalExprAdapterFactory.create(logical.clone(), physical.clone())?,
            promoted: self.promoted.clone(),
            logical,
            physical,
        }))
    }
}

#[derive(Debug)]
struct StoreExprAdapter {
    promoted: Arc<[PromotedColumn]>,
    logical: SchemaRef,
    physical: SchemaRef,
    /// Finds the columns that the file has.
    rest: Arc<dyn PhysicalExprAdapter>,
}

impl PhysicalExprAdapter for StoreExprAdapter {
    fn rewrite(&self, expr: Arc<dyn PhysicalExpr>) -> Result<Arc<dyn PhysicalExpr>> {
        let served = expr
            .transform_up(|expr| match self.instead_of(expr.as_ref())? {
                Some(other) => Ok(Transformed::yes(other)),
                None => Ok(Transformed::no(expr)),
            })
            .data()?;
        self.rest.rewrite(served)
    }
}

impl StoreExprAdapter {
    /// What stands for a column that the file does not have.
    fn instead_of(&self, expr: &dyn PhysicalExpr) -> Result<Option<Arc<dyn PhysicalExpr>>> {
        let Some(column) = expr.downcast_ref::<Column>() else {
            return Ok(None);
        };
        let promoted = self
            .promoted
            .iter()
            .find(|promoted| promoted.name() == column.name());
        let found = self.physical.field_with_name(column.name()).ok();
        match (promoted, found) {
            (Some(promoted), Some(field)) if *field.data_type() == promoted.kind.arrow() => {
                Ok(None)
            }
            (Some(promoted), _) => BagLeaf::in_schema(promoted, &self.logical).map(Some),
            (None, Some(_)) => Ok(None),
            (None, None) => Ok(self.absent_text(column.name())),
        }
    }

    /// A file of an older version lacks a text column: absent text is `""`, never null.
    fn absent_text(&self, name: &str) -> Option<Arc<dyn PhysicalExpr>> {
        let field = self.logical.field_with_name(name).ok()?;
        let is_text = *field.data_type() == DataType::Utf8View;
        is_text.then(|| lit(ScalarValue::Utf8View(Some(String::new()))))
    }
}
