/** The result of a query: what it says of itself, its rows as a grid or a chart, and a row beside it. */
import { html, useEffect, useMemo, useRef, useState } from '../vendor/preact.js';
import { address, go, href } from '../lib/address.js';
import { bind } from '../lib/keys.js';
import { lazy } from '../lib/lazy.js';
import { zone } from '../lib/preferences.js';
import { between } from '../lib/time.js';
import { Chart } from '../charts/chart.js';
import { NAMES, wordOf } from '../charts/shape.js';
import { predicate, withWhere } from '../kql/text.js';
import { Grid } from '../result/grid.js';
import { Text } from '../result/cell.js';
import { countText } from '../result/values.js';
import { Problems, Status } from './result-status.js';
import { Item, Menu } from './menu.js';
import { guessedRender, viewOf, viewParams } from './view.js';

/** Comes with the first row that is opened. */
const Viewer = lazy(() => import('../result/viewer.js'), 'Viewer');
/** Comes where there is nothing to show. */
const Newest = lazy(() => import('../shell/newest.js'), 'Newest');
/** So many rows are drawn; a chart of more is not read. */
const MOST_POINTS = 100_000;

/** @param {{store: import('./store.js').LogsStore, onRange: (t: string) => void}} props */
export function ResultPane({ store, onRange }) {
  const result = store.result.value, running = store.running.value;
  const params = address.value.params;
  const [table, setTable] = useState(0);
  useEffect(() => setTable(0), [result]);
  const shown = result?.tables[Math.min(table, result.tables.length - 1)];
  const isChart = shown !== undefined && (params.get('v') ?? (isDrawn(result?.render) && table === 0 ? 'chart' : 'table')) === 'chart';
  const filter = (/** @type {any} */ column, /** @type {any} */ value, /** @type {boolean} */ without, /** @type {(string | number)[]} */ path = []) => {
    if (!result) return;
    const condition = predicate(column, value, without, path);
    const whole = store.editor?.text() ?? store.tab.text, at = whole.indexOf(result.text);
    // The text that was run is changed where it stands in the editor; a text that is gone from there comes back.
    const base = at >= 0 ? whole : result.text, caret = at >= 0 ? at + result.text.length - 1 : result.text.length;
    const next = withWhere(base, caret, condition);
    if (at >= 0) store.editor?.replace(next.text, next.to);
    else store.show(next.text);
    const ran = at >= 0 ? next.text.slice(at, next.text.length - (whole.length - at - result.text.length)) : next.text;
    store.message.value = `Added: where ${condition}`;
    store.run(ran);
  };
  if (!result && !store.error.value && !running) return html`<div class="logs-empty"><${Newest} app=${store.app.name} /><p class="muted">Write a query, or choose a table or an example. A link to this page keeps text, time range and view.</p></div>`;
  return html`
    <section class=${`query-result${running && result ? ' old' : ''}`} aria-label="Result" aria-busy=${running !== null}>
      <${Problems} store=${store} />
      ${result && shown && html`
        <div class="result-bar">
          ${result.tables.length > 1 && html`<div class="tabs" role="group" aria-label="Results">${result.tables.map((one, index) => html`<button type="button" key=${index} class="tab" aria-pressed=${index === table} onClick=${() => setTable(index)}>${one.name === 'PrimaryResult' ? `Result ${index + 1}` : html`<${Text} text=${one.name} />`}</button>`)}</div>`}
          <div class="switch" role="group" aria-label="View">
            <button type="button" class="tab" aria-pressed=${!isChart} onClick=${() => go({ params: { v: 'table' } }, { replace: true })}>Table</button>
            <button type="button" class="tab" aria-pressed=${isChart} onClick=${() => go({ params: { v: 'chart' } }, { replace: true })}>Chart</button>
          </div>
          <${Status} store=${store} result=${result} count=${shown.count} />
        </div>
        ${isChart ? html`<${ChartView} result=${result} table=${shown} onRange=${onRange} />` : html`<${GridView} store=${store} key=${`${result.number}-${table}`} table=${shown} onFilter=${filter} />`}`}
      ${result && !shown && html`<p class="note">The query has no result to show.</p><${Status} store=${store} result=${result} count=${0} />`}
    </section>`;
}

/** @param {import('../charts/shape.js').Render | null | undefined} render */
const isDrawn = (render) => Boolean(render?.visualization) && !['table', 'list'].includes(render?.visualization.toLowerCase() ?? '');

/** @param {{result: import('./store.js').Result, table: import('./store.js').Result['tables'][number], onRange: (t: string) => void}} props */
function ChartView({ result, table, onRange }) {
  const [rows, setRows] = useState(/** @type {any[][] | null} */ (null));
  const kind = address.value.params.get('k');
  useEffect(() => {
    let isCurrent = true;
    setRows(null);
    table.source.all(MOST_POINTS).then((all) => isCurrent && setRows(all)).catch(() => {});
    return () => {
      isCurrent = false;
    };
  }, [table]);
  const whole = useMemo(() => (rows === null ? null : { name: table.name, columns: table.columns, rows }), [rows, table]);
  const render = useMemo(() => {
    const base = isDrawn(result.render) ? /** @type {any} */ (result.render) : guessedRender(table.columns);
    return kind && kind !== base.visualization ? { ...base, visualization: kind, kind: '' } : base;
  }, [result, table, kind]);
  if (!whole) return null;
  return html`
    <div class="chart-view">
      <${Menu} label=${wordOf(render.visualization)} kind="btn quiet" title="Kind of chart">${(/** @type {() => void} */ close) => Object.entries(NAMES).map(([name, word]) => html`
        <${Item} key=${name} checked=${name === render.visualization} onClick=${() => { go({ params: { k: name, v: 'chart' } }, { replace: true }); close(); }}>${word}<//>`)}<//>
      ${table.count > MOST_POINTS && html`<p class="note warn">The first ${countText(MOST_POINTS)} of ${countText(table.count)} rows are drawn.</p>`}
      <${Chart} key=${render.visualization} table=${whole} render=${render} label="Result" height=${340} onBrush=${(/** @type {number} */ from, /** @type {number} */ to) => onRange(between(Math.floor(from), Math.ceil(to)))} />
    </div>`;
}

/** @param {{store: import('./store.js').LogsStore, table: import('./store.js').Result['tables'][number], onFilter: (column: any, value: any, without: boolean, path?: (string | number)[]) => void}} props */
function GridView({ store, table, onFilter }) {
  const params = address.value.params;
  const view = useMemo(() => viewOf(params, table.columns.length), [params.get('sort'), params.get('hide'), params.get('find'), table]);
  const row = params.get('row'), column = params.get('cell');
  const place = row === null || !(Number(row) >= 0 && Number(row) < table.count) ? null : Number(row);
  const find = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [needle, setNeedle] = useState(view.needle);
  useEffect(() => bind('/', 'Logs: find in the result', () => find.current?.focus()), []);
  useEffect(() => {
    const timer = setTimeout(() => needle !== view.needle && go({ params: { find: needle || null } }, { replace: true }), 250);
    return () => clearTimeout(timer);
  }, [needle]);
  const onView = (/** @type {import('../result/grid.js').View} */ next) => go({ params: viewParams(next) }, { replace: true });
  const isOpen = place !== null;
  return html`
    <div class="grid-bar">
      <label class="visually-hidden" for="grid-find">Find in the result</label>
      <input id="grid-find" ref=${find} class="input" type="search" placeholder="Find in the rows ( / )" value=${needle} onInput=${(/** @type {any} */ event) => setNeedle(event.target.value)} />
      <${Menu} label=${view.hidden.length > 0 ? `Columns (${view.hidden.length} hidden)` : 'Columns'} kind="btn quiet">${() => [
        html`<${Item} onClick=${() => onView({ ...view, hidden: [] })}>Show all<//>`,
        ...table.columns.map((one, index) => html`<${Item} key=${index} checked=${!view.hidden.includes(index)} onClick=${() => onView({ ...view, hidden: view.hidden.includes(index) ? view.hidden.filter((at) => at !== index) : [...view.hidden, index] })}><${Text} text=${one.name} /><//>`),
      ]}<//>
      <span class="muted grid-hint">Enter opens a cell, Space a row, f and Shift+F filter, Ctrl+C copies</span>
    </div>
    <div class=${`grid-and-viewer${isOpen ? ' open' : ''}`}>
      <${Grid} source=${table.source} label="Result" zone=${zone.value} view=${view} onView=${onView} onFilter=${onFilter} onMessage=${(/** @type {string} */ text) => (store.message.value = text)}
        onOpen=${(/** @type {number} */ at, /** @type {number | null} */ cell) => go({ params: { row: at, cell } }, { replace: true })} />
      ${isOpen && html`<${Viewer} source=${table.source} place=${place} column=${column === null ? null : Number(column)} zone=${zone.value} onFilter=${onFilter} links=${links}
        onMessage=${(/** @type {string} */ text) => (store.message.value = text)} onClose=${() => {
          go({ params: { row: null, cell: null } }, { replace: true });
          requestAnimationFrame(() => /** @type {HTMLElement | null} */ (document.querySelector('.query-result .grid'))?.focus());
        }} />`}
    </div>`;
}

/** From a row to its operation. @param {import('../result/values.js').Column[]} columns @param {any[]} row */
function links(columns, row) {
  const value = (/** @type {string} */ name) => row[columns.findIndex((column) => column.name === name)];
  const operation = value('operation_Id');
  if (typeof operation !== 'string' || operation === '') return null;
  return html`<a class="btn quiet" href=${href({ screen: 'operation', params: { id: operation, item: typeof value('itemId') === 'string' ? value('itemId') : null, t: around(value('timestamp')) } })}>Operation</a>`;
}

/** A day around a time, so that an operation is found whatever the range of the page is. @param {any} timestamp */
function around(timestamp) {
  const at = Date.parse(timestamp ?? '');
  return Number.isFinite(at) ? between(at - 43_200_000, at + 43_200_000) : null;
}

