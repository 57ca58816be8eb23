/**
 * The worker that asks queries and keeps their rows: the page gets only what it shows. Module worker.
 *
 * Messages are `{id, op, …}`; each gets one `{id, value}` or `{id, error}`. The token comes with each request and is not kept.
 */
import { columnsOf, fileOf } from './files.js';
import { RowSet } from './rows.js';
import { tsv } from './export.js';
import { parseReply } from './values.js';

/** The tables of each result, by the number that its query had. @type {Map<number, RowSet[]>} */
const results = new Map();
/** Requests that run. @type {Map<number, AbortController>} */
const running = new Map();

/** @type {Record<string, (message: any) => any>} */
const operations = {
  ask,
  cancel: ({ result }) => running.get(result)?.abort(),
  free: ({ result }) => results.delete(result),
  slice: (message) => {
    const rows = rowsOf(message);
    return { count: rows.count, rows: rows.slice(message.from, message.to) };
  },
  cell: (message) => rowsOf(message).cell(message.place, message.column),
  row: (message) => rowsOf(message).row(message.place),
  arrange: (message) => {
    const rows = rowsOf(message);
    rows.needle = message.needle.toLowerCase();
    rows.sort(message.keys);
    return rows.count;
  },
  text: (message) => {
    const rows = rowsOf(message);
    return tsv(...columnsOf(rows, message.from, message.to, message.columns), { header: message.header });
  },
  all: (message) => rowsOf(message).rows.slice(0, message.limit),
  file: (message) => fileOf(rowsOf(message), message.format, message.options),
};

/** @param {{result: number, table: number}} message */
function rowsOf(message) {
  const rows = results.get(message.result)?.[message.table];
  if (!rows) throw new Error('this result is gone');
  return rows;
}

/**
 * Sends a query and keeps its tables.
 * @param {{result: number, url: string, headers: Record<string, string>, body: string}} message
 */
async function ask({ result, url, headers, body }) {
  const abort = new AbortController();
  running.set(result, abort);
  try {
    const began = performance.now();
    const reply = await fetch(url, { method: 'POST', headers, body, signal: abort.signal, credentials: 'omit', cache: 'no-store' });
    const text = await reply.text();
    const fetched = performance.now();
    const about = {
      status: reply.status,
      age: reply.headers.get('age'),
      requestId: reply.headers.get('x-ms-request-id'),
      retryAfter: reply.headers.get('retry-after'),
    };
    if (!reply.ok) return { ...about, isFailure: true, failure: failureOf(text) };
    const { tables, ...rest } = parseReply(text);
    const sets = tables.map((/** @type {any} */ table) => new RowSet(table));
    results.set(result, sets);
    return {
      ...about,
      ...rest,
      tables: sets.map((/** @type {RowSet} */ rows) => ({ name: rows.name, columns: rows.columns, count: rows.total })),
      bytes: text.length,
      took: fetched - began,
    };
  } finally {
    running.delete(result);
  }
}

/** @param {string} text */
function failureOf(text) {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

addEventListener('message', async ({ data }) => {
  try {
    const value = await operations[data.op](data);
    postMessage({ id: data.id, value });
  } catch (error) {
    const { name, message } = /** @type {Error} */ (error);
    postMessage({ id: data.id, error: { name, message } });
  }
});
