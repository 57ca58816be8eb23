//! Distributed queries: plans of DataFusion that run on several nodes.
