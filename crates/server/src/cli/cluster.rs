//! `hindsight cluster`.

use std::time::Duration;

use anyhow::bail;
use clap::Subcommand;
use hindsight_store::{Catalogue, CopyRecord, Forgotten, NodeId, NodeRecord};
use serde_json::{Value, json};

use super::data::{DataFolder, open};
use super::{audit, output};

/// How long a command waits for a node that stores the items of a lost one.
const STORING: Duration = Duration::from_secs(60);
const POLL: Duration = Duration::from_millis(200);

/// `hindsight cluster …`
#[derive(Debug, Subcommand)]
pub(super) enum ClusterCommand {
    /// Show the nodes: their roles, addresses and versions, when they reported last, and what of their logs is not in segments yet.
    Status {
        #[command(flatten)]
        data: DataFolder,
        /// Print the result as JSON.
        #[arg(long)]
        json: bool,
    },
    /// Forget a node whose data folder is lost: queries no longer fail because of it. If another node has a copy of its log, that node
    /// stores the items first, and the command waits for it. Otherwise items that were in its log alone are lost with the folder.
    Forget {
        /// Name or id of the node.
        node: String,
        /// Give up a copy of its log too, because the node that has it is lost as well.
        #[arg(long)]
        without_copy: bool,
        #[command(flatten)]
        data: DataFolder,
    },
}

impl ClusterCommand {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        match self {
            ClusterCommand::Status { data, json } => status(&data, json).await,
            ClusterCommand::Forget {
                node,
                without_copy,
                data,
            } => forget(&node, without_copy, &data).await,
        }
    }
}

async fn status(data: &DataFolder, json: bool) -> anyhow::Result<()> {
    let (catalogue, _) = open(data).await?;
    let nodes = catalogue.nodes().await?;
    let copies = catalogue.log_copies().await?;
    let holder = |node: &NodeRecord| {
        let copy = copies.iter().find(|copy| copy.origin == node.id);
        copy.and_then(|copy| copy.holder)
    };
    let name = |id: NodeId| name_of(&nodes, id);
    let last = nodes.iter().map(|node| node.maintained).max();
    let maintains = |node: &NodeRecord| node.maintained > 0 && Some(node.maintained) == last;
    if json {
        let list: Vec<Value> = nodes
            .iter()
            .map(|node| shape(node, holder(node), maintains(node)))
            .collect();
        return output::print(&format!("{}\n", Value::from(list)));
    }
    if nodes.is_empty() {
        return output::print(
            "the catalogue is in the data folder, which has one process; nodes share one in PostgreSQL (store.catalogue)\n",
        );
    }
    let header = [
        "NAME",
        "ROLE",
        "STATE",
        "ADDRESS",
        "VERSION",
        "REPORTED",
        "UNSEALED",
        "COPY AT",
        "MAINTAINS",
    ];
    let rows: Vec<Vec<String>> = nodes
        .iter()
        .map(|node| {
            let unsealed = if node.drained {
                "drained".to_owned()
            } else {
                format!("{} requests", node.log_lag())
            };
            vec![
                node.name.clone(),
                node.role.name().to_owned(),
                state(node).to_owned(),
                node.address.clone(),
                node.version.clone(),
                reported(node),
                unsealed,
                holder(node).map_or("", name).to_owned(),
                if maintains(node) { "last" } else { "" }.to_owned(),
            ]
        })
        .collect();
    output::print(&output::table(&header.map(str::to_owned), &rows))
}

fn state(node: &NodeRecord) -> &'static str {
    match (node.is_stopped(), node.is_live()) {
        (true, _) => "stopped",
        (_, true) => "live",
        (_, false) => "silent",
    }
}

/// How long ago a node reported; empty if it was stopped.
fn reported(node: &NodeRecord) -> String {
    if node.is_stopped() {
        return String::new();
    }
    format!("{:.1} s ago", node.silent_for.as_secs_f64())
}

/// The name of a node.
fn name_of(nodes: &[NodeRecord], id: NodeId) -> &str {
    let node = nodes.iter().find(|node| node.id == id);
    node.map_or("", |node| node.name.as_str())
}

fn shape(node: &NodeRecord, holder: Option<NodeId>, maintains: bool) -> Value {
    json!({
        "id": node.id.to_string(),
        "name": node.name,
        "role": node.role.name(),
        "state": state(node),
        "address": node.address,
        "version": node.version,
        "started": output::date(Some(node.started)),
        "heartbeat": output::date((!node.is_stopped()).then_some(node.heartbeat)),
        "heartbeatAgeSeconds": (!node.is_stopped()).then_some(node.silent_for.as_secs_f64()),
        "logPosition": node.log_position,
        "logSequence": node.log_sequence,
        "unsealedRequests": node.log_lag(),
        "drained": node.drained,
        "copyAt": holder.map(|holder| holder.to_string()),
        "maintains": maintains,
    })
}

async fn forget(name: &str, without_copy: bool, data: &DataFolder) -> anyhow::Result<()> {
    let (catalogue, _) = open(data).await?;
    let nodes = catalogue.nodes().await?;
    let is_meant = |node: &&NodeRecord| node.name == name || node.id.to_string() == name;
    let named: Vec<&NodeRecord> = nodes.iter().filter(is_meant).collect();
    let [node] = named.as_slice() else {
        bail!(
            "{} nodes are named '{name}'; `hindsight cluster status --json` lists their ids",
            named.len()
        );
    };
    if node.is_live() {
        bail!(
            "the node '{name}' runs: it reported {:.1} s ago; stop it first",
            node.silent_for.as_secs_f64()
        );
    }
    let id = node.id.to_string();
    let forgotten = catalogue.forget_node(&id, without_copy).await?;
    audit::note(&catalogue, "node forgotten", name).await?;
    if let Forgotten::Recovering(holder) = forgotten {
        let holder = name_of(&nodes, holder);
        wait_for_copy(&catalogue, node.id, holder).await?;
        output::print(&format!(
            "the node '{holder}' has stored the items of its copy of the log of '{name}'\n"
        ))?;
    }
    output::print(&format!(
        "queries no longer wait for the node '{name}'; it takes its place again if it is started with its data folder\n"
    ))
}

/// Waits until a node has stored the items of its copy of a lost node's log.
async fn wait_for_copy(catalogue: &Catalogue, origin: NodeId, holder: &str) -> anyhow::Result<()> {
    let mut waited = Duration::ZERO;
    loop {
        let copies = catalogue.log_copies().await?;
        let is_pending = |copy: &CopyRecord| copy.origin == origin && copy.is_lost;
        if !copies.iter().any(is_pending) {
            return Ok(());
        }
        if waited >= STORING {
            bail!(
                "the node '{holder}' has a copy of the log and has not stored its items within {} s; queries fail until it has: start it, or see its log. If it is lost too, forget the node with --without-copy",
                STORING.as_secs()
            );
        }
        tokio::time::sleep(POLL).await;
        waited += POLL;
    }
}
