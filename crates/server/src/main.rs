//! The `hindsight` program.
fn main() {}
