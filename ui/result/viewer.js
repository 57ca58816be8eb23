/** A whole row, or a whole cell, beside the grid. */
import { html, useEffect, useRef, useState } from '../vendor/preact.js';
import { Text } from './cell.js';
import { FilterButtons, JsonTree } from './json-tree.js';
import { cellText, countText } from './values.js';

/** So much of a long text is shown at once. */
const PART = 20_000;

/**
 * @typedef {(column: import('./values.js').Column, value: any, without: boolean, path?: (string | number)[]) => void} OnFilter
 * @param {{source: import('./source.js').RowSource, place: number, column: number | null, zone: 'local' | 'utc', onFilter?: OnFilter, onClose: () => void,
 *   links?: (columns: import('./values.js').Column[], row: any[]) => any, onMessage?: (text: string) => void}} props `place`: of the row in the reply
 */
export function Viewer({ source, place, column, zone, onFilter, onClose, links, onMessage = () => {} }) {
  const [row, setRow] = useState(/** @type {any[] | null} */ (null));
  const close = useRef(/** @type {HTMLButtonElement | null} */ (null));
  useEffect(() => {
    let isCurrent = true;
    source.row(place).then((found) => isCurrent && setRow(found)).catch(() => isCurrent && setRow(null));
    return () => {
      isCurrent = false;
    };
  }, [source, place]);
  useEffect(() => close.current?.focus(), [place, column]);
  const title = column === null ? `Row ${countText(place + 1)}` : source.columns[column].name;
  const copy = async () => {
    if (!row) return;
    const text = column === null ? JSON.stringify(Object.fromEntries(source.columns.map((one, index) => [one.name, plain(row[index])])), null, 2) : cellText(row[column], source.columns[column].type);
    await navigator.clipboard.writeText(text);
    onMessage(`Copied ${title}`);
  };
  return html`
    <section class="viewer" aria-label=${title} onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      event.stopPropagation();
      onClose();
    }}>
      <header class="viewer-head"><h2><${Text} text=${title} /></h2>
        ${row && links?.(source.columns, row)}
        <button type="button" class="tiny" onClick=${copy}>Copy</button>
        <button type="button" class="tiny" ref=${close} aria-label="Close" onClick=${onClose}>✕</button>
      </header>
      <div class="viewer-body" tabindex="0" role="group" aria-label=${`${title}, content`}>
        ${row === null ? '' : column === null ? html`<${Fields} columns=${source.columns} row=${row} zone=${zone} onFilter=${onFilter} />`
          : html`<${Value} column=${source.columns[column]} value=${row[column]} zone=${zone} onFilter=${onFilter} />`}
      </div>
    </section>`;
}

/** Values as JSON has them. @param {any} value */
const plain = (value) => (typeof value === 'bigint' ? String(value) : value);

/** @param {{columns: import('./values.js').Column[], row: any[], zone: 'local' | 'utc', onFilter?: OnFilter}} props */
export function Fields({ columns, row, zone, onFilter }) {
  const [isAll, setAll] = useState(false);
  const isEmpty = (/** @type {any} */ value) => value === null || value === undefined || value === '';
  const hidden = columns.filter((_, index) => isEmpty(row[index])).length;
  return html`
    <dl class="fields">${columns.map((column, index) => (!isAll && isEmpty(row[index]) ? null : html`
      <dt class="field-name" key=${`n${index}`}><${Text} text=${column.name} /></dt>
      <dd class="field-value" key=${`v${index}`}><${Value} column=${column} value=${row[index]} zone=${zone} onFilter=${onFilter} isShort=${true} /></dd>
      <div key=${`f${index}`}>${onFilter && column.type !== 'dynamic' && html`<${FilterButtons} label=${column.name} onFilter=${(/** @type {boolean} */ without) => onFilter(column, row[index], without)} />`}</div>`))}</dl>
    ${hidden > 0 && html`<button type="button" class="tiny" aria-pressed=${isAll} onClick=${() => setAll(!isAll)}>${isAll ? 'Hide empty fields' : `Show ${hidden} empty fields`}</button>`}`;
}

/** @param {{column: import('./values.js').Column, value: any, zone: 'local' | 'utc', onFilter?: OnFilter, isShort?: boolean}} props */
function Value({ column, value, zone, onFilter, isShort = false }) {
  if (value === null || value === undefined) return html`<span class="null">null</span>`;
  const parsed = parsedOf(value, column.type);
  if (parsed !== undefined) {
    return html`<${JsonTree} value=${parsed} onFilter=${onFilter && column.type === 'dynamic' && ((/** @type {(string | number)[]} */ path, /** @type {any} */ leaf, /** @type {boolean} */ without) => onFilter(column, leaf, without, path))} />`;
  }
  return html`<${LongText} text=${cellText(value, column.type, zone)} part=${isShort ? 2000 : PART} />`;
}

/** The value of JSON in a dynamic cell, or in a text that is an object or an array; undefined elsewhere. @param {any} value @param {string} type */
function parsedOf(value, type) {
  if (type === 'dynamic' && typeof value === 'object') return value;
  if (typeof value !== 'string' || (type !== 'dynamic' && type !== 'string') || !/^\s*[[{]/.test(value) || value.length > 4_000_000) return undefined;
  try {
    return JSON.parse(value);
  } catch {
    return undefined;
  }
}

/** @param {{text: string, part: number}} props */
function LongText({ text, part }) {
  const [length, setLength] = useState(part);
  useEffect(() => setLength(part), [text]);
  return html`<pre class="viewer-text"><${Text} text=${text.slice(0, length)} lines=${true} /></pre>
    ${text.length > length && html`<p class="muted">${countText(length)} of ${countText(text.length)} characters.
      <button type="button" class="tiny" onClick=${() => setLength(length + PART * 5)}>Show more</button></p>`}`;
}
