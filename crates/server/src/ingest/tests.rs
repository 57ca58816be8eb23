//! Samples of every base type against the rows that they give.
