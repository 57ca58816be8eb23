import assert from 'node:assert/strict';
import test from 'node:test';
import { blockAt, pathReference, predicate, reference, tokens, valueLiteral, withWhere } from './text.js';

const block = (text, caret) => {
  const { from, to } = blockAt(text, caret);
  return text.slice(from, to);
};

test('names and paths in a query', () => {
  assert.equal(reference('name'), 'name');
  assert.equal(reference('it\'s "x"'), '["it\'s \\"x\\""]');
  assert.equal(reference('count'), '["count"]');
  assert.equal(pathReference('customDimensions', ['a', 'b.c', 2]), 'customDimensions.a["b.c"][2]');
});

test('literals keep their types', () => {
  assert.equal(valueLiteral(true, 'bool'), 'true');
  assert.equal(valueLiteral('2026-11-22T08:00:00.1234567Z', 'datetime'), 'datetime(2026-11-22T08:00:00.1234567Z)');
  assert.equal(valueLiteral('1.00:00:00', 'timespan'), 'time(1.00:00:00)');
  assert.equal(valueLiteral(9007199254740993n, 'long'), '9007199254740993');
  assert.equal(valueLiteral('"; drop', 'string'), '"\\"; drop"');
});

test('predicates for a value and without it', () => {
  assert.equal(predicate({ name: 'name', type: 'string' }, 'a', false), 'name == "a"');
  assert.equal(predicate({ name: 'name', type: 'string' }, '', true), 'isnotempty(name)');
  assert.equal(predicate({ name: 'n', type: 'long' }, null, false), 'isnull(n)');
  assert.equal(predicate({ name: 'd', type: 'dynamic' }, 'pro', true, ['plan']), 'tostring(d.plan) != "pro"');
  assert.equal(predicate({ name: 'd', type: 'dynamic' }, 1.5, false, ['deployment.id']), 'toreal(d["deployment.id"]) == 1.5');
});

test('a condition is added before render, outside of brackets and texts', () => {
  assert.equal(withWhere('requests\n| take 5', 3, 'a == 1').text, 'requests\n| take 5\n| where a == 1');
  assert.equal(withWhere('requests | summarize n = count() by name | render barchart', 3, 'n > 1').text, 'requests | summarize n = count() by name\n| where n > 1\n| render barchart');
  assert.equal(withWhere('print "| render x"', 3, 'a').text, 'print "| render x"\n| where a');
  assert.equal(withWhere('let x = 5;\nrequests | take x;', 14, 'a').text, 'let x = 5;\nrequests | take x\n| where a;');
});

test('empty lines part blocks, a semicolon before or a pipe after them does not', () => {
  const text = 'requests\n| take 1\n\ntraces\n| take 2\n';
  assert.equal(block(text, 0), 'requests\n| take 1');
  assert.equal(block(text, 17), 'requests\n| take 1');
  assert.equal(block(text, 20), 'traces\n| take 2');
  assert.equal(block('let a = 1;\n\nrequests', 0), 'let a = 1;\n\nrequests');
  assert.equal(block('requests\n\n| take 1', 0), 'requests\n\n| take 1');
  assert.equal(block('// about\n\nrequests', 12), '// about\n\nrequests');
  assert.equal(block('', 0), '');
});

test('tokens of texts and comments', () => {
  const kinds = [...tokens('requests // a "b"\n| where x == @"c\\" and y > 5m')].map(({ kind, text }) => `${kind}:${text}`);
  assert.deepEqual(kinds, ['word:requests', 'comment:// a "b"', 'sign:|', 'word:where', 'word:x', 'sign:=', 'sign:=', 'text:@"c\\"', 'word:and', 'word:y', 'sign:>', 'number:5m']);
});
