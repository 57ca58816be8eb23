//! A connection that must not stand still: a client that says nothing holds a connection, one that asks and does not read
//! holds a place and memory too. Hyper bounds the time of a request's head, once it knows which version of HTTP it is.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// What an HTTP/2 connection begins with (RFC 9113 §3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// Ends with an error when the beginning does not come, or when nothing could be written for a while.
#[derive(Debug)]
pub(super) struct Moving<S> {
    inner: S,
    limit: Duration,
    /// Since when nothing goes out, as the time until it is too long.
    stuck: Option<Pin<Box<Sleep>>>,
    /// The time until which it must be clear whether this is HTTP/1 or HTTP/2; none once it is.
    undecided: Option<Pin<Box<Sleep>>>,
    /// Bytes of the preface that have come.
    heard: usize,
}

impl<S> Moving<S> {
    /// `inner`, which has to begin within `beginning` and whose writes may wait for at most `limit` each.
    pub(super) fn new(inner: S, beginning: Duration, limit: Duration) -> Moving<S> {
        Moving {
            inner,
            limit,
            stuck: None,
            undecided: Some(Box::pin(tokio::time::sleep(beginning))),
            heard: 0,
        }
    }

    /// Looks at what came first.
    fn hear(&mut self, bytes: &[u8]) {
        let rest = PREFACE.get(self.heard..).unwrap_or_default();
        if bytes.len() >= rest.len() || !rest.starts_with(bytes) {
            self.undecided = None;
        }
        self.heard += bytes.len();
    }

    fn judged<T>(
        &mut self,
        outcome: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            self.stuck = None;
            return outcome;
        }
        let limit = self.limit;
        let stuck = self
            .stuck
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(limit)));
        match stuck.as_mut().poll(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => {
                let why = format!("the client took nothing for {} s", limit.as_secs_f64());
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, why)))
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for Moving<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let outcome = Pin::new(&mut self.inner).poll_read(context, buffer);
        if self.undecided.is_none() {
            return outcome;
        }
        if outcome.is_ready() {
            self.hear(buffer.filled().get(before..).unwrap_or_default());
            return outcome;
        }
        match self
            .undecided
            .as_mut()
            .map(|late| late.as_mut().poll(context))
        {
            Some(Poll::Ready(())) => {
                let why = "the client began no request in time";
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, why)))
            }
            _ => Poll::Pending,
        }
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for Moving<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.inner).poll_write(context, bytes);
        self.judged(outcome, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.inner).poll_write_vectored(context, buffers);
        self.judged(outcome, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.inner).poll_flush(context);
        self.judged(outcome, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.inner).poll_shutdown(context);
        self.judged(outcome, context)
    }
}
