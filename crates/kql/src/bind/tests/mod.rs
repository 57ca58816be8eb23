//! Tests of the binder, by subject.

mod expressions;
mod frame;
mod names;
mod statements;
