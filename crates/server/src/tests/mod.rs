//! The router over a real data folder.
