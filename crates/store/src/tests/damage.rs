//! Damage on the disk: no flipped bit of a segment is answered from, and the error names the file.

use std::io::{Seek, SeekFrom, Write};
use std::path::PathBuf;

use super::*;
use crate::segment::SegmentFileReader;

/// A closed store with one segment; its file.
async fn one_segment(root: &Path) -> PathBuf {
    let store = Store::open(quiet(root)).await.unwrap();
    let items: Vec<Item> = (0..4000).map(|n| item(format!("id-{n}"), n)).collect();
    put(&store, app(1), &items).await.unwrap();
    store.close().await.unwrap();
    let folder = root.join("segments").join(app(1).to_string());
    let mut files = std::fs::read_dir(folder.join("requests")).unwrap();
    let file = files.next().unwrap().unwrap().path();
    assert!(files.next().is_none(), "one segment");
    file
}

#[tokio::test]
async fn every_flipped_byte_of_a_segment_is_noticed_where_it_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = one_segment(dir.path()).await;
    let bytes = std::fs::read(&path).unwrap();
    assert!(
        bytes.len() > 32 << 10,
        "it has several blocks: {}",
        bytes.len()
    );
    let store = Store::open(quiet(dir.path())).await.unwrap();
    let segments = store.segments(store.catalogue().segments().await.unwrap());
    let whole = 0..bytes.len() as u64;
    let reader = SegmentFileReader::open(&segments[0]).unwrap();
    assert_eq!(reader.read(&whole).unwrap(), bytes);

    let mut file = std::fs::File::options().write(true).open(&path).unwrap();
    let mut put = |place: usize, byte: u8| {
        file.seek(SeekFrom::Start(place as u64)).unwrap();
        file.write_all(&[byte]).unwrap();
    };
    for (place, byte) in bytes.iter().copied().enumerate() {
        put(place, byte ^ (1 << (place % 8)));
        let near = place as u64..place as u64 + 1;
        let error = SegmentFileReader::open(&segments[0]).unwrap().read(&near);
        let error = error.expect_err("a flipped bit").to_string();
        assert!(
            error.contains(path.to_str().unwrap()),
            "byte {place}: {error}"
        );
        put(place, byte);
    }
}

#[tokio::test]
async fn a_query_over_a_damaged_segment_fails_and_names_the_file() {
    let dir = tempfile::tempdir().unwrap();
    let path = one_segment(dir.path()).await;
    let bytes = std::fs::read(&path).unwrap();
    for part in 0..20 {
        let mut damaged = bytes.clone();
        let place = bytes.len() * part / 20;
        damaged[place] ^= 0x10;
        std::fs::write(&path, &damaged).unwrap();
        let store = Store::open(quiet(dir.path())).await.unwrap();
        let error = frame(&store.snapshot(), app(1)).collect().await;
        let error = error.expect_err("damage is no answer").to_string();
        assert!(
            error.contains("is damaged at byte") && error.contains(path.to_str().unwrap()),
            "byte {place}: {error}"
        );
    }
}
