//! The routes of test mode (`docs/testing.md`). They exist only under `hindsight serve --test`.

mod clock;
mod request;
mod state;
mod values;
mod wait;

use std::sync::Arc;

use axum::routing::MethodRouter;

use super::route::{Admission, Operation, Reply, Route, json_body, ok, open, route};
use crate::app::App;

const fn post(
    id: &'static str,
    summary: &'static str,
    required: bool,
    schema: &'static str,
    replies: &'static [Reply],
    add: fn(MethodRouter<Arc<App>>) -> MethodRouter<Arc<App>>,
) -> Operation {
    Operation {
        method: "post",
        admission: Admission::Test,
        body: json_body(required, schema),
        ..open(id, summary, replies, add)
    }
}

/// All of them.
pub(super) static ROUTES: &[Route] = &[
    route(
        "/test/clock",
        &[
            Operation {
                admission: Admission::Test,
                ..open(
                    "testClockGet",
                    "The clock of test mode.",
                    &[ok("TestClock", "What it shows.")],
                    |route| route.get(clock::get),
                )
            },
            Operation {
                method: "put",
                ..post(
                    "testClockPut",
                    "Set the clock: to a fixed time, to an offset from the machine's clock, or back to the machine's.",
                    true,
                    "TestClockRequest",
                    &[ok("TestClock", "What it shows now.")],
                    |route| route.put(clock::put),
                )
            },
        ],
    ),
    route(
        "/test/reset",
        &[post(
            "testReset",
            "Remove the telemetry of one application, or all telemetry.",
            false,
            "TestResetRequest",
            &[ok("TestDone", "It is removed.")],
            |route| route.post(state::reset),
        )],
    ),
    route(
        "/test/snapshot",
        &[post(
            "testSnapshot",
            "Remember all telemetry under a name.",
            true,
            "TestNameRequest",
            &[ok("TestSnapshots", "The names of all snapshots.")],
            |route| route.post(state::snapshot),
        )],
    ),
    route(
        "/test/restore",
        &[post(
            "testRestore",
            "Put the telemetry of a snapshot in the place of all telemetry.",
            true,
            "TestNameRequest",
            &[ok("TestSnapshots", "The names of all snapshots.")],
            |route| route.post(state::restore),
        )],
    ),
    route(
        "/test/wait",
        &[post(
            "testWait",
            "Wait until a condition on the rows of a query holds.",
            true,
            "TestWaitRequest",
            &[ok(
                "TestWait",
                "Whether it holds, and the rows of the last evaluation.",
            )],
            |route| route.post(wait::wait),
        )],
    ),
];
