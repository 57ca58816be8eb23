/** Volume: how many items and bytes the application sends, by table and over time. */
import { html } from '../vendor/preact.js';
import { Newest } from '../shell/newest.js';
import { Panel } from '../shell/panel.js';

export const title = 'Volume';

/** @type {import('../shell/panel.js').PanelData[]} */
export const panels = [
  {
    title: 'Items over time', whole: true,
    query: `union withsource=tableName *
| summarize items = sum(itemCount) by tableName, bin(timestamp, {bin})
| render columnchart with (kind=stacked)`,
  },
  {
    title: 'Bytes over time', whole: true,
    query: `union withsource=tableName *
| summarize bytes = sum(estimate_data_size(*)) by tableName, bin(timestamp, {bin})
| render columnchart with (kind=stacked)`,
  },
  {
    title: 'Tables',
    query: `union withsource=tableName *
| summarize items = sum(itemCount), stored = count(), bytes = sum(estimate_data_size(*)), newest = max(timestamp) by tableName
| order by bytes desc`,
  },
  {
    title: 'Roles',
    query: `union withsource=tableName *
| summarize items = sum(itemCount), bytes = sum(estimate_data_size(*)) by cloud_RoleName, sdkVersion
| top 50 by bytes`,
  },
];

/** @param {{app: string}} props */
export function Screen({ app }) {
  return html`<div class="screen"><header><h1>Volume</h1></header>
    <p class="muted">“items” counts what sampling left out (itemCount), “stored” the rows. Bytes are those of the values, before compression.</p>
    <${Newest} app=${app} />
    <div class="panels">${panels.map((panel) => html`<${Panel} key=${panel.title} app=${app} panel=${panel} />`)}</div></div>`;
}
