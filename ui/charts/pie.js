/** Parts of a whole: a ring, and the numbers beside it. */
import { html } from '../vendor/preact.js';
import { Text } from '../result/cell.js';
import { seriesColour } from './colours.js';
import { numberText } from './shape.js';

const OUTER = 48, INNER = 27;

/** @param {{shape: import('./shape.js').Slices, height: number, label: string}} props */
export function Pie({ shape, height, label }) {
  const total = shape.slices.reduce((sum, slice) => sum + slice.value, 0);
  let from = 0;
  const arcs = shape.slices.map((slice) => {
    const arc = { from, to: from + slice.value / total };
    from = arc.to;
    return arc;
  });
  return html`
    <div class="pie">
      <svg viewBox="-50 -50 100 100" role="img" aria-label=${label} style=${{ height: `${Math.min(height, 260)}px` }}>
        ${arcs.map((arc, at) => html`<path key=${at} d=${ring(arc.from, arc.to)} fill=${seriesColour(shape.slices[at].name, at)} stroke="var(--bg-raised)" stroke-width="0.7" />`)}
      </svg>
      <div class="pie-rows" style=${{ maxHeight: `${height}px` }} tabindex="0" role="group" aria-label="Parts"><table><tbody>
        ${shape.slices.map((slice, at) => html`<tr key=${slice.name}><td><span class="swatch" style=${{ background: seriesColour(slice.name, at) }}></span></td><th scope="row"><${Text} text=${slice.name} /></th>
          <td class="mono bar-number">${numberText(slice.value)}</td><td class="mono bar-number muted">${(Math.round((1000 * slice.value) / total) / 10).toFixed(1)}%</td></tr>`)}
      </tbody></table></div>
    </div>`;
}

/** @param {number} from share of the whole @param {number} to @returns {string} */
function ring(from, to) {
  // A whole ring has no two ends: it is drawn as two halves.
  if (to - from > 0.9999) return `${ring(0, 0.5)} ${ring(0.5, 0.9999)}`;
  const at = (/** @type {number} */ share, /** @type {number} */ radius) => `${(radius * Math.sin(2 * Math.PI * share)).toFixed(3)} ${(-radius * Math.cos(2 * Math.PI * share)).toFixed(3)}`;
  const large = to - from > 0.5 ? 1 : 0;
  return `M ${at(from, OUTER)} A ${OUTER} ${OUTER} 0 ${large} 1 ${at(to, OUTER)} L ${at(to, INNER)} A ${INNER} ${INNER} 0 ${large} 0 ${at(from, INNER)} Z`;
}
