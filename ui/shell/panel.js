// A panel: a query, what it says, and a way into Logs with exactly its text.

import { html } from '../vendor/preact.js';
import { Chart } from '../charts/chart.js';
import { Grid } from '../charts/parts.js';
import { fill } from '../lib/kql-text.js';
import { binOf, range, setRange, between } from '../lib/time.js';
import { useQuery } from './run.js';
import { Failure, Loading, QueryLink, Said } from './said.js';

/**
 * @typedef {object} PanelData
 * @property {string} title
 * @property {string} query With placeholders, as `fill` of kql-text.js reads them.
 * @property {boolean} [whole] Whether it takes the whole width.
 */

/**
 * @param {{app: string, panel: PanelData, values?: Record<string, string>, empty?: string, children?: (result: any) => any}} properties
 *   `children` draws the result; without it the panel draws it as the query renders it.
 */
export function Panel({ app, panel, values = {}, empty = 'Nothing in this time range.', children }) {
  const text = fill(panel.query, { bin: binOf(range.value), ...values });
  const run = useQuery(app, text);
  const id = `panel-${panel.title.toLowerCase().replace(/[^a-z]+/g, '-')}`;
  const rows = run.result?.tables[0]?.rows.length ?? 0;
  const draw = children ?? ((/** @type {any} */ result) => html`<${Drawn} result=${result} title=${panel.title} />`);
  return html`<section class=${`panel${panel.whole ? ' whole' : ''}`} aria-labelledby=${id} data-old=${run.old}>
    <header><h2 id=${id}>${panel.title}</h2><${QueryLink} text=${text} label=${`Query of ${panel.title} in Logs`} /></header>
    <div class="body">
      <${Loading} run=${run} />
      ${run.error !== null ? html`<${Failure} error=${run.error} again=${() => run.again()} />` : html`<${Said} run=${run} />`}
      ${run.result !== null && run.error === null && html`<div class="result">
        ${rows === 0 ? html`<p class="muted">${empty}</p>` : draw(run.result)}</div>`}
    </div>
  </section>`;
}

/** @param {{result: import('../lib/api.js').Result, title: string}} properties */
function Drawn({ result, title }) {
  const [table] = result.tables;
  const visualization = result.render?.visualization ?? 'table';
  if (visualization === 'table') return html`<${Grid} table=${table} label=${title} />`;
  return html`<${Chart} table=${table} render=${result.render} label=${title}
    onBrush=${(/** @type {number} */ from, /** @type {number} */ to) => setRange(between(from, to))} />`;
}
