//! Queries over several nodes: that their answers are those of one node, also if nodes fail, and what stays at one node.

use std::collections::HashSet;
use std::sync::atomic::Ordering;
use std::time::Duration;

use datafusion::common::config::ConfigOptions;
use datafusion::execution::memory_pool::{GreedyMemoryPool, MemoryPool};
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::execution_plan::replace_children_if_necessary;
use hindsight_kql::session;

use super::*;
use crate::distributed::DistributeFragments;
use crate::distributed::testing::{Behaviour, Others};

/// A store with three nodes over it.
struct Cluster {
    world: World,
    others: Arc<Others>,
}

impl Cluster {
    async fn new(behaviour: Behaviour) -> Cluster {
        Cluster::with(behaviour, 1 << 20, false).await
    }

    /// Twelve hours of requests that are sealed, one of which is in memory too, and one that is in memory alone. The segments of the day may be merged.
    async fn with(behaviour: Behaviour, column_cache: usize, merged: bool) -> Cluster {
        let world = World::with_column_cache(column_cache).await;
        for hour in (4..12).chain([11, 12]) {
            if hour < 12 {
                world.store.seal_all().await.unwrap();
            }
            if hour == 12 && merged {
                world.store.compact().await.unwrap();
            }
            let batches = vec![(Table::Requests, items(Table::Requests, hour))];
            let request = AppendRequest {
                app: world.app,
                batches,
            };
            world.store.append(request).await.unwrap();
        }
        let config = EngineConfig {
            partitions: 2,
            ..EngineConfig::default()
        };
        let others = Others::new(executor(&world.store, &config), behaviour);
        Cluster { world, others }
    }

    async fn run_within(
        &self,
        query: &str,
        least_bytes: u64,
        pool: Arc<dyn MemoryPool>,
    ) -> datafusion::common::Result<Ran> {
        let distribution = Others::distribution(&self.others, &self.world.store, least_bytes);
        let context = self.world.executor.context(pool, Some(distribution));
        let context = context.unwrap();
        self.world.run_in(context, query, true).await
    }

    /// Runs a query with everything distributed that can be.
    async fn run(&self, query: &str) -> Ran {
        let pool = Arc::new(UnboundedMemoryPool::default());
        self.run_within(query, 0, pool).await.unwrap()
    }
}

/// Queries with fragments of each kind.
const DISTRIBUTED: &[&str] = &[
    "requests | summarize countif(duration > 20)",
    "requests | summarize n = count(), avg(duration), sum(duration), min(id), max(timestamp) by name",
    "requests | summarize dcount(user_Id), dcountif(id, success == false) by bin(timestamp, 30m)",
    "requests | summarize percentiles(duration, 50, 95, 99), s = round(stdev(duration), 6) by name",
    "requests | summarize arg_max(duration, *) by name | project name, duration",
    "requests | summarize take_any(cloud_RoleInstance), countif(success == true), make_set(name) by cloud_RoleName | extend set_name = array_sort_asc(set_name)",
    "requests | where name contains '3' and duration > 20 | project id, name, d = duration * 2",
    "requests | where customDimensions.region == 'region-1' | summarize count() by tostring(customDimensions.tenantId)",
    "requests | sort by duration desc, id asc | take 20 | project id, duration",
    "requests | sort by id desc | take 7 | project id",
    "requests | distinct name, cloud_RoleName",
    "requests | extend hour = hourofday(timestamp), kind = iff(duration > 25, 'slow', strcat('fast-', resultCode)) | summarize count() by hour, kind",
    "requests | mv-expand key = bag_keys(customDimensions) to typeof(string) | summarize count() by key",
    "requests | parse id with * '-id-' hour: long '-' row: long | summarize sum(row) by hour",
    "union requests, dependencies | summarize count(), avg(duration) by itemType, name",
    "union requests, (dependencies | summarize duration = max(duration) by name) | summarize count(), sum(duration) by name",
    "requests | where success == false | join kind=inner (dependencies | where duration > 48 | project operation_Id, target = name) on operation_Id | summarize count() by name, target",
    "requests | join kind=leftouter (traces | summarize messages = count() by operation_Id) on operation_Id | summarize sum(messages), count() by cloud_RoleName",
    "requests | make-series n = count(), d = avg(duration) default = 0.0 on timestamp step 30m by cloud_RoleName",
    "traces | where message has 'deadlock' | summarize count() by bin(timestamp, 1h)",
    "let busy = toscalar(requests | summarize n = count() by name | sort by n desc, name asc | take 1 | project name); requests | where name == busy | summarize count() by user_Id",
    "requests | where duration > toscalar(requests | summarize avg(duration)) | summarize count() by name",
    "requests | summarize hint.strategy = shuffle count() by id | count",
    "requests | summarize count(), percentiles(duration, 50, 95) by bin(timestamp, 5m), name | order by timestamp asc, name asc",
    "requests | extend slot = bin(timestamp, 7m) | where duration > 3 | summarize n = count() by slot | summarize max(n), count()",
    "union requests, (requests | where duration > 10 | take 5) | summarize n = count() by bin(timestamp, 1h) | summarize sum(n), count()",
    "union requests, dependencies, (traces | where message has 'deadlock') | summarize count(), dcount(name), max(id) by bin(timestamp, 7m), itemType",
    "requests | summarize n = count() by bin(timestamp, 1h) | join kind=leftouter (requests | summarize d = dcount(user_Id) by bin(timestamp, 1h)) on timestamp | project timestamp, n, d",
];

/// Queries that read little, or rows that no other node could choose.
const LOCAL: &[&str] = &[
    "requests | summarize count()",
    "requests | take 10",
    "requests | sort by timestamp desc | take 50 | project id",
    "requests | where name contains '3' | take 3",
    "requests | project id, name, duration",
    "requests | where timestamp > datetime(2026-11-20T01:00:00Z) | project id",
    "requests | where rand() < 2 | summarize count()",
    "requests | summarize count(), take_any(geo_info_from_ip_address(client_IP))",
    "print now()",
];

impl Cluster {
    /// Checks that the queries have the answers of one node, and whether shares of other nodes ran here.
    async fn compare(&self, fails: bool) {
        let mut wrong = Vec::new();
        for query in DISTRIBUTED {
            let (one, all) = (self.world.run(query).await, self.run(query).await);
            let is_distributed = all.plan.contains("DistributedExec: nodes=[node-");
            let failed = !all.plan.contains("failed_over=0");
            if !is_distributed || failed != fails || one.rows() != all.rows() {
                wrong.push(format!("{query}\n{}", all.plan));
            }
        }
        let (behaviour, count) = (self.others.behaviour, wrong.len());
        assert!(
            wrong.is_empty(),
            "{count}, {behaviour:?}:\n{}",
            wrong.join("\n")
        );
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn distributed_queries_have_the_answers_of_one_node() {
    let cluster = Cluster::new(Behaviour::Healthy).await;
    cluster.compare(false).await;
    assert_eq!(cluster.others.running.load(Ordering::SeqCst), 0);
}

/// The nodes read the same segment of a day, each a slice of it. A cache that holds no column leaves the segments to the Parquet reader.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn slices_of_one_segment_have_the_answers_of_one_node() {
    for column_cache in [1, 1 << 20] {
        let cluster = Cluster::with(Behaviour::Healthy, column_cache, true).await;
        cluster.compare(false).await;
        for query in [
            "requests | summarize count(), dcount(user_Id) by bin(timestamp, 5m)",
            "requests | where timestamp between (datetime(2026-11-19T02:10:00Z) .. datetime(2026-11-19T07:20:00Z)) | summarize count() by name",
        ] {
            let (one, all) = (cluster.world.run(query).await, cluster.run(query).await);
            all.has("DistributedExec: nodes=[node-1, node-2]");
            let files = all.plan.split([' ', '[', ']', ',']);
            let files: HashSet<&str> = files.filter(|word| word.ends_with(".parquet")).collect();
            assert_eq!(files.len(), 1, "{}", all.plan);
            assert_eq!(one.rows(), all.rows(), "{query}");
        }
    }
}

/// Whether the share of this node is aggregated in full: the phase below the distributed node is the last one.
fn is_partitionwise(ran: &Ran) -> bool {
    let lines = ran.plan.lines().map(str::trim_start);
    let mut lines = lines.skip_while(|line| !line.starts_with("DistributedExec"));
    let below = lines.nth(1).expect("the query is distributed");
    below.starts_with("AggregateExec: mode=Final")
        || below.starts_with("AggregateExec: mode=Single")
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_compute_whole_groups_of_bins() {
    let cluster = Cluster::new(Behaviour::Healthy).await;
    for (query, expected) in [
        ("requests | summarize count() by bin(timestamp, 5m)", true),
        (
            "requests | summarize percentile(duration, 95) by name, bin(timestamp, 1h)",
            true,
        ),
        (
            "requests | extend slot = bin(timestamp, 20m) | where duration > 3 | summarize dcount(user_Id) by slot",
            true,
        ),
        (
            "requests | summarize n = count() by bin(timestamp, 1h) | order by n desc, timestamp asc | take 3",
            true,
        ),
        (
            "union requests, dependencies, traces | summarize count(), max(id) by itemType, bin(timestamp, 5m)",
            true,
        ),
        (
            "union requests, (dependencies | extend timestamp = timestamp + 1m) | summarize count() by itemType, bin(timestamp, 5m)",
            false,
        ),
        // Bins of two segments.
        ("requests | summarize count() by bin(timestamp, 2h)", false),
        // Hours whose bins are the same are one unit, which is cut where a bin begins.
        ("requests | summarize count() by bin(timestamp, 59m)", true),
        // Groups of several times.
        ("requests | summarize count() by name", false),
        (
            "requests | summarize count() by hourofday(timestamp), name",
            false,
        ),
        ("requests | summarize count() by bin(duration, 10)", false),
    ] {
        let ran = cluster.run(query).await;
        assert_eq!(is_partitionwise(&ran), expected, "{query}\n{}", ran.plan);
        if query.contains("by bin(timestamp") {
            ran.has("GroupByCodesExec");
        }
        assert_eq!(ran.rows(), cluster.world.run(query).await.rows(), "{query}");
    }
}

/// The first node of a plan with this name.
fn find(plan: &Arc<dyn ExecutionPlan>, name: &str) -> Option<Arc<dyn ExecutionPlan>> {
    if plan.name() == name {
        return Some(Arc::clone(plan));
    }
    plan.children()
        .into_iter()
        .find_map(|child| find(child, name))
}

impl Cluster {
    /// The plan of a query at one node.
    async fn planned(&self, context: &SessionContext, query: &str) -> Arc<dyn ExecutionPlan> {
        let plan = self.world.bound_in(context, query, true).await.unwrap();
        let frame = context.execute_logical_plan(plan).await.unwrap();
        frame.create_physical_plan().await.unwrap()
    }
}

/// An aggregation of many estimated groups hashes them into more partitions than its input has, which are coalesced above it.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_compute_whole_groups_in_more_partitions() {
    let cluster = Cluster::new(Behaviour::Healthy).await;
    // Without the rules of scans, which run after the one that is tested.
    let config = session::config().with_target_partitions(2);
    let context = session::context_with(config, Arc::default()).unwrap();
    let groups = "range x from 1 to 9000000 step 1 | summarize count() by x";
    let groups = cluster.planned(&context, groups).await;
    let coalesced = find(&groups, "CoalesceHashPartitionsExec").expect("the groups are many");
    let plan = async || {
        let query = "requests | summarize count() by bin(timestamp, 5m)";
        let plan = cluster.planned(&context, query).await;
        let aggregated = find(&plan, "AggregateExec").unwrap();
        replace_children_if_necessary(Arc::clone(&coalesced), vec![aggregated]).unwrap()
    };
    let expected = run_physical(plan().await, &context).await.unwrap();
    let distribution = Others::distribution(&cluster.others, &cluster.world.store, 0);
    let rule = DistributeFragments(distribution);
    let options = ConfigOptions::default();
    let plan = rule.optimize(plan().await, &options).unwrap();
    let ran = run_physical(plan, &context).await.unwrap();
    assert!(is_partitionwise(&ran), "{}", ran.plan);
    assert_eq!(ran.rows(), expected.rows());
}

#[tokio::test]
async fn other_nodes_begin_before_the_share_of_this_node_is_read() {
    let cluster = Cluster::new(Behaviour::Healthy).await;
    let distribution = Others::distribution(&cluster.others, &cluster.world.store, 0);
    let pool = Arc::new(UnboundedMemoryPool::default());
    let context = cluster.world.executor.context(pool, Some(distribution));
    let context = context.unwrap();
    let query = "requests | sort by duration desc, id asc | take 5 | project id";
    let plan = cluster.planned(&context, query).await;
    let node = find(&plan, "DistributedExec").expect("the query is distributed");
    let own = node.execute(0, context.task_ctx()).unwrap();
    assert_eq!(cluster.others.requested.load(Ordering::SeqCst), 2);
    // The reply streams were not consumed: dropping the plan cancels the calls.
    drop((own, node, plan));
    assert_eq!(cluster.others.running.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_first_rows_of_a_share_bound_its_scan() {
    let cluster = Cluster::new(Behaviour::Healthy).await;
    let query = "requests | sort by duration desc, id asc | take 5 | project id, name";
    let ran = cluster.run(query).await;
    ran.has("DistributedExec");
    ran.has("top_rows=5");
}

#[tokio::test]
async fn small_and_unstable_queries_stay_at_one_node() {
    let cluster = Cluster::new(Behaviour::Healthy).await;
    for query in LOCAL {
        cluster.run(query).await.has_not("DistributedExec");
    }
    let pool = || Arc::new(UnboundedMemoryPool::default());
    let counted = "requests | summarize count() by name";
    let large = cluster.run_within(counted, 1 << 30, pool()).await;
    large.unwrap().has_not("DistributedExec");
    assert_eq!(cluster.others.requested.load(Ordering::SeqCst), 0);
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_share_of_a_node_that_fails_runs_here() {
    let cluster = Cluster::with(Behaviour::Refuse, 1 << 20, true).await;
    cluster.compare(true).await;
    for behaviour in [
        Behaviour::Refuse,
        Behaviour::Stop(0),
        Behaviour::Stop(1),
        Behaviour::Fail(0),
        Behaviour::Fail(1),
        Behaviour::OtherColumns,
    ] {
        let cluster = Cluster::new(behaviour).await;
        cluster.compare(true).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_query_fails_if_a_node_fails_whose_rows_were_passed_on() {
    let cluster = Cluster::new(Behaviour::Fail(1)).await;
    let query = "requests | where name contains '3' | project id, name, duration, user_Id";
    // Nothing can be held, so rows are passed on as they arrive.
    let ran = cluster.run_within(query, 0, Arc::new(GreedyMemoryPool::new(0)));
    let error = ran.await.map(|ran| ran.plan).expect_err("a node failed");
    assert!(error.to_string().contains("is being killed"), "{error}");
}

#[tokio::test]
async fn a_query_that_is_dropped_cancels_its_fragments() {
    let cluster = Cluster::new(Behaviour::Silent).await;
    let query = cluster.run("requests | summarize count() by name");
    let ran = tokio::time::timeout(Duration::from_secs(2), query).await;
    assert!(ran.is_err(), "the other nodes are silent");
    assert_eq!(cluster.others.requested.load(Ordering::SeqCst), 2);
    tokio::time::timeout(Duration::from_secs(10), async {
        while cluster.others.running.load(Ordering::SeqCst) > 0 {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    })
    .await
    .expect("the fragments end");
}
