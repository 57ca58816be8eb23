//! `hindsight cluster`.

use anyhow::bail;
use clap::Subcommand;
use hindsight_store::NodeRecord;
use serde_json::{Value, json};

use super::data::{DataFolder, open};
use super::{audit, output};

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
    /// Forget a node whose data folder is lost: queries no longer fail because of it. Items that were in its log alone are lost with the folder.
    Forget {
        /// Name or id of the node.
        node: String,
        #[command(flatten)]
        data: DataFolder,
    },
}

impl ClusterCommand {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        match self {
            ClusterCommand::Status { data, json } => status(&data, json).await,
            ClusterCommand::Forget { node, data } => forget(&node, &data).await,
        }
    }
}

async fn status(data: &DataFolder, json: bool) -> anyhow::Result<()> {
    let (catalogue, _) = open(data).await?;
    let nodes = catalogue.nodes().await?;
    let last = nodes.iter().map(|node| node.maintained).max();
    let maintains = |node: &NodeRecord| node.maintained > 0 && Some(node.maintained) == last;
    if json {
        let list: Vec<Value> = nodes
            .iter()
            .map(|node| shape(node, maintains(node)))
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
                format!("{:.1} s ago", node.silent_for.as_secs_f64()),
                unsealed,
                if maintains(node) { "last" } else { "" }.to_owned(),
            ]
        })
        .collect();
    output::print(&output::table(&header.map(str::to_owned), &rows))
}

fn state(node: &NodeRecord) -> &'static str {
    if node.is_live() { "live" } else { "silent" }
}

fn shape(node: &NodeRecord, maintains: bool) -> Value {
    json!({
        "id": node.id.to_string(),
        "name": node.name,
        "role": node.role.name(),
        "state": state(node),
        "address": node.address,
        "version": node.version,
        "started": output::date(Some(node.started)),
        "heartbeat": output::date(Some(node.heartbeat)),
        "heartbeatAgeSeconds": node.silent_for.as_secs_f64(),
        "logPosition": node.log_position,
        "logSequence": node.log_sequence,
        "unsealedRequests": node.log_lag(),
        "drained": node.drained,
        "maintains": maintains,
    })
}

async fn forget(name: &str, data: &DataFolder) -> anyhow::Result<()> {
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
    catalogue.forget_node(&node.id.to_string()).await?;
    audit::note(&catalogue, "node forgotten", name).await?;
    output::print(&format!(
        "queries no longer wait for the node '{name}'; it takes its place again if it is started with its data folder\n"
    ))
}
