import assert from 'node:assert/strict';
import test from 'node:test';
import { LEAST_RUN, foldedBelow, itemsOf, runsOf, shownOf, treeOf } from './tree.js';

const names = ['timestamp', 'id', 'operation_ParentId', 'itemType', 'name', 'duration', 'success', 'message', 'severityLevel', 'itemId'];
const columns = names.map((name) => ({ name, type: name === 'timestamp' ? 'datetime' : name === 'duration' ? 'real' : 'string' }));
const at = (seconds) => new Date(Date.UTC(2026, 0, 1, 0, 0, seconds)).toISOString();
const row = (seconds, id, parent, kind, name, success = 'True', more = {}) => names.map((column) => ({ timestamp: at(seconds), id, operation_ParentId: parent, itemType: kind, name, duration: 1000, success, itemId: `i-${name}`, ...more })[column] ?? null);
const tree = (rows) => treeOf(itemsOf({ name: 't', columns, rows }), 'op');
const list = (shown) => shown.map(({ node }) => `${'·'.repeat(node.depth)}${node.item.name}`);
const all = { folded: new Set() };

test('items stand below their parents, by time', () => {
  const { roots, orphans, failures } = tree([
    row(3, 'd2', 'r', 'dependency', 'second'), row(0, 'r', 'op', 'request', 'root'), row(1, 'd1', 'r', 'dependency', 'first', 'False'),
    row(2, '', 'd1', 'trace', 'unused', null, { message: 'said', severityLevel: 1 }),
  ]);
  assert.deepEqual(list(shownOf(roots, all)), ['root', '·first', '··said', '·second']);
  assert.equal(orphans, 0);
  assert.equal(failures, 1);
  assert.deepEqual([roots[0].under, roots[0].failures], [3, 1]);
});

test('an item whose parent is absent is an orphan at the top', () => {
  const { roots, orphans } = tree([row(0, 'a', 'gone', 'request', 'a'), row(1, 'b', 'a', 'dependency', 'b'), row(2, 'c', '', 'pageView', 'c')]);
  assert.equal(orphans, 1);
  assert.deepEqual(roots.map((node) => [node.item.name, node.orphan]), [['a', true], ['c', false]]);
});

test('cycles and equal ids end', () => {
  const cycle = tree([row(0, 'a', 'b', 'request', 'a'), row(1, 'b', 'a', 'request', 'b'), row(2, 'c', 'c', 'request', 'c'), row(3, 'a', 'b', 'request', 'again')]);
  assert.equal(shownOf(cycle.roots, all).length, 4);
});

test('a chain of 10,000 items is a tree', () => {
  const rows = Array.from({ length: 10_000 }, (_, index) => row(index, `n${index}`, index === 0 ? 'op' : `n${index - 1}`, 'dependency', `n${index}`));
  const { roots } = tree(rows);
  assert.equal(roots.length, 1);
  assert.equal(roots[0].under, 9999);
  assert.equal(shownOf(roots, all).length, 10_000);
});

test('folding hides what is below, a filter shows what is above', () => {
  const { roots } = tree([row(0, 'r', 'op', 'request', 'root'), row(1, 'a', 'r', 'dependency', 'a'), row(2, 'b', 'a', 'dependency', 'b'), row(3, 'c', 'r', 'dependency', 'c')]);
  assert.deepEqual(list(shownOf(roots, { folded: foldedBelow(roots, 1) })), ['root', '·a', '·c']);
  assert.deepEqual(list(shownOf(roots, { folded: foldedBelow(roots, 0) })), ['root']);
  const found = shownOf(roots, { folded: foldedBelow(roots, 0), matches: (item) => item.name === 'b' });
  assert.deepEqual(found.map(({ node, match }) => [node.item.name, match]), [['root', false], ['a', false], ['b', true]]);
});

test('what failed', () => {
  const failed = (kind, success, more) => itemsOf({ name: 't', columns, rows: [row(0, 'x', '', kind, 'x', success, more)] })[0].failed;
  assert.equal(failed('request', 'False'), true);
  assert.equal(failed('request', 'True'), false);
  assert.equal(failed('availabilityResult', '0'), true);
  assert.equal(failed('exception', null), true);
  assert.equal(failed('trace', null, { severityLevel: 3 }), true);
  assert.equal(failed('trace', null, { severityLevel: 2 }), false);
});

test('equal neighbours are one row until they are unfolded', () => {
  const same = (/** @type {number} */ from, /** @type {number} */ count, success = 'True') => Array.from({ length: count }, (_, at) => row(from + at, `s${from + at}`, 'r', 'dependency', 'SQL', success));
  const { roots } = tree([row(0, 'r', 'op', 'request', 'root'), ...same(1, LEAST_RUN), ...same(10, 2, 'False'), ...same(20, LEAST_RUN + 3), row(40, 'x', 's22', 'trace', 'unused', null, { message: 'inside' })]);
  const runs = runsOf(roots);
  // The failures are another outcome, and an item with something below it has a row of its own.
  assert.deepEqual([...runs.nodes.values()].map((nodes) => nodes.length), [LEAST_RUN, LEAST_RUN]);
  const shown = shownOf(roots, { ...all, runs });
  assert.deepEqual(shown.map(({ node, run }) => `${node.item.name}${run ? ` ${run.length}` : ''}`), ['root', 'SQL 5', 'SQL', 'SQL', 'SQL', 'SQL', 'SQL', 'inside', 'SQL 5']);
  const [first] = runs.nodes.keys();
  assert.equal(shownOf(roots, { ...all, runs, opened: new Set([first]) }).length, shown.length + LEAST_RUN - 1);
  assert.equal(shownOf(roots, { ...all, runs, matches: (item) => item.name === 'SQL' }).length, 1 + LEAST_RUN * 2 + 5, 'a filter shows each');
});
