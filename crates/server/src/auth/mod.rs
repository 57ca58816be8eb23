//! Who asks, and what they may.

pub(crate) mod credential;
pub(crate) mod gate;
pub(crate) mod guard;
pub(crate) mod principal;

pub(crate) use gate::Gate;
pub(crate) use principal::Principal;
