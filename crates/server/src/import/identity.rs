//! Identities of items that come without one: the same item of the same file gets the same identity each time.

use std::collections::HashMap;

use sha2::{Digest, Sha256};
use uuid::Uuid;

use super::line::Line;

/// Gives identities to the items of one file.
///
/// An identity is made of the item's content and of how many items with the same content came before it in the file. So two items of one
/// file stay two, and an item that is read again, from a copy of the file too, is the same one.
#[derive(Debug, Default)]
pub(crate) struct Identities {
    seen: HashMap<[u8; 16], u32>,
}

impl Identities {
    /// Gives the item an identity if it has none.
    pub(crate) fn complete(&mut self, line: &mut Line) {
        if line.has_identity() {
            return;
        }
        let mut text = String::new();
        line.write(&mut text);
        let content = digest(text.as_bytes());
        let count = self.seen.entry(content).or_default();
        *count += 1;
        let identity = digest(&[&content[..], &count.to_le_bytes()].concat());
        line.set_text("itemId", &Uuid::from_bytes(identity).to_string());
    }
}

/// The first half of SHA-256.
fn digest(bytes: &[u8]) -> [u8; 16] {
    let mut half = [0; 16];
    let hash = Sha256::digest(bytes);
    half.iter_mut().zip(hash).for_each(|(to, from)| *to = from);
    half
}

#[cfg(test)]
mod tests {
    use super::*;
    use hindsight_store::Table;

    #[test]
    fn identities_are_the_same_each_time_and_differ_between_equal_items() {
        let line = |message: &str| {
            let mut line = Line::new(Table::Traces);
            line.set_text("message", message);
            line
        };
        let ids = || {
            let mut identities = Identities::default();
            ["a", "a", "b"].map(|message| {
                let mut line = line(message);
                identities.complete(&mut line);
                line.get("itemId").unwrap().to_owned()
            })
        };
        let [one, two, three] = ids();
        assert_eq!(ids(), [one.clone(), two.clone(), three.clone()]);
        assert!(one != two && two != three && one != three);
        let mut own = line("c");
        own.set_text("itemId", "mine");
        Identities::default().complete(&mut own);
        assert_eq!(own.get("itemId"), Some("\"mine\""));
    }
}
