//! Whose telemetry it is.

use opentelemetry_proto::tonic::collector::trace::v1::{
    ExportTraceServiceRequest, ExportTraceServiceResponse,
};
use prost::Message;

use super::rows;
use super::sending::{PROTOBUF, TRACES, a_span, now, spans, text};
use crate::app::{create_app, create_key_with};
use crate::tests::*;

#[tokio::test]
async fn the_first_way_that_names_an_application_counts() {
    let server =
        Server::with(|settings| settings.otlp_application = Some("default".to_owned())).await;
    let (catalogue, time) = (server.app.store.catalogue(), server.app.now());
    let mut apps = Vec::new();
    for name in ["key", "header", "second", "url", "resource", "default"] {
        apps.push(create_app(catalogue, name, time).await.unwrap());
    }
    let ikeys: Vec<String> = apps
        .iter()
        .map(|app| app.instrumentation_key.to_string())
        .collect();
    let rights = hindsight_identity::Rights::parse("ingest").unwrap();
    let (_, api_key) = create_key_with(catalogue, apps[0].id, "", rights, time, None)
        .await
        .unwrap();
    let of_resource = vec![text("ai.instrumentationKey", &ikeys[4])];
    let mut headers = vec![
        ("x-api-key", api_key.as_str()),
        ("x-instrumentation-key", ikeys[1].as_str()),
        ("x-ms-instrumentationkey", ikeys[2].as_str()),
    ];
    let mut path = format!("{TRACES}?ikey={}", ikeys[3]);
    let mut attributes = of_resource;
    for (place, app) in apps.iter().enumerate() {
        let mut sent = headers.clone();
        sent.push(PROTOBUF);
        let body = spans(attributes.clone(), vec![a_span(now(&server), 1)]).encode_to_vec();
        let reply = server.export(&path, &sent, body).await;
        assert_eq!(
            (reply.status.as_u16(), reply.bytes.len()),
            (200, 0),
            "{}",
            app.name
        );
        assert_eq!(
            rows(&server, app, "requests", &[]).await.len(),
            1,
            "{}",
            app.name
        );
        match place {
            0..=2 => drop(headers.remove(0)),
            3 => path = TRACES.to_owned(),
            _ => attributes.clear(),
        }
    }
    // A key that may only read names no application, and one for another application permits nothing.
    let reading = ("x-api-key", server.key.as_str());
    let shop = server.ikey();
    let body = spans(vec![], vec![a_span(now(&server), 1)]).encode_to_vec();
    let reply = server
        .export(TRACES, &[PROTOBUF, reading, ("ikey", &shop)], body)
        .await;
    assert_eq!(reply.status, 403);
}

#[tokio::test]
async fn one_request_feeds_several_applications() {
    let server = Server::start().await;
    let other = create_app(server.app.store.catalogue(), "other", server.app.now())
        .await
        .unwrap();
    let of = |key: &str, number| {
        let attributes = vec![text("microsoft.instrumentation_key", key)];
        spans(attributes, vec![a_span(now(&server), number)]).resource_spans
    };
    let unknown = "11111111-2222-3333-4444-555555555555";
    let other_key = other.instrumentation_key.to_string();
    let resource_spans = [of(&server.ikey(), 1), of(&other_key, 2), of(unknown, 3)].concat();
    let body = ExportTraceServiceRequest { resource_spans }.encode_to_vec();
    let reply = server.export(TRACES, &[PROTOBUF], body).await;
    let told = ExportTraceServiceResponse::decode(reply.bytes.as_slice()).unwrap();
    let told = told.partial_success.unwrap();
    assert_eq!(
        (told.rejected_spans, told.error_message.as_str()),
        (1, "Invalid instrumentation key")
    );
    for app in [&server.shop, &other] {
        assert_eq!(
            rows(&server, app, "requests", &[]).await.len(),
            1,
            "{}",
            app.name
        );
    }
}
