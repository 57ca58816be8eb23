//! The messages of spans, and their outlines.

use crate::attributes::Attributes;
use crate::error::Malformed;
use crate::ids;
use crate::wire::fields;

/// An id of `N` bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct Id<const N: usize>([u8; N]);

impl<const N: usize> Id<N> {
    /// The id, unless it has another length or is all zero.
    pub(crate) fn read(bytes: &[u8]) -> Option<Id<N>> {
        ids::valid(bytes).map(Id)
    }

    /// Lower-case hexadecimal digits.
    pub(crate) fn hex(self) -> String {
        ids::hex(&self.0)
    }
}

/// The kind of a span.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum Kind {
    /// Within the application; unspecified and unknown kinds too.
    #[default]
    Internal,
    /// A call that the application serves.
    Server,
    /// A call that the application makes.
    Client,
    /// A message that the application sends.
    Producer,
    /// A message that the application receives.
    Consumer,
}

impl Kind {
    fn read(number: u32) -> Kind {
        match number {
            2 => Kind::Server,
            3 => Kind::Client,
            4 => Kind::Producer,
            5 => Kind::Consumer,
            _ => Kind::Internal,
        }
    }

    /// Whether spans of this kind are requests.
    pub(crate) fn is_request(self) -> bool {
        matches!(self, Kind::Server | Kind::Consumer)
    }
}

/// The status of a span, with its description.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Status<'a> {
    /// Nothing was said.
    Unset(&'a str),
    /// The application says that the operation succeeded.
    Ok(&'a str),
    /// The operation failed.
    Error(&'a str),
}

impl<'a> Status<'a> {
    fn read(message: &'a [u8]) -> Result<Status<'a>, Malformed> {
        let (mut text, mut code) = ("", 0);
        for field in fields(message) {
            match field? {
                (2, field) => text = field.text()?,
                (3, field) => code = field.number()?,
                _ => {}
            }
        }
        Ok(match code {
            1 => Status::Ok(text),
            2 => Status::Error(text),
            _ => Status::Unset(text),
        })
    }
}

/// A span.
#[derive(Debug)]
pub(crate) struct Span<'a> {
    pub(crate) trace: Id<16>,
    pub(crate) id: Id<8>,
    pub(crate) parent: Option<Id<8>>,
    pub(crate) trace_state: &'a str,
    pub(crate) name: &'a str,
    pub(crate) kind: Kind,
    /// Nanoseconds since 1970.
    pub(crate) start: u64,
    /// Nanoseconds since 1970.
    pub(crate) end: u64,
    pub(crate) attributes: Attributes<'a>,
    /// The messages of its events.
    pub(crate) events: Vec<&'a [u8]>,
    /// The messages of its links.
    pub(crate) links: Vec<&'a [u8]>,
    pub(crate) status: Status<'a>,
}

impl<'a> Span<'a> {
    /// The span; `None` without valid ids.
    pub(crate) fn read(message: &'a [u8]) -> Result<Option<Span<'a>>, Malformed> {
        let (mut trace, mut id, mut parent) = (None, None, None);
        let (mut trace_state, mut name, mut kind) = ("", "", Kind::Internal);
        let (mut start, mut end, mut status) = (0, 0, Status::Unset(""));
        let (mut events, mut links) = (Vec::new(), Vec::new());
        let mut attributes = Attributes::default();
        for field in fields(message) {
            match field? {
                (1, field) => trace = Id::read(field.bytes()?),
                (2, field) => id = Id::read(field.bytes()?),
                (3, field) => trace_state = field.text()?,
                (4, field) => parent = Id::read(field.bytes()?),
                (5, field) => name = field.text()?,
                (6, field) => kind = Kind::read(field.number()?),
                (7, field) => start = field.fixed64()?,
                (8, field) => end = field.fixed64()?,
                (9, field) => attributes.add(field)?,
                (11, field) => events.push(field.bytes()?),
                (13, field) => links.push(field.bytes()?),
                (15, field) => status = Status::read(field.bytes()?)?,
                _ => {}
            }
        }
        let (Some(trace), Some(id)) = (trace, id) else {
            return Ok(None);
        };
        Ok(Some(Span {
            trace,
            id,
            parent,
            trace_state,
            name,
            kind,
            start,
            end,
            attributes,
            events,
            links,
            status,
        }))
    }
}

/// What the operation names of a payload need of a span: its trace, its id, its parent and its kind.
pub(crate) type Outline = (Id<16>, Id<8>, Option<Id<8>>, Kind);

/// The outline of a span; `None` without valid ids.
pub(crate) fn outline(message: &[u8]) -> Result<Option<Outline>, Malformed> {
    let (mut trace, mut id, mut parent, mut kind) = (None, None, None, Kind::Internal);
    for field in fields(message) {
        match field? {
            (1, field) => trace = Id::read(field.bytes()?),
            (2, field) => id = Id::read(field.bytes()?),
            (4, field) => parent = Id::read(field.bytes()?),
            (6, field) => kind = Kind::read(field.number()?),
            _ => {}
        }
    }
    Ok(trace.zip(id).map(|(trace, id)| (trace, id, parent, kind)))
}

/// An event of a span.
#[derive(Debug, Default)]
pub(crate) struct Event<'a> {
    /// Nanoseconds since 1970.
    pub(crate) time: u64,
    pub(crate) name: &'a str,
    pub(crate) attributes: Attributes<'a>,
}

impl<'a> Event<'a> {
    /// The event.
    pub(crate) fn read(message: &'a [u8]) -> Result<Event<'a>, Malformed> {
        let mut event = Event::default();
        for field in fields(message) {
            match field? {
                (1, field) => event.time = field.fixed64()?,
                (2, field) => event.name = field.text()?,
                (3, field) => event.attributes.add(field)?,
                _ => {}
            }
        }
        Ok(event)
    }
}
