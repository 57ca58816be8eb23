/**
 * The rows of one table in an order and with a filter of the reader. The data worker holds large tables in it; panels hold small
 * ones in the page.
 */
import { cellText, numberOf } from './values.js';

/** Longer texts are cut in slices: the whole value is asked for by `cell`. */
export const CUT = 1000;

/**
 * A text that a slice shows the beginning of.
 * @typedef {{cut: string, length: number}} Cut
 * @typedef {{column: number, descending: boolean}} SortKey
 */

export class RowSet {
  /** @param {import('./values.js').Table} table */
  constructor(table) {
    this.name = table.name;
    this.columns = table.columns;
    this.rows = table.rows;
    /** @type {SortKey[]} */
    this.keys = [];
    this.needle = '';
    /** Places in `rows` in the order of the view; null is the order of the reply. @type {Uint32Array | null} */
    this.order = null;
  }

  /** All rows of the reply. */
  get total() {
    return this.rows.length;
  }

  /** The rows of the view. */
  get count() {
    return this.order ? this.order.length : this.rows.length;
  }

  /** @param {number} at place in the view; the row's place in the reply */
  place(at) {
    return this.order ? this.order[at] : at;
  }

  /**
   * The rows `from` … `to` of the view, with their places in the reply.
   * @param {number} from
   * @param {number} to exclusive
   */
  slice(from, to) {
    const out = [];
    for (let at = Math.max(0, from); at < Math.min(to, this.count); at++) {
      const place = this.place(at);
      out.push({ place, cells: this.rows[place].map(cut) });
    }
    return out;
  }

  /** The whole value. @param {number} place in the reply @param {number} column */
  cell(place, column) {
    return this.rows[place]?.[column] ?? null;
  }

  /** The whole row. @param {number} place in the reply */
  row(place) {
    return this.rows[place] ?? null;
  }

  /** Sorts the view; equal rows keep the order of the reply. @param {SortKey[]} keys */
  sort(keys) {
    this.keys = keys;
    this.arrange();
  }

  /** Keeps the rows with a cell that contains the text, ignoring case. @param {string} needle */
  filter(needle) {
    this.needle = needle.toLowerCase();
    this.arrange();
  }

  arrange() {
    if (!this.needle && this.keys.length === 0) {
      this.order = null;
      return;
    }
    let places = this.matching();
    if (this.keys.length > 0) places = places.sort(this.comparison());
    this.order = places;
  }

  matching() {
    const places = new Uint32Array(this.rows.length);
    let count = 0;
    for (let place = 0; place < this.rows.length; place++) {
      if (this.needle === '' || this.matches(this.rows[place])) places[count++] = place;
    }
    return places.slice(0, count);
  }

  /** @param {any[]} row */
  matches(row) {
    return row.some((value, index) => cellText(value, this.columns[index].type).toLowerCase().includes(this.needle));
  }

  /** @returns {(a: number, b: number) => number} */
  comparison() {
    const parts = this.keys.map(({ column, descending }) => {
      const values = sortable(this.rows, column, this.columns[column].type);
      const sign = descending ? -1 : 1;
      // Nulls come last in either direction.
      return (/** @type {number} */ a, /** @type {number} */ b) => {
        const left = values[a], right = values[b];
        if (left === right) return 0;
        if (left === null) return 1;
        if (right === null) return -1;
        return (left < right ? -1 : 1) * sign;
      };
    });
    return (a, b) => {
      for (const part of parts) {
        const order = part(a, b);
        if (order !== 0) return order;
      }
      return a - b;
    };
  }
}

/** @param {any[][]} rows @param {number} column @param {string} type */
function sortable(rows, column, type) {
  const numeric = type === 'timespan' || type === 'bool' || type === 'decimal';
  return rows.map((row) => {
    const value = row[column];
    if (value === null || value === undefined) return null;
    if (typeof value === 'number') return value;
    if (numeric) return numberOf(value, type);
    if (type === 'real') return realOf(value);
    // Without their zone, ISO times with and without a fraction sort as texts. Integers beyond 2^53 are bigints.
    if (type === 'datetime') return value.endsWith('Z') ? value.slice(0, -1) : value;
    return value;
  });
}

/** Reals that JSON cannot say are texts: NaN sorts before all others. @param {any} value */
function realOf(value) {
  const number = Number(value);
  return Number.isNaN(number) ? -Infinity : number;
}

/** @param {any} value */
function cut(value) {
  return typeof value === 'string' && value.length > CUT ? { cut: value.slice(0, CUT), length: value.length } : value;
}
