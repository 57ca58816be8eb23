/** Bars across: each is a `meter` of the page's own, with its number beside it. */
import { html } from '../vendor/preact.js';
import { Text } from '../result/cell.js';
import { seriesColour } from './colours.js';
import { numberText } from './shape.js';

/** @param {{shape: import('./shape.js').Bars, height: number}} props */
export function BarList({ shape, height }) {
  const { categories, series, stacked, yType } = shape;
  const sums = categories.map((_, at) => series.reduce((sum, one) => sum + Math.max(0, one.values[at] ?? 0), 0));
  const most = Math.max(1e-300, ...(stacked ? sums : categories.map((_, at) => Math.max(0, ...series.map((one) => one.values[at] ?? 0)))));
  const share = (/** @type {number} */ value, /** @type {number} */ at) => `${Math.max(0, (100 * value) / (stacked === 'stacked100' ? sums[at] || 1 : most))}%`;
  return html`
    ${series.length > 1 && html`<ul class="legend plain">${series.map((one, at) => html`<li key=${one.name}><span class="swatch" style=${{ background: seriesColour(one.name, at) }}></span><${Text} text=${one.name} /></li>`)}</ul>`}
    <div class="bars" style=${{ maxHeight: `${height}px` }} tabindex="0" role="group" aria-label="Bars">
      <table><tbody>
        ${categories.map((category, at) => html`<tr key=${category}>
          <th scope="row"><${Text} text=${category} /></th>
          <td class="bar-cell">
            ${stacked ? html`<span class="bar-stack">${series.map((one, place) => html`<span class="chart-bar" key=${one.name} title=${`${one.name}: ${numberText(one.values[at], yType)}`} style=${{ width: share(one.values[at] ?? 0, at), background: seriesColour(one.name, place) }}></span>`)}</span>`
              : series.map((one, place) => html`<span class="chart-bar" key=${one.name} title=${`${one.name}: ${numberText(one.values[at], yType)}`} style=${{ width: share(one.values[at] ?? 0, at), background: seriesColour(one.name, place) }}></span>`)}
          </td>
          <td class="bar-number mono">${series.map((one) => numberText(one.values[at], yType)).join(' · ')}</td>
        </tr>`)}
      </tbody></table>
    </div>`;
}
