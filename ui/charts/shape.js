/**
 * From a table and its `render` to what a chart draws. Pure: no page, no library.
 *
 * @typedef {import('../result/values.js').Column} Column
 * @typedef {import('../result/values.js').Table} Table
 * @typedef {{visualization: string, title?: string, kind?: string, accumulate?: boolean, series?: string, xColumn?: string,
 *   yColumns?: string, anomalyColumns?: string, xTitle?: string, yTitle?: string, xAxis?: string, yAxis?: string, legend?: string,
 *   ySplit?: string, xMin?: string, xMax?: string, yMin?: string, yMax?: string}} Render
 * @typedef {{name: string, values: (number | null)[], anomalies?: boolean[]}} Series
 * @typedef {{name: string, type: 'time' | 'duration' | 'number' | 'text', values: number[], labels?: string[]}} Axis
 * @typedef {{form: 'plot', style: 'line' | 'area' | 'column' | 'scatter', stacked: '' | 'stacked' | 'stacked100', x: Axis, series: Series[],
 *   yType: 'number' | 'duration', notes: string[]}} Plot
 * @typedef {{form: 'bars', categories: string[], series: Series[], stacked: '' | 'stacked' | 'stacked100', yType: 'number' | 'duration', notes: string[]}} Bars
 * @typedef {{form: 'slices', slices: {name: string, value: number}[], notes: string[]}} Slices
 * @typedef {{form: 'cards', cards: {name: string, value: any, type: string}[], notes: string[]}} Cards
 * @typedef {{form: 'spans', spans: {name: string, from: number, to: number}[], notes: string[]}} Spans
 * @typedef {{form: 'pivot', rowNames: string[], columnNames: string[], cells: (number | null)[][], by: [string, string, string], notes: string[]}} Pivot
 * @typedef {{form: 'none', reason: string}} None
 * @typedef {Plot | Bars | Slices | Cards | Spans | Pivot | None} Shape
 */
import { countText, durationText, isNumeric, numberOf } from '../result/values.js';

/** More series cannot be distinguished by colour or legend: the largest are drawn, and the chart says so. */
export const MOST_SERIES = 60;
/** More bars or slices are not read: the first are drawn, and the chart says so. */
export const MOST_BARS = 500;
const MOST_SLICES = 24;
const MOST_SPANS = 500;

const PLOTS = {
  timechart: 'line', linechart: 'line', anomalychart: 'line', areachart: 'area', stackedareachart: 'area',
  columnchart: 'column', scatterchart: 'scatter',
};

/** The words for the kinds of charts. */
export const NAMES = {
  timechart: 'Time chart', linechart: 'Line chart', anomalychart: 'Anomaly chart', areachart: 'Area chart',
  stackedareachart: 'Stacked area chart', columnchart: 'Column chart', barchart: 'Bar chart', scatterchart: 'Scatter chart',
  piechart: 'Pie chart', treemap: 'Treemap', card: 'Card', pivotchart: 'Pivot chart', ladderchart: 'Ladder chart',
  timepivot: 'Time pivot', timeline: 'Timeline',
};

/** @param {string} kind */
export const wordOf = (kind) => /** @type {Record<string, string>} */ (NAMES)[kind] ?? 'Table';

/** @param {Table} table @param {Render} render @returns {Shape} */
export function shape(table, render) {
  const kind = (render.visualization ?? '').toLowerCase();
  if (kind === '' || kind === 'table' || kind === 'list') return none('');
  if (table.rows.length === 0) return none('There are no rows to draw.');
  if (kind in PLOTS) return plotOrBars(table, render, kind);
  switch (kind) {
    case 'barchart': return bars(table, render);
    case 'piechart': case 'treemap': return slices(table, render, kind);
    case 'card': return cards(table);
    case 'ladderchart': case 'timepivot': case 'timeline': return spans(table, kind);
    case 'pivotchart': return pivot(table, render);
    default: return none(`“${render.visualization}” is not drawn here: the rows are shown as a table.`);
  }
}

/** @param {string} reason @returns {None} */
const none = (reason) => ({ form: 'none', reason });

/** @param {string | undefined} list names between commas */
const names = (list) => (list ? String(list).split(',').map((name) => name.trim()).filter(Boolean) : []);

/** @param {Table} table @param {string} name */
const indexOf = (table, name) => table.columns.findIndex((column) => column.name === name);

/** @param {any} value */
function arrayOf(value) {
  if (Array.isArray(value)) return value;
  if (typeof value !== 'string' || value[0] !== '[') return null;
  try {
    const parsed = JSON.parse(value);
    return Array.isArray(parsed) ? parsed : null;
  } catch {
    return null;
  }
}

/** The table with a row for each element, where its columns hold arrays (`make-series`). @param {Table} table @returns {Table} */
export function expanded(table) {
  const first = table.rows[0] ?? [];
  const arrays = table.columns.map((column, index) => (column.type === 'dynamic' ? arrayOf(first[index]) : null));
  const length = Math.max(0, ...arrays.map((array) => array?.length ?? 0));
  const spread = arrays.map((array) => array !== null && array.length === length && length > 0);
  if (!spread.some(Boolean)) return table;
  const columns = table.columns.map((column, index) => (spread[index] ? { name: column.name, type: typeOfElements(arrays[index] ?? []) } : column));
  const rows = [];
  for (const row of table.rows) {
    const cells = row.map((value, index) => (spread[index] ? arrayOf(value) ?? [] : value));
    const count = Math.max(...cells.map((value, index) => (spread[index] ? value.length : 0)));
    for (let at = 0; at < count; at++) rows.push(cells.map((value, index) => (spread[index] ? value[at] ?? null : value)));
  }
  return { name: table.name, columns, rows };
}

/** @param {any[]} array */
function typeOfElements(array) {
  const value = array.find((element) => element !== null);
  if (typeof value === 'number') return 'real';
  if (typeof value === 'string' && /^\d{4}-\d\d-\d\dT/.test(value)) return 'datetime';
  if (typeof value === 'string' && /^-?(\d+\.)?\d\d:\d\d:\d\d/.test(value)) return 'timespan';
  return 'string';
}

/** @param {string} type */
const isMeasure = (type) => isNumeric(type) || type === 'timespan';

/**
 * Which column is which: the x axis, the values, and the columns that tell series apart.
 * @param {Table} table
 * @param {Render} render
 * @param {(columns: Column[]) => number} chooseX
 */
function roles(table, render, chooseX) {
  const { columns } = table;
  const x = render.xColumn ? indexOf(table, render.xColumn) : chooseX(columns);
  const anomalies = names(render.anomalyColumns).map((name) => indexOf(table, name)).filter((index) => index >= 0);
  const seriesNames = names(render.series);
  let series = seriesNames.map((name) => indexOf(table, name)).filter((index) => index >= 0);
  if (seriesNames.length === 0) {
    series = columns.flatMap((column, index) => (index !== x && ['string', 'bool', 'guid'].includes(column.type) ? [index] : []));
  }
  let y = names(render.yColumns).map((name) => indexOf(table, name)).filter((index) => index >= 0);
  if (y.length === 0) {
    y = columns.flatMap((column, index) =>
      (index !== x && !series.includes(index) && !anomalies.includes(index) && isMeasure(column.type) ? [index] : []));
  }
  return { x, y, series, anomalies };
}

/** @param {Column[]} columns */
function timeOrFirst(columns) {
  const time = columns.findIndex((column) => column.type === 'datetime');
  if (time >= 0) return time;
  const measure = columns.findIndex((column) => isMeasure(column.type));
  return measure >= 0 ? measure : 0;
}

/** Columns stand over times where there are some, else over the first column. @param {Column[]} columns */
const timeOrText = (columns) => Math.max(0, columns.findIndex((column) => column.type === 'datetime'));

/** @param {Table} given @param {Render} render @param {string} kind @returns {Shape} */
function plotOrBars(given, render, kind) {
  const table = expanded(given);
  const isColumn = kind === 'columnchart';
  const { x, y, series, anomalies } = roles(table, render, isColumn ? timeOrText : timeOrFirst);
  if (x < 0) return none(`There is no column “${render.xColumn}”: the rows are shown as a table.`);
  if (y.length === 0) return none(`A ${wordOf(kind).toLowerCase()} needs a column of numbers: the rows are shown as a table.`);
  const column = table.columns[x];
  /** @type {string[]} */
  const notes = [];
  if (!isMeasure(column.type) && column.type !== 'datetime') {
    const shaped = categories(table, x, y, series, notes);
    if (!isColumn) notes.push(`The axis “${column.name}” is text, in the order of the rows.`);
    const axis = /** @type {Axis} */ ({ name: column.name, type: 'text', values: shaped.categories.map((_, index) => index), labels: shaped.categories });
    return finish({ form: 'plot', style: style(kind), stacked: stacking(render, kind), x: axis, series: shaped.series, yType: yTypeOf(table, y), notes }, render);
  }
  const points = aligned(table, x, y, series, anomalies, notes);
  if (points.x.length === 0) return none(`The column “${column.name}” has no values to draw.`);
  /** @type {Axis} */
  const axis = { name: column.name, type: column.type === 'datetime' ? 'time' : column.type === 'timespan' ? 'duration' : 'number', values: points.x };
  return finish({ form: 'plot', style: style(kind), stacked: stacking(render, kind), x: axis, series: points.series, yType: yTypeOf(table, y), notes }, render);
}

/** @param {string} kind @returns {Plot['style']} */
const style = (kind) => /** @type {any} */ (PLOTS)[kind];

/** @param {Table} table @param {number[]} y @returns {'number' | 'duration'} */
const yTypeOf = (table, y) => (y.every((index) => table.columns[index].type === 'timespan') ? 'duration' : 'number');

/** @param {Render} render @param {string} kind @returns {'' | 'stacked' | 'stacked100'} */
function stacking(render, kind) {
  if (render.kind === 'stacked' || render.kind === 'stacked100') return render.kind;
  if (render.kind === 'unstacked') return '';
  // Without a kind, columns and bars stand on each other, as in the service; areas do where their name says so.
  return kind === 'stackedareachart' || kind === 'columnchart' ? 'stacked' : '';
}

/**
 * The values of the columns that tell series apart, and the name of one series.
 * @param {any[]} row @param {number[]} series @param {Column} y @param {boolean} several @returns {{key: string, name: string}}
 */
function seriesOf(row, series, y, several) {
  if (series.length === 0) return { key: '', name: y.name };
  const key = series.map((index) => (row[index] === null || row[index] === '' ? '(empty)' : String(row[index]))).join(', ');
  return { key, name: several ? `${key}: ${y.name}` : key };
}

const collator = new Intl.Collator('en', { numeric: true });

/**
 * Series that the values of columns tell apart, by these values: rows come in any order, and a colour stays with its name from one run of
 * a query to the next. Those of several columns of numbers stay in the order of the columns.
 * @template {{key: string}} T
 * @param {T[]} all @param {number[]} series @returns {T[]}
 */
const inOrder = (all, series) => (series.length === 0 ? all : [...all].sort((a, b) => collator.compare(a.key, b.key)));

/**
 * Points at sorted places of a numeric axis. A series with several values at one place keeps all of them.
 * @param {Table} table @param {number} x @param {number[]} y @param {number[]} series @param {number[]} anomalies @param {string[]} notes
 */
function aligned(table, x, y, series, anomalies, notes) {
  const xType = table.columns[x].type;
  /** @type {Map<string, {key: string, name: string, points: {at: number, nth: number, value: number | null, odd: boolean}[], seen: Map<number, number>}>} */
  const found = new Map();
  /** @type {Map<number, number>} */
  const most = new Map();
  let without = 0;
  for (const row of table.rows) {
    const at = numberOf(row[x], xType);
    if (at === null) {
      without++;
      continue;
    }
    y.forEach((index, which) => {
      const { key, name } = seriesOf(row, series, table.columns[index], y.length > 1);
      let one = found.get(name);
      if (!one) found.set(name, (one = { key, name, points: [], seen: new Map() }));
      const nth = one.seen.get(at) ?? 0;
      one.seen.set(at, nth + 1);
      most.set(at, Math.max(most.get(at) ?? 0, nth + 1));
      const odd = anomalies.length > 0 && Boolean(numberOf(row[anomalies[which] ?? anomalies[0]], 'real'));
      one.points.push({ at, nth, value: numberOf(row[index], table.columns[index].type), odd });
    });
  }
  if (without > 0) notes.push(`${countText(without)} rows have no value on the axis and are not drawn.`);
  const places = [...most.keys()].sort((a, b) => a - b);
  /** @type {Map<number, number>} */
  const starts = new Map();
  const axis = [];
  for (const at of places) {
    starts.set(at, axis.length);
    for (let nth = 0; nth < (most.get(at) ?? 1); nth++) axis.push(at);
  }
  const kept = largest(inOrder([...found.values()], series).map((one) => ({ ...one, size: one.points.reduce((sum, point) => sum + Math.abs(point.value ?? 0), 0) })), notes);
  return {
    x: axis,
    series: kept.map((one) => {
      const values = new Array(axis.length).fill(null);
      const odd = anomalies.length > 0 ? new Array(axis.length).fill(false) : undefined;
      for (const point of one.points) {
        const slot = (starts.get(point.at) ?? 0) + point.nth;
        values[slot] = point.value;
        if (odd) odd[slot] = point.odd;
      }
      return /** @type {Series} */ (odd ? { name: one.name, values, anomalies: odd } : { name: one.name, values });
    }),
  };
}

/**
 * The largest series, in their own order.
 * @template {{name: string, size: number}} T
 * @param {T[]} all @param {string[]} notes @returns {T[]}
 */
function largest(all, notes) {
  if (all.length <= MOST_SERIES) return all;
  const limit = [...all].sort((a, b) => b.size - a.size)[MOST_SERIES - 1].size;
  notes.push(`${MOST_SERIES} of ${countText(all.length)} series are drawn, the largest.`);
  return all.filter((one) => one.size >= limit).slice(0, MOST_SERIES);
}

/**
 * Values by category, in the order of the rows; several values of one category and series are added.
 * @param {Table} table @param {number} x @param {number[]} y @param {number[]} series @param {string[]} notes
 */
function categories(table, x, y, series, notes) {
  const places = new Map();
  const found = new Map();
  for (const row of table.rows) {
    const name = row[x] === null || row[x] === '' ? '(empty)' : String(row[x]);
    if (!places.has(name)) places.set(name, places.size);
    for (const index of y) {
      const { key, name: seriesName } = seriesOf(row, series, table.columns[index], y.length > 1);
      if (!found.has(seriesName)) found.set(seriesName, { key, name: seriesName, values: [], size: 0 });
      const one = found.get(seriesName), at = places.get(name);
      const value = numberOf(row[index], table.columns[index].type);
      if (value === null) continue;
      one.values[at] = (one.values[at] ?? 0) + value;
      one.size += Math.abs(value);
    }
  }
  const all = [...places.keys()];
  if (all.length > MOST_BARS) notes.push(`The first ${MOST_BARS} of ${countText(all.length)} categories are drawn.`);
  const shown = all.slice(0, MOST_BARS);
  const kept = largest(inOrder([...found.values()], series), notes);
  return { categories: shown, series: kept.map(({ name, values }) => ({ name, values: shown.map((_, at) => values[at] ?? null) })) };
}

/**
 * Running sums, where the query wants them.
 * @param {Plot} plot @param {Render} render @returns {Plot}
 */
function finish(plot, render) {
  if (!render.accumulate) return plot;
  const series = plot.series.map((one) => {
    let sum = 0;
    return { ...one, values: one.values.map((value) => (value === null ? null : (sum += value))) };
  });
  return { ...plot, series };
}

/** @param {Table} given @param {Render} render @returns {Shape} */
function bars(given, render) {
  const table = expanded(given);
  const { x, y, series } = roles(table, render, () => 0);
  if (x < 0) return none(`There is no column “${render.xColumn}”: the rows are shown as a table.`);
  if (y.length === 0) return none('A bar chart needs a column of numbers: the rows are shown as a table.');
  /** @type {string[]} */
  const notes = [];
  const stacked = render.kind === 'stacked' || render.kind === 'stacked100' ? render.kind : '';
  return { form: 'bars', ...categories(table, x, y, series, notes), stacked, yType: yTypeOf(table, y), notes };
}

/** @param {Table} table @param {Render} render @param {string} kind @returns {Shape} */
function slices(table, render, kind) {
  const { x, y } = roles(table, render, () => 0);
  const value = y[0];
  if (value === undefined || x < 0) return none(`A ${kind === 'piechart' ? 'pie chart' : 'treemap'} needs a column of names and a column of numbers: the rows are shown as a table.`);
  /** @type {Map<string, number>} */
  const sums = new Map();
  let negative = 0;
  // A treemap takes all columns of text for the name, a pie its first column.
  const nameColumns = kind === 'treemap' ? table.columns.flatMap((column, index) => (index < value && index !== value && !isMeasure(column.type) ? [index] : [])) : [x];
  if (nameColumns.length === 0) nameColumns.push(x);
  for (const row of table.rows) {
    const number = numberOf(row[value], table.columns[value].type);
    if (number === null) continue;
    if (number < 0) negative++;
    const name = nameColumns.map((index) => (row[index] === null || row[index] === '' ? '(empty)' : String(row[index]))).join(' / ');
    sums.set(name, (sums.get(name) ?? 0) + Math.max(0, number));
  }
  const notes = negative > 0 ? [`${countText(negative)} negative values are not drawn.`] : [];
  let all = [...sums].map(([name, sum]) => ({ name, value: sum })).filter((slice) => slice.value > 0).sort((a, b) => b.value - a.value);
  if (all.length === 0) return none('No value is above zero: the rows are shown as a table.');
  const most = kind === 'treemap' ? 200 : MOST_SLICES;
  if (all.length > most) {
    const rest = all.slice(most - 1);
    notes.push(`The smallest ${countText(rest.length)} of ${countText(all.length)} are drawn as one.`);
    all = [...all.slice(0, most - 1), { name: `${countText(rest.length)} others`, value: rest.reduce((sum, slice) => sum + slice.value, 0) }];
  }
  return { form: 'slices', slices: all, notes };
}

/** @param {Table} table @returns {Shape} */
function cards(table) {
  const row = table.rows[0];
  const notes = table.rows.length > 1 ? [`The first of ${countText(table.rows.length)} rows is shown.`] : [];
  return { form: 'cards', cards: table.columns.map((column, index) => ({ name: column.name, value: row[index], type: column.type })), notes };
}

/** @param {Table} table @param {string} kind @returns {Shape} */
function spans(table, kind) {
  const times = table.columns.flatMap((column, index) => (column.type === 'datetime' ? [index] : []));
  if (times.length === 0) return none(`A ${kind === 'ladderchart' ? 'ladder chart' : 'time pivot'} needs a column of times: the rows are shown as a table.`);
  const [from, to] = times.length > 1 ? times.slice(-2) : [times[0], times[0]];
  const duration = times.length === 1 ? table.columns.findIndex((column) => column.name === 'duration' && isMeasure(column.type)) : -1;
  const label = table.columns.flatMap((column, index) => (index !== from && index !== to && !isMeasure(column.type) && column.type !== 'dynamic' ? [index] : []));
  const notes = table.rows.length > MOST_SPANS ? [`The first ${MOST_SPANS} of ${countText(table.rows.length)} rows are drawn.`] : [];
  const all = [];
  for (const row of table.rows.slice(0, MOST_SPANS)) {
    const begin = numberOf(row[from], 'datetime');
    if (begin === null) continue;
    const end = duration >= 0 ? begin + (numberOf(row[duration], table.columns[duration].type) ?? 0) : numberOf(row[to], 'datetime') ?? begin;
    const name = label.map((index) => row[index]).filter((value) => value !== null && value !== '').join(' · ');
    all.push({ name: name || '(no name)', from: Math.min(begin, end), to: Math.max(begin, end) });
  }
  return all.length === 0 ? none('No row has a time to draw.') : { form: 'spans', spans: all, notes };
}

/** @param {Table} table @param {Render} render @returns {Shape} */
function pivot(table, render) {
  const texts = table.columns.flatMap((column, index) => (isMeasure(column.type) || column.type === 'dynamic' ? [] : [index]));
  const value = table.columns.findIndex((column) => isMeasure(column.type));
  if (texts.length < 2 || value < 0) return none('A pivot chart needs two columns of names and one of numbers: the rows are shown as a table.');
  const [rowColumn, columnColumn] = texts;
  const rowNames = new Map(), columnNames = new Map();
  /** @type {(number | null)[][]} */
  const cells = [];
  const text = (/** @type {any} */ cell) => (cell === null || cell === '' ? '(empty)' : String(cell));
  for (const row of table.rows) {
    const r = text(row[rowColumn]), c = text(row[columnColumn]);
    if (!rowNames.has(r)) cells[rowNames.size] = [], rowNames.set(r, rowNames.size);
    if (!columnNames.has(c)) columnNames.set(c, columnNames.size);
    const number = numberOf(row[value], table.columns[value].type);
    const at = cells[rowNames.get(r)], place = columnNames.get(c);
    if (number !== null) at[place] = (at[place] ?? 0) + number;
  }
  const notes = [];
  if (rowNames.size > MOST_BARS || columnNames.size > MOST_SERIES) notes.push(`The first ${MOST_BARS} rows and ${MOST_SERIES} columns of ${countText(rowNames.size)} × ${countText(columnNames.size)} are shown.`);
  const across = [...columnNames.keys()].slice(0, MOST_SERIES);
  const down = [...rowNames.keys()].slice(0, MOST_BARS);
  return {
    form: 'pivot', rowNames: down, columnNames: across, notes,
    cells: down.map((_, at) => across.map((_name, place) => cells[at][place] ?? null)),
    by: [table.columns[rowColumn].name, table.columns[columnColumn].name, table.columns[value].name],
  };
}

/**
 * The values to draw, each with what lies below it: series on each other, or as shares of a hundred.
 * @param {Series[]} series
 * @param {'' | 'stacked' | 'stacked100'} stacked
 * @returns {(number | null)[][]}
 */
export function stack(series, stacked) {
  if (stacked === '') return series.map((one) => one.values);
  const length = series[0]?.values.length ?? 0;
  const totals = new Array(length).fill(0);
  for (const one of series) one.values.forEach((value, at) => (totals[at] += Math.abs(value ?? 0)));
  const below = new Array(length).fill(0);
  return series.map((one) => one.values.map((value, at) => {
    const part = stacked === 'stacked100' ? (totals[at] === 0 ? 0 : (100 * (value ?? 0)) / totals[at]) : value ?? 0;
    return (below[at] += part);
  }));
}

/** A number of an axis or a legend. @param {number | null} value @param {'number' | 'duration'} [type] */
export function numberText(value, type = 'number') {
  if (value === null) return 'no value';
  if (type === 'duration') return durationText(value);
  const size = Math.abs(value);
  if (size !== 0 && (size < 0.001 || size >= 1e15)) return value.toExponential(3);
  return Number(value.toPrecision(size >= 1e6 ? 15 : 7)).toLocaleString('en-US', { maximumFractionDigits: size < 1 ? 6 : 3 });
}

/**
 * What a chart shows, in a sentence: its accessible name.
 * @param {Shape} shape
 * @param {Render} render
 * @param {(milliseconds: number) => string} time how a time is written
 */
export function sentence(shape, render, time) {
  const kind = render.visualization?.toLowerCase() ?? '';
  const word = wordOf(kind);
  const head = render.title ? `${word} “${render.title}”` : word;
  switch (shape.form) {
    case 'plot': {
      const { x, series } = shape;
      const at = (/** @type {number} */ index) => x.type === 'time' ? time(x.values[index])
        : x.type === 'duration' ? durationText(x.values[index]) : x.labels ? x.labels[index] : numberText(x.values[index]);
      const extent = `${countText(x.values.length)} points of “${x.name}” from ${at(0)} to ${at(x.values.length - 1)}`;
      return `${head}: ${listed(series.map((one) => one.name))}, ${extent}. ${extreme(shape, at)}`;
    }
    case 'bars': return `${head}: ${listed(shape.series.map((one) => one.name))} for ${countText(shape.categories.length)} categories. ${extreme(shape, (index) => shape.categories[index])}`;
    case 'slices': {
      const total = shape.slices.reduce((sum, slice) => sum + slice.value, 0);
      const first = shape.slices[0];
      return `${head}: ${countText(shape.slices.length)} parts. The largest is ${first.name} with ${numberText(first.value)}, ${numberText(Math.round((1000 * first.value) / total) / 10)}%.`;
    }
    case 'cards': return `${head}: ${shape.cards.map((card) => `${card.name} ${card.value ?? 'null'}`).join(', ')}.`;
    case 'spans': return `${head}: ${countText(shape.spans.length)} spans from ${time(shape.spans.reduce((least, span) => Math.min(least, span.from), Infinity))} to ${time(shape.spans.reduce((most, span) => Math.max(most, span.to), -Infinity))}.`;
    case 'pivot': return `${head}: ${shape.by[2]} by ${shape.by[0]} (${countText(shape.rowNames.length)}) and ${shape.by[1]} (${countText(shape.columnNames.length)}).`;
    default: return shape.reason;
  }
}

/** @param {string[]} list */
function listed(list) {
  return list.length <= 4 ? list.join(', ') : `${list.slice(0, 3).join(', ')} and ${list.length - 3} more series`;
}

/** @param {{series: Series[], yType: 'number' | 'duration'} & object} shape @param {(index: number) => string} at */
function extreme(shape, at) {
  let best = /** @type {{name: string, value: number, index: number} | null} */ (null);
  for (const one of shape.series) {
    one.values.forEach((value, index) => {
      if (value !== null && (best === null || value > best.value)) best = { name: one.name, value, index };
    });
  }
  if (best === null) return 'All values are null.';
  return `The largest value is ${numberText(best.value, shape.yType)} (${best.name}) at ${at(best.index)}.`;
}
