//! The binder resolves names, types and calls. It turns a syntax tree into typed DataFusion plans.
//!
//! Errors are [`Diagnostic`]s with the codes of `docs/semantics.md §28.4`. A KQL construct that is not implemented is refused
//! by name. Operators use the binder through [`crate::context::BindContext`].

mod access;
mod aggregate;
mod any_column;
mod arithmetic;
mod binder;
mod call;
mod columns;
mod compare;
mod comparison;
mod context;
mod discover;
mod dynamic;
mod errors;
mod function;
mod kernels;
mod lists;
mod literal;
mod logic;
mod operator;
mod options;
mod overload;
mod pattern;
mod predicate;
mod principal;
mod projection;
mod recovery;
mod request;
mod result_name;
mod scalar;
mod settings;
mod size;
mod source;
mod statement;
mod strings;
mod subquery;
mod table;
#[cfg(test)]
mod tests;
mod text_equality;
mod volatile;

pub use discover::{Binding, NeededRows, bind, bind_or_ask};
pub(crate) use dynamic::MEMBER;
pub(crate) use kernels::inner_kernels;
