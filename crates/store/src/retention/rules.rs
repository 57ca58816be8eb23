//! The rules of retention in force: those of tables before those of applications before the settings.

use std::collections::HashMap;

use crate::app_id::AppId;
use crate::catalogue::RetentionRule;
use crate::clock::{TICKS_PER_HOUR, ticks};
use crate::config::StoreConfig;
use crate::error::Result;
use crate::schema::Table;
use crate::store::Store;

/// Ticks of a day.
const DAY: i64 = 24 * TICKS_PER_HOUR;

/// How long items are kept, and how many bytes of them.
#[derive(Debug, Clone)]
pub struct RetentionRules {
    rules: HashMap<(AppId, Option<Table>), RetentionRule>,
    /// The age at which items without a rule expire, in ticks.
    age: i64,
    /// Bytes that an application without a rule may have.
    bytes: Option<u64>,
}

impl RetentionRules {
    pub(super) fn new(rules: Vec<RetentionRule>, config: &StoreConfig) -> RetentionRules {
        RetentionRules {
            rules: rules
                .into_iter()
                .map(|rule| ((rule.app, rule.table), rule))
                .collect(),
            age: ticks(config.retention),
            bytes: config.retention_bytes,
        }
    }

    /// The age at which items of a table expire, in ticks.
    pub fn age(&self, app: AppId, table: Table) -> i64 {
        let days = |table| self.rules.get(&(app, table)).and_then(|rule| rule.days);
        let days = days(Some(table)).or_else(|| days(None));
        days.map_or(self.age, |days| i64::from(days) * DAY)
    }

    /// Bytes of an application's table above which its oldest segments expire.
    pub fn table_bytes(&self, app: AppId, table: Table) -> Option<u64> {
        self.rules.get(&(app, Some(table)))?.max_bytes
    }

    /// Bytes of an application above which its oldest segments expire.
    pub fn app_bytes(&self, app: AppId) -> Option<u64> {
        let own = self.rules.get(&(app, None)).and_then(|rule| rule.max_bytes);
        own.or(self.bytes)
    }
}

impl Store {
    /// The rules of retention in force.
    pub async fn retention_rules(&self) -> Result<RetentionRules> {
        let rules = self.catalogue.retention_rules().await?;
        Ok(RetentionRules::new(rules, &self.config))
    }
}
