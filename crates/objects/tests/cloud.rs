//! The object store at the address in `HINDSIGHT_TEST_OBJECTS`, with the environment of its cloud. `tests/sdk/test_objects.py` names one of each cloud.

#![allow(
    clippy::expect_used,
    reason = "a test fails by panicking, in its helpers too"
)]

use std::io::Read;
use std::ops::Range;

use bytes::Bytes;
use hindsight_objects::{Address, open};
use hindsight_store::{ObjectError, ObjectStorage};

fn read(objects: &dyn ObjectStorage, range: Option<Range<u64>>) -> String {
    let mut text = String::new();
    let mut content = objects.get("a/b/c", range).expect("an object");
    content.read_to_string(&mut text).expect("its content");
    text
}

#[test]
#[ignore = "needs an object store: tests/sdk/test_objects.py runs it over local servers"]
fn objects_are_written_once_listed_and_deleted() {
    let environment = |name: &str| std::env::var(name).ok();
    let Some(address) = environment("HINDSIGHT_TEST_OBJECTS") else {
        eprintln!("SKIPPED: HINDSIGHT_TEST_OBJECTS names no object store");
        return;
    };
    let address: Address = address.parse().expect("an address");
    let objects = open(&address, environment).expect("the object store");
    assert_eq!(objects.list("a").expect("a list"), []);
    objects
        .put_new("a/b/c", Bytes::from_static(b"first"))
        .expect("it is written");
    let again = objects.put_new("a/b/c", Bytes::from_static(b"second"));
    assert_eq!(again, Err(ObjectError::Exists));
    assert_eq!(read(&*objects, None), "first");
    assert_eq!(read(&*objects, Some(1..3)), "ir");
    let missing = objects.get("a/b/d", None).map(drop);
    assert_eq!(missing, Err(ObjectError::NotFound));
    objects
        .put_new("a/b-c", Bytes::new())
        .expect("an empty object");
    let mut keys: Vec<_> = objects.list("a").expect("a list");
    keys.sort_by(|one, other| one.key.cmp(&other.key));
    let known: Vec<_> = keys.iter().map(|o| (o.key.as_str(), o.bytes)).collect();
    assert_eq!(known, [("a/b-c", 0), ("a/b/c", 5)]);
    let below = objects.list("a/b").expect("a list");
    assert_eq!(below.first(), keys.last());
    assert_eq!(below.len(), 1);
    for key in ["a/b/c", "a/b/c", "a/b-c"] {
        objects.delete(key).expect("it is deleted, or was already");
    }
    assert_eq!(objects.list("a").expect("a list"), []);
}
