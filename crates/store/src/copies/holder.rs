//! The holder of the copy of this node's log: another one takes its place if it does not report any more.

use super::origin::may_hold;
use crate::config::Replicas;
use crate::node::NodeRecord;
use crate::store::Store;

impl Store {
    /// Whether another node may have the copy of this node's log because the one that has it does not report any more, or because there is none of
    /// rows that no segment has.
    pub(crate) fn has_silent_holder(&self) -> bool {
        let view = self.view.get();
        let Some(copy) = *self.nodes.own_copy.lock() else {
            let is_alone = self.config.replicas == Replicas::Auto && self.config.copies_log();
            return is_alone && self.view.sizes().bytes > 0 && view.nodes.iter().any(may_hold);
        };
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
