// A table of a few rows that lead on.

import { html } from '../vendor/preact.js';

/**
 * A table that leads on. Headings that begin with `#` are of numbers.
 * @param {{label: string, head: string[], rows: {key: string, chosen: boolean, cells: any[]}[]}} properties
 */
export function Table({ label, head, rows }) {
  const isNumber = head.map((text) => text.startsWith('#'));
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${label}><table class="list">
    <thead><tr>${head.map((text, index) => html`<th key=${text} class=${isNumber[index] ? 'number' : ''}>${text.replace('#', '')}</th>`)}</tr></thead>
    <tbody>${rows.map((row) => html`<tr key=${row.key} class=${row.chosen ? 'chosen' : ''}>
      ${row.cells.map((cell, index) => html`<td key=${index} class=${isNumber[index] ? 'number' : index === 0 ? 'name' : ''}>${cell}</td>`)}</tr>`)}</tbody>
  </table></div>`;
}
