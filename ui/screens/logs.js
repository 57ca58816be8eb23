/** Logs: the editor, the tables, and the result of a query. */
import { html, useEffect, useMemo, useState } from '../vendor/preact.js';
import { address, go } from '../lib/address.js';
import { applications } from '../lib/apps.js';
import { bind } from '../lib/keys.js';
import { range } from '../lib/time.js';
import { EditorBox } from '../logs/editor-box.js';
import { EXAMPLES } from '../logs/examples.js';
import { ResultPane } from '../logs/result-pane.js';
import { SidePanel } from '../logs/side-panel.js';
import { LogsStore } from '../logs/store.js';
import { TabStrip } from '../logs/tab-strip.js';
import { Toolbar } from '../logs/toolbar.js';
import { stylesheet } from '../result/style.js';

stylesheet(new URL('./logs.css', import.meta.url));

export const title = 'Logs';

/** Every example is a query of this screen. */
export const panels = EXAMPLES.map(({ title: name, query }) => ({ title: name, query }));

/** @param {{app: any}} props `app`: the application, or its name in the address */
export function Screen({ app }) {
  const known = typeof app === 'string' ? applications.value?.find((one) => one.name === app || one.id === app) ?? { id: app, name: app } : app;
  return known ? html`<${Logs} key=${known.id} app=${known} />` : null;
}

/** @param {{app: {id: string, name: string}}} props */
function Logs({ app }) {
  const store = useMemo(() => new LogsStore(app), [app.id]);
  const [isSideOpen, setSideOpen] = useState(() => matchMedia('(min-width: 56em)').matches);
  useEffect(() => () => store.close(), [store]);
  // The address and the range are the state: what they say is run.
  useEffect(() => void store.follow(), [store, address.value, range.value.text]);
  useEffect(() => {
    const unbind = [
      bind('Escape', 'Logs: stop the query', () => store.stop()),
      bind('Ctrl+Enter', 'Logs: run the query', () => store.editor && store.run(store.editor.chosen())),
      bind('i', 'Logs: go to the editor', () => store.editor?.focus()),
    ];
    return () => unbind.forEach((end) => end());
  }, [store]);
  return html`
    <div class=${`logs${isSideOpen ? '' : ' side-closed'}`}>
      ${isSideOpen && html`<${SidePanel} store=${store} />`}
      <div class="logs-main">
        <${TabStrip} store=${store} isSideOpen=${isSideOpen} onSide=${() => setSideOpen(!isSideOpen)} />
        <${Toolbar} store=${store} />
        <${EditorBox} store=${store} />
        <${ResultPane} store=${store} onRange=${(/** @type {string} */ t) => go({ params: { t } })} />
      </div>
      <p class="visually-hidden" role="status" aria-live="polite">${store.message.value}</p>
    </div>`;
}
