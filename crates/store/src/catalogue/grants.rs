//! What sign-ins led to: grants with their refresh tokens, browser sessions, and the keys that sign tokens.

use super::Catalogue;
use super::database::{self, Row, sql};
use crate::error::Result;

/// A family of tokens: what one sign-in of a user at a client led to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantRecord {
    /// Its identity, a UUID.
    pub id: String,
    /// The user's id.
    pub user: String,
    /// The client's id.
    pub client: String,
    /// For which resource.
    pub resource: String,
    /// What was granted, names with spaces between.
    pub scope: String,
    /// When it began, in ticks.
    pub created: i64,
    /// When its refresh tokens stop working, in ticks.
    pub expires: i64,
    /// When it was revoked, in ticks.
    pub revoked: Option<i64>,
}

/// What became of a refresh token that was shown.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Redeemed {
    /// There is no such token.
    Unknown,
    /// It had been used before, or its grant was revoked; the whole family is revoked now.
    Reused(GrantRecord),
    /// It was good and is used up now.
    Good(GrantRecord),
}

/// A browser's session.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRecord {
    /// Its public id, a UUID (`session_state`).
    pub id: String,
    /// The user's id.
    pub user: String,
    /// When it began, in ticks.
    pub created: i64,
    /// When it ends, in ticks.
    pub expires: i64,
}

/// A key that signs tokens.
#[derive(Debug, Clone)]
pub struct SigningKeyRecord {
    /// Its id (`kid`).
    pub id: String,
    /// The private key, PKCS#8 as PEM.
    pub pem: String,
    /// When it was made, in ticks.
    pub created: i64,
}

impl Catalogue {
    /// The tenant that this installation is; `proposed` becomes it where there is none.
    pub async fn tenant(&self, proposed: &str) -> Result<String> {
        self.named(async {
            sql("INSERT INTO tenant (one, id) VALUES (1, $1) ON CONFLICT DO NOTHING")
                .bind(proposed)
                .commit_to(&self.database)
                .await?;
            sql("SELECT id FROM tenant").value(&self.database).await
        })
        .await
    }

    /// Begins a family.
    pub async fn create_grant(&self, grant: &GrantRecord) -> Result<()> {
        self.named(async {
            sql(
                "INSERT INTO grants (id, user_id, client_id, resource, scope, created, expires) VALUES ($1, $2, $3, $4, $5, $6, $7)",
            )
            .bind(&grant.id)
            .bind(&grant.user)
            .bind(&grant.client)
            .bind(&grant.resource)
            .bind(&grant.scope)
            .bind(grant.created)
            .bind(grant.expires)
            .commit_to(&self.database)
            .await?;
            Ok(())
        })
        .await
    }

    /// Keeps a family's next refresh token.
    pub async fn create_refresh_token(&self, grant: &str, hash: &[u8], now: i64) -> Result<()> {
        self.named(async {
            sql("INSERT INTO refresh_tokens (hash, grant_id, created) VALUES ($1, $2, $3)")
                .bind(hash)
                .bind(grant)
                .bind(now)
                .commit_to(&self.database)
                .await?;
            Ok(())
        })
        .await
    }

    /// The family of a refresh token, whatever its state.
    pub async fn grant_of_refresh_token(&self, hash: &[u8]) -> Result<Option<GrantRecord>> {
        self.named(async {
            let row = sql(
                "SELECT g.* FROM refresh_tokens r JOIN grants g ON g.id = r.grant_id WHERE r.hash = $1",
            )
            .bind(hash)
            .fetch_optional(&self.database)
            .await?;
            row.as_ref().map(grant).transpose()
        })
        .await
    }

    /// Uses a refresh token up. One that was used before revokes its family, in the same transaction.
    pub async fn redeem_refresh_token(&self, hash: &[u8], now: i64) -> Result<Redeemed> {
        self.named(async {
            let mut transaction = self.database.begin().await?;
            let row = sql(
                "SELECT g.*, r.used FROM refresh_tokens r JOIN grants g ON g.id = r.grant_id WHERE r.hash = $1",
            )
            .bind(hash)
            .fetch_optional(&mut transaction)
            .await?;
            let Some(row) = row else {
                return Ok(Redeemed::Unknown);
            };
            let family = grant(&row)?;
            let used: Option<i64> = row.try_get("used")?;
            if used.is_some() || family.revoked.is_some() {
                sql("UPDATE grants SET revoked = $1 WHERE id = $2 AND revoked IS NULL")
                    .bind(now)
                    .bind(&family.id)
                    .execute(&mut transaction)
                    .await?;
                transaction.commit().await?;
                return Ok(Redeemed::Reused(family));
            }
            sql("UPDATE refresh_tokens SET used = $1 WHERE hash = $2")
                .bind(now)
                .bind(hash)
                .execute(&mut transaction)
                .await?;
            transaction.commit().await?;
            Ok(Redeemed::Good(family))
        })
        .await
    }

    /// Revokes a family: its refresh tokens and its access tokens.
    pub async fn revoke_grant(&self, id: &str, now: i64) -> Result<()> {
        self.named(async {
            sql("UPDATE grants SET revoked = $1 WHERE id = $2 AND revoked IS NULL")
                .bind(now)
                .bind(id)
                .commit_to(&self.database)
                .await?;
            Ok(())
        })
        .await
    }

    /// The families that were revoked at or after `since`.
    pub async fn revoked_grants(&self, since: i64) -> Result<Vec<String>> {
        self.named(async {
            sql("SELECT id FROM grants WHERE revoked >= $1")
                .bind(since)
                .values(&self.database)
                .await
        })
        .await
    }

    /// Keeps a browser's session under the hash of its secret.
    pub async fn create_session(&self, hash: &[u8], session: &SessionRecord) -> Result<()> {
        self.named(async {
            sql(
                "INSERT INTO sessions (hash, id, user_id, created, expires) VALUES ($1, $2, $3, $4, $5)",
            )
            .bind(hash)
            .bind(&session.id)
            .bind(&session.user)
            .bind(session.created)
            .bind(session.expires)
            .commit_to(&self.database)
            .await?;
            Ok(())
        })
        .await
    }

    /// The session whose secret has this hash. Expiry is for the caller to judge.
    pub async fn session(&self, hash: &[u8]) -> Result<Option<SessionRecord>> {
        self.named(async {
            let row = sql("SELECT * FROM sessions WHERE hash = $1")
                .bind(hash)
                .fetch_optional(&self.database)
                .await?;
            row.as_ref()
                .map(|row| {
                    Ok(SessionRecord {
                        id: row.try_get("id")?,
                        user: row.try_get("user_id")?,
                        created: row.try_get("created")?,
                        expires: row.try_get("expires")?,
                    })
                })
                .transpose()
        })
        .await
    }

    /// Ends a session.
    pub async fn delete_session(&self, hash: &[u8]) -> Result<()> {
        self.named(async {
            sql("DELETE FROM sessions WHERE hash = $1")
                .bind(hash)
                .commit_to(&self.database)
                .await?;
            Ok(())
        })
        .await
    }

    /// Forgets sessions and families that ended before `now`.
    pub async fn forget_ended(&self, now: i64) -> Result<()> {
        self.named(async {
            for statement in [
                "DELETE FROM sessions WHERE expires < $1",
                "DELETE FROM grants WHERE expires < $1",
            ] {
                sql(statement).bind(now).commit_to(&self.database).await?;
            }
            Ok(())
        })
        .await
    }

    /// Keeps a key that signs tokens.
    pub async fn create_signing_key(&self, key: &SigningKeyRecord) -> Result<()> {
        self.named(async {
            sql("INSERT INTO signing_keys (id, pem, created) VALUES ($1, $2, $3)")
                .bind(&key.id)
                .bind(&key.pem)
                .bind(key.created)
                .commit_to(&self.database)
                .await?;
            Ok(())
        })
        .await
    }

    /// The keys that sign tokens, the newest first.
    pub async fn signing_keys(&self) -> Result<Vec<SigningKeyRecord>> {
        self.named(async {
            let rows = sql("SELECT * FROM signing_keys ORDER BY created DESC, id")
                .fetch_all(&self.database)
                .await?;
            rows.iter()
                .map(|row| {
                    Ok(SigningKeyRecord {
                        id: row.try_get("id")?,
                        pem: row.try_get("pem")?,
                        created: row.try_get("created")?,
                    })
                })
                .collect()
        })
        .await
    }

    /// Forgets the signing keys that were made before `before`.
    pub async fn delete_signing_keys(&self, before: i64) -> Result<()> {
        self.named(async {
            sql("DELETE FROM signing_keys WHERE created < $1")
                .bind(before)
                .commit_to(&self.database)
                .await?;
            Ok(())
        })
        .await
    }
}

fn grant(row: &Row) -> database::Result<GrantRecord> {
    Ok(GrantRecord {
        id: row.try_get("id")?,
        user: row.try_get("user_id")?,
        client: row.try_get("client_id")?,
        resource: row.try_get("resource")?,
        scope: row.try_get("scope")?,
        created: row.try_get("created")?,
        expires: row.try_get("expires")?,
        revoked: row.try_get("revoked")?,
    })
}
