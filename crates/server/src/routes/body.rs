//! A request's body: bounded in bytes, in time and in the memory of all bodies.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, header};
use hindsight_ingest::body::{BodyError, Codec, decode};
use http_body_util::BodyExt;
use tokio::sync::Semaphore;

use crate::app::App;
use crate::bodies::receiving::{Arriving, Refused};
use crate::bodies::shares::{NoMemory, Share};
use crate::error::ApiError;

/// How long the rest of a refused body is discarded.
const LINGER: Duration = Duration::from_secs(2);
/// Refused bodies whose rest is discarded at once.
const MOST_DISCARDED: usize = 64;
/// The least that is reserved for the bytes of a body.
const SMALLEST: usize = 1024;

/// Why a body was not read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unread {
    /// More bytes than the limit.
    TooLarge,
    /// It did not arrive in time.
    Slow,
    /// The connection ended in it.
    Broken,
    /// It was closed to make room for others.
    Closed,
    /// It needs more than the memory of all arriving bodies.
    TooMuchMemory,
}

impl From<Refused> for Unread {
    fn from(refused: Refused) -> Unread {
        match refused {
            Refused::Closed => Unread::Closed,
            Refused::TooLarge => Unread::TooMuchMemory,
        }
    }
}

/// The message for a body that needs more than the memory of all arriving bodies.
pub(super) const TOO_MUCH_MEMORY: &str =
    "The body needs more than the memory of all arriving bodies, an eighth of `http.body_memory`";

/// The message for a body that was closed to make room for others.
pub(super) const CLOSED: &str = "Too many request bodies are arriving (`http.body_memory`, `http.max_bodies_per_address`); try again later";

/// A whole body, and the memory that it holds.
pub(super) struct Whole {
    pub(super) bytes: Bytes,
    pub(super) memory: Arriving,
}

/// Reads a body of at most `limit` bytes that arrives in time. The rest of a body that is refused is discarded for a while, so
/// that the client, which is still sending, gets to read why (RFC 9112 §9.6).
pub(super) async fn read(
    app: &App,
    address: Option<IpAddr>,
    headers: &HeaderMap,
    body: Body,
    limit: usize,
) -> Result<Whole, Unread> {
    let read = read_wanted(app, address, headers, body, limit, |_| true).await?;
    // All bodies are wanted.
    read.ok_or(Unread::Closed)
}

/// As [`read`], if the first part of the body is wanted. A body that is not is forgotten as it arrives, without a copy of it, and is
/// `None` when it has been read to its end.
pub(super) async fn read_wanted(
    app: &App,
    address: Option<IpAddr>,
    headers: &HeaderMap,
    mut body: Body,
    limit: usize,
    is_wanted: impl Fn(&[u8]) -> bool,
) -> Result<Option<Whole>, Unread> {
    let read = read_whole(app, address, headers, &mut body, limit, is_wanted).await;
    if matches!(
        read,
        Err(Unread::TooLarge | Unread::Closed | Unread::TooMuchMemory)
    ) {
        discard(body);
    }
    read
}

/// Reads and forgets the rest of a body beside its reply, for a while. Of many refused bodies some are discarded: each holds
/// buffers of its connection.
pub(super) fn discard(mut body: Body) {
    static DISCARDED: Semaphore = Semaphore::const_new(MOST_DISCARDED);
    let Ok(place) = DISCARDED.try_acquire() else {
        return;
    };
    let rest = async move { while let Some(Ok(_)) = body.frame().await {} };
    tokio::spawn(async move {
        let _ = tokio::time::timeout(LINGER, rest).await;
        drop(place);
    });
}

async fn read_whole(
    app: &App,
    address: Option<IpAddr>,
    headers: &HeaderMap,
    body: &mut Body,
    limit: usize,
    is_wanted: impl Fn(&[u8]) -> bool,
) -> Result<Option<Whole>, Unread> {
    let size = |(name, value): (&header::HeaderName, &header::HeaderValue)| {
        name.as_str().len() + value.len() + 32
    };
    let memory = app
        .bodies
        .receiving
        .begin(address, headers.iter().map(size).sum())?;
    let collect = collect(body, limit, &memory, is_wanted);
    let read = tokio::time::timeout(app.settings.body_timeout, collect);
    let bytes = tokio::select! {
        read = read => read.map_err(|_| Unread::Slow)??,
        () = memory.closed() => return Err(Unread::Closed),
    };
    Ok(bytes.map(|bytes| Whole { bytes, memory }))
}

/// Copies the parts of a body together: each of them may hold a larger buffer. `None` if the first one is not wanted.
async fn collect(
    body: &mut Body,
    limit: usize,
    memory: &Arriving,
    is_wanted: impl Fn(&[u8]) -> bool,
) -> Result<Option<Bytes>, Unread> {
    let mut all = Vec::new();
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Unread::Broken)?;
        let Some(part) = frame.data_ref() else {
            continue;
        };
        let needed = all.len() + part.len();
        if needed > limit {
            return Err(Unread::TooLarge);
        }
        if all.is_empty() && !is_wanted(part) {
            let rest = limit - part.len();
            drop(frame);
            return forget(body, rest).await.map(|()| None);
        }
        if needed > all.capacity() {
            let capacity = needed.max(SMALLEST).max(limit.min(2 * all.capacity()));
            memory.grow(capacity - all.capacity())?;
            all.reserve_exact(capacity - all.len());
        }
        all.extend_from_slice(part);
    }
    Ok(Some(all.into()))
}

/// Reads the rest of a body that is not wanted. At most `limit` bytes are read, so a body that is too large is told so.
async fn forget(body: &mut Body, limit: usize) -> Result<(), Unread> {
    let mut length = 0;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|_| Unread::Broken)?;
        length += frame.data_ref().map_or(0, Bytes::len);
        if length > limit {
            return Err(Unread::TooLarge);
        }
    }
    Ok(())
}

/// The message for a slow sender.
pub(super) fn slow(timeout: Duration) -> String {
    format!(
        "The body did not arrive within {} seconds (setting `http.body_timeout`)",
        timeout.as_secs_f64()
    )
}

/// The `Content-Encoding` of a request. Several are refused, as stacked ones are.
pub(super) fn codec(headers: &HeaderMap) -> Result<Codec, BodyError> {
    let mut values = headers.get_all(header::CONTENT_ENCODING).iter();
    let first = values
        .next()
        .map(|value| value.to_str().unwrap_or("?"))
        .unwrap_or_default();
    if values.next().is_some() {
        return Err(BodyError::Unsupported("several".to_owned()));
    }
    Codec::parse(first)
}

/// Refuses a body that says to be something else than JSON. Nothing said, plain text and forms pass: that is what `curl -d` and
/// simple programs say when nobody chose.
fn media(headers: &HeaderMap) -> Result<(), ApiError> {
    let Some(value) = headers.get(header::CONTENT_TYPE) else {
        return Ok(());
    };
    let text = value.to_str().unwrap_or_default().to_ascii_lowercase();
    let name = text.split(';').next().unwrap_or_default().trim();
    let passes = matches!(
        name,
        "" | "application/json" | "text/json" | "text/plain" | "application/x-www-form-urlencoded"
    ) || name.ends_with("+json");
    if passes {
        return Ok(());
    }
    Err(ApiError::UnsupportedMedia(format!(
        "The body is said to be '{name}', but only application/json is read here"
    )))
}

/// The body of a query, decoded, and the memory that it holds until the query is answered.
pub(super) struct QueryBody {
    pub(super) bytes: Vec<u8>,
    pub(super) memory: Share<Arc<str>>,
}

/// The body of a query, decoded. `reader`: the client's address and the principal, whose share of the memory it takes.
pub(super) async fn query(
    app: &App,
    (address, principal): (Option<IpAddr>, &Arc<str>),
    headers: &HeaderMap,
    body: Body,
) -> Result<QueryBody, ApiError> {
    let limit = app.settings.query_max_body_bytes;
    let (codec, packed) = packed(app, address, headers, body).await?;
    // The bytes, the text of the query in them, and the query as it is compared and cached.
    let needed = |plain: usize| 3 * plain + SMALLEST;
    let most = if codec == Codec::Identity {
        packed.bytes.len()
    } else {
        limit
    };
    let principal = principal.clone();
    let entered = app.bodies.queries.enter(principal, needed(most), 0).await;
    let mut memory = entered.map_err(no_memory)?;
    match decode(codec, &packed.bytes, limit) {
        Ok(plain) => {
            memory.shrink(needed(plain.len()));
            Ok(QueryBody {
                bytes: plain.into_owned(),
                memory,
            })
        }
        Err(error) => Err(undecoded(app, error)),
    }
}

/// A small body of JSON, decoded: nothing, or a few names.
pub(super) async fn small(
    app: &App,
    address: Option<IpAddr>,
    headers: &HeaderMap,
    body: Body,
) -> Result<Vec<u8>, ApiError> {
    let (codec, packed) = packed(app, address, headers, body).await?;
    let plain = decode(codec, &packed.bytes, app.settings.query_max_body_bytes);
    let plain = plain.map_err(|error| undecoded(app, error))?;
    Ok(plain.into_owned())
}

/// The body of a query as it was sent, and its encoding.
async fn packed(
    app: &App,
    address: Option<IpAddr>,
    headers: &HeaderMap,
    body: Body,
) -> Result<(Codec, Whole), ApiError> {
    media(headers)?;
    let codec = codec(headers).map_err(|error| ApiError::UnsupportedMedia(error.to_string()))?;
    let limit = app.settings.query_max_body_bytes;
    let read = read(app, address, headers, body, limit).await;
    let packed = read.map_err(|unread| match unread {
        Unread::TooLarge => too_large(app),
        Unread::Slow => ApiError::Slow(slow(app.settings.body_timeout)),
        Unread::Broken => ApiError::InvalidBody("The body could not be read to its end".to_owned()),
        Unread::Closed => ApiError::Unavailable(CLOSED.to_owned()),
        Unread::TooMuchMemory => ApiError::TooLarge(TOO_MUCH_MEMORY.to_owned()),
    })?;
    Ok((codec, packed))
}

fn undecoded(app: &App, error: BodyError) -> ApiError {
    match error {
        BodyError::TooLarge { .. } => too_large(app),
        error => ApiError::InvalidBody(error.to_string()),
    }
}

fn too_large(app: &App) -> ApiError {
    let limit = app.settings.query_max_body_bytes;
    ApiError::TooLarge(format!(
        "The body is larger than {limit} bytes (`query.max_body_bytes`)"
    ))
}

fn no_memory(why: NoMemory) -> ApiError {
    match why {
        NoMemory::TooLarge { limit } => ApiError::TooLarge(format!(
            "The body needs more memory than the {limit} bytes for bodies of queries (an eighth of `http.body_memory`)"
        )),
        NoMemory::Full | NoMemory::Late => ApiError::Unavailable(
            "The memory for request bodies is in use (`http.body_memory`); try again later"
                .to_owned(),
        ),
    }
}
