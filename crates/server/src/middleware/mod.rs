//! What happens to every request and reply.

pub(crate) mod cache_control;
pub(crate) mod outer;
