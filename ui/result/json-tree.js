/** A dynamic value as a tree of text. Large branches are drawn when they are opened, and in parts. */
import { html, useState } from '../vendor/preact.js';
import { Text } from './cell.js';

const PART = 200;
/** Longer texts are shown in parts. */
const LONG = 5000;

/**
 * @typedef {(path: (string | number)[], value: any, without: boolean) => void} OnFilter
 * @param {{value: any, onFilter?: OnFilter}} props
 */
export function JsonTree({ value, onFilter }) {
  return html`<div class="json-tree">${branch(value) ? html`<${Children} value=${value} path=${[]} onFilter=${onFilter} />` : html`<${Leaf} name=${null} value=${value} path=${[]} onFilter=${onFilter} />`}</div>`;
}

/** @param {any} value */
const branch = (value) => typeof value === 'object' && value !== null;

/** @param {{value: any, path: (string | number)[], onFilter?: OnFilter}} props */
function Children({ value, path, onFilter }) {
  const [shown, setShown] = useState(PART);
  const entries = Array.isArray(value) ? value.map((element, index) => /** @type {[string | number, any]} */ ([index, element])) : Object.entries(value);
  return html`<ul>
    ${entries.slice(0, shown).map(([name, child]) => html`<li key=${name}>${branch(child) ? html`<${Branch} name=${name} value=${child} path=${[...path, name]} onFilter=${onFilter} />`
      : html`<${Leaf} name=${name} value=${child} path=${[...path, name]} onFilter=${onFilter} />`}</li>`)}
    ${entries.length > shown && html`<li><button type="button" class="tiny" onClick=${() => setShown(shown + PART * 5)}>${entries.length - shown} more</button></li>`}
  </ul>`;
}

/** @param {{name: string | number, value: any, path: (string | number)[], onFilter?: OnFilter}} props */
function Branch({ name, value, path, onFilter }) {
  const count = Array.isArray(value) ? value.length : Object.keys(value).length;
  const [isOpen, setOpen] = useState(path.length < 2 && count <= PART);
  return html`
    <button type="button" class="json-fold" aria-expanded=${isOpen} aria-label=${`${isOpen ? 'Fold' : 'Unfold'} ${name}`} onClick=${() => setOpen(!isOpen)}>${isOpen ? '▾' : '▸'}</button>
    <span class="json-key"><${Text} text=${String(name)} /></span> <span class="muted">${Array.isArray(value) ? `[${count}]` : `{${count}}`}</span>
    ${isOpen && html`<${Children} value=${value} path=${path} onFilter=${onFilter} />`}`;
}

/** @param {{name: string | number | null, value: any, path: (string | number)[], onFilter?: OnFilter}} props */
function Leaf({ name, value, path, onFilter }) {
  const [length, setLength] = useState(LONG);
  const text = typeof value === 'string' ? value : String(value);
  return html`<span class="json-leaf">
    ${name !== null && html`<span><span class="json-key"><${Text} text=${String(name)} /></span>:</span>`}
    <span class=${`json-value ${value === null ? 'null' : typeof value}`}><${Text} text=${text.slice(0, length)} lines=${true} /></span>
    ${text.length > length && html`<button type="button" class="tiny" onClick=${() => setLength(length * 10)}>… ${text.length - length} more characters</button>`}
    ${onFilter && html`<${FilterButtons} label=${name === null ? 'value' : String(name)} onFilter=${(/** @type {boolean} */ without) => onFilter(path, value, without)} />`}
  </span>`;
}

/** @param {{label: string, onFilter: (without: boolean) => void}} props */
export function FilterButtons({ label, onFilter }) {
  return html`<span class="filter-buttons"><button type="button" class="tiny" aria-label=${`Filter for this ${label}`} title="Filter for this value" onClick=${() => onFilter(false)}>=</button
    ><button type="button" class="tiny" aria-label=${`Filter without this ${label}`} title="Filter without this value" onClick=${() => onFilter(true)}>≠</button></span>`;
}
