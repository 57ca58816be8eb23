import assert from 'node:assert/strict';
import test from 'node:test';
import { CUT, RowSet } from './rows.js';

const set = () => new RowSet({
  name: 't', columns: [{ name: 'n', type: 'long' }, { name: 's', type: 'string' }, { name: 'd', type: 'timespan' }, { name: 't', type: 'datetime' }],
  rows: [[3, 'b', '00:00:10', '2026-01-01T00:00:00Z'], [1, 'B', '1.00:00:00', '2026-01-01T00:00:00.5Z'], [null, 'a', null, '2025-01-01T00:00:00Z'], [2, 'b', '00:00:02', '2026-01-01T00:00:00.25Z']],
});
const column = (rows, index) => rows.slice(0, rows.count).map((row) => row.cells[index]);

test('numbers sort as numbers, nulls come last in either direction', () => {
  const rows = set();
  rows.sort([{ column: 0, descending: false }]);
  assert.deepEqual(column(rows, 0), [1, 2, 3, null]);
  rows.sort([{ column: 0, descending: true }]);
  assert.deepEqual(column(rows, 0), [3, 2, 1, null]);
});

test('timespans sort by length and times by time', () => {
  const rows = set();
  rows.sort([{ column: 2, descending: false }]);
  assert.deepEqual(column(rows, 2), ['00:00:02', '00:00:10', '1.00:00:00', null]);
  rows.sort([{ column: 3, descending: false }]);
  assert.deepEqual(column(rows, 3).map((time) => time.slice(2, 4) + time.slice(19)), ['25Z', '26Z', '26.25Z', '26.5Z']);
});

test('several keys, and equal rows keep their order', () => {
  const rows = set();
  rows.sort([{ column: 1, descending: true }, { column: 0, descending: false }]);
  assert.deepEqual(column(rows, 1), ['b', 'b', 'a', 'B']);
  assert.deepEqual(column(rows, 0), [2, 3, null, 1]);
  rows.sort([]);
  assert.deepEqual(column(rows, 0), [3, 1, null, 2]);
});

test('the filter looks into all cells and keeps the sort', () => {
  const rows = set();
  rows.sort([{ column: 0, descending: true }]);
  rows.filter('B');
  assert.deepEqual(column(rows, 0), [3, 2, 1]);
  assert.equal(rows.count, 3);
  assert.equal(rows.total, 4);
  rows.filter('nothing of the kind');
  assert.equal(rows.count, 0);
});

test('slices cut long texts and cells do not', () => {
  const long = 'x'.repeat(CUT + 1);
  const rows = new RowSet({ name: 't', columns: [{ name: 's', type: 'string' }], rows: [[long]] });
  assert.deepEqual(rows.slice(0, 5)[0].cells[0], { cut: 'x'.repeat(CUT), length: CUT + 1 });
  assert.equal(rows.cell(0, 0), long);
});

test('integers beyond 2^53 sort among others', () => {
  const rows = new RowSet({ name: 't', columns: [{ name: 'n', type: 'long' }], rows: [[9007199254740993n], [5], [9007199254740992n]] });
  rows.sort([{ column: 0, descending: false }]);
  assert.deepEqual(column(rows, 0), [5, 9007199254740992n, 9007199254740993n]);
});
