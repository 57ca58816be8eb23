//! Reading a table page by page through the query API: of the data folder, of the server that holds it, or of another server, the cloud's
//! included.
//!
//! A plan counts the items of each interval, so that empty ones cost nothing and full ones are divided before their items are asked for.
//! Each item is in one page. Memory holds one page.

use std::time::Duration;

use anyhow::{Context, bail};
use hindsight_kql_types::datetime;
use hindsight_store::{TICKS_PER_HOUR, Table};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};

use super::target::{Reply, Target};
use crate::import::{QueryReply, ReplyTable};

/// Most items of a page.
const PAGE: u64 = 5_000;
/// How often a request is repeated that was refused because the server has too much to do.
const ATTEMPTS: u32 = 12;
/// The longest wait before a request is repeated.
const LONGEST_WAIT: Duration = Duration::from_secs(30);

/// An interval of time: from, and to without its end, in ticks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) from: i64,
    pub(super) to: i64,
}

/// Requests to a target, repeated while it is busy.
pub(super) struct Api {
    pub(super) target: Target,
}

impl Api {
    /// Sends a request; repeats it while the server refuses it for having too much to do.
    pub(super) async fn post(
        &self,
        path: &str,
        content_type: &str,
        body: &[u8],
    ) -> anyhow::Result<Reply> {
        let mut wait = Duration::from_millis(250);
        for _ in 0..ATTEMPTS {
            let reply = self.target.post(path, content_type, body.to_vec()).await?;
            if !matches!(reply.status, 429 | 502 | 503 | 504) {
                return Ok(reply);
            }
            tokio::time::sleep(wait).await;
            wait = (wait * 2).min(LONGEST_WAIT);
        }
        self.target.post(path, content_type, body.to_vec()).await
    }
}

/// The tables of an application of a server.
pub(super) struct Pages {
    pub(super) api: Api,
    /// The id or name of the application.
    pub(super) app: String,
}

/// What is to be read next.
enum Step {
    /// Counts the items of intervals of `span` ticks.
    Plan {
        interval: Interval,
        span: i64,
        page: u64,
    },
    /// Reads the items of an interval.
    Read { interval: Interval, count: u64 },
    /// Reads one of `of` parts of the items of an interval, which is one tick.
    Part {
        interval: Interval,
        part: u64,
        of: u64,
    },
    /// Reports that everything has been read.
    End,
}

/// A page, or an interval without items.
pub(super) struct Page {
    /// The rows; `None` for none.
    pub(super) table: Option<ReplyTable>,
    /// Everything before this time has been read, in ticks.
    pub(super) done: i64,
}

/// Reads one interval of a table.
pub(super) struct Reading<'p> {
    pages: &'p Pages,
    table: Table,
    interval: Interval,
    /// In reverse order.
    steps: Vec<Step>,
}

impl Pages {
    /// Reads a table from the beginning of an interval to its end.
    pub(super) fn read(&self, table: Table, interval: Interval) -> Reading<'_> {
        Reading {
            pages: self,
            table,
            interval,
            steps: vec![
                Step::End,
                Step::Plan {
                    interval,
                    span: TICKS_PER_HOUR,
                    page: PAGE,
                },
            ],
        }
    }

    /// The interval that all items of a table lie in and their number; `None` if there are none.
    pub(super) async fn extent(
        &self,
        table: Table,
        bounds: Option<Interval>,
    ) -> anyhow::Result<Option<(Interval, u64)>> {
        let filter = bounds.map_or(String::new(), condition);
        let kql = format!(
            "{table}{filter} | summarize n = count(), earliest = min(timestamp), latest = max(timestamp)"
        );
        let (found, is_whole) = self.query(&kql).await?;
        if !is_whole {
            bail!("the number of items of {table} is not known: the reply is not whole");
        }
        let row = found.rows.first().context("a count has one row")?;
        let of = |name: &str| {
            found
                .index(name)
                .and_then(|index| row.get(index))
                .map_or("null", |value| value.get())
        };
        let count: u64 = of("n").parse().context("a count is a number")?;
        if count == 0 {
            return Ok(None);
        }
        let time = |name: &str| datetime::parse(of(name).trim_matches('"'));
        let (first, last) = (time("earliest"), time("latest"));
        let from = first.context("the first time is no time")?;
        let to = last.context("the last time is no time")?.saturating_add(1);
        Ok(Some((Interval { from, to }, count)))
    }

    /// The result of a query, and whether it is whole.
    async fn query(&self, kql: &str) -> anyhow::Result<(ReplyTable, bool)> {
        let app = utf8_percent_encode(&self.app, NON_ALPHANUMERIC);
        let path = format!("/v1/apps/{app}/query");
        let body = json!({ "query": kql }).to_string();
        let reply = self
            .api
            .post(&path, "application/json", body.as_bytes())
            .await?;
        if reply.status != 200 {
            let text = String::from_utf8_lossy(&reply.body);
            let value: Value = serde_json::from_str(&text).unwrap_or_default();
            let message = innermost(value.get("error").unwrap_or(&value)).unwrap_or(&text);
            let message: String = message.chars().take(300).collect();
            bail!("status {}: {message}", reply.status);
        }
        let reply: QueryReply =
            serde_json::from_slice(&reply.body).context("the reply of a query cannot be read")?;
        let is_whole = reply.error.is_none();
        let table = reply.tables.into_iter().next();
        Ok((
            table.context("the reply of a query has no table")?,
            is_whole,
        ))
    }
}

/// The most exact message of nested errors.
fn innermost(error: &Value) -> Option<&str> {
    let inner = error.get("innererror").and_then(innermost);
    inner.or_else(|| error.get("message")?.as_str())
}

/// Ticks as KQL.
fn time(ticks: i64) -> String {
    let mut text = String::new();
    // Writing into a text cannot fail.
    let _ = datetime::write_full(ticks, &mut text);
    format!("datetime({text})")
}

fn condition(interval: Interval) -> String {
    let Interval { from, to } = interval;
    format!(
        " | where timestamp >= {} and timestamp < {}",
        time(from),
        time(to)
    )
}

impl Reading<'_> {
    /// The next page; `None` after the last.
    pub(super) async fn next(&mut self) -> anyhow::Result<Option<Page>> {
        while let Some(step) = self.steps.pop() {
            match step {
                Step::Plan {
                    interval,
                    span,
                    page,
                } => self.plan(interval, span, page).await?,
                Step::Read { interval, count } => {
                    if let Some(page) = self.read(interval, count).await? {
                        return Ok(Some(page));
                    }
                }
                Step::End => {
                    let done = self.interval.to;
                    return Ok(Some(Page { table: None, done }));
                }
                Step::Part { interval, part, of } => {
                    let filter = format!(" | where hash(itemId, {of}) == {part}");
                    let (table, is_whole) = self.rows(interval, &filter).await?;
                    if !is_whole {
                        bail!(
                            "the items of {} at {} do not fit into a reply of the server",
                            self.table,
                            time(interval.from)
                        );
                    }
                    let done = if part + 1 == of {
                        interval.to
                    } else {
                        interval.from
                    };
                    let table = Some(table);
                    return Ok(Some(Page { table, done }));
                }
            }
        }
        Ok(None)
    }

    /// Counts the items of an interval, and adds the steps that read them.
    async fn plan(&mut self, interval: Interval, span: i64, page: u64) -> anyhow::Result<()> {
        let kql = format!(
            "{}{} | summarize n = count() by at = bin_at(timestamp, {span}tick, {}) | order by at asc",
            self.table,
            condition(interval),
            time(interval.from)
        );
        let (found, is_whole) = self.pages.query(&kql).await?;
        if !is_whole {
            bail!("the interval is too long for one plan; choose a shorter one");
        }
        let (at, n) = (found.index("at"), found.index("n"));
        let mut bins = Vec::with_capacity(found.rows.len());
        for row in &found.rows {
            let of = |index: Option<usize>| index.and_then(|index| row.get(index));
            let start = of(at).and_then(|at| datetime::parse(at.get().trim_matches('"')));
            let count = of(n).and_then(|n| n.get().parse::<u64>().ok());
            bins.push((
                start.context("a bin has a time")?,
                count.context("a bin has a count")?,
            ));
        }
        let mut steps = Vec::new();
        for (group, count) in grouped(&bins, interval, span, page) {
            let length = group.to.saturating_sub(group.from);
            if count <= page {
                steps.push(Step::Read {
                    interval: group,
                    count,
                });
            } else if length > 1 {
                let parts = i64::try_from(count / page * 2 + 1).unwrap_or(i64::MAX);
                steps.push(Step::Plan {
                    interval: group,
                    span: (length / parts).max(1),
                    page,
                });
            } else {
                steps.extend(parts(group, count / page + 1));
            }
        }
        self.steps.extend(steps.into_iter().rev());
        Ok(())
    }

    /// Reads the items of an interval; none if they do not fit into a reply, and a plan of shorter ones takes its place.
    async fn read(&mut self, interval: Interval, count: u64) -> anyhow::Result<Option<Page>> {
        let (table, is_whole) = self.rows(interval, "").await?;
        if is_whole {
            let done = interval.to;
            let table = Some(table);
            return Ok(Some(Page { table, done }));
        }
        let page = count / 2;
        if page == 0 {
            bail!(
                "an item of {} at {} does not fit into a reply of the server",
                self.table,
                time(interval.from)
            );
        }
        let span = (interval.to.saturating_sub(interval.from) / 2).max(1);
        self.steps.push(Step::Plan {
            interval,
            span,
            page,
        });
        Ok(None)
    }

    async fn rows(&self, interval: Interval, filter: &str) -> anyhow::Result<(ReplyTable, bool)> {
        let kql = format!("{}{}{filter}", self.table, condition(interval));
        self.pages.query(&kql).await
    }
}

/// Steps for the parts of the items of one tick.
fn parts(interval: Interval, of: u64) -> impl Iterator<Item = Step> {
    (0..of).map(move |part| Step::Part { interval, part, of })
}

/// Intervals with at most `page` items each where that is possible, and their counts. `bins` begin every `span` ticks.
fn grouped(bins: &[(i64, u64)], whole: Interval, span: i64, page: u64) -> Vec<(Interval, u64)> {
    let mut groups: Vec<(Interval, u64)> = Vec::new();
    for (start, count) in bins {
        let bin = Interval {
            from: (*start).max(whole.from),
            to: start.saturating_add(span).min(whole.to),
        };
        match groups.last_mut() {
            Some((last, sum)) if *sum + count <= page => {
                last.to = bin.to;
                *sum += count;
            }
            _ => groups.push((bin, *count)),
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_read_together_and_full_intervals_alone() {
        let whole = Interval { from: 0, to: 95 };
        let bins = [(0, 3), (10, 2), (30, 4), (40, 9), (90, 1)];
        let groups = grouped(&bins, whole, 10, 5);
        let found: Vec<_> = groups
            .iter()
            .map(|(interval, count)| (interval.from, interval.to, *count))
            .collect();
        assert_eq!(found, [(0, 20, 5), (30, 40, 4), (40, 50, 9), (90, 95, 1)]);
    }
}
