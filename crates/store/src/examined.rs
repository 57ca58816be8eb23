//! What an opening finds out about segments, wherever they are.

use crate::error::{Result, StoreError};
use crate::segment::{Damage, Description, Segment};
use crate::store_id::StoreId;

/// What the catalogue does not say of a segment yet: why it cannot be read, or (`None`) that it can be read again.
pub(crate) type Change = (i64, Option<String>);

/// The segments that cannot be read, and what of it the catalogue does not say.
#[derive(Debug, Default)]
pub(crate) struct Examined {
    pub(crate) damage: Damage,
    pub(crate) changes: Vec<Change>,
}

impl Examined {
    /// Adds what was found about a segment, whose file is `file`.
    pub(crate) fn add(&mut self, segment: &Segment, file: &str, found: Option<String>) {
        let record = &segment.record;
        match &found {
            Some(what) => {
                tracing::error!(%file, what, "a segment is damaged; queries leave it out and say so")
            }
            None if record.damage.is_some() => {
                tracing::info!(%file, "a damaged segment can be read again")
            }
            None => {}
        }
        if found != record.damage {
            self.changes.push((record.id, found.clone()));
        }
        self.damage.extend(found.map(|what| (record.id, what)));
    }
}

/// Refuses a catalogue that lists a missing segment in whose place there is an unlisted `file`: it is older than a merge. `found` is what the
/// footer of the file says.
pub(crate) fn refuse_replaced<'a>(
    catalogue: &str,
    store: StoreId,
    missing: impl IntoIterator<Item = (&'a Segment, String)>,
    file: &str,
    found: &Description,
) -> Result<()> {
    let replaces = |(segment, _): &(&Segment, String)| {
        let record = &segment.record;
        (found.app, found.table) == (record.app, record.table)
            && found.level > 0
            && found.min_seq <= record.min_seq
            && record.max_seq <= found.max_seq
            && found.min_ts <= record.min_ts
            && record.max_ts <= found.max_ts
    };
    if found.store.is_some_and(|of| of != store) {
        return Ok(());
    }
    match missing.into_iter().find(replaces) {
        None => Ok(()),
        Some((_, lost)) => Err(StoreError::Foreign {
            catalogue: catalogue.to_owned(),
            what: format!(
                "it is older than a merge of segments: it lists {lost}, which is missing, and not {file}, which replaces it \
                 ('hindsight store recover' makes a catalogue of what is there)"
            ),
        }),
    }
}
