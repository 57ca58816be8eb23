// Search: items that hold a text, newest first, with a histogram by type. A row opens in place and leads to its operation.

import { html, useEffect, useRef, useState } from '../vendor/preact.js';
import { Chart } from '../charts/chart.js';
import { address, go } from '../lib/address.js';
import { bind } from '../lib/keys.js';
import { literal } from '../lib/kql-text.js';
import { binOf, range } from '../lib/time.js';
import { Item } from '../shell/item.js';
import { Newest } from '../shell/newest.js';
import { objects, useQuery } from '../shell/run.js';
import { Failure, Loading, QueryLink, Said } from '../shell/said.js';

export const title = 'Search';

/** The tables that are searched, with the names of their types. @type {readonly [string, string][]} */
export const TYPES = [
  ['requests', 'Requests'], ['dependencies', 'Dependencies'], ['exceptions', 'Exceptions'], ['traces', 'Traces'], ['customEvents', 'Events'],
  ['pageViews', 'Page views'], ['availabilityResults', 'Availability'],
];

/** How many items the list has at most. */
const MOST = 200;

/** What a failure is, by table; the others have none. @type {Record<string, string>} */
const FAILURES = {
  requests: '(requests | where success == false)', dependencies: '(dependencies | where success == false)', exceptions: 'exceptions',
  traces: '(traces | where severityLevel >= 3)', availabilityResults: '(availabilityResults | where success == false)',
};

/**
 * The text of the search.
 * @param {string} text
 * @param {readonly string[]} tables
 * @param {boolean} failuresOnly
 */
export function source(text, tables, failuresOnly) {
  if (!failuresOnly) return text === '' ? `union ${tables.join(', ')}` : `search in (${tables.join(', ')}) ${literal(text)}`;
  const failures = tables.map((table) => FAILURES[table]).filter((part) => part !== undefined);
  const from = failures.length === 0 ? `${tables[0]}\n| where false` : `union ${failures.join(', ')}`;
  return text === '' ? from : `${from}\n| where * has ${literal(text)}`;
}

/** @param {string} from */
export const listQuery = (from) => `${from}\n| order by timestamp desc\n| take ${MOST}`;

/** @param {string} from @param {string} bin */
export const histogramQuery = (from, bin) => `${from}\n| summarize sum(itemCount) by bin(timestamp, ${bin}), itemType\n| render columnchart with (kind=stacked)`;

/** What the test of panels runs. */
export const panels = [
  { title: 'Items', query: listQuery(source('', TYPES.map(([table]) => table), false)) },
  { title: 'Items with a text', query: listQuery(source('error', TYPES.map(([table]) => table), false)) },
  { title: 'Failures', query: listQuery(source('', TYPES.map(([table]) => table), true)) },
  { title: 'Items by type', query: histogramQuery(source('', TYPES.map(([table]) => table), false), '{bin}') },
];

/** @param {{app: string}} properties */
export function Screen({ app }) {
  const { params } = address.value;
  const text = params.get('text') ?? '';
  const chosen = (params.get('types') ?? '').split(',').filter((name) => TYPES.some(([table]) => table === name));
  const failuresOnly = params.get('failures') === '1';
  const tables = chosen.length > 0 ? chosen : TYPES.map(([table]) => table);
  const from = source(text, tables, failuresOnly);
  const [list, bars] = [listQuery(from), histogramQuery(from, binOf(range.value))];
  const items = useQuery(app, list);
  const histogram = useQuery(app, bars);
  const field = useRef(/** @type {HTMLInputElement | null} */ (null));
  useEffect(() => bind('/', 'Search text', () => field.current?.focus()), []);
  const rows = objects(items.result);
  const toggle = (/** @type {string} */ table) => {
    const next = tables.includes(table) ? tables.filter((name) => name !== table) : [...tables, table];
    go({ params: { types: next.length === 0 || next.length === TYPES.length ? null : TYPES.map(([name]) => name).filter((name) => next.includes(name)).join(',') } });
  };
  const [openItem, setOpen] = useState(params.get('item') ?? '');
  const open = (/** @type {string} */ id) => {
    setOpen(id);
    go({ params: { item: id } }, { replace: true });
  };
  return html`<div class="screen">
    <header><h1>Search</h1><${QueryLink} text=${list} className="btn" /></header>
    <search>
      <form class="form" onSubmit=${(/** @type {Event} */ event) => {
        event.preventDefault();
        go({ params: { text: field.current?.value.trim() ?? '', item: null } });
      }}>
        <label class="grow">Text <input ref=${field} class="input" type="search" name="text" defaultValue=${text} key=${text} autocomplete="off" spellcheck=${false}
          placeholder="A word of any column; an operation id" /></label>
        <button class="btn primary">Search</button>
      </form>
      <fieldset class="types"><legend class="visually-hidden">Types</legend>
        ${TYPES.map(([table, name]) => html`<label class="check" key=${table}><input type="checkbox" checked=${tables.includes(table)} onChange=${() => toggle(table)} /> ${name}</label>`)}
        <label class="check"><input type="checkbox" checked=${failuresOnly} onChange=${() => go({ params: { failures: failuresOnly ? null : '1' } })} /> Failures only</label>
      </fieldset>
    </search>
    <${Newest} app=${app} />
    <section class="panel" aria-label="Items by type" data-old=${histogram.old}><div class="body">
      <${Loading} run=${histogram} />
      ${histogram.error !== null ? html`<${Failure} error=${histogram.error} />`
        : histogram.result !== null && histogram.result.tables[0].rows.length > 0 && html`<div class="result">
          <${Chart} table=${histogram.result.tables[0]} render=${histogram.result.render} label="Items by type" /></div>`}
    </div></section>
    <div class="found" data-old=${items.old}>
      <${Loading} run=${items} />
      ${items.error !== null ? html`<${Failure} error=${items.error} again=${() => items.again()} />` : html`<${Said} run=${items} />`}
      ${items.result !== null && items.error === null && html`
        <p class="muted" role="status">${rows.length === 0 ? 'Nothing is found in this time range.'
          : rows.length === MOST ? `The newest ${MOST} items; there may be more.` : `${rows.length} ${rows.length === 1 ? 'item' : 'items'}, the newest first.`}</p>
        ${rows.length > 0 && html`<ul class="items">${rows.map((row) => html`<${Item} key=${row.itemId} row=${row} open=${row.itemId === openItem}
          onToggle=${() => open(row.itemId === openItem ? '' : row.itemId)} />`)}</ul>`}`}
    </div>
  </div>`;
}
