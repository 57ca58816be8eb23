import assert from 'node:assert/strict';
import test from 'node:test';
import { csv, json, parquetColumns, tsv, withoutFormula } from './export.js';

const columns = [{ name: 'n', type: 'long' }, { name: 's', type: 'string' }, { name: 'd', type: 'dynamic' }];
const rows = [[-1, '=cmd|x', '{"a":1}'], [2, 'a,"b"\nc', null], [9007199254740993n, '', '-']];

test('text that begins like a formula gets an apostrophe, numbers keep their sign', () => {
  for (const sign of ['=', '+', '-', '@', '\t', '\r']) assert.equal(withoutFormula(`${sign}1`, 'string'), `'${sign}1`);
  assert.equal(withoutFormula('-1', 'long'), '-1');
  assert.equal(withoutFormula('a=1', 'string'), 'a=1');
  assert.equal([...csv(columns, rows)].join(''), 'n,s,d\r\n-1,\'=cmd|x,"{""a"":1}"\r\n2,"a,""b""\nc",\r\n9007199254740993,,\'-\r\n');
  assert.equal([...csv(columns, rows, { formulas: true })].join('').split('\r\n')[1], '-1,=cmd|x,"{""a"":1}"');
});

test('names of columns are guarded too', () => {
  assert.equal([...csv([{ name: '=x', type: 'long' }], [])].join(''), "'=x\r\n");
});

test('JSON nests dynamic values and keeps large integers', () => {
  const text = [...json(columns, rows)].join('');
  assert.deepEqual(JSON.parse(text)[0], { n: -1, s: '=cmd|x', d: { a: 1 } });
  assert.match(text, /"n":9007199254740993,/);
  assert.equal(JSON.parse(text)[2].d, '-');
  assert.deepEqual(JSON.parse([...json(columns, [])].join('')), []);
});

test('TSV has one line for each row', () => {
  assert.equal(tsv(columns.slice(0, 2), [[1, 'a\tb\nc'], [2, null]], { header: true }), 'n\ts\n1\ta b c\n2\t');
});

test('columns of Parquet keep types, and times only where they are exact', () => {
  const [n, s] = parquetColumns(columns, rows);
  assert.equal(n.type, 'INT64');
  assert.deepEqual(n.data, [-1n, 2n, 9007199254740993n]);
  assert.equal(s.type, 'STRING');
  const time = (value) => parquetColumns([{ name: 't', type: 'datetime' }], [[value]])[0].type;
  assert.equal(time('2026-11-22T08:00:00.123Z'), 'TIMESTAMP');
  assert.equal(time('2026-11-22T08:00:00.1234567Z'), 'STRING');
});
