//! Applications.

use uuid::Uuid;

use super::Catalogue;
use super::database::{self, Row, sql};
use crate::app_id::AppId;
use crate::database_error::DatabaseError;
use crate::error::{Result, StoreError};

/// The pricing tier of an application (`D20`).
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub enum Tier {
    /// `free`
    Free,
    /// `basic`
    Basic,
    /// `enterprise`: the default.
    #[default]
    Enterprise,
}

impl Tier {
    /// The tier's name.
    pub const fn name(self) -> &'static str {
        match self {
            Tier::Free => "free",
            Tier::Basic => "basic",
            Tier::Enterprise => "enterprise",
        }
    }

    /// The tier of this name.
    pub fn parse(name: &str) -> Option<Tier> {
        [Tier::Free, Tier::Basic, Tier::Enterprise]
            .into_iter()
            .find(|tier| tier.name() == name)
    }
}

/// An application.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Application {
    /// Its identity.
    pub id: AppId,
    /// Its name, unique among applications that are not deleted.
    pub name: String,
    /// The key that telemetry names it by.
    pub instrumentation_key: Uuid,
    /// When it was created, in ticks.
    pub created: i64,
    /// Its pricing tier.
    pub tier: Tier,
    /// Bytes of telemetry that it may send in a day; `None`: no cap.
    pub daily_cap_bytes: Option<u64>,
    /// Days that its items are kept; `None`: the store's setting.
    pub retention_days: Option<u32>,
    /// When it was deleted, in ticks.
    pub deleted: Option<i64>,
}

/// What creating an application needs.
#[derive(Debug, Clone)]
pub struct NewApplication {
    /// Its identity.
    pub id: AppId,
    /// Its name.
    pub name: String,
    /// The key that telemetry names it by.
    pub instrumentation_key: Uuid,
    /// Now, in ticks.
    pub created: i64,
}

/// A query over applications: the text is put together from constants only.
macro_rules! select {
    ($rest:literal) => {
        sql(concat!(
            "SELECT id, name, instrumentation_key, created, tier, daily_cap_bytes, retention_days, deleted ",
            "FROM applications ",
            $rest
        ))
    };
}

impl Catalogue {
    /// Creates an application.
    ///
    /// # Errors
    /// [`StoreError::NameTaken`] if an application that is not deleted has the name.
    pub async fn create_app(&self, new: NewApplication) -> Result<Application> {
        let inserted = sql(
            "INSERT INTO applications (id, name, instrumentation_key, created) VALUES ($1, $2, $3, $4)",
        )
        .bind(new.id.to_string())
        .bind(&new.name)
        .bind(new.instrumentation_key.to_string())
        .bind(new.created)
        .commit_to(&self.database)
        .await;
        match inserted {
            Ok(_) => Ok(Application {
                id: new.id,
                name: new.name,
                instrumentation_key: new.instrumentation_key,
                created: new.created,
                tier: Tier::default(),
                daily_cap_bytes: None,
                retention_days: None,
                deleted: None,
            }),
            Err(error) if error.is_unique_violation() => {
                Err(StoreError::NameTaken { name: new.name })
            }
            Err(error) => Err(self.failed(error)),
        }
    }

    /// The applications that are not deleted, by name.
    pub async fn apps(&self) -> Result<Vec<Application>> {
        self.named(async {
            let rows = select!("WHERE deleted IS NULL ORDER BY name")
                .fetch_all(&self.database)
                .await?;
            rows.iter().map(application).collect()
        })
        .await
    }

    /// The application with this id or, if there is none, this name.
    pub async fn app(&self, name_or_id: &str) -> Result<Option<Application>> {
        self.named(async {
            let id =
                Uuid::parse_str(name_or_id).map_or_else(|_| String::new(), |id| id.to_string());
            let row = select!(
                "WHERE deleted IS NULL AND (id = $1 OR name = $2) ORDER BY id = $1 DESC LIMIT 1"
            )
            .bind(id)
            .bind(name_or_id)
            .fetch_optional(&self.database)
            .await?;
            row.as_ref().map(application).transpose()
        })
        .await
    }

    /// Whether there is or was an application with this id.
    pub(crate) async fn knows_app(&self, id: AppId) -> Result<bool> {
        self.named(async {
            let count: i64 = sql("SELECT count(*) FROM applications WHERE id = $1")
                .bind(id.to_string())
                .value(&self.database)
                .await?;
            Ok(count > 0)
        })
        .await
    }

    /// The application that telemetry with this instrumentation key belongs to.
    pub async fn app_by_instrumentation_key(&self, key: Uuid) -> Result<Option<Application>> {
        self.named(async {
            let row = select!("WHERE deleted IS NULL AND instrumentation_key = $1")
                .bind(key.to_string())
                .fetch_optional(&self.database)
                .await?;
            row.as_ref().map(application).transpose()
        })
        .await
    }

    /// Marks an application deleted and deletes its keys, saved queries, workbooks and rules of retention; false if there was none.
    ///
    /// The store that holds the folder drops the application's data within seconds.
    pub async fn delete_app(&self, id: AppId, now: i64) -> Result<bool> {
        self.named(async {
            let mut transaction = self.database.begin().await?;
            let deleted =
                sql("UPDATE applications SET deleted = $1 WHERE id = $2 AND deleted IS NULL")
                    .bind(now)
                    .bind(id.to_string())
                    .execute(&mut transaction)
                    .await?;
            sql("DELETE FROM api_keys WHERE app_id = $1")
                .bind(id.to_string())
                .execute(&mut transaction)
                .await?;
            for saved in [
                "DELETE FROM saved_queries WHERE app_id = $1",
                "DELETE FROM workbooks WHERE app_id = $1",
                "DELETE FROM retention_rules WHERE app_id = $1",
            ] {
                sql(saved)
                    .bind(id.to_string())
                    .execute(&mut transaction)
                    .await?;
            }
            transaction.commit().await?;
            Ok(deleted > 0)
        })
        .await
    }

    /// Sets an application's tier, daily cap and retention.
    pub async fn set_app_limits(
        &self,
        id: AppId,
        tier: Tier,
        daily_cap_bytes: Option<u64>,
        retention_days: Option<u32>,
    ) -> Result<bool> {
        self.named(async {
            let cap = daily_cap_bytes.map(|bytes| i64::try_from(bytes).unwrap_or(i64::MAX));
            let changed =
                sql("UPDATE applications SET tier = $1, daily_cap_bytes = $2, retention_days = $3 WHERE id = $4")
                    .bind(tier.name())
                    .bind(cap)
                    .bind(retention_days)
                    .bind(id.to_string())
                    .commit_to(&self.database)
                    .await?;
            Ok(changed > 0)
        })
        .await
    }

    /// The deleted applications; with `unpurged_only`, those whose data is still there.
    pub(crate) async fn deleted_apps(&self, unpurged_only: bool) -> Result<Vec<AppId>> {
        self.named(async {
            let ids: Vec<String> = sql(
                "SELECT id FROM applications WHERE deleted IS NOT NULL AND (purged IS NULL OR $1 = 0)",
            )
            .bind(unpurged_only)
            .values(&self.database)
            .await?;
            ids.iter().map(|id| app_id(id)).collect()
        })
        .await
    }

    /// Notes that a deleted application's data is gone, and deletes its usage.
    pub(crate) async fn mark_purged(&self, id: AppId, now: i64) -> Result<()> {
        self.named(async {
            let mut transaction = self.database.begin().await?;
            sql("DELETE FROM usage WHERE app_id = $1")
                .bind(id.to_string())
                .execute(&mut transaction)
                .await?;
            sql("UPDATE applications SET purged = $1 WHERE id = $2")
                .bind(now)
                .bind(id.to_string())
                .execute(&mut transaction)
                .await?;
            transaction.commit().await?;
            Ok(())
        })
        .await
    }
}

pub(super) fn app_id(text: &str) -> database::Result<AppId> {
    uuid(text).map(AppId)
}

fn uuid(text: &str) -> database::Result<Uuid> {
    Uuid::parse_str(text).map_err(|error| DatabaseError::Unreadable(error.to_string()))
}

fn application(row: &Row) -> database::Result<Application> {
    let tier: String = row.try_get("tier")?;
    let cap: Option<i64> = row.try_get("daily_cap_bytes")?;
    Ok(Application {
        id: app_id(&row.try_get::<String>("id")?)?,
        name: row.try_get("name")?,
        instrumentation_key: uuid(&row.try_get::<String>("instrumentation_key")?)?,
        created: row.try_get("created")?,
        tier: Tier::parse(&tier).unwrap_or_default(),
        daily_cap_bytes: cap.and_then(|bytes| u64::try_from(bytes).ok()),
        retention_days: row.try_get("retention_days")?,
        deleted: row.try_get("deleted")?,
    })
}
