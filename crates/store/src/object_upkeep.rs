//! Deleting objects that nothing needs.

use std::collections::HashSet;

use crate::blocking::blocking;
use crate::error::Result;
use crate::objects::Collection;
use crate::store::Store;

impl Store {
    /// Deletes the objects of segments that were merged, deleted or expired long enough ago; returns how many. Finds out as well whether an
    /// object store that failed replies again.
    ///
    /// # Errors
    /// [`crate::StoreError::Object`]; what could not be deleted is tried again later.
    pub async fn delete_objects(&self) -> Result<usize> {
        match self.segment_settings.objects.clone() {
            Some(objects) => {
                blocking(move || {
                    objects.probe();
                    objects.delete_due()
                })
                .await
            }
            None => Ok(0),
        }
    }

    /// Deletes the objects that no catalogue lists and that are older than [`crate::ObjectsConfig::orphan_age`], if an earlier call has
    /// found them too; returns how many. Nothing is deleted while the clock is suspect.
    ///
    /// What another node has uploaded and not committed yet is not listed, however long that takes (a paused process): its age alone does not
    /// exclude it. So the order of transactions does. The objects are listed first, then the transaction of
    /// [`crate::Catalogue::begin_collection`] is committed, and then the catalogue is read. A seal or a merge whose transaction came before is
    /// in what was read, and its objects stay. One that comes later is refused if its upload began before the transaction, and uploads under
    /// other names again; if it began afterwards, its objects were not found, because a name is used once.
    ///
    /// # Errors
    /// [`crate::StoreError::Object`], and failures of the catalogue.
    pub async fn collect_orphans(&self) -> Result<usize> {
        let (Some(objects), Some(config)) = (
            self.segment_settings.objects.clone(),
            self.config.objects.as_ref(),
        ) else {
            return Ok(0);
        };
        let seen = self.observe_clock();
        if !seen.trust.is_trusted() {
            return Ok(0);
        }
        let at = Collection {
            now: seen.now,
            elapsed: self.config.clock.elapsed(),
            age: config.orphan_age,
            grace: config.grace,
        };
        let lister = objects.clone();
        let found = blocking(move || lister.list()).await?;
        let listed = self.listed_paths().await?;
        let mut due = self.orphans.due(&objects, found, &listed, at);
        if due.is_empty() {
            return Ok(0);
        }
        self.catalogue.begin_collection().await?;
        let listed = self.listed_paths().await?;
        due.retain(|path| !listed.contains(path));
        let orphans = self.orphans.clone();
        blocking(move || orphans.delete(&objects, due)).await
    }

    /// The paths of all segments that the catalogue lists, expired ones included.
    async fn listed_paths(&self) -> Result<HashSet<String>> {
        let records = self.catalogue.all_segments().await?;
        Ok(records.into_iter().map(|record| record.path).collect())
    }
}
