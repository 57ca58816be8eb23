//! Segments in a folder that all nodes share. A file is removed once no catalogue entry has named it for an hour: other nodes may still
//! read it, and a seal of another node may be about to list it.

use std::collections::HashSet;
use std::path::PathBuf;
use std::time::Duration;

use crate::blocking::blocking;
use crate::error::{Result, StoreError};
use crate::quarantine;
use crate::store::Store;

/// How long a file stays that the catalogue does not list. It is longer than any query and any commit takes.
const GRACE: Duration = Duration::from_secs(3600);

impl Store {
    /// Removes files of the shared folder that the catalogue has not listed for an hour. Returns how many.
    pub(crate) async fn remove_unlisted(&self) -> Result<usize> {
        let Some(folder) = self.config.shared_segments.clone() else {
            return Ok(0);
        };
        let vfs = self.config.vfs.clone();
        // The files first: one that is listed meanwhile is known then.
        let (place, listing) = (folder.clone(), vfs.clone());
        let files =
            blocking(move || quarantine::files_below(&*listing, &place, quarantine::DEPTH)).await?;
        let listed = self.catalogue.all_segments().await?;
        let listed: HashSet<PathBuf> = listed
            .into_iter()
            .map(|record| folder.join(record.path))
            .collect();
        let now = self.config.clock.elapsed();
        let due: Vec<PathBuf> = {
            let mut unlisted = self.nodes.unlisted.lock();
            let there: HashSet<PathBuf> = files
                .into_iter()
                .filter(|file| !listed.contains(file))
                .collect();
            unlisted.retain(|file, _| there.contains(file));
            for file in there {
                unlisted.entry(file).or_insert(now);
            }
            let old = unlisted
                .iter()
                .filter(|(_, since)| now.saturating_sub(**since) >= GRACE);
            old.map(|(file, _)| file.clone()).collect()
        };
        let count = due.len();
        blocking(move || {
            for file in due {
                vfs.remove(&file).map_err(StoreError::io("remove", &file))?;
            }
            Ok(count)
        })
        .await
    }
}
