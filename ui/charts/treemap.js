/** Parts of a whole as areas. */
import { html } from '../vendor/preact.js';
import { Text } from '../result/cell.js';
import { seriesColour } from './colours.js';
import { numberText } from './shape.js';
import { squares } from './squares.js';

/** @param {{shape: import('./shape.js').Slices, height: number, label: string}} props */
export function Treemap({ shape, height, label }) {
  const boxes = squares(shape.slices, 100, 50);
  return html`
    <div class="treemap" role="img" aria-label=${label} style=${{ height: `${height}px` }}>
      ${boxes.map((box, at) => html`<div key=${box.name} class="treemap-part" title=${`${box.name}: ${numberText(box.value)}`}
        style=${{ left: `${box.x}%`, top: `${box.y * 2}%`, width: `${box.width}%`, height: `${box.height * 2}%`, borderTopColor: seriesColour(box.name, at) }}>
        ${box.width > 6 && box.height > 4 && html`<${Text} text=${box.name} /> <span class="mono muted">${numberText(box.value)}</span>`}</div>`)}
    </div>`;
}
