/**
 * How the result of a workbook's query is shown: as a chart of the portal, and the texts, bars and colours of a grid's cells. Pure.
 *
 * @typedef {import('../result/values.js').Table} Table
 * @typedef {import('../charts/shape.js').Render} Render
 * @typedef {{
 *   kind: 'text' | 'right' | 'bar' | 'heat' | 'time' | 'link' | 'spark' | 'big' | 'thresholds', spark: 'line' | 'area' | 'bars', unit: string,
 *   options: Intl.NumberFormatOptions | null, share: (value: number) => number, thresholds: any[], link: string,
 * }} Format
 * @typedef {{index: number, name: string, label: string, type: string, format: Format}} Shown
 */
import { cellText, isNumeric, numberOf } from '../result/values.js';

/** Sizes of items, in pixels of charts: medium, small, large, full, tiny. */
const HEIGHTS = [260, 180, 380, 500, 130];

/** @param {number} size */
export const heightOf = (size) => HEIGHTS[size] ?? HEIGHTS[0];

/** What charts are called there and here. @type {Record<string, string>} */
const CHARTS = { timechart: 'timechart', linechart: 'linechart', areachart: 'areachart', scatterchart: 'scatterchart', piechart: 'piechart', categoricalbar: 'barchart' };

/**
 * The `render` of an item's chart; null for a table.
 * @param {{visualization: string, settings: any, title: string}} query
 * @param {Table} table
 * @param {Render | null} own that of the query's text, which is drawn where the item names no visualization
 * @returns {Render | null}
 */
export function renderOf({ visualization, settings }, table, own) {
  if (visualization === 'table') return null;
  if (visualization === '') return own !== null && own.visualization !== 'table' ? own : null;
  const { xAxis, yAxis, group, ySettings, xSettings, showLegend } = settings.chartSettings ?? {};
  const isOverTime = table.columns.some(({ type, name }) => type === 'datetime' && (xAxis === undefined || xAxis === null || xAxis === name));
  const isBars = visualization === 'barchart' || visualization === 'unstackedbar';
  const kind = isBars ? (isOverTime ? 'columnchart' : 'barchart') : CHARTS[visualization];
  /** @type {Render} */
  const render = { visualization: kind };
  if (isBars) render.kind = visualization === 'unstackedbar' ? 'unstacked' : 'stacked';
  if (xAxis) render.xColumn = String(xAxis);
  if (Array.isArray(yAxis) && yAxis.length > 0) render.yColumns = yAxis.join(',');
  if (group) render.series = String(group);
  if (xSettings?.label) render.xTitle = String(xSettings.label);
  if (ySettings?.label) render.yTitle = String(ySettings.label);
  if (ySettings?.min !== undefined && ySettings.min !== null) render.yMin = String(ySettings.min);
  if (ySettings?.max !== undefined && ySettings.max !== null) render.yMax = String(ySettings.max);
  if (showLegend === false) render.legend = 'hidden';
  return render;
}

/** The formatters of cells, by their numbers in documents. @type {Record<number, Format['kind']>} */
const FORMATTERS = { 0: 'text', 1: 'text', 2: 'right', 3: 'bar', 4: 'bar', 6: 'time', 7: 'link', 8: 'heat', 9: 'spark', 10: 'spark', 12: 'big', 18: 'thresholds', 21: 'spark' };
const HIDDEN = 5;

/** Units that change what is written; 0 and 17 are plain counts. @type {Record<number, string>} */
const UNITS = { 0: '', 1: '%', 17: '' };

/** Options of numbers that documents have by their names in ECMA-402. */
const NUMBERS = /** @type {const} */ (['minimumFractionDigits', 'maximumFractionDigits', 'minimumIntegerDigits', 'minimumSignificantDigits', 'maximumSignificantDigits', 'useGrouping']);

/**
 * The columns of a grid in the order of the result, with their formats.
 * @param {Table} table @param {any} settings of the grid
 * @returns {{columns: Shown[], notes: string[]}} `notes`: formats that are not applied
 */
export function columnsOf(table, settings) {
  /** @type {string[]} */
  const notes = [];
  const labels = new Map((settings?.labelSettings ?? []).map((/** @type {any} */ one) => [columnId(one.columnId), one.label]));
  const columns = table.columns.flatMap((column, index) => {
    const formatter = (settings?.formatters ?? []).find((/** @type {any} */ one) => matches(one.columnMatch, column.name));
    if (formatter?.formatter === HIDDEN) return [];
    return [{ index, name: column.name, label: String(labels.get(column.name) || column.name), type: column.type, format: formatOf(formatter, table, index, notes) }];
  });
  return { columns, notes };
}

/** A column's name in a key that the cloud's editor wrote, such as `$gen_heatmap_Mean_2`. @param {any} key */
export function columnId(key) {
  return /^\$gen_[A-Za-z]+_(.*)_\d+$/.exec(String(key))?.[1] ?? String(key);
}

/** @param {any} pattern a column's name, or a regular expression for the whole of it @param {string} name */
function matches(pattern, name) {
  if (pattern === name) return true;
  try {
    return new RegExp(`^(?:${pattern})$`).test(name);
  } catch {
    return false;
  }
}

/** @param {any} formatter @param {Table} table @param {number} index @param {string[]} notes @returns {Format} */
export function formatOf(formatter, table, index, notes) {
  const { name, type } = table.columns[index];
  const number = Number(formatter?.formatter ?? 0);
  const kind = FORMATTERS[number];
  if (kind === undefined) notes.push(`The column “${name}” is shown as text: its renderer (${number}) is not supported.`);
  const given = formatter?.numberFormat;
  const unit = given?.unit === undefined || given.unit === null ? '' : UNITS[given.unit];
  if (unit === undefined) notes.push(`The unit of the column “${name}” (${given.unit}) is not shown.`);
  const { min, max, linkTarget, linkLabel, thresholdsGrid } = formatter?.formatOptions ?? {};
  if (kind === 'link' && linkTarget !== undefined && linkTarget !== null && linkTarget !== 'Url') notes.push(`The links of the column “${name}” lead to “${linkTarget}”, which is not supported.`);
  return {
    kind: kind ?? 'text', spark: number === 21 ? 'bars' : number === 10 ? 'area' : 'line', unit: unit ?? '', options: given ? picked(given.options ?? {}) : null,
    share: kind === 'bar' || kind === 'heat' ? shareOf(table, index, type, min, max) : () => 0,
    thresholds: kind === 'thresholds' ? thresholdsGrid ?? [] : [], link: linkTarget === 'Url' ? String(linkLabel ?? '') : '',
  };
}

/** @param {any} options @returns {Intl.NumberFormatOptions} */
function picked(options) {
  const known = Object.fromEntries(NUMBERS.flatMap((name) => (options[name] === undefined || options[name] === null ? [] : [[name, options[name]]])));
  try {
    new Intl.NumberFormat('en', known);
    return known;
  } catch {
    return {};
  }
}

/** Where a value lies between the smallest and the largest, or between given limits. @param {Table} table @param {number} index @param {string} type @param {any} min @param {any} max */
function shareOf(table, index, type, min, max) {
  const values = table.rows.map((row) => numberOf(row[index], type)).filter((value) => value !== null);
  const low = limit(min) ?? Math.min(0, ...values);
  const high = limit(max) ?? Math.max(...values, low);
  return (/** @type {number} */ value) => (high > low ? Math.max(0, Math.min(1, (value - low) / (high - low))) : 0);
}

/** @param {any} given */
function limit(given) {
  return given === undefined || given === null || given === '' || !Number.isFinite(Number(given)) ? null : Number(given);
}

/** Reals without a format have no more digits than people read; the cell's tooltip has all. */
const REAL = { maximumFractionDigits: 3, useGrouping: false };

/** The text of a cell. @param {any} value @param {{type: string, format: Format}} column @param {'local' | 'utc'} zone */
export function textOfCell(value, { type, format }, zone) {
  if (value === null || value === undefined) return '';
  const number = typeof value === 'bigint' ? value : isNumeric(type) ? numberOf(value, type) : null;
  if (number === null) return cellText(value, type, zone);
  const usual = format.kind === 'big' ? { maximumSignificantDigits: 4 } : type === 'real' || type === 'decimal' ? REAL : null;
  const options = format.options ?? usual;
  if (options === null) return cellText(value, type, zone) + format.unit;
  return new Intl.NumberFormat('en', options).format(number) + format.unit;
}

/** @type {Record<string, (value: any, limit: any) => boolean>} */
const OPERATORS = {
  '==': (value, limit) => String(value) === String(limit), '!=': (value, limit) => String(value) !== String(limit),
  '>': (value, limit) => Number(value) > Number(limit), '>=': (value, limit) => Number(value) >= Number(limit),
  '<': (value, limit) => Number(value) < Number(limit), '<=': (value, limit) => Number(value) <= Number(limit),
  contains: (value, limit) => String(value).includes(String(limit)), startsWith: (value, limit) => String(value).startsWith(String(limit)),
  'is Empty': (value) => value === null || value === '', Default: () => true,
};

/** Representations of thresholds, as what they say. */
const SAYS = new Map([
  ...['success', 'green', '1'].map((name) => [name, 'good']), ...['2', 'warning', 'yellow', 'orange'].map((name) => [name, 'warn']),
  ...['3', '4', 'error', 'critical', 'failed', 'red', 'redBright'].map((name) => [name, 'failed']),
].map(([name, says]) => /** @type {[string, string]} */ ([name, says])));

/**
 * The first threshold that a value meets.
 * @param {any} value @param {any[]} thresholds
 * @returns {{says: string, text: string | null}} `says`: `good`, `warn`, `failed` or nothing; `text`: null for that of the cell
 */
export function thresholdOf(value, thresholds) {
  const met = thresholds.find((one) => Object.hasOwn(OPERATORS, one.operator) && OPERATORS[one.operator](value, one.thresholdValue));
  if (met === undefined) return { says: '', text: null };
  const text = typeof met.text === 'string' && met.text !== '' ? met.text.replaceAll('{0}{1}', '{0}') : null;
  return { says: SAYS.get(String(met.representation)) ?? '', text };
}

/** The order of a grid's rows that the document wants. @param {Table} table @param {any} settings @returns {any[][]} */
export function sorted(table, settings) {
  const keys = (settings?.sortBy ?? []).flatMap((/** @type {any} */ one) => {
    const index = table.columns.findIndex(({ name }) => name === columnId(one.itemKey));
    return index < 0 ? [] : [{ index, sign: one.sortOrder === 2 ? -1 : 1, type: table.columns[index].type }];
  });
  if (keys.length === 0) return table.rows;
  const of = (/** @type {any[]} */ row, /** @type {any} */ { index, type }) => (isNumeric(type) ? numberOf(row[index], type) : row[index]);
  return [...table.rows].sort((a, b) => {
    for (const key of keys) {
      const [left, right] = [of(a, key), of(b, key)];
      if (left === right) continue;
      if (left === null || left === undefined) return 1;
      if (right === null || right === undefined) return -1;
      return (left < right ? -1 : 1) * key.sign;
    }
    return 0;
  });
}

/** The numbers of a small chart in a cell. @param {any} value @returns {number[]} */
export function sparkOf(value) {
  let list = value;
  if (typeof value === 'string') {
    try {
      list = JSON.parse(value);
    } catch {
      return [];
    }
  }
  return Array.isArray(list) ? list.map(Number).filter(Number.isFinite) : [];
}

/**
 * The number of a “stat”.
 * @param {Table} table @param {any} settings `statSettings`
 * @returns {{value: any, type: string, name: string} | {refused: string}}
 */
export function statOf(table, settings) {
  const index = settings?.valueField ? table.columns.findIndex(({ name }) => name === settings.valueField) : table.columns.findIndex(({ type }) => isNumeric(type));
  if (index < 0) return { refused: settings?.valueField ? `The result has no column “${settings.valueField}”.` : 'The result has no column of numbers.' };
  const { name, type } = table.columns[index];
  const numbers = table.rows.map((row) => numberOf(row[index], type)).filter((value) => value !== null);
  const sum = numbers.reduce((all, one) => all + one, 0);
  switch (settings?.valueAggregation ?? 'None') {
    case 'None': return { value: table.rows[0]?.[index] ?? null, type, name };
    case 'Sum': return { value: sum, type, name };
    case 'Average': return { value: numbers.length === 0 ? null : sum / numbers.length, type: 'real', name };
    case 'Min': return { value: numbers.length === 0 ? null : Math.min(...numbers), type, name };
    case 'Max': return { value: numbers.length === 0 ? null : Math.max(...numbers), type, name };
    case 'Count': return { value: table.rows.length, type: 'long', name };
    default: return { refused: `The aggregation “${settings.valueAggregation}” of a stat is not supported.` };
  }
}
