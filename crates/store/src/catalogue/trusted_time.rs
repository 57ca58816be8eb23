//! The high-water mark of trusted time.

use super::Catalogue;
use super::database::sql;
use crate::error::Result;

/// The high-water mark of trusted time, as the catalogue keeps it (`D33`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TimeMark {
    /// The latest time of day that was trusted, in ticks.
    pub ticks: i64,
    /// How often an operator has confirmed the clock.
    pub confirmations: i64,
}

impl Catalogue {
    /// The mark; `None` in a catalogue that no store has opened since marks exist.
    pub async fn time_mark(&self) -> Result<Option<TimeMark>> {
        self.named(async {
            let row = sql("SELECT mark, confirmations FROM trusted_time")
                .fetch_optional(&self.database)
                .await?;
            row.map(|row| {
                Ok(TimeMark {
                    ticks: row.try_get("mark")?,
                    confirmations: row.try_get("confirmations")?,
                })
            })
            .transpose()
        })
        .await
    }

    /// The mark; where there is none, the latest time of an entry of the catalogue or, in a new catalogue, `now`.
    pub(crate) async fn time_mark_or(&self, now: i64) -> Result<TimeMark> {
        if let Some(mark) = self.time_mark().await? {
            return Ok(mark);
        }
        let latest: Option<i64> = sql(
            "SELECT max(at) FROM (SELECT max(created) AS at FROM segments \
             UNION ALL SELECT max(created) FROM applications UNION ALL SELECT max(at) FROM audit) AS entries",
        )
        .value(&self.database)
        .await
        .map_err(|source| self.failed(source))?;
        let mark = TimeMark {
            ticks: latest.unwrap_or(now),
            confirmations: 0,
        };
        self.raise_time_mark(mark).await?;
        Ok(mark)
    }

    /// Raises the mark. It stays as it is if an operator has confirmed another time since.
    pub(crate) async fn raise_time_mark(&self, mark: TimeMark) -> Result<()> {
        self.named(async {
            sql(
                "INSERT INTO trusted_time (one, mark, confirmations) VALUES (1, $1, $2) \
                 ON CONFLICT (one) DO UPDATE SET mark = $1 WHERE trusted_time.confirmations = $2 AND trusted_time.mark < $1",
            )
            .bind(mark.ticks)
            .bind(mark.confirmations)
            .commit_to(&self.database)
            .await?;
            Ok(())
        })
        .await
    }

    /// Removes the mark, as in a catalogue of before there were marks.
    #[cfg(test)]
    pub(crate) async fn forget_time_mark(&self) {
        let done = sql("DELETE FROM trusted_time WHERE one = 1")
            .commit_to(&self.database)
            .await;
        assert!(done.is_ok(), "{done:?}");
    }

    /// Sets the mark to `now`, later or earlier than it was: an operator says that the clock is right. A running store follows
    /// within seconds.
    pub async fn confirm_time(&self, now: i64) -> Result<()> {
        self.named(async {
            sql(
                "INSERT INTO trusted_time (one, mark, confirmations) VALUES (1, $1, 1) \
                 ON CONFLICT (one) DO UPDATE SET mark = $1, confirmations = trusted_time.confirmations + 1",
            )
            .bind(now)
            .commit_to(&self.database)
            .await?;
            Ok(())
        })
        .await
    }
}
