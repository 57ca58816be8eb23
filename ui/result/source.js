/**
 * Where the grid reads its rows: a table in the page, or a table in the data worker.
 *
 * @typedef {{place: number, cells: any[]}} Row
 * @typedef {import('./rows.js').SortKey} SortKey
 * @typedef {{
 *   columns: import('./values.js').Column[],
 *   total: number,
 *   slice: (from: number, to: number) => Promise<{count: number, rows: Row[]}>,
 *   cell: (place: number, column: number) => Promise<any>,
 *   row: (place: number) => Promise<any[] | null>,
 *   arrange: (keys: SortKey[], needle: string) => Promise<number>,
 *   text: (from: number, to: number, columns: number[], header: boolean) => Promise<string>,
 *   all: (limit: number) => Promise<any[][]>,
 *   file: (format: 'csv' | 'json' | 'parquet', options?: {formulas?: boolean}) => Promise<Blob>,
 * }} RowSource
 */
import { scriptAddress } from '../lib/trusted.js';
import { columnsOf, fileOf } from './files.js';
import { RowSet } from './rows.js';
import { tsv } from './export.js';

/** @param {import('./values.js').Table} table @returns {RowSource} */
export function sourceOfTable(table) {
  const rows = new RowSet(table);
  return {
    columns: table.columns,
    total: rows.total,
    slice: async (from, to) => ({ count: rows.count, rows: rows.slice(from, to) }),
    cell: async (place, column) => rows.cell(place, column),
    row: async (place) => rows.row(place),
    arrange: async (keys, needle) => {
      rows.needle = needle.toLowerCase();
      rows.sort(keys);
      return rows.count;
    },
    text: async (from, to, columns, header) => tsv(...columnsOf(rows, from, to, columns), { header }),
    all: async (limit) => rows.rows.slice(0, limit),
    file: (format, options) => fileOf(rows, format, options),
  };
}

/** The page's end of the data worker. */
export class DataWorker {
  constructor() {
    this.worker = new Worker(scriptAddress(new URL('./data-worker.js', import.meta.url)), { type: 'module' });
    /** @type {Map<number, {resolve: (value: any) => void, reject: (error: Error) => void}>} */
    this.waiting = new Map();
    this.last = 0;
    this.worker.addEventListener('message', ({ data }) => this.answered(data));
    this.worker.addEventListener('error', (event) => this.failed(event.message));
  }

  /** @param {{id: number, value?: any, error?: {name: string, message: string}}} data */
  answered({ id, value, error }) {
    const waiting = this.waiting.get(id);
    this.waiting.delete(id);
    if (!waiting) return;
    if (error) waiting.reject(Object.assign(new Error(error.message), { name: error.name }));
    else waiting.resolve(value);
  }

  /** @param {string} message */
  failed(message) {
    for (const { reject } of this.waiting.values()) reject(new Error(message || 'the data worker failed'));
    this.waiting.clear();
  }

  /** @param {string} op @param {object} [rest] @returns {Promise<any>} */
  call(op, rest = {}) {
    const id = ++this.last;
    return new Promise((resolve, reject) => {
      this.waiting.set(id, { resolve, reject });
      this.worker.postMessage({ ...rest, id, op });
    });
  }

  /** A number for a new result. */
  number() {
    return ++this.last;
  }

  /**
   * @param {number} result
   * @param {number} table
   * @param {{columns: import('./values.js').Column[], count: number}} about
   * @returns {RowSource}
   */
  source(result, table, about) {
    const ask = (/** @type {string} */ op, /** @type {object} */ rest) => this.call(op, { result, table, ...rest });
    return {
      columns: about.columns,
      total: about.count,
      slice: (from, to) => ask('slice', { from, to }),
      cell: (place, column) => ask('cell', { place, column }),
      row: (place) => ask('row', { place }),
      arrange: (keys, needle) => ask('arrange', { keys, needle }),
      text: (from, to, columns, header) => ask('text', { from, to, columns, header }),
      all: (limit) => ask('all', { limit }),
      file: (format, options) => ask('file', { format, options }),
    };
  }
}
