//! Reads the file of a segment and says whether it is as it was written.

use std::path::{Path, PathBuf};

use super::doubt::{Doubt, Doubts};
use super::resolve::Found;
use crate::check::Progress;
use crate::error::{Result, StoreError};
use crate::segment::{Description, WholeFile, decode, named_checksum, read_footer, read_whole};
use crate::vfs::RealFs;

/// A file with the bytes that it was written with, as far as its name says so.
pub(super) struct Sound {
    pub(super) found: Found,
    pub(super) whole: WholeFile,
}

/// A file that is damaged. What its footer says may be wrong too.
pub(super) struct Broken {
    pub(super) path: PathBuf,
    pub(super) what: String,
    pub(super) found: Option<(Description, WholeFile)>,
}

/// Reads a file whole.
pub(super) fn examine(
    path: &Path,
    doubts: &mut Doubts,
    progress: &dyn Progress,
) -> Result<Result<Sound, Broken>> {
    let whole = read_whole(&RealFs, path, &|bytes| progress.advance(bytes))
        .map_err(StoreError::io("read", path))?;
    let description = read_footer(&RealFs, path).and_then(|footer| Description::of(&footer));
    let sum = whole.checksums.of_file(whole.bytes);
    let verdict = match named_checksum(path) {
        Some(due) if due == sum => Ok(()),
        Some(_) => Err("it does not have the checksum in its name".to_owned()),
        None => decode(&RealFs, path),
    };
    let (description, what) = match (description, verdict) {
        (Ok(description), Ok(())) => {
            if named_checksum(path).is_none() {
                let what = "its name has no checksum".to_owned();
                doubts.add(Doubt::UnverifiedSegments, path, what);
            }
            let found = Found {
                path: path.to_owned(),
                description,
            };
            return Ok(Ok(Sound { found, whole }));
        }
        (Ok(description), Err(what)) => (Some(description), what),
        (Err(what), _) => (None, what),
    };
    doubts.add(Doubt::DamagedSegments, path, what.clone());
    Ok(Err(Broken {
        path: path.to_owned(),
        what,
        found: description.map(|description| (description, whole)),
    }))
}
