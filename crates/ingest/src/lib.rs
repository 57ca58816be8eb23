//! Bodies of telemetry, and the envelopes of Application Insights as batches of rows.
//!
//! A body is decompressed within the memory that the caller reserved ([`body`]). Before that, an [`Outlook`] estimates from its
//! beginning whose it is and how much it holds. [`split`] finds its items, and [`decode`] judges each on its own: an item that is
//! refused costs only itself. The crate knows no HTTP and reads no clock.
//!
//! `envelope.rs` has the members of envelopes, `decode.rs` the columns that the types of telemetry fill, `tags.rs` the context.

mod bags;
mod beginning;
pub mod body;
mod decode;
mod envelope;
#[cfg(any(test, fuzzing))]
pub mod fuzzing;
mod in_place;
mod item;
mod outlook;
mod refusal;
mod rules;
mod split;
mod tags;
mod tolerant;

use std::collections::HashMap;

use hindsight_kql_types::BagBuilder;
use hindsight_rows::{AppBatches, Gathered, Owner, Row};

pub use beginning::Beginning;
pub use outlook::{Expected, Outlook};
pub use refusal::{ItemError, KeyRefusal};
pub use rules::ItemRules;
pub use split::{Next, RawItem, is_separator, next_item, split};
pub use tags::Sender;

/// A decoded request: what is to be stored, and what was refused.
pub struct Decoded {
    /// How many items there were.
    pub received: usize,
    /// What is to be stored.
    pub apps: Vec<AppBatches>,
    /// What is not.
    pub errors: Vec<ItemError>,
    /// Whether an item was refused because no application has its key.
    pub unknown_key: bool,
}

/// Bytes of an instrumentation key: a UUID in its longest form.
const LONGEST_KEY: usize = 64;

/// Finds the application of an instrumentation key, or says why it takes nothing.
pub type FindApp<'f, 'd> = dyn Fn(&str) -> Result<Owner<'d>, KeyRefusal> + 'f;

/// Decodes the items of a request.
///
/// # Errors
/// If the rows do not fit the schema of their table.
pub fn decode<'d>(
    items: &[RawItem<'_>],
    rules: &ItemRules,
    sender: &Sender,
    find: &FindApp<'_, 'd>,
) -> Result<Decoded, arrow::error::ArrowError> {
    let mut gathered = Gathered::default();
    let (mut errors, mut unknown_key) = (Vec::new(), false);
    let mut bag = BagBuilder::new();
    let mut known: HashMap<String, Result<Owner<'d>, KeyRefusal>> = HashMap::new();
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
                let owner = found.map_err(|refusal| {
                    unknown_key |= refusal == KeyRefusal::Unknown;
                    (refusal.status(), refusal.to_string())
                })?;
                bag.clear();
                let mut row = Row::default();
                let table = item::fill(&mut row, envelope, owner.columns, sender, &mut bag, rules)?;
                gathered.push(index, owner.app, table, &row);
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
