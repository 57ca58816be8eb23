// The command list: screens, applications, tables, saved queries and choices, found by a few letters.

import { html, signal, useEffect, useState } from '../vendor/preact.js';
import { address, go } from '../lib/address.js';
import { get } from '../lib/api.js';
import { application, applications } from '../lib/apps.js';
import { theme, zone } from '../lib/preferences.js';
import { RANGES, setRange } from '../lib/time.js';
import { SCREENS } from '../screens/list.js';
import { Dialog } from './dialog.js';
import { openHelp } from './help.js';

const shown = signal(false);

/** @typedef {{title: string, kind: string, run: () => void}} Command */

export function openCommands() {
  shown.value = true;
}

const TABLES = ['requests', 'dependencies', 'exceptions', 'traces', 'customEvents', 'pageViews', 'availabilityResults', 'browserTimings',
  'customMetrics', 'performanceCounters'];

/** @returns {Command[]} */
function commands() {
  const hasApplication = application.value !== null;
  return [
    ...SCREENS.filter(({ group }) => group !== '').map((screen) => ({
      title: screen.title, kind: 'Screen', run: () => go({ screen: screen.name, params: {} }),
    })),
    ...(applications.value ?? []).map((app) => ({
      title: app.name, kind: 'Application',
      run: () => go({ app: app.name, screen: address.value.screen === 'applications' ? 'overview' : address.value.screen }),
    })),
    ...(hasApplication ? TABLES : []).map((table) => ({
      title: table, kind: 'Table', run: () => go({ screen: 'logs', params: { q: `${table}\n| order by timestamp desc\n| take 100` } }),
    })),
    ...RANGES.map(([text, label]) => ({ title: label, kind: 'Time range', run: () => setRange(text) })),
    { title: 'Colours: system', kind: 'Display', run: () => { theme.value = 'system'; } },
    { title: 'Colours: light', kind: 'Display', run: () => { theme.value = 'light'; } },
    { title: 'Colours: dark', kind: 'Display', run: () => { theme.value = 'dark'; } },
    { title: 'Times: local', kind: 'Display', run: () => { zone.value = 'local'; } },
    { title: 'Times: UTC', kind: 'Display', run: () => { zone.value = 'utc'; } },
    { title: 'Keys', kind: 'Help', run: openHelp },
    { title: 'API reference', kind: 'Help', run: () => { location.href = '/docs'; } },
  ];
}

export function Commands() {
  return shown.value ? html`<${List} />` : null;
}

function List() {
  const [text, setText] = useState('');
  const [at, setAt] = useState(0);
  const [saved, setSaved] = useState(/** @type {Command[]} */ ([]));
  const [books, setBooks] = useState(/** @type {Command[]} */ ([]));
  const app = application.value?.name ?? '';
  useEffect(() => {
    if (app === '') return;
    get(`/portal/api/apps/${encodeURIComponent(app)}/queries`).then(({ queries }) => {
      setSaved(queries.map((/** @type {any} */ query) => ({
        title: query.name, kind: 'Saved query', run: () => go({ screen: 'logs', params: { q: query.text } }),
      })));
    }, () => {
      // Without them the list has everything else.
    });
    get(`/portal/api/apps/${encodeURIComponent(app)}/workbooks`).then(({ workbooks }) => {
      setBooks(workbooks.map((/** @type {any} */ book) => ({ title: book.name, kind: 'Workbook', run: () => go({ screen: 'workbooks', params: new URLSearchParams({ w: book.name }) }) })));
    }, () => {
      // As above.
    });
  }, [app]);
  const close = () => {
    shown.value = false;
  };
  const words = text.toLowerCase().split(/\s+/).filter((word) => word !== '');
  const found = [...commands(), ...saved, ...books].filter(({ title, kind }) => {
    const all = `${title} ${kind}`.toLowerCase();
    return words.every((word) => all.includes(word));
  }).slice(0, 50);
  const chosen = Math.min(at, found.length - 1);
  const run = (/** @type {Command | undefined} */ command) => {
    close();
    command?.run();
  };
  useEffect(() => document.getElementById(`command-${chosen}`)?.scrollIntoView({ block: 'nearest' }), [chosen]);
  return html`<${Dialog} title="Commands" onClose=${close} className="commands">
    <input class="input" role="combobox" aria-label="Command" aria-expanded="true" aria-controls="commands" autocomplete="off"
      aria-activedescendant=${found.length > 0 ? `command-${chosen}` : undefined} placeholder="Screen, application, table, time range …" value=${text}
      onInput=${(/** @type {any} */ event) => { setText(event.currentTarget.value); setAt(0); }}
      onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
        const steps = /** @type {Record<string, number>} */ ({ ArrowDown: 1, ArrowUp: -1, PageDown: 10, PageUp: -10 });
        if (event.key in steps) {
          event.preventDefault();
          setAt(Math.max(0, Math.min(found.length - 1, chosen + steps[event.key])));
        } else if (event.key === 'Enter') {
          event.preventDefault();
          run(found[chosen]);
        }
      }} />
    <ul id="commands" role="listbox" aria-label="Commands">
      ${found.map((command, index) => html`<li key=${command.kind + command.title} id=${`command-${index}`} role="option" aria-selected=${index === chosen}
        onClick=${() => run(command)}><span>${command.title}</span><span class="muted">${command.kind}</span></li>`)}
    </ul>
    ${found.length === 0 && html`<p class="muted">Nothing has these letters.</p>`}
  </${Dialog}>`;
}
