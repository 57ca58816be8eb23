/** The tabs of Logs: drafts that the browser keeps as they are typed. */
import { html } from '../vendor/preact.js';
import { Text } from '../result/cell.js';
import { nameOf } from './tabs-list.js';

/** @param {{store: import('./store.js').LogsStore, isSideOpen: boolean, onSide: () => void}} props */
export function TabStrip({ store, isSideOpen, onSide }) {
  const tabs = store.tabs.value, active = store.active.value;
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    const at = tabs.findIndex((tab) => tab.id === active);
    const to = event.key === 'ArrowRight' ? at + 1 : event.key === 'ArrowLeft' ? at - 1 : event.key === 'Home' ? 0 : event.key === 'End' ? tabs.length - 1 : null;
    if (event.key === 'Delete') {
      event.preventDefault();
      store.closeTab(active);
    }
    if (to === null || !tabs[to]) return;
    event.preventDefault();
    store.activate(tabs[to].id);
    requestAnimationFrame(() => document.getElementById(`tab-${tabs[to].id}`)?.focus());
  };
  return html`
    <div class="tab-strip">
      <button type="button" class="tiny" aria-expanded=${isSideOpen} onClick=${onSide} title="Tables, saved queries, examples, history">${isSideOpen ? '⟨ Hide' : 'Tables ⟩'}</button>
      <div class="tabs" role="tablist" aria-label="Queries" onKeyDown=${onKeyDown}>
        ${tabs.map((tab) => html`<button key=${tab.id} id=${`tab-${tab.id}`} type="button" role="tab" class="tab" aria-selected=${tab.id === active} tabindex=${tab.id === active ? 0 : -1}
          onClick=${() => store.activate(tab.id)}><${Text} text=${nameOf(tab)} /></button>`)}
      </div>
      <button type="button" class="tiny" aria-label="Close this query" title="Close this query (Delete on its tab)" onClick=${() => store.closeTab(active)}>✕</button>
      <button type="button" class="tiny" aria-label="New query" title="New query" onClick=${() => {
        store.addTab();
        store.editor?.focus();
      }}>+</button>
    </div>`;
}
