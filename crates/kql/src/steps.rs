//! Steps: sub-queries that run once, before the results of a query (`docs/semantics.md §14.5, §14.6`).

use std::sync::Arc;

use arrow::datatypes::{Field, Schema, SchemaRef};
use async_trait::async_trait;
use datafusion::catalog::{Session, TableProvider};
use datafusion::common::{DataFusionError, Result};
use datafusion::datasource::{MemTable, TableType};
use datafusion::logical_expr::{Expr as PlanExpr, LogicalPlan};
use datafusion::physical_plan::ExecutionPlan;
use hindsight_kql_types::ScalarType;
use parking_lot::RwLock;

use crate::held::HeldRows;
use crate::relation::Column;

/// A sub-query that is executed before the results. Its plan may contain the placeholders of earlier steps.
#[derive(Debug)]
pub struct Step {
    /// The placeholder that its value replaces: `$1`, `$2`, … (`StepKind::Scalar`, `StepKind::List`).
    pub id: String,
    /// The plan of the sub-query.
    pub plan: LogicalPlan,
    /// The use of its rows.
    pub kind: StepKind,
}

/// The use of the rows of a [`Step`].
#[derive(Debug, Clone)]
pub enum StepKind {
    /// The first column of the first row; null (`""`) without rows.
    Scalar(ScalarType),
    /// The first column of all rows as one dynamic array.
    List(ScalarType),
    /// All rows: they fill the table that later plans scan.
    Table(Arc<MaterializedTable>),
}

/// The rows of a `materialize`, empty until its step is executed.
#[derive(Debug)]
pub struct MaterializedTable {
    schema: SchemaRef,
    rows: RwLock<Option<Arc<HeldRows>>>,
}

impl MaterializedTable {
    /// Creates an empty table with these columns.
    pub(crate) fn empty(columns: &[Column]) -> MaterializedTable {
        let fields = columns
            .iter()
            .map(|c| Field::new(&c.name, c.kind.arrow(), true))
            .collect::<Vec<_>>();
        MaterializedTable {
            schema: Arc::new(Schema::new(fields)),
            rows: RwLock::new(None),
        }
    }

    /// The schema that the rows must have.
    pub fn arrow_schema(&self) -> &SchemaRef {
        &self.schema
    }

    /// Fills the table. The memory of the rows stays reserved as long as the table exists.
    pub fn fill(&self, rows: Arc<HeldRows>) {
        *self.rows.write() = Some(rows);
    }
}

#[async_trait]
impl TableProvider for MaterializedTable {
    fn schema(&self) -> SchemaRef {
        Arc::clone(&self.schema)
    }

    fn table_type(&self) -> TableType {
        TableType::Temporary
    }

    async fn scan(
        &self,
        state: &dyn Session,
        projection: Option<&Vec<usize>>,
        filters: &[PlanExpr],
        limit: Option<usize>,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        let rows = self.rows.read().clone();
        let rows = rows.ok_or_else(|| {
            DataFusionError::Internal(
                "a materialised table is read before its step has run".to_owned(),
            )
        })?;
        MemTable::try_new(Arc::clone(&self.schema), vec![rows.batches().to_vec()])?
            .scan(state, projection, filters, limit)
            .await
    }
}
