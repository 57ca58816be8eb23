/** The helpers over the real program. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { HindsightError, tables, useHindsight } from '../lib/index.js';
import { request, send } from '../support/envelopes.js';

const { customEvents, requests } = tables;
const hindsight = useHindsight();

test('what was sent is counted', async () => {
  await send(hindsight, 'RequestData', request('GET /'), request('GET /'), request('GET /'), request('GET /cart'));
  const rows = await hindsight.expect(requests).where({ name: 'GET /' }).count(3);
  assert.deepEqual(rows.map((row) => row.resultCode), ['200', '200', '200']);
  await hindsight.expect(requests).atLeast(2);
  await hindsight.expect(requests).where({ name: 'POST /' }).none();
  await hindsight.expect("requests | where name has 'cart' // one").where('duration > 49', { success: true }).count(1);
});

test('the next test has no telemetry', async () => {
  await hindsight.expect('union *').none();
});

test('values of every kind', async () => {
  await send(hindsight, 'EventData', { name: 'say "hi"\\', properties: { lane: '4', 'a b': 'c' }, measurements: { coins: 12.5 } });
  const event = hindsight.expect(customEvents);
  await event.where({ name: 'say "hi"\\' }).count(1);
  await event.where({ customDimensions: { lane: '4', 'a b': 'c' }, customMeasurements: { coins: 12.5 } }).count(1);
  await event.where({ user_Id: null, itemCount: 1 }).count(1);
  await event.where({ timestamp: new Date(0) }).none();
  assert.throws(() => event.where({ name: Symbol('x') }), /no type of KQL/);
});

test('a late item is waited for', async () => {
  const sent = sleep(300).then(() => send(hindsight, 'RequestData', request('GET /')));
  const begun = performance.now();
  await hindsight.expect(requests).within(20).count(1);
  assert.ok(performance.now() - begun > 200);
  await sent;
});

test('a failure shows the rows', async () => {
  await send(hindsight, 'RequestData', request('GET /'), request('GET /', { responseCode: '500' }));
  await assert.rejects(hindsight.expect(requests).within(0.05).where({ name: 'GET /' }).count(3), (error) => {
    const lines = error.message.split('\n');
    assert.equal(error.code, 'ERR_ASSERTION');
    assert.deepEqual(lines.slice(0, 3).map((line) => line.trim()), ['expected 3 rows of', 'requests', '| where name == "GET /"']);
    assert.match(lines[3], /^found 2 after 0\./);
    assert.match(lines[4], /^ +timestamp +name /);
    assert.match(lines[5] + lines[6], /500/);
    return true;
  });
  await assert.rejects(hindsight.expect(requests).within(0).where({ name: 'none' }).count(1), /without 'where' there are 2:/);
  await assert.rejects(hindsight.expect(requests).count(1), /expected 1 rows/);
});

test('conditions, clock and snapshots', async () => {
  await send(hindsight, 'RequestData', request('GET /'), request('GET /', { success: false }));
  assert.equal((await hindsight.wait('requests', { condition: 'countif(success == false) == 1' })).holds, true);
  await hindsight.snapshot('two');
  await hindsight.reset();
  await hindsight.expect(requests).none();
  await hindsight.restore('two');
  await hindsight.expect(requests).count(2);
  await assert.rejects(hindsight.restore('none'), (error) => error instanceof HindsightError && error.status === 404);
  assert.equal(await hindsight.clock.fix(new Date('2030-01-01T00:00:00Z')), '2030-01-01T00:00:00.0000000Z');
  await hindsight.clock.shift('P1D');
  await hindsight.clock.followMachine();
  assert.match(await hindsight.clock.now(), new RegExp(`^${new Date().getUTCFullYear()}-`));
});
