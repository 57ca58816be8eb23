/** What a result says of itself: rows, time, age, what it cost, and what is missing; or why there is none. */
import { html, useEffect, useState } from '../vendor/preact.js';
import { lostSince } from '../lib/api.js';
import { time } from '../lib/time.js';
import { Text } from '../result/cell.js';
import { bytesText, countText, durationText } from '../result/values.js';

/** @param {{store: import('./store.js').LogsStore}} props */
export function Problems({ store }) {
  const failed = store.error.value, running = store.running.value, result = store.result.value;
  return html`
    ${running && html`<${Loading} store=${store} since=${running.since} />`}
    ${failed && html`
      <div class="note error" role="alert">
        <p><${Text} text=${failed.error.message} /></p>
        ${failed.error.line !== undefined && html`<p>Line ${failed.error.line}, position ${(failed.error.position ?? 0) + 1}. <button type="button" class="tiny" onClick=${() => store.editor?.focus()}>Go to the editor</button></p>`}
        ${store.waiting.value !== null && html`<p>It is sent again in ${store.waiting.value} s. <button type="button" class="tiny" onClick=${() => store.stop()}>Do not</button></p>`}
        ${failed.error.status === 0 && lostSince.value !== null && html`<p>Since ${time(lostSince.value, { date: false })}; it is tried again every 3 seconds. <button type="button" class="tiny" onClick=${() => store.stop()}>Do not</button></p>`}
        ${failed.error.requestId && html`<p class="mono muted">Request ${failed.error.requestId} <button type="button" class="tiny" onClick=${() => navigator.clipboard.writeText(failed.error.requestId)}>Copy</button></p>`}
      </div>`}
    ${failed && result && html`<p class="note">Below is the result of the query before.</p>`}
    ${running && result && Date.now() - running.since > 150 && html`<p class="note">Below is the result of the query before.</p>`}
    ${!running && result?.messages.map((message) => html`<p class="note warn" key=${message}><${Text} text=${message} /></p>`)}`;
}

/** Nothing for 150 ms, then a thin bar. @param {{store: import('./store.js').LogsStore, since: number}} props */
function Loading({ store, since }) {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), 150);
    return () => clearInterval(timer);
  }, []);
  if (now - since < 150) return null;
  return html`<div class="query-loading"><div class="query-loading-bar"></div><span class="muted">Running for ${Math.floor((now - since) / 1000)} s</span> <button type="button" class="btn" onClick=${() => store.stop()}>Stop</button></div>`;
}

/** @param {{store: import('./store.js').LogsStore, result: import('./store.js').Result, count: number}} props */
export function Status({ store, result, count }) {
  const isCut = result.messages.length > 0;
  const used = result.statistics?.query;
  const executed = used ? durationText(used.executionTime * 1000) : durationText(result.took);
  return html`
    <div class="status">
      <span>${isCut ? html`<strong>${countText(count)} rows of more</strong>` : `${countText(count)} rows`}</span>
      <span class="muted">${executed}, ${result.range.label}</span>
      ${result.age > 0 && html`<span class="muted">from the cache, ${result.age} s old <button type="button" class="tiny" onClick=${() => store.run(result.text, { noCache: true })}>Run again</button></span>`}
      ${used && html`<details class="statistics"><summary>Statistics</summary><dl>
        <dt>Run at</dt><dd>${time(result.at)}</dd>
        <dt>Execution</dt><dd>${durationText(used.executionTime * 1000)}</dd>
        <dt>Until it was here</dt><dd>${durationText(result.took)}</dd>
        <dt>Processor</dt><dd>${used.resourceUsage?.cpu?.totalCpu}</dd>
        <dt>Memory, at most</dt><dd>${bytesText(used.resourceUsage?.memory?.peakPerNode ?? 0)}</dd>
        <dt>Rows read</dt><dd>${countText(used.inputDatasetStatistics?.rows?.scanned ?? 0)}</dd>
        <dt>Bytes read</dt><dd>${bytesText(used.inputDatasetStatistics?.bytes?.scanned ?? 0)}</dd>
        <dt>Reply</dt><dd>${bytesText(result.bytes)}</dd>
        <dt>Request</dt><dd class="mono">${result.requestId}</dd></dl></details>`}
    </div>`;
}
