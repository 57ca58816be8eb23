//! The holder of the copy of this node's log: another one takes its place if it does not report any more.

use super::origin::may_hold;
use crate::node::NodeRecord;
use crate::store::Store;

impl Store {
    /// Whether the node with the copy of this node's log does not report any more, and another one may take its place.
    pub(crate) fn has_silent_holder(&self) -> bool {
        let Some(copy) = *self.nodes.own_copy.lock() else {
            return false;
        };
        let view = self.view.get();
        let is_live = |node: &NodeRecord| node.id == copy.holder && node.is_live();
        let may_replace = |node: &NodeRecord| node.id != copy.holder && may_hold(node);
        self.config.copies_log()
            && !view.nodes.iter().any(is_live)
            && view.nodes.iter().any(may_replace)
    }

    /// Makes another copy of this node's log in place of one whose holder does not report. The next request would do it, and there may be none.
    ///
    /// # Errors
    /// [`crate::StoreError::NoCopy`] if no node takes a copy; the next request tries again.
    pub(crate) async fn replace_holder(&self) -> crate::Result<()> {
        let writer = self.log_writer()?;
        writer.replace_copy().await?;
        self.follow().await
    }
}
