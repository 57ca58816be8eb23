//! One typed request in, one typed result out; no HTTP
