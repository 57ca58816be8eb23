/** Files of a result, made where its rows are. */
import { csv, json, parquetColumns } from './export.js';

const MEDIA = { csv: 'text/csv;charset=utf-8', json: 'application/json', parquet: 'application/vnd.apache.parquet' };

/**
 * Some columns of the rows `from` … `to` of the view, as `tsv` takes them.
 * @param {import('./rows.js').RowSet} rows
 * @param {number} from
 * @param {number} to exclusive
 * @param {number[]} columns
 * @returns {[import('./values.js').Column[], any[][]]}
 */
export function columnsOf(rows, from, to, columns) {
  const out = [];
  for (let at = from; at < Math.min(to, rows.count); at++) {
    const row = rows.rows[rows.place(at)];
    out.push(columns.map((column) => row[column]));
  }
  return [columns.map((column) => rows.columns[column]), out];
}

/** The rows in the order of the view. @param {import('./rows.js').RowSet} rows */
function* inOrder(rows) {
  for (let at = 0; at < rows.count; at++) yield rows.rows[rows.place(at)];
}

/**
 * @param {import('./rows.js').RowSet} rows
 * @param {'csv' | 'json' | 'parquet'} format
 * @param {{formulas?: boolean}} [options]
 * @returns {Promise<Blob>}
 */
export async function fileOf(rows, format, options = {}) {
  const type = MEDIA[format];
  if (format === 'csv') return new Blob(['\ufeff', ...csv(rows.columns, inOrder(rows), options)], { type });
  if (format === 'json') return new Blob([...json(rows.columns, inOrder(rows))], { type });
  const { parquetWriteBuffer } = await import('../vendor/parquet.js');
  const buffer = parquetWriteBuffer({ columnData: /** @type {any} */ (parquetColumns(rows.columns, [...inOrder(rows)])) });
  return new Blob([buffer], { type });
}
