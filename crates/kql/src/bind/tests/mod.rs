//! What the binder promises, by subject.

mod expressions;
mod names;
mod statements;
