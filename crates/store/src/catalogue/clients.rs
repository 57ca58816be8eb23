//! Clients of the embedded issuer: programs that ask for tokens.

use super::Catalogue;
use super::database::{self, Row, sql};
use crate::error::{Result, StoreError};

/// A client.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientRecord {
    /// Its identity, a UUID.
    pub id: String,
    /// What its owner calls it.
    pub name: String,
    /// Whether it may sign people in without a secret of its own.
    pub public: bool,
    /// When it was created, in ticks.
    pub created: i64,
    /// Where people may be sent back to, exactly.
    pub redirects: Vec<String>,
    /// Its secrets.
    pub secrets: Vec<SecretRecord>,
}

/// A client's secret as it is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SecretRecord {
    /// Its public id.
    pub id: String,
    /// The caller's hash of it.
    pub hash: Vec<u8>,
    /// When it was created, in ticks.
    pub created: i64,
    /// When it stops working, in ticks.
    pub expires: Option<i64>,
}

impl Catalogue {
    /// Keeps a new client with its redirect addresses and secrets.
    ///
    /// # Errors
    /// [`StoreError::NameTaken`] if a client has the id.
    pub async fn create_client(&self, client: &ClientRecord) -> Result<()> {
        let inserted = self.insert_client(client).await;
        match inserted {
            Err(error) if error.is_unique_violation() => {
                return Err(StoreError::NameTaken {
                    name: client.id.clone(),
                });
            }
            other => other.map_err(|source| self.failed(source))?,
        }
        for secret in &client.secrets {
            self.create_secret(&client.id, secret).await?;
        }
        Ok(())
    }

    async fn insert_client(&self, client: &ClientRecord) -> database::Result<()> {
        let mut transaction = self.database.begin().await?;
        sql("INSERT INTO clients (id, name, public, created) VALUES ($1, $2, $3, $4)")
            .bind(&client.id)
            .bind(&client.name)
            .bind(client.public)
            .bind(client.created)
            .execute(&mut transaction)
            .await?;
        for uri in &client.redirects {
            sql("INSERT INTO client_redirects (client_id, uri) VALUES ($1, $2) ON CONFLICT DO NOTHING")
                .bind(&client.id)
                .bind(uri)
                .execute(&mut transaction)
                .await?;
        }
        transaction.commit().await
    }

    /// Keeps a further secret of a client.
    pub async fn create_secret(&self, client: &str, secret: &SecretRecord) -> Result<()> {
        self.named(async {
            sql(
                "INSERT INTO client_secrets (id, client_id, hash, created, expires) VALUES ($1, $2, $3, $4, $5)",
            )
            .bind(&secret.id)
            .bind(client)
            .bind(&secret.hash)
            .bind(secret.created)
            .bind(secret.expires)
            .commit_to(&self.database)
            .await?;
            Ok(())
        })
        .await
    }

    /// Deletes a client's secret; false if there was none.
    pub async fn delete_secret(&self, client: &str, secret: &str) -> Result<bool> {
        self.named(async {
            let deleted = sql("DELETE FROM client_secrets WHERE client_id = $1 AND id = $2")
                .bind(client)
                .bind(secret)
                .commit_to(&self.database)
                .await?;
            Ok(deleted > 0)
        })
        .await
    }

    /// All clients, by name.
    pub async fn clients(&self) -> Result<Vec<ClientRecord>> {
        self.named(async {
            let rows = sql("SELECT * FROM clients ORDER BY name, id")
                .fetch_all(&self.database)
                .await?;
            let mut clients = Vec::with_capacity(rows.len());
            for row in &rows {
                clients.push(self.whole_client(row).await?);
            }
            Ok(clients)
        })
        .await
    }

    /// The client with this id, or with this name where only one has it.
    pub async fn client(&self, id_or_name: &str) -> Result<Option<ClientRecord>> {
        self.named(async {
            let rows =
                sql("SELECT * FROM clients WHERE id = $1 OR name = $2 ORDER BY id = $1 DESC")
                    .bind(id_or_name.to_ascii_lowercase())
                    .bind(id_or_name)
                    .fetch_all(&self.database)
                    .await?;
            match rows.as_slice() {
                [row] => self.whole_client(row).await.map(Some),
                _ => Ok(None),
            }
        })
        .await
    }

    /// Deletes a client with its secrets, roles and grants; false if there was none.
    pub async fn delete_client(&self, id: &str) -> Result<bool> {
        self.delete_holder("DELETE FROM clients WHERE id = $1", id)
            .await
    }

    async fn whole_client(&self, row: &Row) -> database::Result<ClientRecord> {
        let id: String = row.try_get("id")?;
        let redirects = sql("SELECT uri FROM client_redirects WHERE client_id = $1 ORDER BY uri")
            .bind(&id)
            .values(&self.database)
            .await?;
        let secrets = sql("SELECT * FROM client_secrets WHERE client_id = $1 ORDER BY created, id")
            .bind(&id)
            .fetch_all(&self.database)
            .await?;
        Ok(ClientRecord {
            id,
            name: row.try_get("name")?,
            public: row.try_get("public")?,
            created: row.try_get("created")?,
            redirects,
            secrets: secrets
                .iter()
                .map(secret)
                .collect::<database::Result<_>>()?,
        })
    }
}

fn secret(row: &Row) -> database::Result<SecretRecord> {
    Ok(SecretRecord {
        id: row.try_get("id")?,
        hash: row.try_get("hash")?,
        created: row.try_get("created")?,
        expires: row.try_get("expires")?,
    })
}
