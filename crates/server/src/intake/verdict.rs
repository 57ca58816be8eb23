//! What became of the items of a request, and the status of its reply.

use hindsight_ingest::ItemError;

/// What became of the items of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Verdict {
    /// Items in the request.
    pub(crate) items_received: usize,
    /// Items that are on disk now.
    pub(crate) items_accepted: usize,
    /// The application, where all accepted items are of one.
    pub(crate) app_id: Option<String>,
    /// The others.
    pub(crate) errors: Vec<ItemError>,
}

impl Verdict {
    /// The whole request is refused for one reason.
    pub(crate) fn refused(received: usize, status: u16, message: impl Into<String>) -> Verdict {
        let error = ItemError {
            index: 0,
            status,
            message: message.into(),
        };
        Verdict {
            items_received: received,
            items_accepted: 0,
            app_id: None,
            errors: vec![error],
        }
    }

    /// Keeps at most `listed` errors of items that are refused for good. Items that may be sent again are all listed, unless
    /// that holds for the whole request: then its first error says so.
    pub(crate) fn shorten(&mut self, listed: usize) {
        let all_alike = self.items_accepted == 0
            && self.errors.iter().all(|error| {
                error.is_repeatable()
                    && self
                        .errors
                        .first()
                        .is_some_and(|first| first.status == error.status)
            });
        if all_alike {
            self.errors.truncate(1);
        }
        let mut left = listed;
        self.errors.retain(|error| {
            let keep = error.is_repeatable() || left > 0;
            left = left.saturating_sub(usize::from(!error.is_repeatable()));
            keep
        });
    }

    /// 200 for all, 206 for some, and the first item's status for none.
    pub(crate) fn status(&self) -> u16 {
        match (self.errors.first(), self.items_accepted) {
            (None, _) => 200,
            (Some(_), 1..) => 206,
            (Some(first), 0) => first.status,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_status_tells_all_some_or_none() {
        let check = |accepted: usize, failed: &[u16], expected: u16| {
            let errors = failed.iter().map(|status| ItemError {
                index: 0,
                status: *status,
                message: String::new(),
            });
            let verdict = Verdict {
                items_received: 2,
                items_accepted: accepted,
                app_id: None,
                errors: errors.collect(),
            };
            assert_eq!(verdict.status(), expected);
        };
        check(2, &[], 200);
        check(1, &[400], 206);
        check(0, &[402, 400], 402);
    }

    #[test]
    fn a_reply_lists_so_many_final_errors_and_all_items_to_repeat() {
        let listed = |accepted: usize, statuses: &[u16]| {
            let errors = statuses
                .iter()
                .enumerate()
                .map(|(index, status)| ItemError {
                    index,
                    status: *status,
                    message: String::new(),
                });
            let mut verdict = Verdict {
                items_received: 10,
                items_accepted: accepted,
                app_id: None,
                errors: errors.collect(),
            };
            verdict.shorten(2);
            verdict
                .errors
                .iter()
                .map(|error| error.index)
                .collect::<Vec<_>>()
        };
        assert_eq!(listed(0, &[400, 400, 400, 402]), [0, 1]);
        assert_eq!(listed(1, &[400, 503, 400, 400, 503]), [0, 1, 2, 4]);
        assert_eq!(listed(1, &[503, 503, 503]), [0, 1, 2]);
        assert_eq!(listed(0, &[503, 503, 503]), [0]);
    }
}
