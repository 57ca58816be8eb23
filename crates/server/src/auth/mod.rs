//! Authentication and authorization of requests.

pub(crate) mod credential;
pub(crate) mod gate;
pub(crate) mod guard;
pub(crate) mod principal;

pub(crate) use gate::Gate;
pub(crate) use principal::Principal;
