import assert from 'node:assert/strict';
import test from 'node:test';
import { bytesText, cellText, durationText, numberOf, parseReply, timeText, timespanMilliseconds, visibleParts } from './values.js';

test('invisible characters are parts of their own, named by their codes', () => {
  assert.deepEqual(visibleParts('plain'), [{ text: 'plain', invisible: false }]);
  assert.deepEqual(visibleParts('a\u202eb'), [{ text: 'a', invisible: false }, { text: 'U+202E', invisible: true }, { text: 'b', invisible: false }]);
  assert.deepEqual(visibleParts('\u2066'), [{ text: 'U+2066', invisible: true }]);
  assert.deepEqual(visibleParts('a\nb').map((part) => part.text), ['a', '↵', 'b']);
  assert.deepEqual(visibleParts('a\nb\u0000', { lines: true }).map((part) => part.text), ['a\nb', 'U+0000']);
});

test('times keep their digits in either zone', () => {
  assert.equal(timeText('2026-11-22T08:00:00.1234567Z', 'utc'), '2026-11-22 08:00:00.1234567');
  const local = timeText('2026-11-22T08:00:00.1234567Z', 'local');
  assert.match(local, /^2026-11-2[123] \d\d:\d\d:00\.1234567$/);
  assert.equal(timeText('no time', 'utc'), 'no time');
});

test('timespans are milliseconds', () => {
  assert.equal(timespanMilliseconds('00:00:01.5000000'), 1500);
  assert.equal(timespanMilliseconds('-1.02:03:04'), -(((26 * 60 + 3) * 60 + 4) * 1000));
  assert.ok(Number.isNaN(timespanMilliseconds('soon')));
});

test('numbers for axes', () => {
  assert.equal(numberOf('2026-11-22T08:00:00Z', 'datetime'), Date.UTC(2026, 10, 22, 8));
  assert.equal(numberOf(null, 'long'), null);
  assert.equal(numberOf('NaN', 'real'), null);
  assert.equal(numberOf('12.5', 'decimal'), 12.5);
  assert.equal(numberOf(5n, 'long'), 5);
});

test('texts of cells', () => {
  assert.equal(cellText(null, 'string'), '');
  assert.equal(cellText(true, 'bool'), 'true');
  assert.equal(cellText('2026-11-22T08:00:00Z', 'datetime'), '2026-11-22T08:00:00Z');
  assert.equal(durationText(0.5), '500 µs');
  assert.equal(durationText(1234), '1.23 s');
  assert.equal(bytesText(63_000_000), '63 MB');
});

test('integers beyond 2^53 stay exact', () => {
  const reply = parseReply('{"tables":[{"name":"t","columns":[{"name":"n","type":"long"},{"name":"r","type":"real"}],"rows":[[9007199254740993,0.1],[1,1e300]]}]}');
  assert.deepEqual(reply.tables[0].rows, [[9007199254740993n, 0.1], [1, 1e300]]);
});
