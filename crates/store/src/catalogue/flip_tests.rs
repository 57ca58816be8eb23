//! Flipped bytes of the catalogue: each is found when it is opened, or changes no answer (docs/reliability.md).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};
use sqlx::{AssertSqlSafe, Row, ValueRef};
use uuid::Uuid;

use super::*;
use crate::app_id::AppId;
use crate::tests::proving;

/// The content of all tables but those that only hold checksums.
type Content = BTreeMap<String, Vec<Vec<Option<Vec<u8>>>>>;

async fn content(catalogue: &Catalogue) -> sqlx::Result<Content> {
    let tables: Vec<String> = sqlx::query_scalar(
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN \
         ('_sqlx_migrations', 'row_checksums', 'catalogue_check', 'sqlite_sequence')",
    )
    .fetch_all(catalogue.file_pool())
    .await?;
    let mut content = Content::new();
    for table in tables {
        let statement = AssertSqlSafe(format!("SELECT * FROM {table} ORDER BY rowid"));
        let rows = sqlx::query(statement)
            .fetch_all(catalogue.file_pool())
            .await?;
        let mut values = Vec::new();
        for row in &rows {
            let cell = |index| -> sqlx::Result<Option<Vec<u8>>> {
                if row.try_get_raw(index)?.is_null() {
                    return Ok(None);
                }
                let bytes: &[u8] = row.try_get_unchecked(index)?;
                Ok(Some(bytes.to_vec()))
            };
            values.push((0..row.len()).map(cell).collect::<sqlx::Result<_>>()?);
        }
        content.insert(table, values);
    }
    Ok(content)
}

/// A catalogue with something in most tables.
async fn filled(root: &Path) -> Catalogue {
    let catalogue = Catalogue::open_or_create(root).await.unwrap();
    for number in 0..12u128 {
        let app = AppId(Uuid::from_u128(number));
        let new = NewApplication {
            id: app,
            name: format!("shop {number}"),
            instrumentation_key: Uuid::from_u128(1000 + number),
            created: 7,
        };
        catalogue.create_app(new).await.unwrap();
        let key = NewKey {
            id: format!("key-{number}"),
            app,
            name: "a key".to_owned(),
            hash: vec![number as u8; 32],
            scopes: "query".to_owned(),
            created: 8,
            expires: None,
        };
        catalogue.create_key(key).await.unwrap();
        let user = UserRecord {
            id: format!("user-{number}"),
            name: format!("user {number}"),
            password: "$argon2id$v=19$m=19456,t=2,p=1".to_owned(),
            created: 9,
        };
        catalogue.create_user(&user).await.unwrap();
        let role = RoleRecord {
            holder: user.id,
            app: Some(app),
            role: "reader".to_owned(),
        };
        catalogue.grant_role(&role).await.unwrap();
    }
    let now = 10;
    catalogue
        .delete_app(AppId(Uuid::from_u128(3)), now)
        .await
        .unwrap();
    catalogue.delete_key("key-4").await.unwrap();
    catalogue.delete_user("user-5").await.unwrap();
    catalogue
        .set_password("user-6", "another", now)
        .await
        .unwrap();
    catalogue
}

fn copy(from: &Path, to: &Path) {
    for entry in std::fs::read_dir(from).unwrap().flatten() {
        if entry.file_type().unwrap().is_file() {
            std::fs::copy(entry.path(), to.join(entry.file_name())).unwrap();
        }
    }
    std::fs::create_dir_all(to.join("log")).unwrap();
    std::fs::create_dir_all(to.join("segments")).unwrap();
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

/// Flips bytes of a file of the catalogue, `samples` of them or all; says how many flips were found when it was opened, and how many
/// there were.
fn flip(original: &Path, file: &str, samples: Option<usize>, expected: &Content) -> (usize, usize) {
    let bytes = std::fs::read(original.join(file)).unwrap();
    let mut random = StdRng::seed_from_u64(7);
    let places: Vec<usize> = match samples {
        Some(samples) => (0..samples)
            .map(|_| random.random_range(0..bytes.len()))
            .collect(),
        None => (0..bytes.len()).collect(),
    };
    let (next, found) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        while let number = next.fetch_add(1, Ordering::Relaxed)
            && let Some(place) = places.get(number)
        {
            if number % 1000 == 999 {
                eprint!("\r{file}: {} of {} bytes", number + 1, places.len());
            }
            let is_found = runtime.block_on(flip_one(original, file, &bytes, *place, expected));
            found.fetch_add(usize::from(is_found), Ordering::Relaxed);
        }
    };
    std::thread::scope(|scope| {
        let threads = std::thread::available_parallelism().map_or(1, usize::from);
        for _ in 0..threads {
            scope.spawn(work);
        }
    });
    let found = found.into_inner();
    eprintln!("{file}: {found} of {} flips were found", places.len());
    (found, places.len())
}

/// Flips one byte; whether that was found when the catalogue was opened. If not, its content must be what it was.
async fn flip_one(
    original: &Path,
    file: &str,
    bytes: &[u8],
    place: usize,
    expected: &Content,
) -> bool {
    let dir = folder();
    copy(original, dir.path());
    // Empty, so that none is written.
    std::fs::write(dir.path().join("reserve"), "").unwrap();
    let mut damaged = bytes.to_vec();
    damaged[place] ^= 1 << (place % 8);
    std::fs::write(dir.path().join(file), &damaged).unwrap();
    match Catalogue::open(dir.path()).await {
        Ok(catalogue) => {
            let content = content(&catalogue).await;
            catalogue.close().await;
            assert_eq!(&content.unwrap(), expected, "{file}, byte {place}");
            false
        }
        Err(error) => {
            let text = error.to_string();
            assert!(
                text.contains("catalogue.db"),
                "{file}, byte {place}: {text}"
            );
            true
        }
    }
}

#[tokio::test]
async fn simulation_of_flipped_bytes_of_a_closed_catalogue() {
    let dir = folder();
    let catalogue = filled(dir.path()).await;
    let expected = content(&catalogue).await.unwrap();
    catalogue.close().await;
    assert!(!dir.path().join("catalogue.db-wal").exists());
    // Most bytes are free space in the pages of small tables.
    let (found, count) = flip(
        dir.path(),
        "catalogue.db",
        (!proving()).then_some(250),
        &expected,
    );
    assert!(found > count / 40, "{found} of {count} flips were found");
}

#[tokio::test]
async fn simulation_of_flipped_bytes_of_a_catalogue_whose_process_was_killed() {
    let dir = folder();
    let catalogue = filled(dir.path()).await;
    let expected = content(&catalogue).await.unwrap();
    let killed = folder();
    copy(dir.path(), killed.path());
    let (found, count) = flip(
        killed.path(),
        "catalogue.db-wal",
        Some(if proving() { 20_000 } else { 250 }),
        &expected,
    );
    assert!(found > count / 10, "{found} of {count} flips were found");
}

#[tokio::test]
async fn an_older_copy_of_the_catalogue_is_refused_until_that_is_accepted() {
    let dir = folder();
    let catalogue = filled(dir.path()).await;
    catalogue.close().await;
    let older = std::fs::read(dir.path().join("catalogue.db")).unwrap();
    let catalogue = Catalogue::open(dir.path()).await.unwrap();
    catalogue.delete_key("key-1").await.unwrap();
    catalogue.close().await;
    std::fs::write(dir.path().join("catalogue.db"), older).unwrap();
    let refused = Catalogue::open(dir.path()).await.unwrap_err().to_string();
    let note = dir.path().join("catalogue.generation");
    assert!(refused.contains(note.to_str().unwrap()), "{refused}");
    std::fs::remove_file(note).unwrap();
    let catalogue = Catalogue::open(dir.path()).await.unwrap();
    assert!(catalogue.key("key-1").await.unwrap().is_some());
}

#[tokio::test]
async fn rows_that_go_with_others_leave_no_checksum() {
    let dir = folder();
    let catalogue = filled(dir.path()).await;
    let session = SessionRecord {
        id: "s".to_owned(),
        user: "user-1".to_owned(),
        created: 1,
        expires: 2,
    };
    catalogue.create_session(b"secret", &session).await.unwrap();
    catalogue.delete_user("user-1").await.unwrap();
    assert_eq!(catalogue.session(b"secret").await.unwrap(), None);
    catalogue.close().await;
    Catalogue::open(dir.path()).await.unwrap();
}
