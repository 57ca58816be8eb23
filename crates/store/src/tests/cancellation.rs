//! Cancellation of seals and merges: their futures are dropped, as those of background tasks are when the store is closed.

use std::future::Future;
use std::pin::pin;
use std::time::Duration;

use super::*;
use crate::Result;

const DAY: Duration = Duration::from_secs(86_400);

/// Cancels `work` after this number of polls, between which its blocking work goes on; whether it had completed.
async fn cancelled_after<T>(polls: usize, work: impl Future<Output = Result<T>>) -> bool {
    let mut work = pin!(work);
    for _ in 0..polls {
        if futures::poll!(&mut work).is_ready() {
            return true;
        }
        tokio::time::sleep(Duration::from_millis(1)).await;
    }
    false
}

/// Closes the store and opens it again: it has the rows of `sent` requests, each once, and no file that its catalogue does not list.
async fn check_next_start(store: Arc<Store>, home: &Home, sent: usize, polls: usize) {
    store.close().await.unwrap();
    drop(store);
    let store = Store::open(home.quiet()).await.unwrap();
    let mut expected: Vec<String> = (0..sent).map(|number| number.to_string()).collect();
    expected.sort_unstable();
    assert_eq!(
        ids(&store, app(1)).await,
        expected,
        "cancelled after {polls} polls"
    );
    assert_eq!(store.quarantine().files, 0, "cancelled after {polls} polls");
    store.close().await.unwrap();
}

#[tokio::test]
async fn a_cancelled_seal_stores_its_rows_once() {
    for home in Home::each_place() {
        for polls in 0.. {
            let store = Store::open(home.quiet()).await.unwrap();
            put(&store, app(1), &[item(polls, 1)]).await.unwrap();
            let ended = cancelled_after(polls, store.seal_all()).await;
            check_next_start(store, &home, polls + 1, polls).await;
            if ended {
                break;
            }
        }
    }
}

#[tokio::test]
async fn a_cancelled_merge_keeps_its_rows_once() {
    for home in Home::each_place() {
        for polls in 0.. {
            let clock = manual_clock();
            let config = StoreConfig {
                clock: clock.clone(),
                ..home.quiet()
            };
            let store = Store::open(config).await.unwrap();
            for number in [2 * polls, 2 * polls + 1] {
                put(&store, app(1), &[item(number, 1)]).await.unwrap();
                store.seal_all().await.unwrap();
            }
            clock.pass(2 * DAY);
            let ended = cancelled_after(polls, store.compact()).await;
            check_next_start(store, &home, 2 * (polls + 1), polls).await;
            if ended {
                break;
            }
        }
    }
}
