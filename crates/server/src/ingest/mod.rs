//! Telemetry in: from a request's bytes to batches of rows, each item judged on its own.

mod bags;
mod beginning;
pub(crate) mod body;
mod decode;
mod envelope;
#[cfg(any(test, fuzzing))]
pub(crate) mod fuzzing;
mod in_place;
mod item;
mod outlook;
mod rules;
mod split;
mod tags;
mod tolerant;
mod verdict;

use std::collections::HashMap;
use std::sync::Arc;

use hindsight_kql_types::BagBuilder;
use hindsight_rows::{AppBatches, Gathered, Row};

use crate::directory::AppRecord;

pub(crate) use beginning::Beginning;
pub(crate) use outlook::{Expected, Outlook};
pub(crate) use rules::ItemRules;
pub(crate) use split::{Next, RawItem, is_separator, next_item, split};
pub(crate) use tags::Sender;
pub(crate) use verdict::{ItemError, KeyRefusal, Verdict};

/// A decoded request: what is to be stored, and what was refused.
pub(crate) struct Decoded {
    /// How many items there were.
    pub(crate) received: usize,
    /// What is to be stored.
    pub(crate) apps: Vec<AppBatches>,
    /// What is not.
    pub(crate) errors: Vec<ItemError>,
    /// Whether an item was refused because no application has its key.
    pub(crate) unknown_key: bool,
}

/// Bytes of an instrumentation key: a UUID in its longest form.
const LONGEST_KEY: usize = 64;

/// Finds the application of an instrumentation key, or says why it takes nothing.
pub(crate) type FindApp<'f> = dyn Fn(&str) -> Result<Arc<AppRecord>, KeyRefusal> + 'f;

/// Decodes the items of a request.
pub(crate) fn decode(
    items: &[RawItem<'_>],
    rules: &ItemRules,
    sender: &Sender,
    find: &FindApp<'_>,
) -> Result<Decoded, arrow::error::ArrowError> {
    let mut gathered = Gathered::default();
    let (mut errors, mut unknown_key) = (Vec::new(), false);
    let mut bag = BagBuilder::new();
    let mut known: HashMap<String, Result<Arc<AppRecord>, KeyRefusal>> = HashMap::new();
    for (index, item) in items.iter().enumerate() {
        let outcome = match item {
            RawItem::Bad(why) => Err((400, (*why).to_owned())),
            RawItem::Item(text) => item::parse(text, rules).and_then(|envelope| {
                let ikey = envelope.ikey.as_str();
                // A longer text is no key, and a million of them need not be remembered.
                if ikey.len() <= LONGEST_KEY && !known.contains_key(ikey) {
                    known.insert(ikey.to_owned(), find(ikey));
                }
                let found = known.get(ikey).cloned().unwrap_or_else(|| find(ikey));
                let app = found.map_err(|refusal| {
                    unknown_key |= refusal == KeyRefusal::Unknown;
                    (refusal.status(), refusal.to_string())
                })?;
                bag.clear();
                let mut row = Row::default();
                let table = item::fill(&mut row, envelope, &app, sender, &mut bag, rules)?;
                gathered.push(index, app.id, table, &row);
                Ok(())
            }),
        };
        if let Err((status, message)) = outcome {
            errors.push(ItemError {
                index,
                status,
                message,
            });
        }
    }
    Ok(Decoded {
        received: items.len(),
        apps: gathered.finish()?,
        errors,
        unknown_key,
    })
}

#[cfg(test)]
mod tests;
