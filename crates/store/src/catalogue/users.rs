//! Users of the embedded issuer, and what they and clients may do.

use super::Catalogue;
use super::applications::app_id;
use super::database::{self, Row, sql};
use crate::app_id::AppId;
use crate::error::{Result, StoreError};

/// A user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserRecord {
    /// Its identity, a UUID.
    pub id: String,
    /// The name that it signs in with; its case does not count.
    pub name: String,
    /// The caller's hash of the password.
    pub password: String,
    /// When it was created, in ticks.
    pub created: i64,
}

/// A role that a user or a client holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RoleRecord {
    /// The id of the user or client.
    pub holder: String,
    /// The application; `None`: every one, also those made later.
    pub app: Option<AppId>,
    /// What it permits, in the caller's words.
    pub role: String,
}

/// How a role for every application is kept.
const EVERY: &str = "*";

impl Catalogue {
    /// Keeps a new user.
    ///
    /// # Errors
    /// [`StoreError::NameTaken`] if a user has the name.
    pub async fn create_user(&self, user: &UserRecord) -> Result<()> {
        let inserted =
            sql("INSERT INTO users (id, name, password, created) VALUES ($1, $2, $3, $4)")
                .bind(&user.id)
                .bind(&user.name)
                .bind(&user.password)
                .bind(user.created)
                .commit_to(&self.database)
                .await;
        match inserted {
            Ok(_) => Ok(()),
            Err(error) if error.is_unique_violation() => Err(StoreError::NameTaken {
                name: user.name.clone(),
            }),
            Err(error) => Err(self.failed(error)),
        }
    }

    /// All users, by name.
    pub async fn users(&self) -> Result<Vec<UserRecord>> {
        self.named(async {
            let rows = sql("SELECT * FROM users ORDER BY lower(name)")
                .fetch_all(&self.database)
                .await?;
            rows.iter().map(user).collect()
        })
        .await
    }

    /// The user with this id or, if there is none, this name.
    pub async fn user(&self, name_or_id: &str) -> Result<Option<UserRecord>> {
        self.named(async {
            let row = sql(
                "SELECT * FROM users WHERE id = $1 OR lower(name) = $2 ORDER BY id = $1 DESC LIMIT 1",
            )
            .bind(name_or_id)
            .bind(name_or_id.to_ascii_lowercase())
            .fetch_optional(&self.database)
            .await?;
            row.as_ref().map(user).transpose()
        })
        .await
    }

    /// Gives a user another password and ends all that the old one opened; false if there is no such user.
    pub async fn set_password(&self, id: &str, password: &str, now: i64) -> Result<bool> {
        self.named(async {
            let mut transaction = self.database.begin().await?;
            let changed = sql("UPDATE users SET password = $1 WHERE id = $2")
                .bind(password)
                .bind(id)
                .execute(&mut transaction)
                .await?;
            sql("DELETE FROM sessions WHERE user_id = $1")
                .bind(id)
                .execute(&mut transaction)
                .await?;
            sql("UPDATE grants SET revoked = $1 WHERE user_id = $2 AND revoked IS NULL")
                .bind(now)
                .bind(id)
                .execute(&mut transaction)
                .await?;
            transaction.commit().await?;
            Ok(changed > 0)
        })
        .await
    }

    /// Deletes a user with its roles, sessions and grants; false if there was none.
    pub async fn delete_user(&self, id: &str) -> Result<bool> {
        self.delete_holder("DELETE FROM users WHERE id = $1", id)
            .await
    }

    /// Deletes a holder of roles by one statement that takes its id.
    pub(super) async fn delete_holder(&self, statement: &'static str, id: &str) -> Result<bool> {
        self.named(async {
            let mut transaction = self.database.begin().await?;
            let deleted = sql(statement).bind(id).execute(&mut transaction).await?;
            sql("DELETE FROM roles WHERE holder = $1")
                .bind(id)
                .execute(&mut transaction)
                .await?;
            transaction.commit().await?;
            Ok(deleted > 0)
        })
        .await
    }

    /// Gives a role; giving it twice is no error.
    pub async fn grant_role(&self, role: &RoleRecord) -> Result<()> {
        self.named(async {
            sql("INSERT INTO roles (holder, app_id, role) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING")
                .bind(&role.holder)
                .bind(app_text(role.app))
                .bind(&role.role)
                .commit_to(&self.database)
                .await?;
            Ok(())
        })
        .await
    }

    /// Takes a role away; false if it was not held.
    pub async fn revoke_role(&self, role: &RoleRecord) -> Result<bool> {
        self.named(async {
            let deleted = sql("DELETE FROM roles WHERE holder = $1 AND app_id = $2 AND role = $3")
                .bind(&role.holder)
                .bind(app_text(role.app))
                .bind(&role.role)
                .commit_to(&self.database)
                .await?;
            Ok(deleted > 0)
        })
        .await
    }

    /// Every role that anybody holds.
    pub async fn roles(&self) -> Result<Vec<RoleRecord>> {
        self.named(async {
            let rows = sql("SELECT * FROM roles ORDER BY holder, app_id, role")
                .fetch_all(&self.database)
                .await?;
            rows.iter().map(role).collect()
        })
        .await
    }
}

fn app_text(app: Option<AppId>) -> String {
    app.map_or_else(|| EVERY.to_owned(), |app| app.to_string())
}

fn user(row: &Row) -> database::Result<UserRecord> {
    Ok(UserRecord {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        password: row.try_get("password")?,
        created: row.try_get("created")?,
    })
}

fn role(row: &Row) -> database::Result<RoleRecord> {
    let app: String = row.try_get("app_id")?;
    let app = if app == EVERY {
        None
    } else {
        Some(app_id(&app)?)
    };
    Ok(RoleRecord {
        holder: row.try_get("holder")?,
        app,
        role: row.try_get("role")?,
    })
}
