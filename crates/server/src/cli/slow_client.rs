//! The slow-client guard: it closes the connection of a client that sends no request, which holds a connection slot, or
//! that does not read its reply, which holds memory too. It also bounds each read, and by that the buffer of a client that sends
//! slowly. Hyper itself bounds the time of a request's head, once it has detected the version of HTTP.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf, Take};
use tokio::time::Sleep;

use super::connection_limit::ConnectionSlot;

/// The connection preface of HTTP/2 (RFC 9113 §3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

/// The most bytes of one read. Hyper doubles the buffer of a connection when a read fills it, and keeps it while a body is waited for: clients
/// that send bodies without end hold two of these and not the 64 KiB that a request's head may have.
const MOST_READ: u64 = 16 << 10;

/// A stream that fails with `TimedOut` when the first bytes do not arrive in time, or when a write makes no progress, and that reads at
/// most [`MOST_READ`] bytes at once.
pub(super) struct SlowClientGuard<S> {
    inner: Take<S>,
    /// Is told while a write makes no progress.
    slot: Arc<ConnectionSlot>,
    limit: Duration,
    /// Runs while a write makes no progress.
    stalled: Option<Pin<Box<Sleep>>>,
    /// Runs until the version of HTTP is known from the first bytes; then `None`.
    preface_timer: Option<Pin<Box<Sleep>>>,
    /// Bytes of the preface that have arrived.
    received: usize,
}

impl<S: AsyncRead> SlowClientGuard<S> {
    /// Guards `inner`: the first bytes must arrive within `first_bytes`, and each write must make progress within `limit`.
    pub(super) fn new(
        inner: S,
        slot: Arc<ConnectionSlot>,
        first_bytes: Duration,
        limit: Duration,
    ) -> SlowClientGuard<S> {
        SlowClientGuard {
            inner: inner.take(MOST_READ),
            slot,
            limit,
            stalled: None,
            preface_timer: Some(Box::pin(tokio::time::sleep(first_bytes))),
            received: 0,
        }
    }

    /// Compares the first bytes with the preface of HTTP/2.
    fn note_preface(&mut self, bytes: &[u8]) {
        let rest = PREFACE.get(self.received..).unwrap_or_default();
        if bytes.len() >= rest.len() || !rest.starts_with(bytes) {
            self.preface_timer = None;
        }
        self.received += bytes.len();
    }

    fn or_stalled<T>(
        &mut self,
        outcome: Poll<io::Result<T>>,
        context: &mut Context<'_>,
    ) -> Poll<io::Result<T>> {
        if outcome.is_ready() {
            if self.stalled.take().is_some() {
                self.slot.set_stalled(false);
            }
            return outcome;
        }
        let (limit, slot) = (self.limit, &self.slot);
        let stalled = self.stalled.get_or_insert_with(|| {
            slot.set_stalled(true);
            Box::pin(tokio::time::sleep(limit))
        });
        match stalled.as_mut().poll(context) {
            Poll::Pending => Poll::Pending,
            Poll::Ready(()) => {
                let why = format!("the client took nothing for {} s", limit.as_secs_f64());
                Poll::Ready(Err(io::Error::new(io::ErrorKind::TimedOut, why)))
            }
        }
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for SlowClientGuard<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        // Without that, the limit would hold for all reads together, and the stream would end at it.
        self.inner.set_limit(MOST_READ);
        let outcome = Pin::new(&mut self.inner).poll_read(context, buffer);
        if self.preface_timer.is_none() {
            return outcome;
        }
        if outcome.is_ready() {
            self.note_preface(buffer.filled().get(before..).unwrap_or_default());
            return outcome;
        }
        match self
            .preface_timer
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

impl<S: AsyncRead + AsyncWrite + Unpin> AsyncWrite for SlowClientGuard<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(self.inner.get_mut()).poll_write(context, bytes);
        self.or_stalled(outcome, context)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffers: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(self.inner.get_mut()).poll_write_vectored(context, buffers);
        self.or_stalled(outcome, context)
    }

    fn is_write_vectored(&self) -> bool {
        self.inner.get_ref().is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(self.inner.get_mut()).poll_flush(context);
        self.or_stalled(outcome, context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(self.inner.get_mut()).poll_shutdown(context);
        self.or_stalled(outcome, context)
    }
}

#[cfg(test)]
mod tests {
    use super::super::connection_limit::ConnectionLimit;
    use super::*;

    #[tokio::test]
    async fn a_read_takes_a_part_and_all_parts_come_in_order() {
        let most = usize::try_from(MOST_READ).unwrap();
        let sent: Vec<u8> = (0..=u8::MAX).cycle().take(3 * most + 5).collect();
        let slot = Arc::new(ConnectionLimit::new(1, 1).open(None));
        let limit = Duration::from_secs(600);
        let mut guard = SlowClientGuard::new(sent.as_slice(), slot, limit, limit);
        let (mut received, mut sizes) = (Vec::new(), Vec::new());
        let mut buffer = vec![0; 4 * most];
        loop {
            let count = guard.read(&mut buffer).await.unwrap();
            if count == 0 {
                break;
            }
            sizes.push(count);
            received.extend_from_slice(buffer.get(..count).unwrap());
        }
        assert_eq!(sizes, [most, most, most, 5]);
        assert_eq!(received, sent);
    }
}
