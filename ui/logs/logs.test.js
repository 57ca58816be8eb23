import assert from 'node:assert/strict';
import test from 'node:test';
import { commandLine, curlLine, shellWord } from './share.js';
import { viewOf, viewParams } from './view.js';

test('words of a shell', () => {
  assert.equal(shellWord('PT1H'), 'PT1H');
  assert.equal(shellWord("it's $HOME"), `'it'\\''s $HOME'`);
});

test('lines for a terminal hold no key', () => {
  const query = { origin: 'http://127.0.0.1:2020', app: 'demo', text: "print 'a'", timespan: 'PT1H' };
  assert.equal(curlLine(query), `curl -s http://127.0.0.1:2020/v1/apps/demo/query -H "X-Api-Key: $KEY" -H 'Content-Type: application/json' -d '{"query":"print '\\''a'\\''","timespan":"PT1H"}'`);
  assert.match(commandLine(query), /^HINDSIGHT_KEY=\$KEY hindsight query --url http:\/\/127.0.0.1:2020 --app demo --timespan PT1H/);
});

test('the view of a result in the address', () => {
  const view = { keys: [{ column: 2, descending: true }, { column: 0, descending: false }], hidden: [1], needle: 'x' };
  const params = viewParams(view);
  assert.deepEqual(params, { sort: '-2,0', hide: '1', find: 'x' });
  assert.deepEqual(viewOf(new URLSearchParams(params), 3), view);
  assert.deepEqual(viewOf(new URLSearchParams('sort=9,x&hide=-1'), 3), { keys: [], hidden: [], needle: '' });
});
