/** Rows of telemetry as a table that a person reads. */

/** Columns that say the same in every row, or nothing to a person. */
const DULL = new Set(['itemId', 'itemType', 'itemCount', 'iKey', 'appId', 'appName', 'sdkVersion', '_ResourceId', 'details']);
const WIDEST = 48;
const MOST_COLUMNS = 9;

/** The lines of a table: `first` and the timestamp, then the columns with values, as many as fit. */
export function tableText(rows, first = []) {
  if (rows.length === 0) return [];
  const leading = ['timestamp', ...first].filter((column) => column in rows[0]);
  const hasValue = (column) => rows.some((row) => ![null, '', '{}'].includes(row[column]));
  const others = Object.keys(rows[0]).filter((column) => !DULL.has(column) && hasValue(column));
  const columns = [...new Set([...leading, ...others])].slice(0, MOST_COLUMNS);
  const cells = [columns, ...rows.map((row) => columns.map((column) => cut(row[column])))];
  const widths = columns.map((_, index) => Math.max(...cells.map((line) => line[index].length)));
  return cells.map((line) => line.map((cell, index) => cell.padEnd(widths[index])).join('  ').trimEnd());
}

function cut(value) {
  const text = value === null ? '' : String(value).replaceAll('\n', ' ');
  return text.length <= WIDEST ? text : `${text.slice(0, WIDEST - 1)}…`;
}
