/** Sizes and places in the grid. Pure. */
import { cellText } from './values.js';

/** Browsers end an element near 17.8 million pixels: a taller grid is scrolled in proportion. */
const TALLEST = 15_000_000;

const LETTER = 7.3;
const NARROWEST = 64;
const WIDEST = 380;
/** The text size for which all sizes in pixels are given. */
const TEXT = 14;

/** How much larger the text of the page is than sizes in pixels are for. @param {string} fontSize of the page, such as `14px` */
export const textScale = (fontSize) => Math.max(1, (parseFloat(fontSize) || TEXT) / TEXT);

/**
 * The width of each column, from its name and a sample of rows.
 * @param {import('./values.js').Column[]} columns
 * @param {any[][]} sample
 * @param {'local' | 'utc'} zone
 * @param {number} [scale] of the text
 */
export function widthsOf(columns, sample, zone, scale = 1) {
  return columns.map((column, index) => {
    let letters = column.name.length + 4;
    for (const row of sample) {
      const value = row[index];
      const text = value && typeof value === 'object' && 'cut' in value ? value.cut : cellText(value, column.type, zone);
      letters = Math.max(letters, Math.min(text.length, 80));
    }
    return Math.round(scale * Math.min(WIDEST, Math.max(NARROWEST, letters * LETTER + 18)));
  });
}

/** Where each column begins, and where the last ends. @param {number[]} widths */
export function offsets(widths) {
  const out = [0];
  for (const width of widths) out.push(out[out.length - 1] + width);
  return out;
}

/**
 * The columns to draw: `[from, to)`.
 * @param {number[]} places @param {number} left @param {number} width @param {number} over more on either side
 * @returns {[number, number]}
 */
export function visibleColumns(places, left, width, over) {
  const count = places.length - 1;
  let from = 0;
  while (from < count - 1 && places[from + 1] <= left) from++;
  let to = from;
  while (to < count && places[to] < left + width) to++;
  return [Math.max(0, from - over), Math.min(count, to + over)];
}

/**
 * How rows and pixels of the scroll bar correspond.
 * @param {number} count @param {number} row height of a row
 */
export function heightScale(count, row) {
  const whole = count * row;
  const height = Math.min(whole, TALLEST);
  const isWhole = whole <= TALLEST;
  /** The row at the top. @param {number} top @param {number} tall rows that fit */
  const rowAt = (top, tall) => {
    if (isWhole) return Math.max(0, Math.min(count - 1, Math.floor(top / row)));
    const share = top / Math.max(1, height - tall * row);
    return Math.max(0, Math.min(count - 1, Math.round(share * Math.max(0, count - tall))));
  };
  return {
    height,
    rowAt,
    /** Where to scroll so that a row is at the top. @param {number} at @param {number} tall rows that fit */
    topOf: (at, tall) => (isWhole ? at * row : (at / Math.max(1, count - tall)) * (height - tall * row)),
    /** Where a row is drawn. @param {number} at @param {number} first the row at the top @param {number} top */
    pixel: (at, first, top) => (isWhole ? at * row : Math.round(top) + (at - first) * row),
  };
}
