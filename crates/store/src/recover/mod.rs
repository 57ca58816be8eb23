//! Rebuilds a lost or damaged catalogue from the footers of the segments and from the log.
//!
//! Nothing is deleted, and segments stay where they are; the next opening moves those that are not listed to the quarantine.

mod doubt;
mod exact_cover;
mod examine;
mod files;
#[cfg(test)]
mod random_tests;
mod resolve;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use uuid::Uuid;

use crate::app_id::AppId;
use crate::blocking::blocking;
use crate::catalogue::{Catalogue, NewApplication, SegmentRecord};
use crate::check::{Finding, Progress};
use crate::error::{Result, StoreError};
use crate::expired;
use crate::folder::{self, Folder};
use crate::format_file::{self, CatalogueKind};
use crate::log::{self, LogReport};
use crate::quarantine;
use crate::segment::{Description, TEMPORARY, WholeFile, first_application};
use crate::store_id::StoreId;
use crate::vfs::{self, RealFs};

pub use doubt::{Doubt, Doubts};
use examine::{Broken, Sound, examine};
use files::begin_log;
pub(crate) use files::{prepare, put_in_place, set_aside};
use resolve::{Found, LogRange, Resolved, resolve};

/// An application of a rebuilt catalogue that the old one did not have or that could not be read from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecoveredApp {
    /// Its id.
    pub id: AppId,
    /// The name that its items were stored with, or one made of its id.
    pub name: String,
    /// The key that its items were stored with; `None` if no item says it.
    pub instrumentation_key: Option<Uuid>,
}

/// What a recovery did.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RecoveryReport {
    /// Segments that are data.
    pub segments: u64,
    /// Their rows.
    pub rows: u64,
    /// Segments whose rows are in other segments or in the log; they are not listed.
    pub superseded: Vec<PathBuf>,
    /// Other files that are not listed, and why.
    pub left_out: Vec<Finding>,
    /// Segments that are listed as damaged.
    pub damaged: Vec<Finding>,
    /// Applications that got a new entry.
    pub apps: Vec<RecoveredApp>,
    /// Where the old catalogue lies now, if there was one.
    pub kept: Option<PathBuf>,
    /// Whether applications, keys and users were taken over from the old catalogue.
    pub took_over: bool,
    /// The doubts that were accepted.
    pub doubts: Doubts,
}

/// The outcome of a recovery.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Recovery {
    /// There is a new catalogue.
    Done(RecoveryReport),
    /// Nothing was changed, because these doubts were not accepted.
    Refused(Doubts),
}

/// Rebuilds the catalogue of a data folder that no process holds. Doubts that are not `accepted` make it refuse. `now` is in ticks.
///
/// # Errors
/// [`StoreError::Locked`] if another process holds the folder, [`StoreError::NoStore`] if there is neither a segment nor a log; file
/// and catalogue failures otherwise.
pub async fn recover(
    root: &Path,
    accepted: &[Doubt],
    now: i64,
    progress: Arc<dyn Progress>,
) -> Result<Recovery> {
    format_file::refuse_postgres(
        &RealFs,
        root,
        "'hindsight store recover'",
        "restore the database from a dump or its archived log",
    )?;
    format_file::refuse_objects(
        &RealFs,
        root,
        "'hindsight store recover'",
        "restore the catalogue from a copy; the objects hold all segments",
    )?;
    let taken = root.to_owned();
    let folder = blocking(move || Folder::take_without_catalogue(Arc::new(RealFs), &taken)).await?;
    let survey = {
        let root = root.to_owned();
        blocking(move || Survey::of(&root, progress.as_ref())).await?
    };
    let old = OldCatalogue::of(root).await;
    let store = survey.store(root, old.as_ref())?;
    let mut plan = survey.plan(store);
    let old = old.filter(|old| old.is_of(store));
    if let Some(what) = old.as_ref().and_then(|old| old.lost.clone()) {
        let path = folder::catalogue_path(root);
        plan.doubts.add(Doubt::OlderCatalogue, &path, what);
    }
    let open = plan.doubts.clone().without(accepted);
    if !open.is_empty() {
        return Ok(Recovery::Refused(open));
    }
    let report = plan.carry_out(&folder, store, old.as_ref(), now).await?;
    Ok(Recovery::Done(report))
}

fn exists(path: &Path) -> Result<bool> {
    vfs::exists(&RealFs, path).map_err(StoreError::io("read", path))
}

/// The old catalogue, if nothing is wrong with it.
struct OldCatalogue {
    catalogue: Catalogue,
    store: Option<String>,
    /// That it lacks transactions that were committed.
    lost: Option<String>,
}

impl OldCatalogue {
    /// Whether it is of this store, as far as it says.
    fn is_of(&self, store: StoreId) -> bool {
        let id = self.store.as_deref();
        id.is_none_or(|id| id == store.to_string())
    }

    async fn of(root: &Path) -> Option<OldCatalogue> {
        let path = folder::catalogue_path(root);
        if !exists(&path).ok()? {
            return None;
        }
        let catalogue = Catalogue::open_to_read(&path, false).await.ok()?;
        let read = async {
            let examined = catalogue.examine().await?;
            catalogue.apps().await?;
            Ok::<_, StoreError>((examined, catalogue.store_text().await?))
        };
        match read.await {
            Ok((examined, store)) if examined.damage.is_empty() => Some(OldCatalogue {
                catalogue,
                store,
                lost: examined.lost,
            }),
            _ => {
                catalogue.close().await;
                None
            }
        }
    }
}

/// Everything that lies in a data folder.
#[derive(Default)]
struct Survey {
    segments: PathBuf,
    sound: Vec<Sound>,
    broken: Vec<Broken>,
    expired: Vec<Sound>,
    log: LogReport,
    doubts: Doubts,
    left_out: Vec<Finding>,
}

impl Survey {
    fn of(root: &Path, progress: &dyn Progress) -> Result<Survey> {
        let segments = root.join("segments");
        let mut survey = Survey {
            segments: segments.clone(),
            log: log::inspect(&RealFs, &root.join("log"))?,
            ..Survey::default()
        };
        let files = quarantine::files_below(&RealFs, &segments, quarantine::DEPTH)?;
        let expired = match expired::folder(root) {
            folder if exists(&folder)? => {
                quarantine::files_below(&RealFs, &folder, quarantine::DEPTH)?
            }
            _ => Vec::new(),
        };
        if files.is_empty() && expired.is_empty() && survey.log.first.is_none() {
            return Err(StoreError::NoStore {
                path: root.to_owned(),
            });
        }
        let all = files.iter().chain(&expired);
        progress.begin(all.map(|path| vfs::length(&RealFs, path)).sum());
        for path in files {
            if path.extension().is_some_and(|end| end == TEMPORARY) {
                survey.leave_out(&path, "it was never finished");
                continue;
            }
            match examine(&path, &mut survey.doubts, progress)? {
                Ok(sound) => survey.sound.push(sound),
                Err(broken) => survey.broken.push(broken),
            }
        }
        for path in expired {
            match examine(&path, &mut survey.doubts, progress)? {
                Ok(sound) => survey.expired.push(sound),
                Err(broken) => survey.leave_out(&path, &broken.what),
            }
        }
        Ok(survey)
    }

    fn leave_out(&mut self, path: &Path, what: &str) {
        self.left_out.push(Finding {
            path: path.to_owned(),
            what: what.to_owned(),
        });
    }

    /// The store that the folder is of.
    fn store(&self, root: &Path, old: Option<&OldCatalogue>) -> Result<StoreId> {
        if let Some(id) = format_file::read(&RealFs, root)?.and_then(|format| format.store) {
            return Ok(id);
        }
        let old = old.and_then(|old| old.store.as_ref()?.parse().ok());
        let mut named = self
            .sound
            .iter()
            .filter_map(|sound| sound.found.description.store);
        Ok(named.next().or(old).unwrap_or_else(StoreId::new))
    }

    /// Decides what is data.
    fn plan(mut self, store: StoreId) -> Plan {
        let mut doubts = std::mem::take(&mut self.doubts);
        let (own, foreign): (Vec<Sound>, Vec<Sound>) = std::mem::take(&mut self.sound)
            .into_iter()
            .partition(|sound| self.is_own(&sound.found, store));
        for sound in foreign {
            let what = "it is of another store, application or table";
            doubts.add(Doubt::ForeignSegments, &sound.found.path, what.to_owned());
            self.leave_out(&sound.found.path, what);
        }
        for damage in &self.log.damage {
            doubts.add(Doubt::LostLog, &damage.path, damage.what.clone());
        }
        if self.log.first.is_none() {
            let what = "the files of the log are gone".to_owned();
            doubts.add(Doubt::LostLog, &self.segments.with_file_name("log"), what);
        }
        let is_log_whole = self.log.damage.is_empty();
        let range = LogRange {
            first: self.log.first.filter(|_| is_log_whole),
            last: self.log.last,
        };
        let mut wholes: BTreeMap<PathBuf, WholeFile> = BTreeMap::new();
        let mut found = Vec::new();
        for sound in own {
            wholes.insert(sound.found.path.clone(), sound.whole);
            found.push(sound.found);
        }
        let resolved = resolve(found, range, &mut doubts);
        let mut plan = Plan {
            segments: self.segments,
            position: resolved.position,
            records: Vec::new(),
            expired: Vec::new(),
            report: RecoveryReport {
                left_out: self.left_out,
                ..RecoveryReport::default()
            },
            lost_log: range.first.is_none(),
            log_apps: self.log.apps,
            doubts,
        };
        plan.add_broken(self.broken, &resolved);
        plan.report.superseded = resolved
            .superseded
            .into_iter()
            .map(|one| one.path)
            .collect();
        for found in resolved.data {
            if let Some(whole) = wholes.remove(&found.path) {
                let record = plan.record(&plan.segments, &found, whole);
                plan.records.push((found.path, record));
            }
        }
        let expired = plan.segments.with_file_name("expired");
        for sound in self.expired {
            let record = plan.record(&expired, &sound.found, sound.whole);
            if plan.lost_log {
                plan.position = plan.position.max(record.max_seq);
            }
            plan.expired.push(record);
        }
        plan
    }

    /// Whether a segment is of this store and lies where its footer says that it belongs.
    fn is_own(&self, found: &Found, store: StoreId) -> bool {
        let of = &found.description;
        let folder = self.segments.join(of.app.to_string()).join(of.table.name());
        of.store.is_none_or(|id| id == store) && found.path.parent() == Some(folder.as_path())
    }
}

/// What a recovery will do.
struct Plan {
    segments: PathBuf,
    /// Data, with its files.
    records: Vec<(PathBuf, SegmentRecord)>,
    expired: Vec<SegmentRecord>,
    position: u64,
    /// The log is gone or damaged: a new one is begun.
    lost_log: bool,
    log_apps: BTreeMap<AppId, Option<(String, Uuid)>>,
    doubts: Doubts,
    report: RecoveryReport,
}

impl Plan {
    fn record(&self, folder: &Path, found: &Found, whole: WholeFile) -> SegmentRecord {
        let of = &found.description;
        let below = found.path.strip_prefix(folder).unwrap_or(&found.path);
        let parts = below
            .components()
            .map(|part| part.as_os_str().to_string_lossy());
        SegmentRecord {
            id: 0,
            app: of.app,
            table: of.table,
            path: parts.collect::<Vec<_>>().join("/"),
            rows: of.rows,
            bytes: whole.bytes,
            min_ts: of.min_ts,
            max_ts: of.max_ts,
            min_seq: of.min_seq,
            max_seq: of.max_seq,
            level: of.level,
            promoted: of.promoted.clone(),
            created: of.created,
            checksums: Some(whole.checksums),
            damage: None,
            expired: None,
        }
    }

    /// Whether a file lies where its footer says that it belongs.
    fn is_in_place(&self, path: &Path, of: &Description) -> bool {
        let folder = self.segments.join(of.app.to_string());
        path.parent() == Some(folder.join(of.table.name()).as_path())
    }

    /// Lists damaged segments as such, if their footers can be read and no whole segment may hold their rows.
    fn add_broken(&mut self, broken: Vec<Broken>, resolved: &Resolved) {
        for Broken { path, what, found } in broken {
            let finding = Finding {
                path: path.clone(),
                what: what.clone(),
            };
            match found {
                Some((description, whole))
                    if self.is_in_place(&path, &description)
                        && !resolved.may_hold(&description) =>
                {
                    let found = Found { path, description };
                    let mut record = self.record(&self.segments, &found, whole);
                    // Its bytes are not those that it was written with: no checksum may ever match them.
                    record.checksums = None;
                    record.damage = Some(what);
                    self.records.push((found.path, record));
                    self.report.damaged.push(finding);
                }
                _ => self.report.left_out.push(finding),
            }
        }
    }

    async fn carry_out(
        mut self,
        folder: &Folder,
        store: StoreId,
        old: Option<&OldCatalogue>,
        now: i64,
    ) -> Result<RecoveryReport> {
        let root = folder.root();
        let building = root.join("recovering");
        let new = building.join("catalogue.db");
        let (prepared, fresh) = (building.clone(), new.clone());
        blocking(move || prepare(&prepared, &fresh)).await?;
        if let Some(old) = old {
            old.catalogue.copy_to(&new).await?;
            old.catalogue.close().await;
        }
        let catalogue = Catalogue::open_at(&new, store).await?;
        for record in &mut self.expired {
            record.expired = Some(now);
        }
        let mut records: Vec<SegmentRecord> = self.records.iter().map(|(_, r)| r.clone()).collect();
        let data = || records.iter().filter(|record| record.damage.is_none());
        self.report.segments = data().count() as u64;
        self.report.rows = data().map(|record| record.rows).sum();
        records.append(&mut self.expired);
        catalogue
            .rebuild_segments(&mut records, self.position)
            .await?;
        // Before applications are created at a time that may be wrong.
        catalogue.time_mark_or(now).await?;
        self.report.apps = self.add_apps(&catalogue, now).await?;
        catalogue.close().await;
        self.report.took_over = old.is_some();
        self.report.doubts = self.doubts.clone();
        let (root, position) = (root.to_owned(), self.position);
        let lost_log = self.lost_log;
        self.report.kept = blocking(move || {
            if lost_log {
                begin_log(&root, position)?;
            }
            if format_file::read(&RealFs, &root)?.and_then(|format| format.store) != Some(store) {
                format_file::write(&RealFs, &root, store, CatalogueKind::File)?;
            }
            put_in_place(&root, &building)
        })
        .await?;
        Ok(self.report)
    }

    /// Adds an entry for each application that has telemetry and no entry.
    async fn add_apps(&self, catalogue: &Catalogue, now: i64) -> Result<Vec<RecoveredApp>> {
        let mut found: BTreeMap<AppId, Option<(String, Uuid)>> = self.log_apps.clone();
        let mut newest: Vec<&(PathBuf, SegmentRecord)> = self.records.iter().collect();
        newest.sort_by_key(|(_, record)| record.created);
        for (path, record) in newest.into_iter().rev() {
            let known = found.entry(record.app).or_default();
            if known.is_none() && record.damage.is_none() {
                let path = path.clone();
                *known = blocking(move || Ok(first_application(&RealFs, &path))).await?;
            }
        }
        let mut added = Vec::new();
        for (id, identity) in found {
            if catalogue.knows_app(id).await? {
                continue;
            }
            let (name, key) =
                identity.map_or((String::new(), None), |(name, key)| (name, Some(key)));
            let made_of_id = format!("recovered-{id}");
            let mut names = vec![made_of_id];
            if !name.is_empty() {
                names.push(format!("{name}-{id}"));
                names.push(name);
            }
            // The name may be that of another application by now.
            while let Some(name) = names.pop() {
                let new = NewApplication {
                    id,
                    name: name.clone(),
                    instrumentation_key: key.unwrap_or(id.0),
                    created: now,
                };
                match catalogue.create_app(new).await {
                    Ok(_) => {
                        added.push(RecoveredApp {
                            id,
                            name,
                            instrumentation_key: key,
                        });
                        break;
                    }
                    Err(StoreError::NameTaken { .. }) if !names.is_empty() => {}
                    Err(error) => return Err(error),
                }
            }
        }
        Ok(added)
    }
}
