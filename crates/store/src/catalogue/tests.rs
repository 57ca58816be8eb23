use std::time::Duration;

use uuid::Uuid;

use super::*;
use crate::app_id::AppId;
use crate::tests::Home;
use crate::usage::Usage;

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
    for home in Home::each() {
        let catalogue = home.catalogue().await;
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
}

#[tokio::test]
async fn deleting_an_application_deletes_its_keys() {
    for home in Home::each() {
        let catalogue = home.catalogue().await;
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
}

#[tokio::test]
async fn a_change_by_another_process_moves_the_version() {
    for home in Home::each() {
        let server = home.catalogue().await;
        let before = server.latest_version().await.unwrap();
        assert_eq!(server.latest_version().await.unwrap(), before);

        let command = home.catalogue().await;
        command.create_app(new("shop")).await.unwrap();
        let after = server.latest_version().await.unwrap();
        assert_ne!(after, before);

        server.create_app(new("own")).await.unwrap();
        assert_ne!(server.latest_version().await.unwrap(), after);
    }
}

#[tokio::test]
async fn a_change_of_its_own_moves_the_version_that_is_kept() {
    for home in Home::each() {
        let server = home.catalogue().await;
        for name in ["one", "two", "three"] {
            let before = server.version().await.unwrap();
            server.create_app(new(name)).await.unwrap();
            assert_ne!(server.version().await.unwrap(), before, "{name}");
        }
    }
}

#[tokio::test]
async fn a_change_by_another_process_moves_the_version_that_is_kept_within_a_second() {
    for home in Home::each() {
        let (server, command) = (home.catalogue().await, home.catalogue().await);
        let before = server.version().await.unwrap();
        command.create_app(new("shop")).await.unwrap();
        let moved = async {
            while server.version().await.unwrap() == before {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        let waited = tokio::time::timeout(Duration::from_secs(1), moved).await;
        assert!(waited.is_ok());
    }
}

fn user(name: &str) -> UserRecord {
    UserRecord {
        id: Uuid::new_v4().to_string(),
        name: name.to_owned(),
        password: "hash".to_owned(),
        created: 7,
    }
}

fn client(name: &str) -> ClientRecord {
    ClientRecord {
        id: Uuid::new_v4().to_string(),
        name: name.to_owned(),
        public: false,
        created: 7,
        redirects: vec!["https://a/cb".to_owned()],
        secrets: vec![SecretRecord {
            id: "s".to_owned(),
            hash: vec![1, 2],
            created: 7,
            expires: Some(9),
        }],
    }
}

#[tokio::test]
async fn a_user_takes_its_roles_sessions_and_grants_along() {
    for home in Home::each() {
        let catalogue = home.catalogue().await;
        let (ada, program) = (user("Ada"), client("reports"));
        catalogue.create_user(&ada).await.unwrap();
        catalogue.create_client(&program).await.unwrap();
        assert!(
            catalogue.create_user(&user("ada")).await.is_err(),
            "case does not count"
        );
        assert_eq!(catalogue.user("ADA").await.unwrap().as_ref(), Some(&ada));
        assert_eq!(
            catalogue.client(&program.id).await.unwrap().as_ref(),
            Some(&program)
        );

        let role = RoleRecord {
            holder: ada.id.clone(),
            app: None,
            role: "read".to_owned(),
        };
        catalogue.grant_role(&role).await.unwrap();
        catalogue.grant_role(&role).await.unwrap();
        assert_eq!(catalogue.roles().await.unwrap(), [role]);
        let session = SessionRecord {
            id: "i".to_owned(),
            user: ada.id.clone(),
            created: 7,
            expires: 100,
        };
        catalogue.create_session(b"h", &session).await.unwrap();
        assert_eq!(catalogue.session(b"h").await.unwrap(), Some(session));

        assert!(catalogue.delete_user(&ada.id).await.unwrap());
        assert!(!catalogue.delete_user(&ada.id).await.unwrap());
        assert_eq!(catalogue.session(b"h").await.unwrap(), None);
        assert!(catalogue.roles().await.unwrap().is_empty());
    }
}

#[tokio::test]
async fn a_refresh_token_is_good_once_and_its_family_ends_with_a_second_use() {
    for home in Home::each() {
        let catalogue = home.catalogue().await;
        let (ada, program) = (user("ada"), client("reports"));
        catalogue.create_user(&ada).await.unwrap();
        catalogue.create_client(&program).await.unwrap();
        let mut grant = GrantRecord {
            id: "g".to_owned(),
            user: ada.id.clone(),
            client: program.id.clone(),
            resource: "r".to_owned(),
            scope: "s".to_owned(),
            created: 7,
            expires: 100,
            revoked: None,
        };
        catalogue.create_grant(&grant).await.unwrap();
        for hash in [b"one", b"two"] {
            catalogue.create_refresh_token("g", hash, 7).await.unwrap();
        }
        let redeem = async |hash: &[u8]| catalogue.redeem_refresh_token(hash, 50).await.unwrap();
        assert_eq!(redeem(b"none").await, Redeemed::Unknown);
        assert_eq!(redeem(b"one").await, Redeemed::Good(grant.clone()));
        assert!(catalogue.revoked_grants(0).await.unwrap().is_empty());
        assert!(matches!(redeem(b"one").await, Redeemed::Reused(_)));
        assert_eq!(catalogue.revoked_grants(0).await.unwrap(), ["g"]);
        grant.revoked = Some(50);
        assert_eq!(redeem(b"two").await, Redeemed::Reused(grant));
        catalogue.forget_ended(101).await.unwrap();
        assert_eq!(redeem(b"two").await, Redeemed::Unknown);
    }
}

#[tokio::test]
async fn the_tenant_is_made_once_and_notes_are_read_newest_first() {
    for home in Home::each() {
        let catalogue = home.catalogue().await;
        assert_eq!(catalogue.tenant("first").await.unwrap(), "first");
        assert_eq!(catalogue.tenant("second").await.unwrap(), "first");
        for at in [1, 2, 3] {
            let note = AuditRecord {
                at,
                actor: "ada".to_owned(),
                action: "sign-in".to_owned(),
                subject: String::new(),
                address: "127.0.0.1".to_owned(),
            };
            catalogue.note(&note).await.unwrap();
        }
        let times = |notes: Vec<AuditRecord>| notes.iter().map(|note| note.at).collect::<Vec<_>>();
        assert_eq!(times(catalogue.audit(2, 10).await.unwrap()), [3, 2]);
        assert_eq!(times(catalogue.audit(0, 1).await.unwrap()), [3]);
    }
}

#[cfg(unix)]
#[tokio::test]
async fn the_catalogue_is_private_to_its_user() {
    use std::os::unix::fs::PermissionsExt;
    let dir = tempfile::tempdir().unwrap();
    let path = crate::folder::catalogue_path(dir.path());
    std::fs::write(&path, b"").unwrap();
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o644)).unwrap();
    let catalogue = Catalogue::open_or_create(dir.path()).await.unwrap();
    catalogue.create_app(new("shop")).await.unwrap();
    for entry in std::fs::read_dir(dir.path()).unwrap() {
        let entry = entry.unwrap();
        let mode = entry.metadata().unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600, "{:?}", entry.file_name());
    }
}

#[tokio::test]
async fn notes_that_anybody_can_cause_are_bounded() {
    for home in Home::each() {
        let catalogue = home.catalogue().await;
        let record = |action: &str, at: i64| AuditRecord {
            at,
            actor: String::new(),
            action: action.to_owned(),
            subject: String::new(),
            address: String::new(),
        };
        catalogue.note(&record("sign-in", 0)).await.unwrap();
        for at in 1..=5 {
            let failed = record("sign-in failed", at);
            catalogue.note_bounded(&failed, 3).await.unwrap();
        }
        let kept = catalogue.audit(0, 100).await.unwrap();
        let times: Vec<i64> = kept.iter().map(|record| record.at).collect();
        assert_eq!(times, [5, 4, 3, 0]);
    }
}

#[tokio::test]
async fn a_catalogue_that_cannot_be_opened_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let catalogue = Catalogue::open_or_create(dir.path()).await.unwrap();
    catalogue.close().await;
    let path = crate::folder::catalogue_path(dir.path());
    std::fs::write(&path, "this is no database, however long it is".repeat(100)).unwrap();
    let error = Catalogue::open(dir.path()).await.unwrap_err().to_string();
    assert!(error.contains(&path.display().to_string()), "{error}");
}

#[tokio::test]
async fn errors_of_reading_and_writing_name_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let catalogue = Catalogue::open_or_create(dir.path()).await.unwrap();
    let path = crate::folder::catalogue_path(dir.path());
    catalogue.close().await;
    for failed in [
        catalogue.apps().await.map(drop),
        catalogue.version().await.map(drop),
        catalogue.delete_app(AppId(Uuid::nil()), 0).await.map(drop),
        catalogue.replace_segments(&[], &mut []).await,
    ] {
        let message = failed.unwrap_err().to_string();
        let start = format!("the catalogue {} cannot be used: ", path.display());
        assert!(message.starts_with(&start), "{message}");
    }
}

#[tokio::test]
async fn a_saved_text_changes_from_its_latest_version_alone() {
    for home in Home::each() {
        let catalogue = home.catalogue().await;
        let app = catalogue.create_app(new("shop")).await.unwrap().id;
        for kind in [SavedKind::Query, SavedKind::Workbook] {
            let saved = |version: u32| Saved {
                app,
                name: "a".to_owned(),
                text: format!("text {version}"),
                range: Some("P1D".to_owned()),
                version,
                author: "ada".to_owned(),
                changed: 7,
            };
            let save = async |version| catalogue.save(kind, &saved(version)).await.unwrap();
            assert!(save(1).await);
            assert!(!save(1).await, "the name is taken");
            assert!(!save(3).await, "version 2 is missing");
            assert!(save(2).await);
            let found = catalogue.saved_one(kind, app, "a").await.unwrap();
            assert_eq!(found, Some(saved(2)));
            let delete = async |version| {
                let deleted = catalogue.delete_saved(kind, app, "a", version).await;
                deleted.unwrap()
            };
            assert!(!delete(1).await);
            assert_eq!(catalogue.saved(kind, app).await.unwrap(), [saved(2)]);
            assert!(delete(2).await);
            assert_eq!(catalogue.saved(kind, app).await.unwrap(), []);
        }
    }
}

#[tokio::test]
async fn signing_keys_are_read_newest_first_and_forgotten_by_age() {
    for home in Home::each() {
        let catalogue = home.catalogue().await;
        let key = |id: &str, created| SigningKeyRecord {
            id: id.to_owned(),
            pem: format!("pem of {id}"),
            created,
        };
        for key in [key("a", 1), key("b", 3), key("c", 2)] {
            catalogue.create_signing_key(&key).await.unwrap();
        }
        let keys = catalogue.signing_keys().await.unwrap();
        let ids: Vec<_> = keys.iter().map(|key| key.id.as_str()).collect();
        assert_eq!(ids, ["b", "c", "a"]);
        assert_eq!(keys[0].pem, "pem of b");
        catalogue.delete_signing_keys(2).await.unwrap();
        assert_eq!(catalogue.signing_keys().await.unwrap().len(), 2);
    }
}

#[test]
fn tiers_are_read_by_their_names() {
    for tier in [Tier::Free, Tier::Basic, Tier::Enterprise] {
        assert_eq!(Tier::parse(tier.name()), Some(tier));
    }
    assert_eq!(Tier::parse("standard"), None);
}

#[tokio::test]
async fn clients_are_listed_with_their_addresses_and_secrets() {
    for home in Home::each() {
        let catalogue = home.catalogue().await;
        let clients = [client("a")];
        catalogue.create_client(&clients[0]).await.unwrap();
        assert_eq!(catalogue.clients().await.unwrap(), clients);
    }
}

#[tokio::test]
async fn a_seal_from_another_position_of_the_log_is_refused() {
    for home in Home::each() {
        let catalogue = home.catalogue().await;
        let seal = async |log| {
            let usage = Usage::default();
            catalogue.register_sealed(&mut [], &usage, log, 0).await
        };
        seal(0..=5).await.unwrap();
        let again = seal(0..=7).await.unwrap_err();
        assert!(again.is_superseded(), "{again}");
        assert_eq!(catalogue.log_position().await.unwrap(), 5);
        seal(5..=7).await.unwrap();
        assert_eq!(catalogue.log_position().await.unwrap(), 7);
    }
}
