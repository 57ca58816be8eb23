import assert from 'node:assert/strict';
import test from 'node:test';
import { layout, line } from './layout.js';

const edge = (caller, callee) => ({ caller, callee, type: 'HTTP', calls: 1, failed: 0, p95: 1 });
const layers = (edges) => Object.fromEntries(layout(edges).nodes.map((node) => [node.name, node.layer]));

test('callers stand to the left of what they call', () => {
  assert.deepEqual(layers([edge('web', 'orders'), edge('orders', 'sql'), edge('web', 'sql')]), { web: 0, orders: 1, sql: 2 });
});

test('cycles and calls of oneself end', () => {
  assert.deepEqual(layers([edge('a', 'b'), edge('b', 'c'), edge('c', 'b'), edge('c', 'c')]), { a: 0, b: 1, c: 2 });
});

test('no two places overlap, and all lie within', () => {
  const { nodes, width, height } = layout([edge('a', 'x'), edge('a', 'y'), edge('a', 'z'), edge('b', 'y'), edge('y', 'w')]);
  const places = new Set(nodes.map((node) => `${node.x} ${node.y}`));
  assert.equal(places.size, nodes.length);
  for (const node of nodes) assert.ok(node.x >= 0 && node.y >= 0 && node.x + 180 <= width && node.y + 46 <= height, node.name);
  assert.match(line(nodes[0], nodes[1]), /^M [\d. -]+ C /);
});

test('nothing is a map of nothing', () => {
  assert.deepEqual(layout([]).nodes, []);
});
