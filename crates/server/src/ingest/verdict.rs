//! What became of each item of a request, and the reply's status.

use serde::Serialize;

/// Why the items of an instrumentation key are refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum KeyRefusal {
    /// No application has the key. The message is the recorded one.
    #[error("Invalid instrumentation key")]
    Unknown,
    /// The sender's credential has no right on the key's application.
    #[error("The credential has no right to send telemetry with this instrumentation key")]
    Forbidden,
    /// The application's daily cap is reached.
    #[error("The daily cap of {cap} bytes of the application is spent")]
    CapSpent {
        /// Bytes that the application may send in a day.
        cap: u64,
    },
}

impl KeyRefusal {
    /// The status of a request with such an item alone.
    pub(crate) fn status(&self) -> u16 {
        match self {
            KeyRefusal::Unknown => 400,
            KeyRefusal::Forbidden => 403,
            KeyRefusal::CapSpent { .. } => 402,
        }
    }
}

/// Why an item was not taken.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub(crate) struct ItemError {
    /// Its place in the request, from 0.
    pub(crate) index: usize,
    /// What would have been the status of a request with this item alone.
    #[serde(rename = "statusCode")]
    pub(crate) status: u16,
    /// A sentence.
    pub(crate) message: String,
}

impl ItemError {
    /// Whether the sender may send the item again later.
    pub(crate) fn is_repeatable(&self) -> bool {
        matches!(self.status, 429 | 503)
    }
}

/// The reply to a track request.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Verdict {
    /// Items in the request.
    pub(crate) items_received: usize,
    /// Items that are on disk now.
    pub(crate) items_accepted: usize,
    /// The application, where all accepted items are of one.
    #[serde(skip_serializing_if = "Option::is_none")]
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

    #[test]
    fn the_body_has_the_recorded_keys() {
        let verdict = Verdict::refused(1, 400, "Invalid instrumentation key");
        assert_eq!(
            serde_json::to_string(&verdict).unwrap(),
            r#"{"itemsReceived":1,"itemsAccepted":0,"errors":[{"index":0,"statusCode":400,"message":"Invalid instrumentation key"}]}"#
        );
    }
}
