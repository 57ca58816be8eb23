// Overview: how the application is, in six panels. While it has sent nothing, what makes it send.

import { html } from '../vendor/preact.js';
import { time } from '../lib/time.js';
import { Link, operation } from '../shell/link.js';
import { Newest } from '../shell/newest.js';
import { Panel } from '../shell/panel.js';
import { objects } from '../shell/run.js';
import { SendSomething, useHasTelemetry } from '../shell/send-something.js';

export const title = 'Overview';

/** @type {import('../shell/panel.js').PanelData[]} */
export const panels = [
  {
    title: 'Requests',
    query: `requests
| summarize total = sum(itemCount), failed = sumif(itemCount, success == false) by bin(timestamp, {bin})
| render timechart`,
  },
  {
    title: 'Duration of requests',
    query: `requests
| summarize (p50, p95, p99) = percentiles(duration, 50, 95, 99) by bin(timestamp, {bin})
| render timechart with (ytitle="ms")`,
  },
  {
    title: 'Failed dependencies',
    query: `dependencies
| where success == false
| summarize failed = sum(itemCount) by bin(timestamp, {bin}), target
| render columnchart with (kind=stacked)`,
  },
  {
    title: 'Exceptions',
    query: `exceptions
| summarize exceptions = sum(itemCount) by bin(timestamp, {bin}), type
| render columnchart with (kind=stacked)`,
  },
  {
    title: 'Availability',
    query: `availabilityResults
| summarize availability = 100.0 * sumif(itemCount, success == true) / sum(itemCount) by bin(timestamp, {bin})
| render timechart with (ymin=0, ymax=100, ytitle="%")`,
  },
  {
    title: 'Latest failures',
    query: `union (requests | where success == false), exceptions
| order by timestamp desc
| take 12
| project timestamp, itemType, name = iff(itemType == "exception", type, name), detail = iff(itemType == "exception", outerMessage, resultCode), operation_Id, itemId`,
  },
];

/** @param {{app: string}} properties */
export function Screen({ app }) {
  const has = useHasTelemetry(app);
  // The panels do not wait for that answer.
  if (has === false) return html`<div class="screen"><header><h1>Overview</h1></header><${SendSomething} app=${app} /></div>`;
  const [latest] = panels.slice(-1);
  return html`<div class="screen">
    <header><h1>Overview</h1></header>
    <${Newest} app=${app} />
    <div class="panels">
      ${panels.slice(0, -1).map((panel) => html`<${Panel} key=${panel.title} app=${app} panel=${panel} />`)}
      <${Panel} app=${app} panel=${latest} empty="No failures in this time range.">
        ${(/** @type {any} */ result) => html`<${Latest} rows=${objects(result)} />`}</${Panel}>
    </div>
  </div>`;
}

/** @param {{rows: Record<string, any>[]}} properties */
function Latest({ rows }) {
  return html`<div class="scroll" tabindex="0" role="region" aria-label="Latest failures"><table class="list">
    <thead><tr><th>Time</th><th>Kind</th><th>What</th></tr></thead>
    <tbody>${rows.map((row) => html`<tr key=${row.itemId}>
      <td class="mono"><time datetime=${row.timestamp}>${time(row.timestamp)}</time></td>
      <td><span class="badge failed">${row.itemType}</span></td>
      <td class="name"><${Link} step=${operation(row.operation_Id, row.itemId)}>${row.name || '(no name)'}</${Link}>
        ${row.detail !== '' && html` <span class="muted">${String(row.detail).slice(0, 120)}</span>`}</td>
    </tr>`)}</tbody></table></div>`;
}
