//! Replies to calls of other nodes.

use std::convert::Infallible;

use arrow::ipc::writer::StreamWriter;
use arrow::record_batch::RecordBatch;
use axum::body::Body;
use axum::http::{HeaderMap, HeaderName, HeaderValue, header};
use axum::response::{IntoResponse, Response};
use futures::stream;
use http_body::Frame;
use http_body_util::StreamBody;
use prost::Message;
use tonic::{Code, Status};

use super::frames::frame;

const GRPC_STATUS: HeaderName = HeaderName::from_static("grpc-status");

/// A batch as an Arrow IPC stream.
pub(super) fn ipc(batch: &RecordBatch) -> anyhow::Result<Vec<u8>> {
    let expected = batch.get_array_memory_size();
    let mut stream = StreamWriter::try_new(Vec::with_capacity(expected), &batch.schema())?;
    stream.write(batch)?;
    Ok(stream.into_inner()?)
}

/// A reply of one message.
pub(super) fn one(message: &impl Message) -> Response {
    let frames = [
        Ok::<_, Infallible>(Frame::data(frame(message))),
        Ok(Frame::trailers(trailers(Code::Ok))),
    ];
    grpc(Body::new(StreamBody::new(stream::iter(frames))))
}

/// A reply with this body.
pub(super) fn grpc(body: Body) -> Response {
    let media = HeaderValue::from_static("application/grpc");
    ([(header::CONTENT_TYPE, media)], body).into_response()
}

/// The end of a reply.
pub(super) fn trailers(code: Code) -> HeaderMap {
    let mut trailers = HeaderMap::new();
    trailers.insert(GRPC_STATUS, HeaderValue::from(code as i32));
    trailers
}

/// The status of a call that is refused, in the headers of a reply without a body.
pub(super) fn refused(status: &Status) -> Response {
    let mut reply = grpc(Body::empty());
    if status.add_header(reply.headers_mut()).is_err() {
        let code = HeaderValue::from(status.code() as i32);
        reply.headers_mut().insert(GRPC_STATUS, code);
    }
    reply
}
