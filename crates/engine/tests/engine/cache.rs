//! The response cache (`D18`): who gets what from it, and for how long.

use std::sync::Arc;

use hindsight_engine::{CacheControl, EventsParameters, QueryRequest};
use hindsight_store::Table;

use crate::metrics::metric;
use crate::support::{FRESH, Fixture, row, rows};

const DEFAULT: CacheControl = CacheControl {
    bypass: false,
    no_store: false,
    max_age: None,
};
const NO_CACHE: CacheControl = CacheControl {
    bypass: true,
    no_store: false,
    max_age: None,
};

const fn max_age(seconds: u64) -> CacheControl {
    CacheControl {
        bypass: false,
        no_store: false,
        max_age: Some(seconds),
    }
}

async fn one_trace() -> Fixture {
    let f = Fixture::new().await;
    f.put(Table::Traces, &[row!["10:00", message: "first"]])
        .await;
    f
}

async fn another_trace(f: &Fixture) {
    f.put(Table::Traces, &[row!["10:01", message: "second"]])
        .await;
}

/// The count that a request is answered with, and the answer's age.
async fn ask(f: &Fixture, request: &QueryRequest, control: CacheControl) -> (String, Option<u64>) {
    let answer = f.engine.query(request, control).await.unwrap();
    (rows(&answer.value.tables[0]).join(","), answer.age)
}

fn told(count: &str, age: Option<u64>) -> (String, Option<u64>) {
    (count.to_owned(), age)
}

#[tokio::test]
async fn the_second_answer_has_an_age_until_the_lifetime_ends() {
    let f = one_trace().await;
    let request = f.request("traces | count");
    assert_eq!(ask(&f, &request, DEFAULT).await, told("1", None));
    another_trace(&f).await;
    assert_eq!(ask(&f, &request, DEFAULT).await, told("1", Some(0)));
    f.clock.pass(28);
    assert_eq!(ask(&f, &request, DEFAULT).await, told("1", Some(28)));
    f.clock.pass(93);
    assert_eq!(ask(&f, &request, DEFAULT).await, told("2", None));
    assert_eq!(ask(&f, &request, DEFAULT).await, told("2", Some(0)));
}

#[tokio::test]
async fn max_age_says_how_old_is_too_old() {
    let f = one_trace().await;
    let request = f.request("traces | count");
    ask(&f, &request, DEFAULT).await;
    another_trace(&f).await;
    f.clock.pass(50);
    assert_eq!(ask(&f, &request, max_age(50)).await, told("1", Some(50)));
    assert_eq!(ask(&f, &request, max_age(49)).await, told("2", None));
    f.clock.pass(175);
    assert_eq!(
        ask(&f, &request, max_age(600)).await,
        told("2", Some(175)),
        "older than the lifetime, if asked for"
    );
}

/// `max-age=0` and `no-cache` query the store and refresh the reply that others get.
#[tokio::test]
async fn bypassing_requests_refresh_the_reply() {
    for control in [NO_CACHE, max_age(0)] {
        let f = one_trace().await;
        let request = f.request("traces | count");
        ask(&f, &request, DEFAULT).await;
        another_trace(&f).await;
        assert_eq!(
            ask(&f, &request, control).await,
            told("2", None),
            "{control:?}"
        );
        assert_eq!(
            ask(&f, &request, DEFAULT).await,
            told("2", Some(0)),
            "{control:?}"
        );
    }
}

#[tokio::test]
async fn no_store_keeps_nothing() {
    for control in [
        FRESH,
        CacheControl {
            bypass: false,
            ..FRESH
        },
    ] {
        let f = one_trace().await;
        let request = f.request("traces | count");
        assert_eq!(ask(&f, &request, control).await, told("1", None));
        assert_eq!(
            ask(&f, &request, DEFAULT).await,
            told("1", None),
            "nothing was kept"
        );
        another_trace(&f).await;
        assert_eq!(ask(&f, &request, control).await, told("2", None));
        assert_eq!(
            ask(&f, &request, DEFAULT).await,
            told("1", Some(0)),
            "nor refreshed"
        );
    }
}

#[tokio::test]
async fn a_lifetime_of_zero_caches_nothing() {
    let f = Fixture::with(|config| config.cache_lifetime = std::time::Duration::ZERO).await;
    f.put(Table::Traces, &[row!["10:00", message: "first"]])
        .await;
    let request = f.request("traces | count");
    ask(&f, &request, DEFAULT).await;
    f.clock.pass(1);
    assert_eq!(ask(&f, &request, DEFAULT).await, told("1", None));
}

/// Whoever may see something else gets an answer of their own.
#[tokio::test]
async fn answers_are_private_to_what_a_principal_may_see() {
    let f = one_trace().await;
    let request = f.request("traces | count");
    ask(&f, &request, DEFAULT).await;
    let mut other = request.clone();
    other.caller = f.shopkeeper();
    assert_eq!(ask(&f, &other, DEFAULT).await, told("1", None));
    assert_eq!(ask(&f, &other, DEFAULT).await, told("1", Some(0)));

    let count = metric("traces/count", "");
    let by_id = EventsParameters {
        event_type: "traces".to_owned(),
        ..EventsParameters::default()
    };
    let mut ages = Vec::new();
    for caller in [f.everyone(), f.shopkeeper(), f.everyone(), f.shopkeeper()] {
        let metric = f.engine.metric(&caller, &count, DEFAULT).await.unwrap();
        let events = f.engine.events(&caller, &by_id, DEFAULT).await.unwrap();
        ages.push((metric.age, events.age));
    }
    assert_eq!(
        ages,
        [
            (None, None),
            (None, None),
            (Some(0), Some(0)),
            (Some(0), Some(0))
        ]
    );
}

#[tokio::test]
async fn a_forbidden_query_is_not_answered_from_the_cache() {
    let f = one_trace().await;
    let request = f.request("union traces, app('bank').traces | count");
    assert_eq!(ask(&f, &request, DEFAULT).await, told("1", None));
    let mut other = request.clone();
    other.caller = f.shopkeeper();
    assert!(f.engine.query(&other, DEFAULT).await.is_err());
    assert!(
        f.engine.query(&other, DEFAULT).await.is_err(),
        "errors are not kept either"
    );
}

/// The key is what was asked: everything that changes the answer is in it, and blanks are not.
#[tokio::test]
async fn requests_are_the_same_when_they_mean_the_same() {
    let f = one_trace().await;
    let first = f.request("traces | count");
    ask(&f, &first, DEFAULT).await;
    let change = |edit: fn(&mut QueryRequest)| {
        let mut request = first.clone();
        edit(&mut request);
        request
    };
    for (request, same) in [
        (change(|r| r.query = "traces|count // all".into()), true),
        (change(|r| r.applications = vec!["shop".to_owned()]), true),
        (change(|r| r.wait = Some(30)), true),
        (
            change(|r| r.query = "traces | where true | count".into()),
            false,
        ),
        (change(|r| r.timespans = vec!["PT1H".to_owned()]), false),
        (change(|r| r.applications = vec!["bank".to_owned()]), false),
        (change(|r| r.workspace_names = true), false),
    ] {
        let (_, age) = ask(&f, &request, DEFAULT).await;
        assert_eq!(age.is_some(), same, "{request:?}");
    }
}

#[tokio::test]
async fn identical_requests_that_meet_run_once() {
    let f = one_trace().await;
    // Two runs would give two numbers.
    let request =
        f.request("range x from 1 to 200000 step 1 | summarize sum(x) | extend lucky = rand()");
    let asked = (0..8).map(|_| f.engine.query(&request, DEFAULT));
    let answers = futures::future::join_all(asked).await;
    let first = &answers[0].as_ref().unwrap().value;
    for answer in &answers {
        assert!(Arc::ptr_eq(&answer.as_ref().unwrap().value, first));
    }
}

/// A caller who leaves takes nobody's answer away.
#[tokio::test]
async fn a_request_that_is_dropped_does_not_stop_its_twin() {
    let f = one_trace().await;
    let request = f.request("range x from 1 to 3000000 step 1 | summarize sum(x)");
    let engine = f.engine.clone();
    let leaving = {
        let (engine, request) = (engine.clone(), request.clone());
        tokio::spawn(async move { engine.query(&request, DEFAULT).await.map(drop) })
    };
    tokio::task::yield_now().await;
    let staying = {
        let (engine, request) = (engine.clone(), request.clone());
        tokio::spawn(async move { engine.query(&request, DEFAULT).await })
    };
    tokio::task::yield_now().await;
    leaving.abort();
    let answer = staying.await.unwrap().unwrap();
    assert_eq!(rows(&answer.value.tables[0]), ["4500001500000"]);
}
