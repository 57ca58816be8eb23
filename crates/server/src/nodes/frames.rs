//! Frames of gRPC: a byte that says whether the message is compressed, four bytes with its length, the message.

use bytes::{Buf, BufMut, Bytes, BytesMut};
use prost::Message;

/// Bytes before a message.
const HEADER: usize = 5;
/// The largest message that is read. A part of a memtable has 8,192 rows; records of a log are those of a group of requests.
pub(super) const LARGEST: usize = 256 << 20;

/// A frame with a message.
pub(super) fn frame(message: &impl Message) -> Bytes {
    let length = message.encoded_len();
    let mut bytes = BytesMut::with_capacity(HEADER + length);
    bytes.put_u8(0);
    bytes.put_u32(u32::try_from(length).unwrap_or(u32::MAX));
    // A buffer of bytes grows as it must, so encoding cannot fail.
    let _ = message.encode(&mut bytes);
    bytes.freeze()
}

/// What was received and not read yet.
#[derive(Debug, Default)]
pub(super) struct Frames(BytesMut);

impl Frames {
    /// Adds received bytes.
    pub(super) fn add(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Whether nothing is left.
    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The next whole message; `None` until more bytes are received.
    ///
    /// # Errors
    /// A frame that is compressed or too long, or a message that cannot be decoded.
    pub(super) fn next<M: Message + Default>(&mut self) -> Result<Option<M>, String> {
        let Some((&[compressed, a, b, c, d], _)) = self.0.split_first_chunk::<HEADER>() else {
            return Ok(None);
        };
        let length = usize::try_from(u32::from_be_bytes([a, b, c, d])).unwrap_or(usize::MAX);
        if compressed != 0 || length > LARGEST {
            return Err("has sent a frame that is compressed or too long".to_owned());
        }
        if self.0.len() - HEADER < length {
            return Ok(None);
        }
        self.0.advance(HEADER);
        let message = self.0.split_to(length).freeze();
        M::decode(message)
            .map(Some)
            .map_err(|error| format!("has sent a message that cannot be read: {error}"))
    }
}

#[cfg(test)]
mod tests {
    use super::super::messages::CloseRequest;
    use super::*;

    #[test]
    fn messages_are_read_when_they_are_whole() {
        let request = |lease: &str| CloseRequest {
            lease: lease.to_owned(),
        };
        let bytes = [frame(&request("a")), frame(&request("bb"))].concat();
        let mut frames = Frames::default();
        let mut read = Vec::new();
        for byte in &bytes {
            frames.add(&[*byte]);
            while let Some(message) = frames.next::<CloseRequest>().unwrap() {
                read.push(message);
            }
        }
        assert_eq!(read, [request("a"), request("bb")]);
        assert!(frames.is_empty());
        frames.add(&[1, 0, 0, 0, 0]);
        assert!(frames.next::<CloseRequest>().is_err());
    }
}
