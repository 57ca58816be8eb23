//! The content of an object, read by a thread that blocks while the client receives it.

use std::io::{self, Read};

use bytes::Bytes;
use futures::StreamExt;
use futures::executor::block_on;
use futures::stream::BoxStream;
use hindsight_store::ObjectError;
use tokio::sync::mpsc;

use super::failure::object_error;

/// Parts of a body that the client receives before they are read.
const AHEAD: usize = 8;

/// A body that is being received.
#[derive(Debug)]
pub(super) struct Body {
    parts: mpsc::Receiver<Result<Bytes, String>>,
    current: Bytes,
}

impl Body {
    /// The body of a reply, which a task receives. It ends with the last part, with an error, or when the body is dropped.
    pub(super) fn of(mut reply: BoxStream<'static, object_store::Result<Bytes>>) -> Body {
        let (sender, parts) = mpsc::channel(AHEAD);
        tokio::spawn(async move {
            while let Some(part) = reply.next().await {
                let part = part.map_err(|error| match object_error(error) {
                    ObjectError::Unavailable(text) => text,
                    other => other.to_string(),
                });
                let is_last = part.is_err();
                if sender.send(part).await.is_err() || is_last {
                    return;
                }
            }
        });
        Body {
            parts,
            current: Bytes::new(),
        }
    }
}

impl Read for Body {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        while self.current.is_empty() {
            match block_on(self.parts.recv()) {
                None => return Ok(0),
                Some(Ok(part)) => self.current = part,
                Some(Err(error)) => return Err(io::Error::other(error)),
            }
        }
        let count = bytes.len().min(self.current.len());
        let part = self.current.split_to(count);
        for (to, from) in bytes.iter_mut().zip(part.iter()) {
            *to = *from;
        }
        Ok(count)
    }
}
