//! Appending items that may be there already: imports that are repeated after an interruption.

use std::collections::HashSet;
use std::sync::Arc;

use arrow::array::{AsArray, BooleanArray, RecordBatch};
use arrow::compute::filter_record_batch;
use datafusion::execution::SessionStateBuilder;
use datafusion::logical_expr::{ident, lit};
use datafusion::prelude::{SessionConfig, SessionContext};
use futures::StreamExt;

use crate::app_id::AppId;
use crate::batch::time_range;
use crate::blocking::uncancelled;
use crate::error::{Result, StoreError};
use crate::schema::{TIMESTAMP, Table};
use crate::snapshot::Snapshot;
use crate::store::{Ack, AppendRequest, Store};

/// The column with the identity of an item.
const ITEM_ID: &str = "itemId";

/// The outcome of [`Store::append_unique`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UniqueAck {
    /// As of [`Store::append`].
    pub ack: Ack,
    /// Rows that were stored.
    pub stored: usize,
    /// Rows that were there already, or twice in the request.
    pub duplicates: usize,
}

impl Store {
    /// Stores the items of a request that the application's tables do not hold yet. An item is the same if its `itemId` and its
    /// `timestamp` are. Items without an `itemId` are stored.
    ///
    /// Two such requests do not run at the same time, also if the caller of the first one stops waiting: it may be in the log's queue, where the second one
    /// would not find its items. Items of [`Store::append`], which have new identities, may arrive meanwhile.
    ///
    /// # Errors
    /// As of [`Store::append`]; [`StoreError::NotWithNodes`] if other nodes share the catalogue; [`StoreError::Uncertain`] if segments of the items' hours are damaged.
    pub async fn append_unique(self: &Arc<Self>, request: AppendRequest) -> Result<UniqueAck> {
        let store = Arc::clone(self);
        uncancelled(async move { store.append_new(request).await }).await
    }

    async fn append_new(&self, request: AppendRequest) -> Result<UniqueAck> {
        if !self.other_nodes().is_empty() {
            return Err(StoreError::NotWithNodes { what: "An import" });
        }
        let _one = self.appending_unique.lock().await;
        let snapshot = self.snapshot();
        let (mut stored, mut duplicates) = (0, 0);
        let mut batches = Vec::with_capacity(request.batches.len());
        for (table, batch) in request.batches {
            let known = known(&snapshot, request.app, table, &batch).await?;
            let new = without(&batch, known)?;
            stored += new.num_rows();
            duplicates += batch.num_rows() - new.num_rows();
            batches.push((table, new));
        }
        let app = request.app;
        let ack = self.append(AppendRequest { app, batches }).await?;
        Ok(UniqueAck {
            ack,
            stored,
            duplicates,
        })
    }
}

/// An item's identity and time.
type Identity = (String, i64);

/// Those items of a batch that a snapshot holds.
async fn known(
    snapshot: &Snapshot,
    app: AppId,
    table: Table,
    batch: &RecordBatch,
) -> Result<HashSet<Identity>> {
    let (from, to) = time_range(batch);
    let due: HashSet<Identity> = identities(batch).collect();
    let mut known = HashSet::new();
    let provider = snapshot.table(&[app], table);
    // Without functions and file formats, which the query does not use: DataFusion's defaults would keep all of them in the program.
    let state = SessionStateBuilder::new()
        .with_config(SessionConfig::new().with_target_partitions(1))
        .build();
    let session = SessionContext::new_with_state(state);
    let times = ident(TIMESTAMP)
        .gt_eq(lit(from))
        .and(ident(TIMESTAMP).lt_eq(lit(to)));
    let mut rows = session
        .read_table(Arc::new(provider))?
        .filter(times)?
        .select(vec![ident(ITEM_ID), ident(TIMESTAMP)])?
        .execute_stream()
        .await?;
    while let Some(batch) = rows.next().await {
        known.extend(identities(&batch?).filter(|identity| due.contains(identity)));
    }
    if snapshot.missing().is_empty() {
        Ok(known)
    } else {
        Err(StoreError::Uncertain {
            table: table.name(),
        })
    }
}

/// The identities of items that have one.
fn identities(batch: &RecordBatch) -> impl Iterator<Item = Identity> {
    all_identities(batch).into_iter().flatten()
}

/// The identity of each row; `None` for a row without one.
fn all_identities(batch: &RecordBatch) -> Vec<Option<Identity>> {
    let ids = batch.column_by_name(ITEM_ID);
    let ids = ids.and_then(|ids| ids.as_string_view_opt());
    let times = batch.column_by_name(TIMESTAMP);
    let times = times.and_then(|times| times.as_primitive_opt::<arrow::datatypes::Int64Type>());
    let (Some(ids), Some(times)) = (ids, times) else {
        return vec![None; batch.num_rows()];
    };
    let pairs = ids.iter().zip(times.iter());
    pairs
        .map(|(id, time)| Some((id.filter(|id| !id.is_empty())?.to_owned(), time?)))
        .collect()
}

/// The rows of a batch that are not known, each once.
fn without(batch: &RecordBatch, mut known: HashSet<Identity>) -> Result<RecordBatch> {
    let is_new = |identity: Option<Identity>| identity.is_none_or(|one| known.insert(one));
    let new: BooleanArray = all_identities(batch)
        .into_iter()
        .map(is_new)
        .map(Some)
        .collect();
    Ok(filter_record_batch(batch, &new)?)
}
