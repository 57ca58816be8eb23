//! API keys: the store keeps records and hashes, and never sees a key.

use super::Catalogue;
use super::applications::app_id;
use super::database::{self, Row, sql};
use crate::app_id::AppId;
use crate::error::Result;

/// An API key as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyRecord {
    /// Its public id.
    pub id: String,
    /// The application that it opens.
    pub app: AppId,
    /// What its owner calls it.
    pub name: String,
    /// The caller's hash of the secret.
    pub hash: Vec<u8>,
    /// What it permits, in the caller's words.
    pub scopes: String,
    /// When it was created, in ticks.
    pub created: i64,
    /// When it stops working, in ticks.
    pub expires: Option<i64>,
    /// When it was last used, in ticks, as far as that was noted.
    pub last_used: Option<i64>,
}

/// What creating a key needs.
#[derive(Debug, Clone)]
pub struct NewKey {
    /// Its public id.
    pub id: String,
    /// The application that it opens.
    pub app: AppId,
    /// What its owner calls it.
    pub name: String,
    /// The caller's hash of the secret.
    pub hash: Vec<u8>,
    /// What it permits, in the caller's words.
    pub scopes: String,
    /// Now, in ticks.
    pub created: i64,
    /// When it stops working, in ticks.
    pub expires: Option<i64>,
}

impl Catalogue {
    /// Keeps a new key.
    pub async fn create_key(&self, new: NewKey) -> Result<KeyRecord> {
        self.named(async {
            sql(
                "INSERT INTO api_keys (id, app_id, name, hash, scopes, created, expires) VALUES ($1, $2, $3, $4, $5, $6, $7)",
            )
            .bind(&new.id)
            .bind(new.app.to_string())
            .bind(&new.name)
            .bind(&new.hash)
            .bind(&new.scopes)
            .bind(new.created)
            .bind(new.expires)
            .commit_to(&self.database)
            .await?;
            Ok(KeyRecord {
                id: new.id,
                app: new.app,
                name: new.name,
                hash: new.hash,
                scopes: new.scopes,
                created: new.created,
                expires: new.expires,
                last_used: None,
            })
        })
        .await
    }

    /// The keys of an application, oldest first.
    pub async fn keys(&self, app: AppId) -> Result<Vec<KeyRecord>> {
        self.named(async {
            let rows = sql("SELECT * FROM api_keys WHERE app_id = $1 ORDER BY created, id")
                .bind(app.to_string())
                .fetch_all(&self.database)
                .await?;
            rows.iter().map(record).collect()
        })
        .await
    }

    /// The key with this id. Expiry is for the caller to judge.
    pub async fn key(&self, id: &str) -> Result<Option<KeyRecord>> {
        self.named(async {
            let row = sql("SELECT * FROM api_keys WHERE id = $1")
                .bind(id)
                .fetch_optional(&self.database)
                .await?;
            row.as_ref().map(record).transpose()
        })
        .await
    }

    /// The key with this hash, for callers whose keys carry no id.
    pub async fn key_by_hash(&self, hash: &[u8]) -> Result<Option<KeyRecord>> {
        self.named(async {
            let row = sql("SELECT * FROM api_keys WHERE hash = $1")
                .bind(hash)
                .fetch_optional(&self.database)
                .await?;
            row.as_ref().map(record).transpose()
        })
        .await
    }

    /// Deletes a key; false if there was none.
    pub async fn delete_key(&self, id: &str) -> Result<bool> {
        self.named(async {
            let deleted = sql("DELETE FROM api_keys WHERE id = $1")
                .bind(id)
                .commit_to(&self.database)
                .await?;
            Ok(deleted > 0)
        })
        .await
    }

    /// Notes that a key was used. Each call is a transaction: call it seldom.
    pub async fn touch_key(&self, id: &str, now: i64) -> Result<()> {
        self.named(async {
            sql("UPDATE api_keys SET last_used = $1 WHERE id = $2")
                .bind(now)
                .bind(id)
                .commit_to(&self.database)
                .await?;
            Ok(())
        })
        .await
    }
}

fn record(row: &Row) -> database::Result<KeyRecord> {
    Ok(KeyRecord {
        id: row.try_get("id")?,
        app: app_id(&row.try_get::<String>("app_id")?)?,
        name: row.try_get("name")?,
        hash: row.try_get("hash")?,
        scopes: row.try_get("scopes")?,
        created: row.try_get("created")?,
        expires: row.try_get("expires")?,
        last_used: row.try_get("last_used")?,
    })
}
