//! KQL syntax tree to typed DataFusion plan, and the language's library
