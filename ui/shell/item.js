// An item of telemetry in a list: a line, and all its columns when it is open. Texts are shown as texts, whatever they hold.

import { html, useState } from '../vendor/preact.js';
import { milliseconds, time } from '../lib/time.js';
import { Link, operation } from './link.js';

/** How much of a text a line shows, and how much of it an open item shows at first. */
const LINE = 300;
const FIRST = 2000;

/** What a line says of an item. @param {Record<string, any>} row */
export function summary(row) {
  const said = row.itemType === 'trace' ? row.message
    : row.itemType === 'exception' ? [row.type, row.outerMessage || row.message || row.problemId].filter(Boolean).join(': ')
      : row.name;
  const text = String(said || row.message || row.type || '').slice(0, LINE);
  return text === '' ? '(no text)' : text;
}

/** Whether an item is a failure. @param {Record<string, any>} row */
export function isFailed(row) {
  return row.itemType === 'exception' || String(row.success) === 'False' || (row.itemType === 'availabilityResult' && String(row.success) === '0')
    || Number(row.severityLevel) >= 3;
}

/**
 * @param {{row: Record<string, any>, open: boolean, onToggle: () => void}} properties
 */
export function Item({ row, open, onToggle }) {
  const failed = isFailed(row);
  const more = [row.resultCode, row.duration === null || row.duration === undefined ? '' : milliseconds(row.duration)].filter(Boolean).join(' · ');
  return html`<li>
    <button class=${`item${failed ? ' failed' : ''}`} aria-expanded=${open} onClick=${onToggle}>
      <time datetime=${row.timestamp}>${time(row.timestamp, { milliseconds: true })}</time>
      <span class="kind">${failed && html`<span class="visually-hidden">Failed </span>`}${row.itemType}</span>
      <span class="text">${summary(row)}</span>
      <span class="muted">${more}</span>
    </button>
    ${open && html`<${Details} row=${row} />`}
  </li>`;
}

/** @param {{row: Record<string, any>}} properties */
function Details({ row }) {
  const columns = Object.entries(row).filter(([name, value]) => value !== null && value !== '' && name !== '$table');
  return html`<div class="details">
    ${row.operation_Id && html`<p><${Link} className="btn" step=${operation(row.operation_Id, row.itemId)}>Open the operation</${Link}></p>`}
    <dl class="facts">${columns.map(([name, value]) => html`<dt key=${`${name}-name`}>${name}</dt><dd key=${name}><${Value} name=${name} value=${value} /></dd>`)}</dl>
  </div>`;
}

/** @param {{name: string, value: any}} properties */
function Value({ name, value }) {
  const [whole, setWhole] = useState(false);
  const text = name === 'timestamp' ? time(value, { milliseconds: true }) : pretty(value);
  if (text.length <= FIRST) return html`<span>${text}</span>`;
  return html`<div class="long" tabindex="0" role="region" aria-label=${name}>${whole ? text : text.slice(0, FIRST) + '…'}</div>
    ${!whole && html`<button class="btn" onClick=${() => setWhole(true)}>Show all ${text.length.toLocaleString('en')} characters</button>`}`;
}

/** A value as text; a property bag with a line for each key. @param {any} value */
function pretty(value) {
  if (typeof value === 'object' && value !== null) return JSON.stringify(value, null, 2);
  const text = String(value);
  if (text.length < 100_000 && /^[[{]/.test(text)) {
    try {
      return JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      // A text that begins like JSON.
    }
  }
  return text;
}
