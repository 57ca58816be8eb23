//! Other nodes for tests: they run fragments over the same store, and fail as a test requires.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use arrow::array::{ArrayRef, Int64Array};
use arrow::record_batch::RecordBatch;
use futures::{FutureExt, StreamExt, TryStreamExt, future, stream};
use hindsight_store::{NodeId, NodeRecord, NodeRole, Store, StoreError};

use super::nodes::{Distribution, FragmentCall, FragmentReply, FragmentRequest, QueryNodes};
use super::scan_codec::plan_codec;
use crate::deadline::Deadline;
use crate::engine::FragmentRows;
use crate::exec::Executor;

/// How the other nodes behave.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Behaviour {
    Healthy,
    /// They refuse.
    Refuse,
    /// Their streams end before their end, after this many batches.
    Stop(usize),
    /// They fail after this many batches.
    Fail(usize),
    /// They send other columns.
    OtherColumns,
    /// They reply to nothing.
    Silent,
}

/// Other nodes over the same store.
#[derive(Debug)]
pub(crate) struct Others {
    executor: Arc<Executor>,
    pub(crate) behaviour: Behaviour,
    /// Fragments that run.
    pub(crate) running: Arc<AtomicUsize>,
    /// Fragments that were requested.
    pub(crate) requested: AtomicUsize,
}

impl Others {
    /// Two other nodes, which run fragments with this executor.
    pub(crate) fn new(executor: Executor, behaviour: Behaviour) -> Arc<Others> {
        Arc::new(Others {
            executor: Arc::new(executor),
            behaviour,
            running: Arc::default(),
            requested: AtomicUsize::new(0),
        })
    }

    /// The distribution of a query over these nodes, with the rules of their executor.
    pub(crate) fn distribution(
        this: &Arc<Others>,
        store: &Arc<Store>,
        least_bytes: u64,
    ) -> Arc<Distribution> {
        let nodes = Arc::clone(this) as Arc<dyn QueryNodes>;
        let of = (
            &Arc::from("a principal"),
            Deadline::after(Duration::from_secs(36_000)),
        );
        let codec = Arc::new(plan_codec(Arc::clone(store)));
        Distribution::over(
            &nodes,
            (least_bytes, this.executor.partitions),
            &codec,
            &this.executor.rules,
            of,
        )
        .unwrap()
    }
}

fn id(number: u128) -> NodeId {
    format!("00000000-0000-7000-8000-{number:012x}")
        .parse()
        .unwrap()
}

pub(super) fn node(number: u64) -> NodeRecord {
    NodeRecord {
        id: id(u128::from(number)),
        number,
        name: format!("node-{number}"),
        role: NodeRole::Query,
        address: format!("http://node-{number}"),
        version: String::new(),
        started: 0,
        heartbeat: 0,
        silent_for: Duration::ZERO,
        maintained: 0,
        log_position: 0,
        log_sequence: 0,
        drained: true,
        copy: None,
    }
}

fn failed(node: &NodeRecord) -> StoreError {
    StoreError::Node {
        name: node.name.clone(),
        what: "is being killed".to_owned(),
    }
}

/// Counts a fragment until it is dropped.
struct Running(Arc<AtomicUsize>);

impl Drop for Running {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

impl QueryNodes for Others {
    fn own(&self) -> Option<NodeId> {
        Some(id(0))
    }

    fn others(&self) -> Vec<NodeRecord> {
        vec![node(1), node(2)]
    }

    fn run(&self, node: &NodeRecord, request: FragmentRequest) -> FragmentCall {
        self.requested.fetch_add(1, Ordering::SeqCst);
        self.running.fetch_add(1, Ordering::SeqCst);
        let running = Running(Arc::clone(&self.running));
        let (node, executor) = (node.clone(), Arc::clone(&self.executor));
        let replies = stream::once(async move {
            let started = executor.run_fragment(request).await;
            let rows = started.map(FragmentRows::of).unwrap();
            stream::try_unfold((rows, running), |(mut rows, running)| async move {
                let reply = rows.next().await.unwrap();
                Ok(reply.map(|reply| (reply, (rows, running))))
            })
        });
        let replies = replies.flatten();
        let replies = match self.behaviour {
            Behaviour::Healthy => replies.boxed(),
            Behaviour::Refuse => stream::iter([Err(failed(&node))]).boxed(),
            Behaviour::Stop(batches) => replies.take(batches).boxed(),
            Behaviour::Fail(batches) => {
                let failure = stream::iter([Err(failed(&node))]);
                replies.take(batches).chain(failure).boxed()
            }
            Behaviour::OtherColumns => {
                let other: ArrayRef = Arc::new(Int64Array::from(vec![1]));
                let other = RecordBatch::try_from_iter([("other", other)]).unwrap();
                let first = stream::iter([Ok(FragmentReply::Rows(other))]);
                first.chain(replies).boxed()
            }
            Behaviour::Silent => stream::pending().chain(replies).boxed(),
        };
        let named = |error: &StoreError| assert!(error.to_string().contains("node-"));
        let sent = match self.behaviour {
            Behaviour::Silent => future::pending().boxed(),
            _ => future::ready(()).boxed(),
        };
        FragmentCall {
            replies: replies.inspect_err(named).boxed(),
            sent,
        }
    }
}
