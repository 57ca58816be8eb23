//! The body of a reply, read by a thread that blocks while the client receives it.

use std::io::{self, Read};

use bytes::Bytes;
use futures::executor::block_on;
use tokio::sync::mpsc;

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
    pub(super) fn of(mut reply: reqwest::Response) -> Body {
        let (sender, parts) = mpsc::channel(AHEAD);
        tokio::spawn(async move {
            loop {
                let part = match reply.chunk().await {
                    Ok(None) => return,
                    Ok(Some(part)) => Ok(part),
                    Err(error) => Err(error.without_url().to_string()),
                };
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
