/** `render pivotchart`: one column of names down, one across, sums within. */
import { html } from '../vendor/preact.js';
import { Text } from '../result/cell.js';
import { numberText } from './shape.js';

/** @param {{shape: import('./shape.js').Pivot, height: number}} props */
export function PivotTable({ shape, height }) {
  const most = Math.max(1e-300, ...shape.cells.flat().map((value) => Math.abs(value ?? 0)));
  return html`
    <div class="pivot" style=${{ maxHeight: `${height}px` }} tabindex="0" role="group" aria-label="Pivot"><table>
      <thead><tr><th scope="col"><${Text} text=${`${shape.by[0]} \\ ${shape.by[1]}`} /></th>${shape.columnNames.map((name) => html`<th scope="col" key=${name}><${Text} text=${name} /></th>`)}</tr></thead>
      <tbody>${shape.rowNames.map((name, at) => html`<tr key=${name}><th scope="row"><${Text} text=${name} /></th>
        ${shape.cells[at].map((value, place) => html`<td key=${place} class="mono bar-number"><span class="pivot-bar" style=${{ width: `${(100 * Math.abs(value ?? 0)) / most}%` }}></span>${value === null ? '' : numberText(value)}</td>`)}</tr>`)}</tbody>
    </table></div>`;
}
