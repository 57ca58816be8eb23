//! The engine as the server uses it.

use std::sync::Arc;

use hindsight_store::Store;

use crate::config::Settings;

pub(crate) use pending::QueryEngine as Engine;

/// The engine over a store, with the limits of the settings.
pub(crate) fn open(store: Arc<Store>, settings: &Settings) -> Arc<Engine> {
    let _ = settings;
    Engine::new(store)
}

mod pending {
    use hindsight_engine::{
        Answer, CacheControl, Caller, EngineError, EventParameters, EventsParameters, EventsResult, MetricParameters,
        MetricResult, QueryRequest, QueryResult,
    };
    use std::sync::Arc;

    pub(crate) struct QueryEngine;

    type Reply<T> = Result<Answer<Arc<T>>, EngineError>;

    fn pending<T>() -> Reply<T> {
        Err(EngineError::Internal("the engine is not connected".to_owned()))
    }

    impl QueryEngine {
        pub(crate) fn new(_: Arc<hindsight_store::Store>) -> Arc<QueryEngine> {
            Arc::new(QueryEngine)
        }
        pub(crate) async fn query(&self, _: QueryRequest, _: CacheControl) -> Reply<QueryResult> {
            pending()
        }
        pub(crate) async fn metric(&self, _: &Caller, _: MetricParameters, _: CacheControl) -> Reply<MetricResult> {
            pending()
        }
        pub(crate) async fn events(&self, _: &Caller, _: EventsParameters, _: CacheControl) -> Reply<EventsResult> {
            pending()
        }
        pub(crate) async fn event(&self, _: &Caller, _: EventParameters, _: CacheControl) -> Reply<EventsResult> {
            pending()
        }
    }
}
