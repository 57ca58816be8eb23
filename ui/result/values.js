/**
 * Values of query results as people read them. Nothing here touches the page: the data worker and the tests use it too.
 *
 * @typedef {{name: string, type: string}} Column
 * @typedef {{name: string, columns: Column[], rows: any[][]}} Table
 */

/** Characters that change how other characters are shown, or that show nothing: controls, bidirectional marks, zero width. */
const INVISIBLE = /[\u0000-\u001f\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb]/;
const INVISIBLE_ALL = new RegExp(INVISIBLE, 'g');

/** Types whose cells are numbers in the reply. */
export const NUMERIC = new Set(['int', 'long', 'real', 'decimal']);

/** @param {string} type */
export const isNumeric = (type) => NUMERIC.has(type);

/**
 * The parts of a text: plain ones, and the invisible characters between them, which the page shows by their code.
 * @param {string} text
 * @param {{lines?: boolean}} [options] `lines`: line breaks and tabs are layout and stay as they are
 * @returns {{text: string, invisible: boolean}[]}
 */
export function visibleParts(text, options = {}) {
  if (!INVISIBLE.test(text)) return [{ text, invisible: false }];
  const parts = [];
  let from = 0;
  for (const match of text.matchAll(INVISIBLE_ALL)) {
    const sign = match[0];
    if (options.lines && (sign === '\n' || sign === '\t' || sign === '\r')) continue;
    if (match.index > from) parts.push({ text: text.slice(from, match.index), invisible: false });
    parts.push({ text: signOf(sign), invisible: true });
    from = match.index + sign.length;
  }
  if (from < text.length) parts.push({ text: text.slice(from), invisible: false });
  return parts;
}

/** @param {string} sign */
function signOf(sign) {
  if (sign === '\n') return '↵';
  if (sign === '\t') return '⇥';
  const code = sign.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0');
  return `U+${code}`;
}

/**
 * A datetime of a reply, `2026-11-22T08:00:00.1234567Z`, in the zone of the reader. The digits below a millisecond are kept.
 * @param {string} value
 * @param {'local' | 'utc'} zone
 */
export function timeText(value, zone) {
  const match = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d:\d\d)(\.\d+)?Z$/.exec(value);
  if (!match) return value;
  const fraction = match[3] ?? '';
  if (zone === 'utc') return `${match[1]} ${match[2]}${fraction}`;
  const date = new Date(`${match[1]}T${match[2]}Z`);
  if (Number.isNaN(date.getTime())) return value;
  const two = (/** @type {number} */ n) => String(n).padStart(2, '0');
  const day = `${String(date.getFullYear()).padStart(4, '0')}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
  return `${day} ${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}${fraction}`;
}

/**
 * A cell as plain text, null as nothing.
 * @param {any} value
 * @param {string} type
 * @param {'local' | 'utc'} [zone] without it, datetimes stay as the reply has them (ISO)
 */
export function cellText(value, type, zone) {
  if (value === null || value === undefined) return '';
  if (type === 'datetime' && zone && typeof value === 'string') return timeText(value, zone);
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** @param {string} value a timespan of a reply, `[-][d.]hh:mm:ss[.fffffff]`; milliseconds, or NaN */
export function timespanMilliseconds(value) {
  const match = /^(-)?(?:(\d+)\.)?(\d\d):(\d\d):(\d\d(?:\.\d+)?)$/.exec(value);
  if (!match) return NaN;
  const days = Number(match[2] ?? 0);
  const seconds = ((days * 24 + Number(match[3])) * 60 + Number(match[4])) * 60 + Number(match[5]);
  return (match[1] ? -1 : 1) * seconds * 1000;
}

/**
 * A value as a number for an axis: datetimes are milliseconds since 1970, timespans are milliseconds. Null has none.
 * @param {any} value
 * @param {string} type
 * @returns {number | null}
 */
export function numberOf(value, type) {
  if (value === null || value === undefined || value === '') return null;
  let number;
  if (type === 'datetime') number = Date.parse(value);
  else if (type === 'timespan') number = timespanMilliseconds(value);
  else if (type === 'bool') number = value ? 1 : 0;
  else number = Number(value);
  return Number.isFinite(number) ? number : null;
}

/** @param {number} milliseconds */
export function durationText(milliseconds) {
  if (!Number.isFinite(milliseconds)) return '';
  const size = Math.abs(milliseconds);
  if (size < 1) return `${trimmed(milliseconds * 1000, 0)} µs`;
  if (size < 1000) return `${trimmed(milliseconds, size < 10 ? 2 : 1)} ms`;
  if (size < 60_000) return `${trimmed(milliseconds / 1000, 2)} s`;
  if (size < 3_600_000) return `${trimmed(milliseconds / 60_000, 1)} min`;
  if (size < 86_400_000) return `${trimmed(milliseconds / 3_600_000, 1)} h`;
  return `${trimmed(milliseconds / 86_400_000, 1)} d`;
}

/** @param {number} value @param {number} digits */
function trimmed(value, digits) {
  return String(Number(value.toFixed(digits)));
}

/** A count with separators of thousands. @param {number} count */
export const countText = (count) => count.toLocaleString('en-US');

/** @param {number} bytes */
export function bytesText(bytes) {
  const units = ['B', 'KB', 'MB', 'GB', 'TB'];
  let unit = 0;
  while (bytes >= 1000 && unit < units.length - 1) {
    bytes /= 1000;
    unit++;
  }
  return `${trimmed(bytes, unit === 0 ? 0 : 1)} ${units[unit]}`;
}

/**
 * Parses the text of a reply. Integers beyond 2^53 are kept exact, as `bigint`: the first parse is quick and loses them, so that a
 * reply which has any is parsed again with its long numbers as texts.
 * @param {string} text
 */
export function parseReply(text) {
  const reply = JSON.parse(text);
  const isLost = (/** @type {any} */ value) => typeof value === 'number' && Number.isInteger(value) && !Number.isSafeInteger(value);
  const lost = (reply.tables ?? []).some((/** @type {Table} */ table) => {
    // Row by row: a row lies together in memory, a column does not.
    const longs = table.columns.flatMap((column, index) => (column.type === 'long' ? [index] : []));
    return table.rows.some((row) => longs.some((index) => isLost(row[index])));
  });
  if (!lost) return reply;
  const quoted = text.replace(/"(?:[^"\\]|\\.)*"|(?<![\d.eE+-])-?\d{16,}(?![\d.eE])/g, (part) => (part[0] === '"' ? part : `"${part}"`));
  const exact = JSON.parse(quoted);
  for (const table of exact.tables) {
    table.columns.forEach((/** @type {Column} */ column, /** @type {number} */ index) => {
      for (const row of table.rows) {
        if (typeof row[index] !== 'string') continue;
        if (column.type === 'long') row[index] = BigInt(row[index]);
        else if (column.type === 'real' && /^-?\d{16,}$/.test(row[index])) row[index] = Number(row[index]);
      }
    });
  }
  return exact;
}
