/** Metrics: one metric of the metrics API over time, with the KQL that it stands for. */
import { html, useEffect, useMemo, useState } from '../vendor/preact.js';
import { address, go } from '../lib/address.js';
import { get, send } from '../lib/api.js';
import { between, binOf, range, setRange } from '../lib/time.js';
import { Chart } from '../charts/chart.js';
import { openInLogs } from '../kql/link.js';
import { isoOfBin, kqlOf, tableOf } from '../metrics/reply.js';
import { Text } from '../result/cell.js';
import { Newest } from '../shell/newest.js';

export const title = 'Metrics';

/** Numbers come from the metrics API, which says the query that gives the same. @type {{title: string, query: string}[]} */
export const panels = [];

const FIRST = 'requests/count';

/** @param {{app: string}} props */
export function Screen({ app }) {
  const { params } = address.value;
  const [metadata, setMetadata] = useState(/** @type {any} */ (null));
  const [answer, setAnswer] = useState(/** @type {{body: any, error: any}} */ ({ body: null, error: null }));
  const metric = params.get('metric') ?? FIRST;
  const about = metadata?.metrics?.[metric];
  const aggregation = params.get('aggregation') ?? about?.defaultAggregation ?? '';
  const split = params.get('split') ?? '';
  const filter = params.get('filter') ?? '';
  const path = `/v1/apps/${encodeURIComponent(app)}/metrics`;
  useEffect(() => {
    get(`${path}/metadata`).then(setMetadata).catch((error) => setAnswer({ body: null, error }));
  }, [app]);
  const { timespan } = range.value;
  useEffect(() => {
    if (metadata === null || aggregation === '') return undefined;
    const abort = new AbortController();
    const query = new URLSearchParams({ timespan, interval: isoOfBin(binOf(range.value)), aggregation });
    if (split) query.set('segment', split);
    if (filter) query.set('filter', filter);
    send(`${path}/${metric.split('/').map(encodeURIComponent).join('/')}?${query}`, { headers: { Prefer: 'ai.include-query-payload' }, signal: abort.signal })
      .then((reply) => reply.json()).then((body) => setAnswer({ body, error: null })).catch((error) => error.name !== 'AbortError' && setAnswer({ body: null, error }));
    return () => abort.abort();
  }, [app, metadata, metric, aggregation, split, filter, timespan]);
  const table = useMemo(() => (answer.body ? tableOf(answer.body, aggregation) : null), [answer]);
  const kql = answer.body ? kqlOf(answer.body) : null;
  const groups = about?.supportedGroupBy?.all ?? [];
  const choose = (/** @type {Record<string, string | null>} */ what) => go({ params: what });
  return html`<div class="screen">
    <header><h1>Metrics</h1></header>
    <${Newest} app=${app} />
    <form class="form-row" onSubmit=${(/** @type {Event} */ event) => event.preventDefault()}>
      <label>Metric <select class="input" value=${metric} onChange=${(/** @type {any} */ event) => choose({ metric: event.target.value, aggregation: null, split: null })}>
        ${Object.entries(metadata?.metrics ?? { [metric]: {} }).map(([id, one]) => html`<option key=${id} value=${id}>${/** @type {any} */ (one).displayName ?? id} (${id})</option>`)}</select></label>
      <label>Aggregation <select class="input" value=${aggregation} onChange=${(/** @type {any} */ event) => choose({ aggregation: event.target.value })}>
        ${(about?.supportedAggregations ?? [aggregation]).map((/** @type {string} */ name) => html`<option key=${name} value=${name}>${name}</option>`)}</select></label>
      <label>Split by <select class="input" value=${split} onChange=${(/** @type {any} */ event) => choose({ split: event.target.value || null })}>
        <option value="">nothing</option>${groups.map((/** @type {string} */ name) => html`<option key=${name} value=${name}>${name}</option>`)}</select></label>
      <label>Filter <input class="input mono" size="28" placeholder="request/success eq 'False'" value=${filter} onChange=${(/** @type {any} */ event) => choose({ filter: event.target.value || null })} /></label>
    </form>
    ${answer.error && html`<p class="note error" role="alert"><${Text} text=${answer.error.message} /></p>`}
    ${table && table.rows.length === 0 && html`<p class="muted">Nothing in this time range.</p>`}
    ${table && table.rows.length > 0 && html`<${Chart} key=${`${metric}${aggregation}${split}`} table=${table} render=${{ visualization: 'timechart', title: `${about?.displayName ?? metric}, ${aggregation}`, yTitle: about?.units ?? '' }} label="Metric" height=${340}
      onBrush=${(/** @type {number} */ from, /** @type {number} */ to) => setRange(between(from, to))} />`}
    ${kql && html`<p><button type="button" class="btn" onClick=${() => openInLogs(kql)}>Query in Logs</button></p><pre class="mono muted"><${Text} text=${kql} lines=${true} /></pre>`}
  </div>`;
}
