//! The transform of a message.

use std::sync::Arc;

use hindsight_kql_library::codec::{CodecError, kind_named};

use crate::operators::mv_expand::rows::{Expand, ExpandedList};
use crate::operators::parse::rows::{ParseMode, ParseRows, ParsedColumn};
use crate::subtables::placeholder_rows::WithPlaceholders;
use crate::transform::{InOrder, Transform, TransformMessage, message};

/// The transform of a message.
///
/// # Errors
/// The message is none that a transform writes.
pub(super) fn transform(message: TransformMessage) -> Result<Arc<dyn Transform>, CodecError> {
    Ok(match message {
        TransformMessage::Expand(of) => Arc::new(expand(of)?),
        TransformMessage::Parse(of) => Arc::new(parse(of)?),
        TransformMessage::Placeholders(of) => Arc::new(WithPlaceholders {
            keys: of.keys,
            ordered: of.ordered,
        }),
        TransformMessage::InOrder(()) => Arc::new(InOrder),
    })
}

fn expand(of: message::Expand) -> Result<Expand, CodecError> {
    let lists = of.lists.into_iter().map(|list| {
        Ok(ExpandedList {
            kind: kind_named(&list.kind)?,
            field: list.field,
        })
    });
    Ok(Expand {
        lists: lists.collect::<Result<_, _>>()?,
        bags_as_pairs: of.bags_as_pairs,
        limit: number(of.limit)?,
        numbered: of.numbered,
    })
}

fn parse(of: message::Parse) -> Result<ParseRows, CodecError> {
    let mode = match message::ParseMode::try_from(of.mode) {
        Ok(message::ParseMode::Simple) => ParseMode::Simple,
        Ok(message::ParseMode::Relaxed) => ParseMode::Relaxed,
        Ok(message::ParseMode::Regex) => ParseMode::Regex,
        Ok(message::ParseMode::None) | Err(_) => return Err(CodecError::lacks("a kind of parse")),
    };
    let columns = of.columns.into_iter().map(|column| {
        Ok(ParsedColumn {
            kind: kind_named(&column.kind)?,
            name: column.name,
            group: column.group,
        })
    });
    let columns = columns.collect::<Result<_, CodecError>>()?;
    ParseRows::new(of.text, &of.pattern, mode, columns)
        .map_err(|_| CodecError::Malformed("the pattern of a parse is ill-formed".to_owned()))
}

/// A number of rows or partitions.
///
/// # Errors
/// This machine cannot count so far.
pub(super) fn number(number: u64) -> Result<usize, CodecError> {
    usize::try_from(number).map_err(|error| CodecError::Malformed(error.to_string()))
}
