/**
 * Results as files and as text for the clipboard.
 */
import { cellText } from './values.js';

/** A text that a spreadsheet would run: it begins with one of these. */
const FORMULA = /^[=+\-@\t\r]/;

/**
 * A text cell that no spreadsheet takes for a formula: an apostrophe stands before it. Numbers keep their sign.
 * @param {string} text
 * @param {string} type
 */
export function withoutFormula(text, type) {
  const isText = type === 'string' || type === 'dynamic';
  return isText && FORMULA.test(text) ? `'${text}` : text;
}

/** @param {string} text */
function quoted(text) {
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

/**
 * CSV by RFC 4180, with a line of names, in pieces of at most some thousand rows.
 * @param {import('./values.js').Column[]} columns
 * @param {Iterable<any[]>} rows
 * @param {{formulas?: boolean}} [options] `formulas`: text cells are written as they are, also where they begin like a formula
 * @returns {Generator<string>}
 */
export function* csv(columns, rows, options = {}) {
  const safe = (/** @type {string} */ text, /** @type {string} */ type) => quoted(options.formulas ? text : withoutFormula(text, type));
  let piece = columns.map((column) => safe(column.name, 'string')).join(',') + '\r\n';
  let count = 0;
  for (const row of rows) {
    let line = '';
    for (let index = 0; index < columns.length; index++) {
      if (index > 0) line += ',';
      line += safe(cellText(row[index], columns[index].type), columns[index].type);
    }
    piece += line + '\r\n';
    if (++count % 5000 === 0) {
      yield piece;
      piece = '';
    }
  }
  yield piece;
}

/**
 * JSON: an array of objects; dynamic values are nested.
 * @param {import('./values.js').Column[]} columns
 * @param {Iterable<any[]>} rows
 * @returns {Generator<string>}
 */
export function* json(columns, rows) {
  const names = columns.map((column) => JSON.stringify(column.name) + ':');
  let piece = '[';
  let count = 0;
  for (const row of rows) {
    const members = columns.map((column, index) => names[index] + jsonValue(row[index], column.type));
    piece += `${count === 0 ? '\n' : ',\n'}{${members.join(',')}}`;
    if (++count % 5000 === 0) {
      yield piece;
      piece = '';
    }
  }
  yield piece + '\n]\n';
}

/** @param {any} value @param {string} type */
function jsonValue(value, type) {
  if (value === null || value === undefined) return 'null';
  if (typeof value === 'bigint') return String(value);
  if (type === 'dynamic' && typeof value === 'string') return parses(value) ? value : JSON.stringify(value);
  return JSON.stringify(value);
}

/** @param {string} text */
function parses(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/**
 * Tab-separated text for the clipboard: tabs and line breaks within a cell become spaces.
 * @param {import('./values.js').Column[]} columns
 * @param {any[][]} rows cells in the order of `columns`
 * @param {{header?: boolean}} [options]
 */
export function tsv(columns, rows, options = {}) {
  const plain = (/** @type {string} */ text) => text.replace(/[\t\r\n]+/g, ' ');
  const lines = rows.map((row) => row.map((value, index) => plain(cellText(value, columns[index].type))).join('\t'));
  if (options.header) lines.unshift(columns.map((column) => plain(column.name)).join('\t'));
  return lines.join('\n');
}

/**
 * The columns of a Parquet file, as `hyparquet-writer` takes them. Datetimes are timestamps of milliseconds where all values of
 * the column are whole milliseconds, and ISO texts elsewhere; timespans, guids and decimals are texts; dynamic values are JSON texts.
 * @param {import('./values.js').Column[]} columns
 * @param {any[][]} rows
 */
export function parquetColumns(columns, rows) {
  return columns.map((column, index) => {
    const values = rows.map((row) => row[index] ?? null);
    const text = () => ({ name: column.name, type: 'STRING', nullable: true,
      data: values.map((value) => (value === null ? null : cellText(value, column.type))) });
    switch (column.type) {
      case 'bool': return { name: column.name, type: 'BOOLEAN', nullable: true, data: values };
      case 'int': return { name: column.name, type: 'INT32', nullable: true, data: values };
      case 'long': return { name: column.name, type: 'INT64', nullable: true, data: values.map((value) => (value === null ? null : BigInt(value))) };
      case 'real': return { name: column.name, type: 'DOUBLE', nullable: true, data: values.map((value) => (value === null ? null : Number(value))) };
      case 'datetime': {
        const exact = values.every((value) => value === null || /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,3}0*)?Z$/.test(value));
        return exact ? { name: column.name, type: 'TIMESTAMP', nullable: true, data: values.map((value) => (value === null ? null : new Date(value))) } : text();
      }
      default: return text();
    }
  });
}
