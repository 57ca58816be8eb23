//! The object `store`, which says whose store the objects are: another store is refused.

use std::io::Read;

use bytes::Bytes;

use super::storage::{ObjectError, ObjectStorage};
use crate::error::{Result, StoreError};
use crate::store_id::StoreId;

/// Its key.
const KEY: &str = "store";
/// Its first line.
const VERSION: &str = "hindsight objects 1";
/// Bytes that are read of it.
const LONGEST: u64 = 1024;

/// Makes an object store that of `store`, which it may be already. Blocks.
///
/// # Errors
/// [`StoreError::Foreign`] if it is that of another store, [`StoreError::Object`] if it cannot be written.
pub(crate) fn adopt(storage: &dyn ObjectStorage, store: StoreId) -> Result<()> {
    let text = format!("{VERSION}\nstore {store}\n");
    let content = Bytes::from(text);
    match storage.put_new(KEY, content.clone()) {
        Ok(()) => {}
        Err(ObjectError::Exists) => return compare(storage, store),
        Err(error) => return Err(failed(storage, "write", error)),
    }
    // Two stores, or two attempts of one, must not write over each other's objects.
    match storage.put_new(KEY, content) {
        Err(ObjectError::Exists) => Ok(()),
        Ok(()) => {
            let what = "it writes over objects that exist, although the request forbids that";
            Err(failed(
                storage,
                "write",
                ObjectError::Refused(what.to_owned()),
            ))
        }
        Err(error) => Err(failed(storage, "write", error)),
    }
}

/// Compares the store that an object store is of. Blocks.
///
/// # Errors
/// [`StoreError::Foreign`] if it is that of another store or of none, [`StoreError::Object`] if it cannot be read.
pub(crate) fn compare(storage: &dyn ObjectStorage, store: StoreId) -> Result<()> {
    let foreign = |what: String| StoreError::Foreign {
        catalogue: format!("the object store {}", storage.address()),
        what,
    };
    let object = match storage.get(KEY, None) {
        Ok(object) => object,
        Err(ObjectError::NotFound) => {
            return Err(foreign(format!(
                "it has no object '{KEY}', which says whose store it is"
            )));
        }
        Err(error) => return Err(failed(storage, "read", error)),
    };
    let mut text = String::new();
    object
        .take(LONGEST)
        .read_to_string(&mut text)
        .map_err(|error| failed(storage, "read", ObjectError::Unavailable(error.to_string())))?;
    let mut lines = text.lines();
    let version = lines.next();
    let found = lines.next().and_then(|line| line.strip_prefix("store "));
    match found.and_then(|id| id.parse::<StoreId>().ok()) {
        Some(found) if version == Some(VERSION) && found == store => Ok(()),
        Some(found) if version == Some(VERSION) => Err(foreign(format!(
            "it is of store {found}, and the folder of store {store}"
        ))),
        _ => Err(foreign(format!(
            "its object '{KEY}' does not say whose store it is"
        ))),
    }
}

fn failed(storage: &dyn ObjectStorage, action: &'static str, source: ObjectError) -> StoreError {
    StoreError::Object {
        action,
        object: format!("{}/{KEY}", storage.address()),
        source,
    }
}
