//! The `hindsight` program: HTTP shapes, identity, ingestion protocols, wiring.

mod app;
mod arriving;
mod auth;
mod bodies;
mod caps;
mod cli;
mod config;
mod connection;
mod demo;
mod directory;
mod engine;
mod error;
mod import;
mod intake;
mod live;
mod middleware;
mod moderation;
mod nodes;
mod openapi;
mod origin;
mod params;
mod prefer;
mod private_file;
mod proxies;
mod reply;
mod resource;
mod router;
mod routes;
mod service;
mod shutdown;
mod telemetry;
mod test_mode;
mod throttle;
mod tls;
mod wire;

#[cfg(test)]
mod tests;

fn main() -> std::process::ExitCode {
    hindsight_allocator::keep_freed_memory();
    cli::run(cli::Arguments::of_process())
}
