//! The body of a call.

use std::pin::Pin;
use std::task::{Context, Poll};

use bytes::Bytes;
use futures::FutureExt;
use futures::future::BoxFuture;
use http_body::{Body, Frame, SizeHint};
use http_body_util::Full;
use tokio::sync::oneshot;

/// The frame of a request. A connection drops it when it has read it.
#[derive(Debug)]
pub(super) struct CallBody {
    frame: Full<Bytes>,
    /// Its receiver learns that the body was dropped.
    _taken: Option<oneshot::Sender<()>>,
}

impl CallBody {
    /// The body with a frame.
    pub(super) fn of(frame: Bytes) -> CallBody {
        CallBody {
            frame: Full::new(frame),
            _taken: None,
        }
    }

    /// The body, and a future that is ready when a connection has read it whole, or when it was dropped before.
    pub(super) fn with_notification(self) -> (CallBody, BoxFuture<'static, ()>) {
        let (taken, dropped) = oneshot::channel();
        let body = CallBody {
            _taken: Some(taken),
            ..self
        };
        (body, dropped.map(|_| ()).boxed())
    }
}

impl Body for CallBody {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Pin::new(&mut self.frame).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.frame.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.frame.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt;

    use super::*;

    #[tokio::test]
    async fn the_notification_comes_when_the_body_is_read_or_dropped() {
        let frame = Bytes::from_static(b"a request");
        let (body, mut taken) = CallBody::of(frame.clone()).with_notification();
        assert!((&mut taken).now_or_never().is_none());
        let read = body.collect().await.expect("the body has no errors");
        assert_eq!(read.to_bytes(), frame);
        assert!(taken.now_or_never().is_some());
        let (body, taken) = CallBody::of(frame).with_notification();
        drop(body);
        assert!(taken.now_or_never().is_some());
    }
}
