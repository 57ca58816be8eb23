//! Lists of objects (`ListObjectsV2`).

use hindsight_kql_types::ticks::from_unix_millis;
use hindsight_store::ObjectInfo;
use jiff::Timestamp;
use quick_xml::Reader;
use quick_xml::escape::resolve_predefined_entity;
use quick_xml::events::Event;

/// A page of a list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Page {
    /// The objects, with their whole keys.
    pub(super) objects: Vec<ObjectInfo>,
    /// Where the next page begins; `None` for the last one.
    pub(super) next: Option<String>,
}

/// Reads a page; `None` if it is none.
pub(super) fn parse(text: &str) -> Option<Page> {
    let mut reader = Reader::from_str(text);
    let mut page = Page::default();
    let (mut path, mut value): (Vec<String>, String) = (Vec::new(), String::new());
    let (mut object, mut is_truncated) = (Listed::default(), None);
    loop {
        match reader.read_event().ok()? {
            Event::Eof => break,
            Event::Start(tag) => {
                path.push(tag.local_name().as_ref().to_owned());
                value.clear();
            }
            Event::Text(part) => value.push_str(&part),
            Event::CData(part) => value.push_str(&part),
            Event::GeneralRef(entity) => match entity.resolve_char_ref().ok()? {
                Some(character) => value.push(character),
                None => value.push_str(resolve_predefined_entity(&entity)?),
            },
            Event::End(_) => {
                let names: Vec<&str> = path.iter().map(String::as_str).collect();
                match names.as_slice() {
                    ["ListBucketResult", "Contents"] => {
                        page.objects.push(std::mem::take(&mut object).finish()?);
                    }
                    ["ListBucketResult", "Contents", "Key"] => object.key = Some(value.clone()),
                    ["ListBucketResult", "Contents", "Size"] => object.bytes = value.parse().ok(),
                    ["ListBucketResult", "Contents", "LastModified"] => {
                        object.modified = value.parse().ok();
                    }
                    ["ListBucketResult", "IsTruncated"] => {
                        is_truncated = value.parse::<bool>().ok()
                    }
                    ["ListBucketResult", "NextContinuationToken"] => {
                        page.next = Some(value.clone())
                    }
                    _ => {}
                }
                path.pop()?;
                value.clear();
            }
            _ => {}
        }
    }
    let is_whole = path.is_empty() && is_truncated? == page.next.is_some();
    is_whole.then_some(page)
}

#[derive(Debug, Default)]
struct Listed {
    key: Option<String>,
    bytes: Option<u64>,
    modified: Option<Timestamp>,
}

impl Listed {
    fn finish(self) -> Option<ObjectInfo> {
        Some(ObjectInfo {
            key: self.key?,
            bytes: self.bytes?,
            modified: from_unix_millis(self.modified?.as_millisecond())?,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONTENTS: &str = "<Contents><Key>p/a&amp;b</Key><LastModified>1970-01-01T00:00:01.000Z</LastModified>\
        <ETag>\"x\"</ETag><Size>7</Size><StorageClass>STANDARD</StorageClass></Contents>";

    fn page(inner: &str) -> Option<Page> {
        parse(&format!(
            "<?xml version=\"1.0\"?>\n<ListBucketResult xmlns=\"http://s3.amazonaws.com/doc/2006-03-01/\"><Name>shop</Name>\n{inner}</ListBucketResult>"
        ))
    }

    #[test]
    fn pages_are_read() {
        let object = ObjectInfo {
            key: "p/a&b".to_owned(),
            bytes: 7,
            modified: from_unix_millis(1000).expect("a time"),
        };
        let last = page(&format!("<IsTruncated>false</IsTruncated>{CONTENTS}"));
        let expected = Page {
            objects: vec![object.clone()],
            next: None,
        };
        assert_eq!(last, Some(expected));
        let first = page(&format!(
            "{CONTENTS}{CONTENTS}<IsTruncated>true</IsTruncated><NextContinuationToken>a/b=</NextContinuationToken>"
        ));
        let first = first.expect("a page");
        assert_eq!(
            (first.objects.len(), first.next.as_deref()),
            (2, Some("a/b="))
        );
        assert_eq!(
            page("<IsTruncated>false</IsTruncated>"),
            Some(Page::default())
        );
        for wrong in [
            "",
            CONTENTS,
            "<IsTruncated>true</IsTruncated>",
            "<IsTruncated>false</IsTruncated><Contents><Key>a</Key></Contents>",
            "<IsTruncated>false</IsTruncated><Contents>",
        ] {
            assert_eq!(page(wrong), None, "{wrong}");
        }
        assert_eq!(parse("{}"), None);
    }
}
