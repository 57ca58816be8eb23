//! What a record carries: all batches of one request, so that a request is stored whole or not at all.
//!
//! `durable u64 | application 16 bytes | form u8 | body`. `durable` is the last sequence that was acknowledged when
//! the record was written: recovery tells a torn tail from damage by it. The body is a list of
//! `table name length u8 | table name | stream length u32 | Arrow IPC stream`, as it is (form 0) or as zstd (form 1).
//! The stream carries its schema, so a log outlives a change of columns. Columns without a value are left out.

use arrow::array::{Array, ArrayRef, AsArray};
use arrow::ipc::reader::StreamReader;
use arrow::ipc::writer::StreamWriter;
use arrow::record_batch::RecordBatch;
use uuid::Uuid;

use crate::app_id::AppId;
use crate::error::{Result, StoreError};
use crate::schema::Table;

const PLAIN: u8 = 0;
const ZSTD: u8 = 1;
/// The schema in every stream compresses well; below this size a request is not worth the work.
const COMPRESS_FROM: usize = 1024;
/// Bound for a decompressed body.
const MAX_BODY: usize = 1 << 31;

/// A record's payload, read.
#[derive(Debug)]
pub(crate) struct Payload {
    pub(crate) app: AppId,
    pub(crate) batches: Vec<(Table, RecordBatch)>,
}

/// The payload of a request, without the leading `durable`, which only the writer knows.
pub(crate) fn encode_batches(app: AppId, batches: &[(Table, RecordBatch)]) -> Result<Vec<u8>> {
    let mut body = Vec::new();
    for (table, batch) in batches {
        let batch = without_empty_columns(batch)?;
        body.push(u8::try_from(table.name().len()).unwrap_or(u8::MAX));
        body.extend_from_slice(table.name().as_bytes());
        let length_at = body.len();
        body.extend_from_slice(&[0; 4]);
        body.reserve(batch.get_array_memory_size());
        let mut stream = StreamWriter::try_new(&mut body, &batch.schema())?;
        stream.write(&batch)?;
        stream.finish()?;
        set_length(&mut body, length_at).ok_or_else(|| StoreError::BadBatch {
            table: table.name(),
            what: "it is larger than 4 GiB".to_owned(),
        })?;
    }
    let (form, body) = if body.len() < COMPRESS_FROM {
        (PLAIN, body)
    } else {
        (ZSTD, zstd::bulk::compress(&body, 1).map_err(compression)?)
    };
    let mut payload = Vec::with_capacity(17 + body.len());
    payload.extend_from_slice(app.0.as_bytes());
    payload.push(form);
    payload.extend_from_slice(&body);
    Ok(payload)
}

/// Writes the number of the bytes that follow it into the four bytes at `at`; `None` if there are more than they can tell.
fn set_length(body: &mut [u8], at: usize) -> Option<()> {
    let (length, rest) = body.get_mut(at..)?.split_first_chunk_mut::<4>()?;
    *length = u32::try_from(rest.len()).ok()?.to_le_bytes();
    Some(())
}

/// The batch without columns that hold nothing but `""`, or nothing but null: reading fills them in again (`crate::batch::normalise`).
/// Of the columns of a table a request uses about half, and an empty text takes as many bytes of the stream as a short one.
fn without_empty_columns(batch: &RecordBatch) -> Result<RecordBatch> {
    let is_empty = |array: &ArrayRef| match array.as_string_view_opt() {
        // The lower half of a view is the length of the text.
        Some(texts) => {
            texts.null_count() == 0 && texts.views().iter().all(|view| *view as u32 == 0)
        }
        None => array.null_count() == array.len(),
    };
    let columns = batch.columns().iter().enumerate();
    let used = columns.filter(|(_, array)| !is_empty(array));
    let used: Vec<usize> = used.map(|(index, _)| index).collect();
    Ok(batch.project(&used)?)
}

/// Reads a payload, `durable` included. `Err` says what is wrong with it.
pub(super) fn decode(payload: &[u8]) -> Result<Payload, String> {
    let rest = payload.get(8..).ok_or("too short")?;
    let (app, rest) = rest.split_first_chunk::<16>().ok_or("too short")?;
    let (form, body) = rest.split_first().ok_or("too short")?;
    let batches = match *form {
        PLAIN => decode_body(body)?,
        ZSTD => decode_body(&decompress(body)?)?,
        other => return Err(format!("unknown form {other}")),
    };
    Ok(Payload {
        app: AppId(Uuid::from_bytes(*app)),
        batches,
    })
}

fn decompress(body: &[u8]) -> Result<Vec<u8>, String> {
    let size = zstd::zstd_safe::get_frame_content_size(body)
        .ok()
        .flatten()
        .unwrap_or(0);
    let size = usize::try_from(size)
        .ok()
        .filter(|size| *size <= MAX_BODY)
        .ok_or("its body is too large")?;
    zstd::bulk::decompress(body, size)
        .map_err(|error| format!("its body cannot be decompressed: {error}"))
}

fn decode_body(mut body: &[u8]) -> Result<Vec<(Table, RecordBatch)>, String> {
    let mut batches = Vec::new();
    while let Some((length, rest)) = body.split_first() {
        let (name, rest) = rest
            .split_at_checked(usize::from(*length))
            .ok_or("its table name is cut")?;
        let table = std::str::from_utf8(name)
            .ok()
            .and_then(Table::from_name)
            .ok_or_else(|| format!("unknown table {}", String::from_utf8_lossy(name)))?;
        let (size, rest) = rest.split_first_chunk::<4>().ok_or("its batch is cut")?;
        let (stream, rest) = rest
            .split_at_checked(u32::from_le_bytes(*size) as usize)
            .ok_or("its batch is cut")?;
        let reader = StreamReader::try_new(stream, None).map_err(|error| error.to_string())?;
        for batch in reader {
            batches.push((table, batch.map_err(|error| error.to_string())?));
        }
        body = rest;
    }
    Ok(batches)
}

fn compression(source: std::io::Error) -> StoreError {
    StoreError::Task(format!("compressing a log record: {source}"))
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow::array::{Int64Array, StringViewArray};

    use super::*;
    use crate::batch::{Origin, normalise};
    use crate::schema::TIMESTAMP;

    #[test]
    fn columns_without_a_value_are_left_out_and_filled_in_again() {
        let times: ArrayRef = Arc::new(Int64Array::from(vec![7, 8]));
        let names: ArrayRef = Arc::new(StringViewArray::from(vec!["", "x"]));
        let given = RecordBatch::try_from_iter([(TIMESTAMP, times), ("name", names)]);
        let given = given.expect("a batch");
        let origin = Origin::Request { received: 9 };
        let batch = normalise(Table::Requests, &given, origin).expect("it is taken");
        let app = AppId(Uuid::from_u128(1));
        let body = encode_batches(app, &[(Table::Requests, batch.clone())]).expect("it is written");
        let record = [0_u64.to_le_bytes().as_slice(), &body].concat();
        let read = decode(&record).expect("it is read");
        let (table, stored) = &read.batches[0];
        let schema = stored.schema();
        let names: Vec<&str> = schema.fields().iter().map(|f| f.name().as_str()).collect();
        assert_eq!((*table, read.app), (Table::Requests, app));
        assert_eq!(names, [TIMESTAMP, "name", crate::schema::INGESTION_TIME]);
        let again = normalise(Table::Requests, stored, Origin::Log).expect("it is taken");
        assert_eq!(again, batch);
    }
}
