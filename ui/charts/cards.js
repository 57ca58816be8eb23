/** `render card`: the values of the first row. */
import { html } from '../vendor/preact.js';
import { Text } from '../result/cell.js';
import { cellText, isNumeric } from '../result/values.js';
import { zone } from '../lib/preferences.js';
import { numberText } from './shape.js';

/** @param {{shape: import('./shape.js').Cards}} props */
export function Cards({ shape }) {
  const text = (/** @type {{value: any, type: string}} */ { value, type }) => value === null ? 'null' : isNumeric(type) && typeof value === 'number' ? numberText(value) : cellText(value, type, zone.value);
  return html`<dl class="value-cards">${shape.cards.map((card) => html`<div class="value-card" key=${card.name}><dt><${Text} text=${card.name} /></dt><dd><${Text} text=${text(card)} /></dd></div>`)}</dl>`;
}
