//! `hindsight audit`, and the notes that the command line leaves.

use clap::Args;
use hindsight_store::{AuditRecord, Catalogue, Clock, SystemClock};
use serde_json::{Value, json};

use super::data::{self, DataFolder};
use super::output;
use crate::config::duration;

/// `hindsight audit`
#[derive(Debug, Args)]
pub(super) struct Audit {
    /// Show entries of this period until now, such as 7d.
    #[arg(long, value_name = "DURATION", default_value = "30d")]
    since: String,
    /// Maximum number of entries.
    #[arg(long, default_value_t = 200)]
    limit: u32,
    #[command(flatten)]
    data: DataFolder,
    /// Print the result as JSON.
    #[arg(long)]
    json: bool,
}

impl Audit {
    pub(super) async fn run(self) -> anyhow::Result<()> {
        let back = i64::try_from(duration(&self.since)?.as_nanos() / 100).unwrap_or(i64::MAX);
        let since = SystemClock::default().now_ticks().saturating_sub(back);
        let (catalogue, _) = data::open(&self.data).await?;
        let records = catalogue.audit(since, self.limit).await?;
        if self.json {
            let list: Vec<Value> = records.iter().map(shape).collect();
            return output::print(&format!("{}\n", Value::from(list)));
        }
        let header = ["AT", "WHO", "WHAT", "TO", "FROM"].map(str::to_owned);
        let rows: Vec<Vec<String>> = records
            .into_iter()
            .map(|record| {
                let at = output::date(Some(record.at));
                vec![
                    at,
                    record.actor,
                    record.action,
                    record.subject,
                    record.address,
                ]
            })
            .collect();
        output::print(&output::table(&header, &rows))
    }
}

fn shape(record: &AuditRecord) -> Value {
    json!({
        "at": output::date(Some(record.at)),
        "actor": record.actor,
        "action": record.action,
        "subject": record.subject,
        "address": record.address,
    })
}

/// Records an action of the command line in the audit log.
pub(super) async fn note(catalogue: &Catalogue, action: &str, subject: &str) -> anyhow::Result<()> {
    let record = AuditRecord {
        at: SystemClock::default().now_ticks(),
        actor: "command line".to_owned(),
        action: action.to_owned(),
        subject: subject.to_owned(),
        address: String::new(),
    };
    Ok(catalogue.note(&record).await?)
}
