//! The second place where the records of the log are made durable, as the writer of the log uses it.

use bytes::Bytes;

/// A second copy of the log. Its methods block the thread of the writer; an error says why there is no copy.
pub(crate) trait Replica: Send + 'static {
    /// Makes sure that there is a copy, which has all records before `next` that no segment has.
    fn prepare(&mut self, next: u64) -> Result<(), String>;

    /// Begins to send records, the first of which has the sequence `first`.
    fn send(&mut self, first: u64, records: Bytes);

    /// Waits until a copy has what was sent, which ends before `next`. The files of the log have it already, so another copy may be made of
    /// them. After an error the records are not in the copy, as far as the catalogue can be reached.
    fn wait(&mut self, next: u64) -> Result<(), String>;

    /// Makes another copy, at another node if there is one, of all records before `next` that no segment has.
    fn replace(&mut self, next: u64) -> Result<(), String>;

    /// Takes back what was sent, which begins with `first`: it is refused.
    fn withdraw(&mut self, first: u64);
}
