// Performance: where the time goes, by operation; how the durations of one are distributed, and single requests of it.

import { html } from '../vendor/preact.js';
import { address, go } from '../lib/address.js';
import { count, milliseconds, time } from '../lib/time.js';
import { Link, operation } from '../shell/link.js';
import { Newest } from '../shell/newest.js';
import { Panel } from '../shell/panel.js';
import { objects } from '../shell/run.js';
import { Table } from '../shell/table.js';

export const title = 'Performance';

/** @type {import('../shell/panel.js').PanelData[]} */
export const panels = [
  {
    title: 'Duration over time', whole: true,
    query: `requests
| summarize (p50, p95, p99) = percentiles(duration, 50, 95, 99) by bin(timestamp, {bin})
| render timechart with (ytitle="ms")`,
  },
  {
    title: 'Operations by time spent', whole: true,
    query: `requests
| summarize n = sum(itemCount), p50 = percentile(duration, 50), p95 = percentile(duration, 95), p99 = percentile(duration, 99), spent = sum(duration * itemCount) by operation_Name
| order by spent desc
| take 50`,
  },
  {
    title: 'Dependencies by time spent', whole: true,
    query: `dependencies
| summarize n = sum(itemCount), p50 = percentile(duration, 50), p95 = percentile(duration, 95), spent = sum(duration * itemCount) by type, target, name
| order by spent desc
| take 50`,
  },
];

/** Of the chosen operation, or of all. */
export const details = {
  all: {
    title: 'Distribution of durations',
    query: `requests
| where duration > 0
| summarize requests = sum(itemCount) by ms = exp10(bin(log10(duration), 0.2))
| order by ms asc`,
  },
  one: {
    title: 'Distribution of durations',
    query: `requests
| where operation_Name == {operation} and duration > 0
| summarize requests = sum(itemCount) by ms = exp10(bin(log10(duration), 0.2))
| order by ms asc`,
  },
  slowest: {
    title: 'Slowest requests',
    query: `requests
| top 20 by duration desc
| project timestamp, name, duration, success, operation_Id, itemId`,
  },
  samples: {
    title: 'Requests of this duration',
    query: `requests
| where operation_Name == {operation} and duration >= todouble({from}) and duration < todouble({to})
| top 20 by duration desc
| project timestamp, name, duration, success, operation_Id, itemId`,
  },
};

/** @param {{app: string}} properties */
export function Screen({ app }) {
  const { params } = address.value;
  const chosen = params.get('operation');
  const [from, to] = (params.get('ms') ?? '').split('-');
  const [overTime, operations, dependencies] = panels;
  const values = { operation: chosen ?? '', from: from || '0', to: to || '1e12' };
  const choose = (/** @type {Record<string, string | null>} */ what) => go({ params: what });
  return html`<div class="screen">
    <header><h1>Performance</h1>
      ${chosen !== null && html`<span><strong>${chosen}</strong>
        <button class="btn quiet" onClick=${() => choose({ operation: null, ms: null })}>Show all</button></span>`}</header>
    <${Newest} app=${app} />
    <div class="two">
      <div class="stack">
        <${Panel} app=${app} panel=${overTime} />
        <${Panel} app=${app} panel=${operations}>${(/** @type {any} */ result) => html`<${Spent} label="Operations by time spent" head="Operation"
          rows=${objects(result)} name=${(/** @type {any} */ row) => html`<button class="link" aria-pressed=${row.operation_Name === chosen}
            onClick=${() => choose({ operation: row.operation_Name, ms: null })}>${row.operation_Name || '(no name)'}</button>`}
          of=${(/** @type {any} */ row) => row.operation_Name} chosen=${chosen} />`}</${Panel}>
        <${Panel} app=${app} panel=${dependencies}>${(/** @type {any} */ result) => html`<${Spent} label="Dependencies by time spent" head="Dependency"
          rows=${objects(result)} name=${(/** @type {any} */ row) => html`${row.name || row.target}<div class="muted">${row.type} · ${row.target}</div>`}
          of=${(/** @type {any} */ row) => `${row.type} ${row.target} ${row.name}`} chosen=${null} />`}</${Panel}>
      </div>
      <div class="stack">
        <${Panel} app=${app} panel=${chosen === null ? details.all : details.one} values=${values}>${(/** @type {any} */ result) => html`
          <${Distribution} rows=${objects(result)} chosen=${params.get('ms')} onChoose=${(/** @type {string | null} */ ms) => choose({ ms })} />`}</${Panel}>
        <${Panel} app=${app} panel=${chosen === null ? details.slowest : details.samples} values=${values}>${(/** @type {any} */ result) => html`
          <${Table} label="Samples" head=${['Time', 'Request', '#Duration']} rows=${objects(result).map((row) => ({
            key: row.itemId, chosen: false,
            cells: [html`<time class="mono" datetime=${row.timestamp}>${time(row.timestamp)}</time>`,
              html`<${Link} step=${operation(row.operation_Id, row.itemId)}>${row.name || '(no name)'}</${Link}>`, milliseconds(row.duration)],
          }))} />`}</${Panel}>
      </div>
    </div>
  </div>`;
}

/** @param {{label: string, head: string, rows: any[], name: (row: any) => any, of: (row: any) => string, chosen: string | null}} properties */
function Spent({ label, head, rows, name, of, chosen }) {
  const whole = rows.reduce((sum, row) => sum + row.spent, 0);
  const share = (/** @type {any} */ row) => (whole > 0 ? row.spent / whole : 0);
  const has99 = rows.length > 0 && 'p99' in rows[0];
  return html`<${Table} label=${label} head=${[head, 'Share of time', '#Count', '#p50', '#p95', ...(has99 ? ['#p99'] : [])]}
    rows=${rows.map((row) => ({
      key: of(row), chosen: of(row) === chosen,
      cells: [name(row), html`<meter class="share" min="0" max="1" value=${share(row)} aria-label="Share of time"></meter><span class="muted">${(share(row) * 100).toFixed(1)} %</span>`, count(row.n),
        milliseconds(row.p50), milliseconds(row.p95), ...(has99 ? [milliseconds(row.p99)] : [])],
    }))} />`;
}

/** A fifth of a power of ten, as the query bins durations: bars of this width are large enough to be pressed. */
const STEP = 10 ** 0.2;

/**
 * The distribution on a logarithmic axis: bars that are buttons, so that a range is chosen with keys too.
 * @param {{rows: any[], chosen: string | null, onChoose: (ms: string | null) => void}} properties
 */
function Distribution({ rows, chosen, onChoose }) {
  const most = Math.max(...rows.map((row) => row.requests));
  return html`<div class="distribution" role="group" aria-label="Distribution of durations; each bar chooses the requests of its duration">
    ${rows.map((row) => {
      const range = `${row.ms.toPrecision(6)}-${(row.ms * STEP).toPrecision(6)}`;
      const label = `${milliseconds(row.ms)} to ${milliseconds(row.ms * STEP)}: ${count(row.requests)} requests`;
      return html`<button key=${row.ms} title=${label} aria-label=${label} aria-pressed=${range === chosen} onClick=${() => onChoose(range === chosen ? null : range)}>
        <span ref=${(/** @type {HTMLElement | null} */ bar) => bar?.style.setProperty('height', `${Math.max(2, (row.requests / most) * 100)}%`)}></span></button>`;
    })}
  </div>
  <p class="axis muted" aria-hidden="true"><span>${milliseconds(rows[0].ms)}</span><span>${milliseconds(rows[rows.length - 1].ms * STEP)}</span></p>`;
}
