import assert from 'node:assert/strict';
import test from 'node:test';
import { heightScale, offsets, textScale, visibleColumns, widthsOf } from './geometry.js';

test('columns on screen, and some beside them', () => {
  const places = offsets([100, 100, 100, 100]);
  assert.deepEqual(places, [0, 100, 200, 300, 400]);
  assert.deepEqual(visibleColumns(places, 0, 150, 0), [0, 2]);
  assert.deepEqual(visibleColumns(places, 150, 100, 0), [1, 3]);
  assert.deepEqual(visibleColumns(places, 150, 100, 1), [0, 4]);
  assert.deepEqual(visibleColumns(places, 9999, 100, 0), [3, 4]);
});

test('each row of a tall grid is reached by the scroll bar', () => {
  for (const count of [10, 500_000, 2_000_000]) {
    const scale = heightScale(count, 24), tall = 20;
    assert.equal(scale.rowAt(0, tall), 0);
    const bottom = Math.max(0, scale.height - tall * 24);
    assert.ok(scale.rowAt(bottom, tall) + tall >= count, `the last row of ${count}`);
    for (const at of [0, 1, Math.floor(count / 2), Math.max(0, count - tall)]) {
      assert.ok(Math.abs(scale.rowAt(scale.topOf(at, tall), tall) - at) <= 1, `row ${at} of ${count}`);
    }
  }
});

test('widths are those of name and values, within bounds', () => {
  const [narrow, wide] = widthsOf([{ name: 'a', type: 'long' }, { name: 'b', type: 'string' }], [[1, 'x'.repeat(500)]], 'utc');
  assert.equal(narrow, 64);
  assert.equal(wide, 380);
  assert.equal(widthsOf([{ name: 'a', type: 'long' }], [], 'utc', 2)[0], 128);
  assert.deepEqual(['14px', '32px', '7px', ''].map(textScale), [1, 32 / 14, 1, 1]);
});
