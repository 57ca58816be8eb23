/** Starting and stopping the program. */
import assert from 'node:assert/strict';
import { existsSync } from 'node:fs';
import test from 'node:test';
import { Hindsight, start } from '../lib/index.js';

test('a server hands out what an SDK needs, and ends', async () => {
  const hindsight = await start();
  assert.ok(hindsight.connectionString.includes(`IngestionEndpoint=${hindsight.url}/`));
  assert.deepEqual(await hindsight.query('print 1'), [{ print_0: 1 }]);
  await hindsight.stop();
  await assert.rejects(hindsight.query('print 1'), /fetch failed/);
});

test('a program that does not start says why', async () => {
  await assert.rejects(start({ program: '/nowhere/hindsight' }), /did not start:\n.*ENOENT/);
  await assert.rejects(new Hindsight({ arguments: ['--nonsense'] }).start(), /unexpected argument '--nonsense'/);
  assert.ok(!existsSync('/nowhere'));
});
