//! The operation name of each span of a payload: that of the nearest request above it.

use std::collections::HashMap;

use super::message::{Id, Outline, Span, outline};
use super::request;
use crate::error::Malformed;

/// The spans of a payload, so far as the names of their operations need them.
pub(crate) struct Operations<'a> {
    spans: Vec<Known<'a>>,
    places: HashMap<(Id<16>, Id<8>), usize>,
    /// The names of requests, each read once.
    names: HashMap<usize, String>,
}

struct Known<'a> {
    trace: Id<16>,
    parent: Option<Id<8>>,
    is_request: bool,
    message: &'a [u8],
    /// The request above, once it was looked for.
    above: Above,
}

/// The request above a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Above {
    /// It was not looked for yet.
    Unknown,
    /// There is none in the payload.
    None,
    /// Its place.
    At(usize),
}

impl<'a> Operations<'a> {
    /// The operations of these spans.
    pub(crate) fn of(
        messages: impl Iterator<Item = &'a [u8]>,
    ) -> Result<Operations<'a>, Malformed> {
        let mut all = Operations {
            spans: Vec::new(),
            places: HashMap::new(),
            names: HashMap::new(),
        };
        for message in messages {
            let found: Option<Outline> = outline(message)?;
            let Some((trace, id, parent, kind)) = found else {
                continue;
            };
            all.places.insert((trace, id), all.spans.len());
            all.spans.push(Known {
                trace,
                parent,
                is_request: kind.is_request(),
                message,
                above: Above::Unknown,
            });
        }
        // Each chain is followed once: what it leads to is noted for all spans on it.
        for place in 0..all.spans.len() {
            all.resolve(place);
        }
        for place in 0..all.spans.len() {
            if let Some(Above::At(request)) = all.spans.get(place).map(|span| span.above)
                && !all.names.contains_key(&request)
                && let Some(known) = all.spans.get(request)
                && let Some(span) = Span::read(known.message)?
            {
                all.names
                    .insert(request, request::name(&span)?.into_owned());
            }
        }
        Ok(all)
    }

    fn resolve(&mut self, from: usize) {
        let (mut path, mut at) = (Vec::new(), Some(from));
        let above = loop {
            let Some((place, span)) = at.and_then(|place| Some((place, self.spans.get(place)?)))
            else {
                break Above::None;
            };
            if place != from && span.is_request {
                break Above::At(place);
            }
            if span.above != Above::Unknown {
                break span.above;
            }
            let parent = span.parent.map(|parent| (span.trace, parent));
            path.push(place);
            at = parent.and_then(|key| self.places.get(&key).copied());
            // Until the chain ends: spans whose parents form a circle have no request above them.
            if let Some(span) = self.spans.get_mut(place) {
                span.above = Above::None;
            }
        };
        for place in path {
            if let Some(span) = self.spans.get_mut(place) {
                span.above = above;
            }
        }
    }

    /// The name of the request above a span; empty if the payload has none.
    pub(crate) fn name(&self, span: &Span<'_>) -> &str {
        let place = self.places.get(&(span.trace, span.id));
        let above = place.and_then(|place| Some(self.spans.get(*place)?.above));
        match above {
            Some(Above::At(request)) => self.names.get(&request).map_or("", String::as_str),
            _ => "",
        }
    }
}
