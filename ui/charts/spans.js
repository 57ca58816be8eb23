/** Spans of time below each other: `ladderchart`, `timepivot`, `timeline`. */
import { html } from '../vendor/preact.js';
import { Text } from '../result/cell.js';
import { durationText } from '../result/values.js';
import { time } from '../lib/time.js';

/** @param {{shape: import('./shape.js').Spans, height: number}} props */
export function SpanList({ shape, height }) {
  const from = shape.spans.reduce((least, span) => Math.min(least, span.from), Infinity);
  const to = Math.max(from + 1, shape.spans.reduce((most, span) => Math.max(most, span.to), -Infinity));
  const share = (/** @type {number} */ at) => (100 * (at - from)) / (to - from);
  return html`
    <div class="spans" style=${{ maxHeight: `${height}px` }} tabindex="0" role="group" aria-label="Spans"><table>
      <thead><tr><th scope="col"></th><th scope="col"><span class="spans-axis mono"><span>${time(from)}</span><span>${time(to)}</span></span></th><th scope="col"></th></tr></thead>
      <tbody>${shape.spans.map((span, at) => html`<tr key=${at}>
        <th scope="row"><${Text} text=${span.name} /></th>
        <td class="span-cell"><span class="span-bar" title=${`${time(span.from, { milliseconds: true })} – ${time(span.to, { milliseconds: true })}`} style=${{ left: `${share(span.from)}%`, width: `max(3px, ${share(span.to) - share(span.from)}%)` }}></span></td>
        <td class="mono bar-number">${span.to > span.from ? durationText(span.to - span.from) : time(span.from, { date: false })}</td></tr>`)}</tbody>
    </table></div>`;
}
