/** Availability: whether the tests of the application pass, and from where they do not. */
import { html } from '../vendor/preact.js';
import { Newest } from '../shell/newest.js';
import { Panel } from '../shell/panel.js';

export const title = 'Availability';

/** @type {import('../shell/panel.js').PanelData[]} */
export const panels = [
  {
    title: 'Availability over time', whole: true,
    query: `availabilityResults
| summarize availability = 100.0 * sumif(itemCount, success == true) / sum(itemCount) by bin(timestamp, {bin}), name
| render timechart with (ymin=0, ymax=100, ytitle="%")`,
  },
  {
    title: 'Tests by place', whole: true,
    query: `availabilityResults
| summarize runs = sum(itemCount), failed = sumif(itemCount, success == false), availability = round(100.0 * sumif(itemCount, success == true) / sum(itemCount), 3), p95 = round(percentile(duration, 95), 1), latest = max(timestamp) by name, location
| order by failed desc, name asc`,
  },
  {
    title: 'Duration of tests',
    query: `availabilityResults
| summarize percentile(duration, 95) by bin(timestamp, {bin}), location
| render timechart with (ytitle="ms")`,
  },
  {
    title: 'Latest failed runs',
    query: `availabilityResults
| where success == false
| top 50 by timestamp desc
| project timestamp, name, location, message, duration, operation_Id`,
  },
];

/** @param {{app: string}} props */
export function Screen({ app }) {
  return html`<div class="screen"><header><h1>Availability</h1></header>
    <${Newest} app=${app} />
    <div class="panels">${panels.map((panel) => html`<${Panel} key=${panel.title} app=${app} panel=${panel} empty=${panel.title === 'Latest failed runs' ? 'No run has failed in this time range.' : 'No availability test ran in this time range.'} />`)}</div></div>`;
}
