/** Usage: people, sessions, pages and events. */
import { html } from '../vendor/preact.js';
import { Newest } from '../shell/newest.js';
import { Panel } from '../shell/panel.js';

export const title = 'Usage';

/** @type {import('../shell/panel.js').PanelData[]} */
export const panels = [
  {
    title: 'People and sessions', whole: true,
    query: `union pageViews, customEvents
| summarize people = dcount(user_Id), sessions = dcount(session_Id) by bin(timestamp, {bin})
| render timechart`,
  },
  {
    title: 'Pages',
    query: `pageViews
| summarize views = sum(itemCount), people = dcount(user_Id), p95 = round(percentile(duration, 95), 1) by name
| top 50 by views`,
  },
  {
    title: 'Events',
    query: `customEvents
| summarize events = sum(itemCount), people = dcount(user_Id), sessions = dcount(session_Id) by name
| top 50 by events`,
  },
  {
    title: 'Countries',
    query: `union pageViews, customEvents
| summarize people = dcount(user_Id) by client_CountryOrRegion
| top 20 by people
| render barchart`,
  },
  {
    title: 'Browsers',
    query: `pageViews
| summarize views = sum(itemCount) by client_Browser
| top 20 by views
| render piechart`,
  },
];

/** @param {{app: string}} props */
export function Screen({ app }) {
  return html`<div class="screen"><header><h1>Usage</h1></header>
    <${Newest} app=${app} />
    <div class="panels">${panels.map((panel) => html`<${Panel} key=${panel.title} app=${app} panel=${panel} empty="No page was viewed and no event was sent in this time range." />`)}</div></div>`;
}
