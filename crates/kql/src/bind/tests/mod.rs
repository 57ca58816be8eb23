//! What the binder promises, by subject.

mod expressions;
mod frame;
mod names;
mod statements;
