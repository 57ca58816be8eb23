/** One cell of the grid, and texts of telemetry as the page shows them: always text, with invisible characters named. */
import { html } from '../vendor/preact.js';
import { cellText, isNumeric, visibleParts } from './values.js';

/** More is not seen in a cell. */
const SHOWN = 300;

/**
 * A text of telemetry. Bidirectional marks and other invisible characters are shown by their codes, so that no text can change how
 * what stands beside it is read.
 * @param {{text: string, lines?: boolean}} props `lines`: line breaks are layout
 */
export function Text({ text, lines = false }) {
  const parts = visibleParts(text, { lines });
  if (parts.length === 1 && !parts[0].invisible) return html`<bdi>${text}</bdi>`;
  return html`<bdi>${parts.map((part) => (part.invisible ? html`<span class="invisible">${part.text}</span>` : part.text))}</bdi>`;
}

/**
 * @param {{id: string, row: number, place: number, x: number, width: number, value: any, type: string, zone: 'local' | 'utc',
 *   isActive: boolean, isSelected: boolean}} props `value`: undefined while the row is on its way
 */
export function Cell({ id, row, place, x, width, value, type, zone, isActive, isSelected }) {
  const names = ['grid-cell'];
  if (isNumeric(type)) names.push('number');
  if (isActive) names.push('active');
  if (isSelected) names.push('selected');
  return html`
    <div class=${names.join(' ')} id=${id} role="gridcell" aria-colindex=${place + 1} aria-selected=${isSelected ? 'true' : undefined} data-row=${row} data-place=${place}
      style=${{ left: `${x}px`, width: `${width}px` }}>${contents(value, type, zone)}</div>`;
}

/** @param {any} value @param {string} type @param {'local' | 'utc'} zone */
function contents(value, type, zone) {
  if (value === undefined) return '';
  if (value === null) return html`<span class="null">null</span>`;
  const isCut = typeof value === 'object' && 'cut' in value;
  const text = isCut ? value.cut : cellText(value, type, zone);
  const shown = text.length > SHOWN ? text.slice(0, SHOWN) + '…' : text;
  return html`<${Text} text=${shown} />`;
}

