/** Operation: everything that one operation did, over time. */
import { html, useEffect, useMemo, useRef, useState } from '../vendor/preact.js';
import { address, go } from '../lib/address.js';
import { query } from '../lib/api.js';
import { applications } from '../lib/apps.js';
import { bind } from '../lib/keys.js';
import { range, time } from '../lib/time.js';
import { zone } from '../lib/preferences.js';
import { openInLogs } from '../kql/link.js';
import { Grid } from '../result/grid.js';
import { Text } from '../result/cell.js';
import { countText, durationText } from '../result/values.js';
import { Details } from '../trace/details.js';
import { MOST_ITEMS, RECENT, operationQuery } from '../trace/related.js';
import { itemsOf, treeOf } from '../trace/tree.js';
import { Waterfall } from '../trace/waterfall.js';

export const title = 'Operation';

/** `{operation}`: the id of the operation, as a string literal. */
export const panels = [
  { title: 'Items of the operation', query: operationQuery('{operation}').replace('"{operation}"', '{operation}') },
  { title: 'Latest operations', query: RECENT },
];

/** @param {{app: any}} props `app`: the application, or its name in the address */
export function Screen({ app }) {
  const known = typeof app === 'string' ? applications.value?.find((one) => one.name === app || one.id === app) ?? { id: app, name: app } : app;
  if (!known) return null;
  const id = address.value.params.get('id') ?? '';
  return id === '' ? html`<${Recent} app=${known} />` : html`<${Operation} key=${`${known.id} ${id}`} app=${known} id=${id} />`;
}

/**
 * What a query answers, asked again when the range changes.
 * @param {{id: string}} app @param {string} text
 */
function useQuery(app, text) {
  const [answer, setAnswer] = useState(/** @type {{result: any, error: any} | null} */ (null));
  const { timespan } = range.value;
  useEffect(() => {
    const abort = new AbortController();
    query(app.id, text, { timespan, signal: abort.signal }).then((result) => setAnswer({ result, error: null }))
      .catch((error) => error.name !== 'AbortError' && setAnswer({ result: null, error }));
    return () => abort.abort();
  }, [app.id, text, timespan]);
  return answer;
}

/** @param {{app: {id: string, name: string}}} props */
function Recent({ app }) {
  const answer = useQuery(app, RECENT);
  const [id, setId] = useState('');
  const open = (/** @type {string} */ operation) => operation.trim() && go({ params: { id: operation.trim() } });
  const table = answer?.result?.tables[0];
  return html`
    <div class="operation">
      <form class="operation-find" onSubmit=${(/** @type {Event} */ event) => { event.preventDefault(); open(id); }}>
        <label>Operation id <input class="input mono" size="36" value=${id} onInput=${(/** @type {any} */ event) => setId(event.target.value)} /></label>
        <button class="btn primary">Open</button>
        <span class="muted">or choose one of the latest, with Enter</span>
        <button type="button" class="btn quiet" onClick=${() => openInLogs(RECENT)}>Query</button>
      </form>
      ${answer?.error && html`<p class="note error" role="alert"><${Text} text=${answer.error.message} /></p>`}
      ${table && table.rows.length === 0 && html`<p class="note">No request began in this time range (${range.value.label}).</p>`}
      ${table && table.rows.length > 0 && html`<div class="operation-list"><${Grid} table=${table} label="Latest operations" zone=${zone.value} onOpen=${(/** @type {number} */ place) => open(String(table.rows[place][2]))} /></div>`}
    </div>`;
}

/** @param {{app: {id: string, name: string}, id: string}} props */
function Operation({ app, id }) {
  const text = useMemo(() => operationQuery(id), [id]);
  const answer = useQuery(app, text);
  const params = address.value.params;
  const find = useRef(/** @type {HTMLInputElement | null} */ (null));
  const [needle, setNeedle] = useState(params.get('find') ?? '');
  const [hasFocus, setFocus] = useState(false);
  const [isOpen, setOpen] = useState(true);
  const table = answer?.result?.tables[0];
  const items = useMemo(() => (table ? itemsOf(table) : []), [table]);
  const tree = useMemo(() => treeOf(items, id), [items, id]);
  const roles = useMemo(() => [...new Set(items.map((item) => item.role))].sort(), [items]);
  useEffect(() => bind('/', 'Operation: filter the items', () => find.current?.focus()), []);
  useEffect(() => {
    const timer = setTimeout(() => needle !== (params.get('find') ?? '') && go({ params: { find: needle || null } }, { replace: true }), 250);
    return () => clearTimeout(timer);
  }, [needle]);
  const asked = params.get('item');
  const selected = asked === null ? null : items.find((item) => item.itemId === asked || (asked.startsWith('#') && item.index === Number(asked.slice(1)))) ?? null;
  const span = useMemo(() => spanOf(params.get('w'), tree), [params.get('w'), tree]);
  const select = (/** @type {number | null} */ index, open = false) => {
    const item = index === null ? null : items[index];
    setFocus(open && isOpen);
    if (open) setOpen(true);
    go({ params: { item: item ? item.itemId || `#${item.index}` : null } }, { replace: true });
  };
  if (answer?.error) return html`<div class="operation"><p class="note error" role="alert"><${Text} text=${answer.error.message} />${answer.error.requestId && html` <span class="mono muted">Request ${answer.error.requestId}</span>`}</p></div>`;
  if (!table) return html`<div class="operation" aria-busy="true"></div>`;
  const first = tree.roots[0];
  const name = items.find((item) => item.itemType === 'request')?.name ?? first?.item.name ?? '';
  return html`
    <div class="operation">
      <header class="operation-head">
        <h2><${Text} text=${name || 'Operation'} /></h2>
        <span class="mono muted"><${Text} text=${id} /></span>
        ${items.length > 0 && html`<span>${time(tree.start, { milliseconds: true })}</span><span>${durationText(tree.end - tree.start)}</span><span>${countText(roles.length)} ${roles.length === 1 ? 'role' : 'roles'}</span>
          <span class=${tree.failures > 0 ? 'problem' : 'muted'}>${countText(tree.failures)} failed</span>`}
        <button type="button" class="btn quiet" onClick=${() => openInLogs(text)}>Query</button>
      </header>
      ${answer?.result.messages.map((/** @type {string} */ message) => html`<p class="note warn" key=${message}><${Text} text=${message} /></p>`)}
      ${items.length === MOST_ITEMS && html`<p class="note warn">The operation is cut: its first ${countText(MOST_ITEMS)} items are shown.</p>`}
      ${tree.orphans > 0 && html`<p class="note">${countText(tree.orphans)} ${tree.orphans === 1 ? 'item names a parent that is' : 'items name parents that are'} not here (sampled, not sent yet, of another application, or outside of the time range): they stand at the top, marked “orphan”.</p>`}
      ${items.length === 0 ? html`<${Nothing} />` : html`
        <div class="operation-find">
          <label class="visually-hidden" for="operation-filter">Filter the items</label>
          <input id="operation-filter" ref=${find} class="input" type="search" placeholder="Filter ( / ), such as failed, SQL, a name" size="34" value=${needle} onInput=${(/** @type {any} */ event) => setNeedle(event.target.value)} />
          <span class="muted">Arrows move and fold, e is the next failure, [ and ] the depth, + and - zoom, Enter opens</span>
        </div>
        <div class=${`operation-body${selected && isOpen ? ' open' : ''}`}>
          <div class="operation-tree"><${Waterfall} tree=${tree} roles=${roles} selected=${selected?.index ?? null} span=${span} needle=${needle} onSelect=${select}
            onSpan=${(/** @type {import('../trace/waterfall.js').Span | null} */ next) => go({ params: { w: next ? `${(next.from - tree.start).toFixed(3)}-${(next.to - tree.start).toFixed(3)}` : null } }, { replace: true })} /></div>
          ${selected && isOpen && html`<${Details} item=${selected} columns=${table.columns} operation=${id} hasFocus=${hasFocus} onClose=${() => {
            setOpen(false);
            setFocus(false);
            requestAnimationFrame(() => /** @type {HTMLElement | null} */ (document.querySelector('.waterfall'))?.focus());
          }} />`}
        </div>`}
    </div>`;
}

/** No item of this id in the range: the range is what one can change. */
function Nothing() {
  return html`<p class="note">No item of this operation is in the time range (${range.value.label}). <button type="button" class="btn" onClick=${() => go({ params: { t: 'P90D' } })}>Look in the last 90 days</button> <button type="button" class="btn quiet" onClick=${() => go({ params: { id: null, item: null } })}>Latest operations</button></p>`;
}

/** The times that the bars show, from the address: milliseconds after the start. @param {string | null} text @param {{start: number, end: number}} tree */
function spanOf(text, tree) {
  const match = /^(-?[\d.]+)-([\d.]+)$/.exec(text ?? '');
  if (match && Number(match[2]) > Number(match[1])) return { from: tree.start + Number(match[1]), to: tree.start + Number(match[2]) };
  const room = (tree.end - tree.start) * 0.02;
  return { from: tree.start - room, to: tree.end + room };
}
