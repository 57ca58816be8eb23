//! What happens to every request and reply.

pub(crate) mod outer;
mod request_metrics;
