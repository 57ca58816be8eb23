//! Applications, keys, users, clients and roles as they are now: a snapshot of the catalogue that follows it within a fraction of a second.
//!
//! Command-line programs change the catalogue beside a running server, so a snapshot is used for a fraction of a second only.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::Duration;

use hindsight_identity::Rights;
use hindsight_rows::{AppColumns, Owner};
use hindsight_store::{AppId, Catalogue, KeyRecord, StoreError, Tier};
use parking_lot::RwLock;
use tokio::time::Instant;
use uuid::Uuid;

use crate::resource;

/// Where every application is.
pub(crate) const REGION: &str = "local";

/// The `_ResourceId` of an application's rows.
pub(crate) fn resource_id(application: &str) -> String {
    format!("/hindsight/apps/{application}")
}

/// How long a snapshot is used before the catalogue's version is checked.
const FRESH: Duration = Duration::from_millis(200);

/// An application as requests need it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct AppRecord {
    /// Its identity.
    pub(crate) id: AppId,
    /// The identity's text, as rows carry it.
    pub(crate) id_text: String,
    /// Its name.
    pub(crate) name: String,
    /// The instrumentation key's text.
    pub(crate) ikey: String,
    /// `_ResourceId` of its rows.
    pub(crate) resource_id: String,
    /// Its tier (`D20`).
    pub(crate) tier: Tier,
    /// Bytes that it may send in a day.
    pub(crate) daily_cap_bytes: Option<u64>,
}

impl AppRecord {
    /// What its rows have of it.
    pub(crate) fn owner(&self) -> Owner<'_> {
        Owner {
            app: self.id,
            columns: AppColumns {
                id: &self.id_text,
                name: &self.name,
                ikey: &self.ikey,
                resource_id: &self.resource_id,
            },
        }
    }
}

/// The catalogue's content at one moment.
#[derive(Debug, Default)]
pub(crate) struct Snapshot {
    apps: HashMap<AppId, Arc<AppRecord>>,
    names: HashMap<String, AppId>,
    ikeys: HashMap<Uuid, AppId>,
    keys: HashMap<String, Arc<KeyRecord>>,
    /// The roles of users and clients, by id.
    holders: HashMap<String, Arc<Roles>>,
    /// Families of tokens that were revoked.
    revoked: HashSet<String>,
}

/// The rights of a user or client.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Roles {
    /// On every application.
    pub(crate) everywhere: Rights,
    /// On single applications.
    pub(crate) apps: HashMap<AppId, Rights>,
}

impl Roles {
    fn add(&mut self, app: Option<AppId>, rights: Rights) {
        let held = match app {
            None => &mut self.everywhere,
            Some(app) => self.apps.entry(app).or_default(),
        };
        *held = held.and(rights);
    }
}

impl Snapshot {
    /// The application with this id or, if there is none, this exact name. A resource id names it too.
    pub(crate) fn app(&self, name_or_id: &str) -> Option<Arc<AppRecord>> {
        let name_or_id = resource::application(name_or_id).unwrap_or(name_or_id);
        let by_id = Uuid::parse_str(name_or_id)
            .ok()
            .map(AppId)
            .filter(|id| self.apps.contains_key(id));
        let id = by_id.or_else(|| self.names.get(name_or_id).copied())?;
        self.apps.get(&id).cloned()
    }

    /// Every application, in no order.
    pub(crate) fn apps(&self) -> impl Iterator<Item = &Arc<AppRecord>> {
        self.apps.values()
    }

    /// The application that telemetry with this instrumentation key belongs to.
    pub(crate) fn by_ikey(&self, ikey: &str) -> Option<&Arc<AppRecord>> {
        let ikey = Uuid::parse_str(ikey.trim()).ok()?;
        self.apps.get(self.ikeys.get(&ikey)?)
    }

    /// The roles of a user or client; `None` if there is none with this id.
    pub(crate) fn roles(&self, holder: &str) -> Option<Arc<Roles>> {
        self.holders.get(holder).cloned()
    }

    /// Whether a family of tokens was revoked.
    pub(crate) fn is_revoked(&self, grant: &str) -> bool {
        self.revoked.contains(grant)
    }

    /// The API key with this id.
    pub(crate) fn key(&self, id: &str) -> Option<Arc<KeyRecord>> {
        self.keys.get(id).cloned()
    }
}

/// The catalogue's snapshot and its age.
#[derive(Debug)]
pub(crate) struct Directory {
    catalogue: Catalogue,
    state: RwLock<State>,
    loading: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct State {
    snapshot: Arc<Snapshot>,
    version: i64,
    checked: Instant,
}

impl Directory {
    /// Reads the catalogue for the first time.
    pub(crate) async fn open(catalogue: Catalogue) -> Result<Directory, StoreError> {
        let version = catalogue.version().await?;
        let snapshot = Arc::new(load(&catalogue).await?);
        let state = RwLock::new(State {
            snapshot,
            version,
            checked: Instant::now(),
        });
        Ok(Directory {
            catalogue,
            state,
            loading: tokio::sync::Mutex::new(()),
        })
    }

    /// A snapshot that is at most a fraction of a second old.
    pub(crate) async fn snapshot(&self) -> Result<Arc<Snapshot>, StoreError> {
        if let Some(snapshot) = self.fresh() {
            return Ok(snapshot);
        }
        self.refresh(false).await
    }

    /// A refreshed snapshot, for lookups that failed in the last one.
    pub(crate) async fn current(&self) -> Result<Arc<Snapshot>, StoreError> {
        self.refresh(true).await
    }

    fn fresh(&self) -> Option<Arc<Snapshot>> {
        let state = self.state.read();
        (state.checked.elapsed() < FRESH).then(|| state.snapshot.clone())
    }

    async fn refresh(&self, now: bool) -> Result<Arc<Snapshot>, StoreError> {
        let _one_at_a_time = self.loading.lock().await;
        if let Some(snapshot) = self.fresh().filter(|_| !now) {
            return Ok(snapshot);
        }
        // The version is read first: a change between the two reads makes the next look load again.
        let version = if now {
            self.catalogue.latest_version().await?
        } else {
            self.catalogue.version().await?
        };
        let unchanged = version == self.state.read().version;
        let loaded = if unchanged {
            None
        } else {
            match load(&self.catalogue).await {
                Ok(snapshot) => Some(Arc::new(snapshot)),
                Err(error) if error.is_catalogue_unavailable() => None,
                Err(error) => return Err(error),
            }
        };
        let mut state = self.state.write();
        if let Some(snapshot) = loaded {
            state.snapshot = snapshot;
            state.version = version;
        }
        state.checked = Instant::now();
        Ok(state.snapshot.clone())
    }
}

async fn load(catalogue: &Catalogue) -> Result<Snapshot, StoreError> {
    let mut snapshot = Snapshot::default();
    for app in catalogue.apps().await? {
        for key in catalogue.keys(app.id).await? {
            snapshot.keys.insert(key.id.clone(), Arc::new(key));
        }
        snapshot.names.insert(app.name.clone(), app.id);
        snapshot.ikeys.insert(app.instrumentation_key, app.id);
        let record = AppRecord {
            id: app.id,
            id_text: app.id.to_string(),
            resource_id: resource_id(&app.name),
            name: app.name,
            ikey: app.instrumentation_key.to_string(),
            tier: app.tier,
            daily_cap_bytes: app.daily_cap_bytes,
        };
        snapshot.apps.insert(record.id, Arc::new(record));
    }
    snapshot.holders = load_holders(catalogue).await?;
    snapshot.revoked = catalogue.revoked_grants(0).await?.into_iter().collect();
    Ok(snapshot)
}

async fn load_holders(catalogue: &Catalogue) -> Result<HashMap<String, Arc<Roles>>, StoreError> {
    let users = catalogue.users().await?.into_iter().map(|user| user.id);
    let clients = catalogue
        .clients()
        .await?
        .into_iter()
        .map(|client| client.id);
    let mut holders: HashMap<String, Roles> = users
        .chain(clients)
        .map(|id| (id, Roles::default()))
        .collect();
    for role in catalogue.roles().await? {
        if let Some(held) = holders.get_mut(&role.holder) {
            // An unknown role grants nothing.
            held.add(role.app, Rights::parse(&role.role).unwrap_or_default());
        }
    }
    Ok(holders
        .into_iter()
        .map(|(id, roles)| (id, Arc::new(roles)))
        .collect())
}
