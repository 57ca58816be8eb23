/** What one does with a query: run, stop, save, copy, export. */
import { html, useState } from '../vendor/preact.js';
import { address, href, packed } from '../lib/address.js';
import { range } from '../lib/time.js';
import { Item, Menu } from './menu.js';
import { saveQuery } from './saved-list.js';
import { commandLine, curlLine } from './share.js';
import { LONGEST_ADDRESS } from './store.js';

/** @param {{store: import('./store.js').LogsStore}} props */
export function Toolbar({ store }) {
  const [isSaving, setSaving] = useState(false);
  const [formulas, setFormulas] = useState(false);
  const running = store.running.value;
  const result = store.result.value;
  const text = () => store.editor?.chosen() ?? store.tab.text;
  const copy = async (/** @type {string} */ what, /** @type {string} */ value) => {
    await navigator.clipboard.writeText(value);
    store.message.value = `Copied ${what}`;
  };
  const share = () => ({ origin: location.origin, app: store.app.id, text: result?.text ?? text(), timespan: range.value.timespan });
  const link = async () => {
    const { q, z } = await packed(text());
    if ((q ?? z ?? '').length > LONGEST_ADDRESS) {
      const saved = address.peek().params.get('saved');
      if (saved !== null) return copy('the link', location.origin + href({ screen: 'logs', params: { saved, t: range.value.text } }));
      store.message.value = 'This text is too long for a link. Save it first: the link then has its name.';
      setSaving(true);
      return undefined;
    }
    return copy('the link', location.origin + href({ screen: 'logs', params: { q, z, t: range.value.text } }));
  };
  const download = async (/** @type {'csv' | 'json' | 'parquet'} */ format) => {
    const table = result?.tables[0];
    if (!table) return;
    store.message.value = `Making the ${format} file …`;
    const blob = await table.source.file(format, { formulas });
    const anchor = document.createElement('a');
    anchor.href = URL.createObjectURL(blob);
    anchor.download = `${store.app.name}-${new Date().toISOString().slice(0, 19).replace(/[:T]/g, '-')}.${format}`;
    anchor.click();
    setTimeout(() => URL.revokeObjectURL(anchor.href), 60_000);
    store.message.value = `The ${format} file has ${table.count.toLocaleString('en-US')} rows`;
  };
  return html`
    <div class="logs-toolbar" role="toolbar" aria-label="Query">
      <button type="button" class="btn primary" onClick=${() => store.run(text())} title="Shift+Enter">Run</button>
      ${running && html`<button type="button" class="btn" onClick=${() => store.stop()} title="Escape">Stop</button>`}
      <span class="muted range-said">${range.value.label}</span>
      <span class="space"></span>
      <button type="button" class="btn quiet" onClick=${() => store.editor?.format()} title="Shift+Alt+F">Format</button>
      <button type="button" class="btn quiet" aria-expanded=${isSaving} onClick=${() => setSaving(!isSaving)}>Save</button>
      <${Menu} label="Copy" kind="btn quiet">${(/** @type {() => void} */ close) => {
        const item = (/** @type {string} */ label, /** @type {() => void} */ action) => html`<${Item} onClick=${() => { action(); close(); }}>${label}<//>`;
        return [item('Link to this query', link), item('As curl', () => copy('the curl line', curlLine(share()))), item('As hindsight query', () => copy('the command', commandLine(share()))), item('Text of the query', () => copy('the text', text()))];
      }}<//>
      <${Menu} label="Export" kind="btn quiet">${(/** @type {() => void} */ close) => {
        const item = (/** @type {'csv' | 'json' | 'parquet'} */ format, /** @type {string} */ label) => html`<${Item} onClick=${() => { download(format); close(); }}>${label}<//>`;
        if (!result || result.tables.length === 0) return html`<p class="menu-title" role="presentation">Run a query first</p>`;
        return [item('csv', 'CSV'), item('json', 'JSON'), item('parquet', 'Parquet'),
          html`<${Item} checked=${!formulas} onClick=${() => setFormulas(!formulas)}>CSV: put ' before text that begins like a formula (= + - @)<//>`,
          html`<${Item} onClick=${() => { copy('the command', commandLine(share())); close(); }}>Copy the hindsight query line for more rows<//>`];
      }}<//>
    </div>
    ${isSaving && html`<${SaveForm} store=${store} text=${text()} onClose=${() => setSaving(false)} />`}`;
}

/** @param {{store: import('./store.js').LogsStore, text: string, onClose: () => void}} props */
function SaveForm({ store, text, onClose }) {
  const [name, setName] = useState(store.tab.title);
  const [problem, setProblem] = useState('');
  const save = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (name.trim() === '') return setProblem('Name the query.');
    try {
      await saveQuery(store.app.id, name.trim(), text, range.peek().text);
      store.renameTab(store.active.peek(), name.trim());
      if (text.length > LONGEST_ADDRESS) store.openSaved(name.trim());
      store.message.value = `Saved ${name.trim()}`;
      onClose();
    } catch (error) {
      setProblem(/** @type {Error} */ (error).message);
    }
  };
  return html`
    <form class="save-form" onSubmit=${save}>
      <label>Name <input class="input" value=${name} onInput=${(/** @type {any} */ event) => setName(event.target.value)} ref=${(/** @type {HTMLElement | null} */ element) => element && !element.dataset.shown && ((element.dataset.shown = 'yes'), element.focus())} /></label>
      <button class="btn primary">Save for everyone who reads this application</button>
      <button type="button" class="btn quiet" onClick=${onClose}>Cancel</button>
      ${problem && html`<p class="note error">${problem}</p>`}
    </form>`;
}
