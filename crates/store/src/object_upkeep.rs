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
    /// # Errors
    /// [`crate::StoreError::Object`].
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
        // After the objects: what is listed later than it was uploaded is no orphan.
        let records = self.catalogue.all_segments().await?;
        let listed: HashSet<String> = records.into_iter().map(|record| record.path).collect();
        let orphans = self.orphans.clone();
        blocking(move || orphans.collect(&objects, found, &listed, at)).await
    }
}
