// Failures: which operations, dependencies and exceptions fail, and single failures that lead to their operation.

import { html } from '../vendor/preact.js';
import { address, go } from '../lib/address.js';
import { count, time } from '../lib/time.js';
import { Link, operation } from '../shell/link.js';
import { Newest } from '../shell/newest.js';
import { Panel } from '../shell/panel.js';
import { objects } from '../shell/run.js';
import { Table } from '../shell/table.js';

export const title = 'Failures';

/** @type {import('../shell/panel.js').PanelData[]} */
export const panels = [
  {
    title: 'Failures over time', whole: true,
    query: `union (requests | where success == false), (dependencies | where success == false), exceptions
| summarize sum(itemCount) by bin(timestamp, {bin}), itemType
| render columnchart with (kind=stacked)`,
  },
  {
    title: 'Operations by failures', whole: true,
    query: `requests
| summarize total = sum(itemCount), failed = sumif(itemCount, success == false), people = dcountif(user_Id, success == false) by operation_Name
| where failed > 0
| order by failed desc
| take 50`,
  },
  {
    title: 'Result codes',
    query: `requests
| where success == false
| summarize failed = sum(itemCount) by resultCode
| order by failed desc
| take 20`,
  },
  {
    title: 'Failed dependencies',
    query: `dependencies
| summarize total = sum(itemCount), failed = sumif(itemCount, success == false) by type, target, name
| where failed > 0
| order by failed desc
| take 20`,
  },
  {
    title: 'Exceptions by problem', whole: true,
    query: `exceptions
| summarize n = sum(itemCount), roles = make_set(cloud_RoleName, 10), latest = max(timestamp) by problemId, type, method
| order by n desc
| take 50`,
  },
];

/** Single failures of what is chosen. */
export const samples = {
  all: {
    title: 'Samples',
    query: `union (requests | where success == false), exceptions
| order by timestamp desc
| take 20
| project timestamp, itemType, name = iff(itemType == "exception", type, name), detail = iff(itemType == "exception", outerMessage, resultCode), operation_Id, itemId`,
  },
  operation: {
    title: 'Samples',
    query: `requests
| where success == false and operation_Name == {operation}
| order by timestamp desc
| take 20
| project timestamp, itemType, name, detail = resultCode, operation_Id, itemId`,
  },
  problem: {
    title: 'Samples',
    query: `exceptions
| where problemId == {problem}
| order by timestamp desc
| take 20
| project timestamp, itemType, name = type, detail = outerMessage, operation_Id, itemId`,
  },
};

/** @param {{app: string}} properties */
export function Screen({ app }) {
  const { params } = address.value;
  const [chosen, problem] = [params.get('operation'), params.get('problem')];
  const [overTime, operations, codes, dependencies, exceptions] = panels;
  const sample = chosen !== null ? samples.operation : problem !== null ? samples.problem : samples.all;
  const choose = (/** @type {Record<string, string | null>} */ what) => go({ params: { operation: null, problem: null, ...what } });
  return html`<div class="screen">
    <header><h1>Failures</h1>
      ${(chosen ?? problem) !== null && html`<span>Samples of <strong>${chosen ?? problem}</strong>
        <button class="btn quiet" onClick=${() => choose({})}>Show all</button></span>`}</header>
    <${Newest} app=${app} />
    <div class="two">
      <div class="stack">
        <${Panel} app=${app} panel=${overTime} empty="No failures in this time range." />
        <${Panel} app=${app} panel=${operations} empty="No request failed in this time range.">${(/** @type {any} */ result) => html`
          <${Table} label="Operations by failures" head=${['Operation', '#Failed', '#Total', '#People']}
            rows=${objects(result).map((row) => ({
              key: row.operation_Name, chosen: row.operation_Name === chosen,
              cells: [html`<button class="link" aria-pressed=${row.operation_Name === chosen} onClick=${() => choose({ operation: row.operation_Name })}>${row.operation_Name || '(no name)'}</button>`,
                html`<span class="failed-text">${count(row.failed)}</span>`, count(row.total), count(row.people)],
            }))} />`}</${Panel}>
        <${Panel} app=${app} panel=${exceptions} empty="No exceptions in this time range.">${(/** @type {any} */ result) => html`
          <${Table} label="Exceptions by problem" head=${['Problem', 'Roles', 'Last', '#Count']}
            rows=${objects(result).map((row) => ({
              key: `${row.problemId} ${row.type} ${row.method}`, chosen: row.problemId === problem,
              cells: [html`<button class="link" aria-pressed=${row.problemId === problem} onClick=${() => choose({ problem: row.problemId })}>${row.problemId || row.type || '(no problem)'}</button>
                ${row.method !== '' && html`<div class="muted mono">${row.method}</div>`}`,
                set(row.roles), html`<time datetime=${row.latest}>${time(row.latest)}</time>`, count(row.n)],
            }))} />`}</${Panel}>
      </div>
      <div class="stack">
        <${Panel} app=${app} panel=${sample} values=${{ operation: chosen ?? '', problem: problem ?? '' }} empty="No failures in this time range.">${(/** @type {any} */ result) => html`
          <${Table} label="Samples" head=${['Time', 'What']} rows=${objects(result).map((row) => ({
            key: row.itemId, chosen: false,
            cells: [html`<time class="mono" datetime=${row.timestamp}>${time(row.timestamp)}</time>`,
              html`<${Link} step=${operation(row.operation_Id, row.itemId)}>${row.name || '(no name)'}</${Link}> <span class="muted">${String(row.detail).slice(0, 200)}</span>`],
          }))} />`}</${Panel}>
        <${Panel} app=${app} panel=${codes} empty="No request failed in this time range.">${(/** @type {any} */ result) => html`
          <${Table} label="Result codes" head=${['Result code', '#Failed']}
            rows=${objects(result).map((row) => ({ key: row.resultCode, chosen: false, cells: [row.resultCode || '(none)', count(row.failed)] }))} />`}</${Panel}>
        <${Panel} app=${app} panel=${dependencies} empty="No dependency failed in this time range.">${(/** @type {any} */ result) => html`
          <${Table} label="Failed dependencies" head=${['Dependency', '#Failed', '#Total']}
            rows=${objects(result).map((row) => ({
              key: `${row.type} ${row.target} ${row.name}`, chosen: false,
              cells: [html`${row.name || row.target}<div class="muted">${row.type} · ${row.target}</div>`, html`<span class="failed-text">${count(row.failed)}</span>`, count(row.total)],
            }))} />`}</${Panel}>
      </div>
    </div>
  </div>`;
}

/** The elements of a set, which a reply has as JSON. @param {any} value */
function set(value) {
  try {
    const list = typeof value === 'string' ? JSON.parse(value) : value;
    return Array.isArray(list) ? list.filter((/** @type {any} */ text) => text !== '').join(', ') : String(value);
  } catch {
    return String(value);
  }
}
