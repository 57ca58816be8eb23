//! Changes of the list of segments whose commit failed.
//!
//! An I/O error of a commit leaves it open whether the transaction is committed. If the store took it for undone, it would seal the
//! same rows again, or merge segments again that are merged already, and their items would be there twice. So it reads the catalogue
//! before it changes the list of segments again. The files of the new segments stay: the catalogue may list them.

use crate::error::Result;
use crate::segment_change::SegmentChange;
use crate::store::Store;

impl Store {
    /// Makes a change visible if its commit succeeded, or failed and did commit. The caller holds the locks of changes and of commits.
    ///
    /// # Errors
    /// The error of the commit.
    pub(crate) async fn conclude(
        &self,
        change: SegmentChange,
        committed: Result<()>,
    ) -> Result<()> {
        let Err(error) = committed else {
            self.apply(change);
            return Ok(());
        };
        if error.is_superseded() {
            // No attempt was made to commit it: the catalogue will never list these names.
            self.segment_settings.remove_unlisted(change.new_segments());
            return Err(error);
        }
        // A change without new segments may be made again.
        if change.new_segments().is_empty() {
            return Err(error);
        }
        *self.in_doubt.lock() = Some(change);
        match self.settle_change().await {
            Ok(true) => {
                tracing::warn!(%error, "the commit of a change of segments failed, but the change is committed");
                Ok(())
            }
            Ok(false) | Err(_) => Err(error),
        }
    }

    /// Finds out what became of a change whose commit failed; `true` if it was committed, and is visible now. Every change of the list
    /// of segments begins with it. The caller holds the lock of changes.
    ///
    /// # Errors
    /// The catalogue cannot be read; the change stays in doubt.
    pub(crate) async fn settle(&self) -> Result<bool> {
        let _commits = self.commits.lock().await;
        self.settle_change().await
    }

    /// As [`Store::settle`]; the caller holds the lock of commits.
    pub(crate) async fn settle_change(&self) -> Result<bool> {
        let path = {
            let in_doubt = self.in_doubt.lock();
            let new = in_doubt.as_ref().map(SegmentChange::new_segments);
            new.and_then(<[_]>::first).map(|record| record.path.clone())
        };
        let Some(path) = path else {
            return Ok(false);
        };
        self.catalogue.settle().await?;
        let committed = self.catalogue.lists_segment(&path).await?;
        let change = self.in_doubt.lock().take();
        if let Some(change) = change.filter(|_| committed) {
            self.apply(change);
        }
        Ok(committed)
    }

    fn apply(&self, change: SegmentChange) {
        match change {
            SegmentChange::Sealed(view, new, usage, position) => {
                self.view
                    .sealed(&view, self.segments(new), &usage, position);
            }
            SegmentChange::Merged(gone, new) => self.view.replace(&gone, self.segments(new)),
        }
    }
}
