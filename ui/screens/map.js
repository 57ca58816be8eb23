/** Application map: which roles call which others and which targets, from left to right, and the same as a table. */
import { html, useMemo } from '../vendor/preact.js';
import { count, milliseconds } from '../lib/time.js';
import { literal } from '../lib/kql-text.js';
import { openInLogs } from '../kql/link.js';
import { HEIGHT, WIDTH, layout, line } from '../map/layout.js';
import { stylesheet } from '../result/style.js';
import { Grid } from '../result/grid.js';
import { Newest } from '../shell/newest.js';
import { Panel } from '../shell/panel.js';
import { objects } from '../shell/run.js';

stylesheet(new URL('../map/map.css', import.meta.url));

export const title = 'Application map';

/** @type {import('../shell/panel.js').PanelData[]} */
export const panels = [
  {
    title: 'Calls between roles and targets', whole: true,
    query: `dependencies
| join kind=leftouter (requests | project operation_ParentId, callee = cloud_RoleName) on $left.id == $right.operation_ParentId
| summarize calls = sum(itemCount), failed = sumif(itemCount, success == false), p95 = round(percentile(duration, 95), 1) by caller = cloud_RoleName, callee = iff(isempty(callee), target, callee), type
| order by calls desc
| take 200`,
  },
];

/** @param {{app: string}} props */
export function Screen({ app }) {
  const [panel] = panels;
  return html`<div class="screen">
    <header><h1>Application map</h1></header>
    <${Newest} app=${app} />
    <div class="panels"><${Panel} app=${app} panel=${panel} empty="No dependency was called in this time range.">${(/** @type {any} */ result) => html`<${Map} result=${result} />`}<//></div>
  </div>`;
}

/** @param {{result: any}} props */
function Map({ result }) {
  const table = result.tables[0];
  const edges = useMemo(() => /** @type {import('../map/layout.js').Edge[]} */ (objects(result)), [result]);
  const { nodes, width, height } = useMemo(() => layout(edges), [edges]);
  const at = (/** @type {string} */ name) => /** @type {import('../map/layout.js').Place} */ (nodes.find((node) => node.name === name));
  const failing = edges.reduce((sum, edge) => sum + edge.failed, 0);
  const most = Math.max(1, ...edges.map((edge) => edge.calls));
  const label = `Application map: ${nodes.filter((node) => node.isRole).length} roles, ${edges.length} kinds of calls, ${count(failing)} of ${count(edges.reduce((sum, edge) => sum + edge.calls, 0))} calls failed. The table below has the same.`;
  const open = (/** @type {number} */ place) => {
    const edge = edges[place];
    openInLogs(`dependencies\n| where cloud_RoleName == ${literal(edge.caller)} and type == ${literal(edge.type)}\n| join kind=leftouter (requests | project operation_ParentId, callee = cloud_RoleName) on $left.id == $right.operation_ParentId\n| where iff(isempty(callee), target, callee) == ${literal(edge.callee)}\n| project timestamp, name, target, duration, success, resultCode, operation_Id\n| order by timestamp desc\n| take 200`);
  };
  return html`
    <div class="map-box" tabindex="0" role="group" aria-label="Application map">
      <svg role="img" aria-label=${label} style=${{ width: `${width / 14}rem`, height: `${(height + 12) / 14}rem` }} viewBox=${`0 0 ${width} ${height + 12}`}>
        <defs><marker id="map-arrow" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" markerHeight="7" markerUnits="userSpaceOnUse" orient="auto"><path class="map-arrow" d="M 0 0 L 8 4 L 0 8 z" /></marker></defs>
        ${edges.map((edge, index) => html`<path key=${index} class=${`map-edge${edge.failed > 0 ? ' failing' : ''}`} d=${line(at(edge.caller), at(edge.callee))} stroke-width=${1 + (3 * Math.log1p(edge.calls)) / Math.log1p(most)} marker-end="url(#map-arrow)" />`)}
        ${nodes.map((node) => html`<g key=${node.name} class=${`map-node${node.isRole ? ' role' : ''}${node.failed > 0 ? ' failing' : ''}`} transform=${`translate(${node.x} ${node.y})`}>
          <title>${node.name}</title><rect width=${WIDTH} height=${HEIGHT} rx="5" />
          <text x="10" y="19">${shortened(node.name || '(no role)', 24)}</text>
          <text x="10" y="36" class="sub">${node.calls > 0 ? `${count(node.calls)} calls` : 'begins'}${node.failed > 0 && html`<tspan class="problem"> ✕ ${count(node.failed)} failed</tspan>`}</text></g>`)}
        ${edges.map((edge, index) => html`<${EdgeLabel} key=${index} edge=${edge} from=${at(edge.caller)} to=${at(edge.callee)} nth=${edges.slice(0, index).filter((other) => other.caller === edge.caller && other.callee === edge.callee).length} />`)}
      </svg>
    </div>
    <p class="muted">Width is the number of calls, dashed red lines have failures. Enter on a row opens its calls in Logs.</p>
    <${Grid} table=${table} label="Calls" onOpen=${open} />`;
}

/** @param {{edge: import('../map/layout.js').Edge, from: import('../map/layout.js').Place, to: import('../map/layout.js').Place, nth: number}} props */
function EdgeLabel({ edge, from, to, nth }) {
  const text = `${shortened(edge.type, 12)} ${count(edge.calls)}${edge.p95 === null ? '' : ` · ${milliseconds(edge.p95)}`}`;
  const x = from.x + WIDTH + (to.x - from.x - WIDTH) / 2, y = (from.y + to.y) / 2 + HEIGHT / 2 - 6 + nth * 14;
  return html`<text class=${`map-label${edge.failed > 0 ? ' problem' : ''}`} x=${x} y=${y} text-anchor="middle">${text}</text>`;
}

/** @param {string} text @param {number} most */
const shortened = (text, most) => (text.length > most ? text.slice(0, most - 1) + '…' : text);
