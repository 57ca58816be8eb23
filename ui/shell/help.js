// The list of keys.

import { html, signal } from '../vendor/preact.js';
import { bindings } from '../lib/keys.js';
import { letters } from '../lib/preferences.js';
import { Dialog } from './dialog.js';

const shown = signal(false);

export function openHelp() {
  shown.value = true;
}

/** Keys of parts that handle them themselves. @type {readonly [string, [string, string][]][]} */
const PARTS = [
  ['Editor', [
    ['Shift+Enter, Ctrl+Enter', 'Run the statement with the caret, or the selection'], ['Esc', 'Stop'], ['Ctrl+Space', 'Complete'],
    ['F8', 'Next problem'], ['Shift+Alt+F', 'Format'], ['Ctrl+]', 'Indent'], ['Tab', 'Leave the editor'],
  ]],
  ['Table', [
    ['Arrows, Page, Home, End', 'Move'], ['Enter', 'Open the cell'], ['Space', 'Select the row'], ['Ctrl+C', 'Copy the selection'],
    ['f, Shift+F', 'Filter for or without this value'],
  ]],
  ['Operation', [['Arrows', 'Move, fold and unfold'], ['e', 'Next failure'], ['[, ]', 'Show less or more depth']]],
];

export function Help() {
  if (!shown.value) return null;
  const close = () => {
    shown.value = false;
  };
  const here = bindings.value.filter((binding, index, all) => all.findIndex(({ keys }) => keys === binding.keys) === index);
  return html`<${Dialog} title="Keys" onClose=${close} className="help">
    <h2>Keys</h2>
    <div class="columns">
      <${Keys} title="Everywhere" keys=${here.map(({ keys, description }) => [keys, description]).reverse()} />
      ${PARTS.map(([title, keys]) => html`<${Keys} key=${title} title=${title} keys=${keys} />`)}
    </div>
    <label class="check"><input type="checkbox" checked=${letters.value === 'on'} onChange=${(/** @type {any} */ event) => {
      letters.value = event.currentTarget.checked ? 'on' : 'off';
    }} /> Single letters are keys</label>
    <p><button class="btn" onClick=${close}>Close</button></p>
  </${Dialog}>`;
}

/** @param {{title: string, keys: [string, string][]}} properties */
function Keys({ title, keys }) {
  return html`<section><h3>${title}</h3><dl class="keys">
    ${keys.map(([key, description]) => html`<div key=${key}><dt><kbd>${key}</kbd></dt><dd>${description}</dd></div>`)}
  </dl></section>`;
}
