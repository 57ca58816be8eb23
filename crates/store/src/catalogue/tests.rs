use super::*;
use crate::app_id::AppId;
use uuid::Uuid;

fn new(name: &str) -> NewApplication {
    NewApplication {
        id: AppId(Uuid::new_v4()),
        name: name.to_owned(),
        instrumentation_key: Uuid::new_v4(),
        created: 7,
    }
}

#[tokio::test]
async fn an_application_is_found_by_name_id_and_instrumentation_key_until_it_is_deleted() {
    let dir = tempfile::tempdir().unwrap();
    let catalogue = Catalogue::open(dir.path()).await.unwrap();
    let app = catalogue.create_app(new("shop")).await.unwrap();

    assert_eq!(catalogue.app("shop").await.unwrap().as_ref(), Some(&app));
    assert_eq!(
        catalogue.app(&app.id.to_string()).await.unwrap().as_ref(),
        Some(&app)
    );
    let by_key = catalogue
        .app_by_instrumentation_key(app.instrumentation_key)
        .await
        .unwrap();
    assert_eq!(by_key.as_ref(), Some(&app));
    assert!(matches!(
        catalogue.create_app(new("shop")).await,
        Err(crate::StoreError::NameTaken { .. })
    ));

    assert!(catalogue.delete_app(app.id, 9).await.unwrap());
    assert!(!catalogue.delete_app(app.id, 9).await.unwrap());
    assert_eq!(catalogue.app("shop").await.unwrap(), None);
    assert_eq!(catalogue.deleted_apps(true).await.unwrap(), [app.id]);
    catalogue
        .create_app(new("shop"))
        .await
        .expect("the name is free again");
}

#[tokio::test]
async fn deleting_an_application_deletes_its_keys() {
    let dir = tempfile::tempdir().unwrap();
    let catalogue = Catalogue::open(dir.path()).await.unwrap();
    let app = catalogue.create_app(new("shop")).await.unwrap();
    let key = NewKey {
        id: "k1".to_owned(),
        app: app.id,
        name: "reader".to_owned(),
        hash: vec![1, 2, 3],
        scopes: "read".to_owned(),
        created: 8,
        expires: Some(100),
    };
    let record = catalogue.create_key(key).await.unwrap();
    assert_eq!(catalogue.key("k1").await.unwrap().as_ref(), Some(&record));
    assert_eq!(
        catalogue.key_by_hash(&[1, 2, 3]).await.unwrap().as_ref(),
        Some(&record)
    );
    assert_eq!(catalogue.keys(app.id).await.unwrap(), [record]);

    catalogue.delete_app(app.id, 9).await.unwrap();
    assert_eq!(catalogue.key("k1").await.unwrap(), None);
}

#[tokio::test]
async fn a_change_by_another_process_moves_the_version() {
    let dir = tempfile::tempdir().unwrap();
    let server = Catalogue::open(dir.path()).await.unwrap();
    let before = server.version().await.unwrap();
    assert_eq!(server.version().await.unwrap(), before);

    let command = Catalogue::open(dir.path()).await.unwrap();
    command.create_app(new("shop")).await.unwrap();
    let after = server.version().await.unwrap();
    assert_ne!(after, before);

    server.create_app(new("own")).await.unwrap();
    assert_ne!(server.version().await.unwrap(), after);
}
