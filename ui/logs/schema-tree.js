/** The tables with their columns, and the frequent keys of property bags. A name is written at the caret. */
import { html, useEffect, useState } from '../vendor/preact.js';
import { range } from '../lib/time.js';
import { Text } from '../result/cell.js';
import { pathReference, reference } from '../kql/text.js';
import { keysOf, schemaOf } from './schema-list.js';

/** @param {{store: import('./store.js').LogsStore}} props */
export function SchemaTree({ store }) {
  const [tables, setTables] = useState(/** @type {import('./schema-list.js').SchemaTable[] | null} */ (null));
  const [problem, setProblem] = useState('');
  const [needle, setNeedle] = useState('');
  useEffect(() => {
    schemaOf(store.app.id).then(setTables).catch((error) => setProblem(error.message));
  }, [store]);
  if (problem) return html`<p class="note error">${problem}</p>`;
  if (!tables) return null;
  const wanted = needle.toLowerCase();
  const shown = tables.map((table) => ({ table, columns: table.columns.filter((column) => column.name.toLowerCase().includes(wanted)) }))
    .filter(({ table, columns }) => table.name.toLowerCase().includes(wanted) || columns.length > 0);
  return html`
    <label class="visually-hidden" for="schema-find">Find a table or column</label>
    <input id="schema-find" class="input" type="search" placeholder="Find a table or column" value=${needle} onInput=${(/** @type {any} */ event) => setNeedle(event.target.value)} />
    ${shown.map(({ table, columns }) => html`<${TableNode} key=${table.name} store=${store} table=${table} columns=${wanted !== '' && columns.length > 0 ? columns : table.columns} isOpen=${wanted !== '' && columns.length > 0} />`)}
    ${shown.length === 0 && html`<p class="muted">No table and no column has this name.</p>`}`;
}

/** @param {{store: import('./store.js').LogsStore, table: import('./schema-list.js').SchemaTable, columns: {name: string, type: string}[], isOpen: boolean}} props */
function TableNode({ store, table, columns, isOpen }) {
  const [isOwnOpen, setOpen] = useState(false);
  const open = isOpen || isOwnOpen;
  const preview = () => {
    const text = `${reference(table.name)}\n| order by timestamp desc\n| take 50`;
    store.show(text);
    store.run(text);
  };
  return html`
    <div class="schema-table">
      <div class="schema-row">
        <button type="button" class="json-fold" aria-expanded=${open} aria-label=${`Columns of ${table.name}`} onClick=${() => setOpen(!open)}>${open ? '▾' : '▸'}</button>
        <button type="button" class="schema-name" title="Write at the caret" onClick=${() => store.editor?.insert(reference(table.name))}><${Text} text=${table.name} /></button>
        <button type="button" class="tiny" title="The newest 50 rows" aria-label=${`Newest rows of ${table.name}`} onClick=${preview}>rows</button>
      </div>
      ${open && html`<ul class="schema-columns">${columns.map((column) => html`<${ColumnNode} key=${column.name} store=${store} table=${table.name} column=${column} />`)}</ul>`}
    </div>`;
}

/** @param {{store: import('./store.js').LogsStore, table: string, column: {name: string, type: string}}} props */
function ColumnNode({ store, table, column }) {
  const [keys, setKeys] = useState(/** @type {{key: string, items: number}[] | null} */ (null));
  const [state, setState] = useState(/** @type {'' | 'open' | 'asking' | 'failed'} */ (''));
  const isBag = column.type === 'dynamic';
  const toggle = async () => {
    if (state === 'open') return setState('');
    setState('asking');
    try {
      setKeys(await keysOf(store.app.id, table, column.name, range.peek().timespan));
      setState('open');
    } catch {
      setState('failed');
    }
  };
  return html`<li>
    <div class="schema-row">
      ${isBag ? html`<button type="button" class="json-fold" aria-expanded=${state === 'open'} aria-label=${`Keys of ${column.name}`} onClick=${toggle}>${state === 'open' ? '▾' : '▸'}</button>` : html`<span class="json-fold" aria-hidden="true"></span>`}
      <button type="button" class="schema-name" title="Write at the caret" onClick=${() => store.editor?.insert(reference(column.name))}><${Text} text=${column.name} /></button>
      <span class="muted schema-type">${column.type}</span>
    </div>
    ${state === 'failed' && html`<p class="muted">The keys could not be read.</p>`}
    ${state === 'open' && html`<ul class="schema-columns">${keys?.length === 0 ? html`<li class="muted">no keys in this time range</li>` : keys?.map(({ key, items }) => html`<li key=${key}><div class="schema-row"><span class="json-fold" aria-hidden="true"></span>
      <button type="button" class="schema-name" onClick=${() => store.editor?.insert(pathReference(column.name, [key]))}><${Text} text=${key} /></button><span class="muted schema-type">${items.toLocaleString('en-US')}</span></div></li>`)}</ul>`}
  </li>`;
}
