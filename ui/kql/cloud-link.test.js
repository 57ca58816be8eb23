import assert from 'node:assert/strict';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { isCloudLink, queryOfCloudLink } from './cloud-link.js';

const query = 'requests\n| where name == "a/b"\n| take 10';
const coded = gzipSync(query).toString('base64');

test('the text of a link of the portal is found', async () => {
  const blade = `https://portal.azure.com/#@tenant.example/blade/Microsoft_Azure_Monitoring_Logs/LogsBlade/resourceId/%2Fsubscriptions%2Fx/source/LogsBlade.AnalyticsShareLinkToQuery/q/${encodeURIComponent(coded)}/timespan/P1D`;
  assert.ok(isCloudLink(blade));
  assert.equal(await queryOfCloudLink(blade), query);
  assert.equal(await queryOfCloudLink(`https://portal.azure.com#@t/resource/x/logs?q=${encodeURIComponent(coded)}`), null, 'no path after the host');
  assert.equal(await queryOfCloudLink(`https://portal.loganalytics.io/subscriptions/x?q=${encodeURIComponent(coded)}&timespan=PT1H`.replace('&timespan=PT1H', '')), query);
});

test('a text that only names a link is no link', async () => {
  for (const text of ['requests | where url == "https://portal.azure.com/q/x"', 'https://example.com/q/abc', 'requests']) {
    assert.equal(isCloudLink(text), false, text);
    assert.equal(await queryOfCloudLink(text), null);
  }
});

test('a link that was cut has no text', async () => {
  assert.equal(await queryOfCloudLink('https://portal.azure.com/#blade/x/q/H4sIAAAA'), null);
});
