//! The binder: names, types and calls.
