import assert from 'node:assert/strict';
import test from 'node:test';
import { isoOfBin, kqlOf, tableOf } from './reply.js';

test('a metric over time', () => {
  const body = { value: { start: 'a', end: 'c', interval: 'PT1H', segments: [{ start: 'a', end: 'b', 'requests/count': { sum: 1 } }, { start: 'b', end: 'c', 'requests/count': { sum: null } }] }, '@ai.query': 'requests' };
  const table = tableOf(body, 'sum');
  assert.deepEqual(table.columns.map((column) => column.name), ['timestamp', 'sum']);
  assert.deepEqual(table.rows, [['a', 1], ['b', null]]);
  assert.equal(kqlOf(body), 'requests');
});

test('a split metric has a series for each segment', () => {
  const body = { value: { start: 'a', interval: 'PT1H', segments: [{ start: 'a', segments: [{ 'requests/duration': null, avg: 2.5, 'request/name': 'GET' }, { 'requests/duration': null, avg: 1, 'request/name': 'POST' }] }] } };
  assert.deepEqual(tableOf(body, 'avg').rows, [['a', 'GET', 2.5], ['a', 'POST', 1]]);
});

test('one number', () => {
  assert.deepEqual(tableOf({ value: { start: 'a', end: 'b', 'requests/count': { sum: 7 } } }, 'sum').rows, [['a', 7]]);
});

test('bins as durations', () => {
  assert.deepEqual(['30s', '5m', '1h', '1d'].map(isoOfBin), ['PT30S', 'PT5M', 'PT1H', 'P1D']);
});
