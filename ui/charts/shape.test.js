import assert from 'node:assert/strict';
import test from 'node:test';
import { MOST_SERIES, sentence, shape, stack } from './shape.js';
import { squares } from './squares.js';

const table = (columns, rows) => ({ name: 't', columns: Object.entries(columns).map(([name, type]) => ({ name, type })), rows });
const hour = (n) => `2026-01-01T0${n}:00:00Z`;
const at = (n) => Date.parse(hour(n));
const times = table({ timestamp: 'datetime', role: 'string', n: 'long' }, [[hour(2), 'a', 3], [hour(1), 'a', 1], [hour(1), 'b', 2]]);

test('a time chart has a sorted axis and a series for each text', () => {
  const { form, style, x, series } = shape(times, { visualization: 'timechart' });
  assert.deepEqual([form, style, x.type, x.values], ['plot', 'line', 'time', [at(1), at(2)]]);
  assert.deepEqual(series, [{ name: 'a', values: [1, 3] }, { name: 'b', values: [2, null] }]);
});

test('series are in the order of their names, whatever the order of the rows', () => {
  const codes = table({ t: 'datetime', code: 'string', n: 'long', d: 'real' }, [[hour(1), 'b10', 1, 2], [hour(1), 'b9', 3, 4], [hour(2), 'a', 5, 6]]);
  assert.deepEqual(shape(codes, { visualization: 'timechart', yColumns: 'n' }).series.map((one) => one.name), ['a', 'b9', 'b10']);
  assert.deepEqual(shape(codes, { visualization: 'timechart', yColumns: 'n, d' }).series.map((one) => one.name), ['a: n', 'a: d', 'b9: n', 'b9: d', 'b10: n', 'b10: d']);
  const named = table({ role: 'string', code: 'string', n: 'long' }, [['x', '503', 1], ['x', '500', 2]]);
  assert.deepEqual(shape(named, { visualization: 'columnchart' }).series.map((one) => one.name), ['500', '503']);
});

test('several columns of values are series, and with texts they are named by both', () => {
  const wide = table({ t: 'datetime', role: 'string', n: 'long', d: 'real' }, [[hour(1), 'a', 1, 2]]);
  assert.deepEqual(shape(wide, { visualization: 'timechart' }).series.map((one) => one.name), ['a: n', 'a: d']);
  assert.deepEqual(shape(wide, { visualization: 'timechart', yColumns: 'd', series: '' }).series.map((one) => one.name), ['a']);
  const plain = table({ t: 'datetime', n: 'long', d: 'real' }, [[hour(1), 1, 2]]);
  assert.deepEqual(shape(plain, { visualization: 'timechart', yColumns: 'n, d' }).series.map((one) => one.name), ['n', 'd']);
});

test('several values of a series at one place are all kept', () => {
  const { x, series } = shape(table({ x: 'real', y: 'real' }, [[1, 5], [1, 6], [2, 7]]), { visualization: 'scatterchart' });
  assert.deepEqual(x.values, [1, 1, 2]);
  assert.deepEqual(series[0].values, [5, 6, 7]);
});

test('arrays of make-series are spread', () => {
  const made = table({ role: 'string', n: 'dynamic', timestamp: 'dynamic', odd: 'dynamic' }, [['a', '[1,2]', `["${hour(1)}","${hour(2)}"]`, '[0,1]']]);
  const { x, series } = shape(made, { visualization: 'anomalychart', anomalyColumns: 'odd' });
  assert.deepEqual([x.type, x.values], ['time', [at(1), at(2)]]);
  assert.deepEqual(series, [{ name: 'a', values: [1, 2], anomalies: [false, true] }]);
});

test('columns over text keep the order of the rows and stand on each other', () => {
  const { x, stacked, series } = shape(table({ code: 'string', role: 'string', n: 'long' }, [['500', 'a', 1], ['200', 'a', 2], ['500', 'b', 3]]), { visualization: 'columnchart' });
  assert.deepEqual([x.type, x.labels, stacked], ['text', ['500', '200'], 'stacked']);
  assert.deepEqual(stack(series, stacked), [[1, 2], [4, 2]]);
  assert.deepEqual(stack(series, 'stacked100').map((one) => one[0]), [25, 100]);
});

test('columns stand over times where there are some', () => {
  const { x, series } = shape(table({ name: 'string', t: 'datetime', n: 'long' }, [['a', hour(1), 1], ['b', hour(2), 2]]), { visualization: 'columnchart' });
  assert.deepEqual([x.type, x.values, series.map((one) => one.name)], ['time', [at(1), at(2)], ['a', 'b']]);
});

test('bars, pies, treemaps, cards, spans and pivots', () => {
  const named = table({ name: 'string', n: 'long' }, [['a', 1], ['b', 3], ['', 0]]);
  assert.deepEqual(shape(named, { visualization: 'barchart' }).categories, ['a', 'b', '(empty)']);
  assert.deepEqual(shape(named, { visualization: 'piechart' }).slices, [{ name: 'b', value: 3 }, { name: 'a', value: 1 }]);
  assert.equal(shape(named, { visualization: 'treemap' }).form, 'slices');
  assert.deepEqual(shape(named, { visualization: 'card' }).cards.map((card) => card.value), ['a', 1]);
  const spans = shape(table({ name: 'string', from: 'datetime', to: 'datetime' }, [['a', hour(1), hour(2)]]), { visualization: 'ladderchart' }).spans;
  assert.deepEqual(spans, [{ name: 'a', from: at(1), to: at(2) }]);
  const pivot = shape(table({ a: 'string', b: 'string', n: 'long' }, [['x', 'p', 1], ['y', 'q', 2], ['x', 'p', 4]]), { visualization: 'pivotchart' });
  assert.deepEqual(pivot.cells, [[5, null], [null, 2]]);
});

test('what cannot be drawn says why', () => {
  assert.match(shape(times, { visualization: 'sankey' }).reason, /“sankey” is not drawn/);
  assert.match(shape(times, { visualization: '3Dchart' }).reason, /not drawn/);
  assert.match(shape(table({ a: 'string' }, [['x']]), { visualization: 'timechart' }).reason, /needs a column of numbers/);
  assert.match(shape(times, { visualization: 'timechart', xColumn: 'nope' }).reason, /no column “nope”/);
  assert.equal(shape(times, { visualization: 'table' }).reason, '');
});

test('cuts are said', () => {
  const many = table({ t: 'datetime', role: 'string', n: 'long' }, Array.from({ length: 100 }, (_, index) => [hour(1), `r${index}`, index]));
  const { series, notes } = shape(many, { visualization: 'timechart' });
  assert.equal(series.length, MOST_SERIES);
  assert.ok(series.some((one) => one.name === 'r99') && !series.some((one) => one.name === 'r1'));
  assert.match(notes[0], /60 of 100 series/);
  const holes = table({ t: 'datetime', n: 'long' }, [[null, 1], [hour(1), 2]]);
  assert.match(shape(holes, { visualization: 'timechart' }).notes[0], /1 rows have no value on the axis/);
});

test('running sums', () => {
  const plain = table({ t: 'datetime', n: 'long' }, [[hour(1), 1], [hour(2), 2], [hour(3), 3]]);
  assert.deepEqual(shape(plain, { visualization: 'timechart', accumulate: true }).series[0].values, [1, 3, 6]);
});

test('the sentence names kind, series, extent and the largest value', () => {
  const render = { visualization: 'timechart', title: 'Load' };
  assert.equal(sentence(shape(times, render), render, (ms) => new Date(ms).toISOString().slice(11, 16)),
    'Time chart “Load”: a, b, 2 points of “timestamp” from 01:00 to 02:00. The largest value is 3 (a) at 02:00.');
});

test('a treemap fills its area', () => {
  const boxes = squares([{ name: 'a', value: 6 }, { name: 'b', value: 3 }, { name: 'c', value: 1 }], 100, 50);
  assert.ok(Math.abs(boxes.reduce((sum, box) => sum + box.width * box.height, 0) - 5000) < 1e-6);
  for (const box of boxes) assert.ok(box.x >= -1e-9 && box.x + box.width <= 100 + 1e-9 && box.y + box.height <= 50 + 1e-9);
});
