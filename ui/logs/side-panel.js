/** Beside the editor: tables, saved queries, examples, history. */
import { html, useEffect, useState } from '../vendor/preact.js';
import { ago } from '../lib/time.js';
import { Text } from '../result/cell.js';
import { EXAMPLES } from './examples.js';
import { changes as historyChanges, clearHistory, historyOf, toggleStar } from './history-list.js';
import { changes as savedChanges, removeQuery, savedOf } from './saved-list.js';
import { SchemaTree } from './schema-tree.js';

const PARTS = /** @type {const} */ (['Tables', 'Saved', 'Examples', 'History']);

/** @param {{store: import('./store.js').LogsStore}} props */
export function SidePanel({ store }) {
  const [part, setPart] = useState(/** @type {typeof PARTS[number]} */ ('Tables'));
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const at = PARTS.indexOf(part);
    const to = event.key === 'ArrowRight' ? (at + 1) % PARTS.length : event.key === 'ArrowLeft' ? (at + PARTS.length - 1) % PARTS.length : null;
    if (to === null) return;
    event.preventDefault();
    setPart(PARTS[to]);
    requestAnimationFrame(() => document.getElementById(`side-${PARTS[to]}`)?.focus());
  };
  return html`
    <aside class="logs-side" aria-label="Tables and queries">
      <div class="tabs" role="tablist" aria-label="Tables and queries" onKeyDown=${onKeyDown}>
        ${PARTS.map((name) => html`<button key=${name} id=${`side-${name}`} type="button" role="tab" class="tab" aria-selected=${name === part} aria-controls="side-content" tabindex=${name === part ? 0 : -1} onClick=${() => setPart(name)}>${name}</button>`)}
      </div>
      <div class="side-content" id="side-content" role="tabpanel" aria-labelledby=${`side-${part}`} tabindex="0">
        ${part === 'Tables' ? html`<${SchemaTree} store=${store} />` : part === 'Saved' ? html`<${SavedList} store=${store} />` : part === 'Examples' ? html`<${ExampleList} store=${store} />` : html`<${HistoryList} store=${store} />`}
      </div>
    </aside>`;
}

/** @param {{store: import('./store.js').LogsStore}} props */
function SavedList({ store }) {
  const [list, setList] = useState(/** @type {import('./saved-list.js').Saved[] | null} */ (null));
  const [problem, setProblem] = useState('');
  const [asked, setAsked] = useState('');
  useEffect(() => {
    savedOf(store.app.id).then(setList).catch((error) => setProblem(error.message));
  }, [store, savedChanges.value]);
  if (problem) return html`<p class="note error">${problem}</p>`;
  if (list === null) return null;
  if (list.length === 0) return html`<p class="muted">No query is saved yet. “Save” above the editor keeps one for everyone who reads this application.</p>`;
  return html`<ul class="side-list">${list.map((saved) => html`<li key=${saved.name}>
    <button type="button" class="side-item" onClick=${() => store.openSaved(saved.name)}><strong><${Text} text=${saved.name} /></strong><span class="muted">${saved.by ?? ''}</span></button>
    ${asked === saved.name ? html`<button type="button" class="tiny problem" onClick=${() => removeQuery(store.app.id, saved).catch((error) => setProblem(error.message))}>Delete for everyone</button><button type="button" class="tiny" onClick=${() => setAsked('')}>Keep</button>`
      : html`<button type="button" class="tiny" aria-label=${`Delete ${saved.name}`} onClick=${() => setAsked(saved.name)}>✕</button>`}</li>`)}</ul>`;
}

/** Opens a text in a tab and runs it. @param {import('./store.js').LogsStore} store @param {string} text @param {string} title */
function open(store, text, title) {
  store.show(text, title);
  store.run(text);
}

/** @param {{store: import('./store.js').LogsStore}} props */
function ExampleList({ store }) {
  const groups = [...new Set(EXAMPLES.map((example) => example.group))];
  return groups.map((group) => html`<h2 class="side-head" key=${group}>${group}</h2><ul class="side-list">${EXAMPLES.filter((example) => example.group === group).map((example) => html`<li key=${example.title}>
    <button type="button" class="side-item" onClick=${() => open(store, example.query, '')}>${example.title}</button></li>`)}</ul>`);
}

/** @param {{store: import('./store.js').LogsStore}} props */
function HistoryList({ store }) {
  historyChanges.value;
  const [needle, setNeedle] = useState('');
  const now = Date.now();
  const all = historyOf(store.app.id);
  const runs = all.filter((run) => run.text.toLowerCase().includes(needle.toLowerCase())).sort((a, b) => Number(b.star ?? false) - Number(a.star ?? false));
  if (all.length === 0) return html`<p class="muted">Queries that were run here will be listed: by this browser alone, until you sign out.</p>`;
  return html`
    <label class="visually-hidden" for="history-find">Find in the history</label>
    <input id="history-find" class="input" type="search" placeholder="Find" value=${needle} onInput=${(/** @type {any} */ event) => setNeedle(event.target.value)} />
    <ul class="side-list">${runs.map((run) => html`<li key=${run.text}>
      <button type="button" class="side-item" onClick=${() => open(store, run.text, '')}><code><${Text} text=${run.text.length > 160 ? run.text.slice(0, 160) + '…' : run.text} lines=${true} /></code>
        <span class="muted">${ago(run.at, now)}, ${run.rows.toLocaleString('en-US')} rows</span></button>
      <button type="button" class="tiny" aria-pressed=${run.star ?? false} aria-label="Star" title="Keep with a star" onClick=${() => toggleStar(store.app.id, run.text)}>${run.star ? '★' : '☆'}</button></li>`)}</ul>
    <button type="button" class="btn quiet" onClick=${() => clearHistory(store.app.id)}>Forget all without a star</button>`;
}
