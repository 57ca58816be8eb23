/** A grid with the formats of a document: bars, colours, small charts, thresholds; and rows that set parameters. */
import { html, useMemo, useState } from '../vendor/preact.js';
import { zone } from '../lib/preferences.js';
import { Text } from '../result/cell.js';
import { countText, isNumeric, numberOf } from '../result/values.js';
import { isWebAddress } from './markdown-view.js';
import { columnsOf, sorted, sparkOf, textOfCell, thresholdOf } from './visual.js';

/** More rows are not drawn; Logs has all of them. */
const MOST_ROWS = 1000;
/** Where a document gives no limit, its editor shows this many. */
const USUAL_ROWS = 250;

/**
 * @param {{book: import('./book.js').Book, table: import('../result/values.js').Table, settings: any,
 *   exports: import('./document.js').Export[], label: string}} props
 */
export function FormattedTable({ book, table, settings, exports, label }) {
  const [needle, setNeedle] = useState('');
  const { columns, notes } = useMemo(() => columnsOf(table, settings), [table, settings]);
  const rows = useMemo(() => sorted(table, settings), [table, settings]);
  const most = Math.min(MOST_ROWS, Number(settings.rowLimit) > 0 ? Number(settings.rowLimit) : USUAL_ROWS);
  const found = needle === '' ? rows : rows.filter((row) => columns.some((column) => textOfCell(row[column.index], column, zone.value).toLowerCase().includes(needle.toLowerCase())));
  const shown = found.slice(0, most);
  return html`
    ${notes.map((note) => html`<p class="said" key=${note}><${Text} text=${note} /></p>`)}
    ${settings.filter === true && html`<label class="book-field book-find"><span class="visually-hidden">Find in ${label}</span>
      <input class="input" type="search" placeholder="Find" value=${needle} onInput=${(/** @type {any} */ event) => setNeedle(event.currentTarget.value)} /></label>`}
    ${shown.length < found.length && html`<p class="said">The first ${countText(shown.length)} of ${countText(found.length)} rows.</p>`}
    <div class="scroll book-grid" tabindex="0" role="region" aria-label=${label}><table class="list">
      <thead><tr>${columns.map((column) => html`<th key=${column.index} class=${isRight(column) ? 'number' : ''}><${Text} text=${column.label} /></th>`)}</tr></thead>
      <tbody>${shown.map((row, at) => html`<${Row} key=${at} book=${book} table=${table} columns=${columns} row=${row} exports=${exports} />`)}</tbody>
    </table></div>`;
}

/** @param {import('./visual.js').Shown} column */
const isRight = ({ type, format }) => format.kind === 'right' || (isNumeric(type) && ['text', 'heat', 'big', 'thresholds'].includes(format.kind));

/**
 * What a selected row sets a parameter to: a field's value, or the whole row as JSON.
 * @param {import('../result/values.js').Table} table @param {any[]} row @param {string} field
 */
export function exported(table, row, field) {
  const at = table.columns.findIndex(({ name }) => name === field);
  if (field !== '') return at < 0 || row[at] === null ? '' : String(row[at]);
  return JSON.stringify(Object.fromEntries(table.columns.map(({ name }, index) => [name, typeof row[index] === 'bigint' ? String(row[index]) : row[index]])));
}

/**
 * @param {{book: import('./book.js').Book, table: import('../result/values.js').Table, columns: import('./visual.js').Shown[], row: any[],
 *   exports: import('./document.js').Export[]}} props
 */
function Row({ book, table, columns, row, exports }) {
  const [first] = exports;
  const value = first && book.values.value.get(first.parameter);
  const isChosen = first !== undefined && value?.is === 'text' && value.text === exported(table, row, first.field);
  const choose = () => book.chooseAll(exports.map(({ parameter, field }) => [parameter, [exported(table, row, field)]]));
  return html`<tr class=${isChosen ? 'chosen' : ''}>${columns.map((column, at) => {
    const cell = html`<${FormattedCell} value=${row[column.index]} column=${column} />`;
    const whole = row[column.index];
    return html`<td key=${column.index} class=${isRight(column) ? 'number' : ''} title=${typeof whole === 'number' ? String(whole) : undefined}>${at === 0 && first !== undefined ? html`<button type="button" class="link" aria-pressed=${isChosen} onClick=${choose}>${cell}</button>` : cell}</td>`;
  })}</tr>`;
}

/** @param {{value: any, column: import('./visual.js').Shown}} props */
export function FormattedCell({ value, column }) {
  const { format, type } = column;
  const text = textOfCell(value, column, zone.value);
  switch (format.kind) {
    case 'bar': {
      const share = format.share(numberOf(value, type) ?? 0);
      return html`<span class="book-bar-cell"><span class="book-bar-track" aria-hidden="true"><span style=${{ width: `${share * 100}%` }}></span></span><span class="number"><${Text} text=${text} /></span></span>`;
    }
    case 'heat': return html`<span class="book-heat" style=${{ '--share': `${format.share(numberOf(value, type) ?? 0) * 30}%` }}><${Text} text=${text} /></span>`;
    case 'spark': return html`<${Spark} values=${sparkOf(value)} style=${format.spark} />`;
    case 'thresholds': {
      const { says, text: own } = thresholdOf(value, format.thresholds);
      return html`<span class=${says === '' ? '' : `book-threshold ${says}`}>${MARKS[says] ?? ''}<${Text} text=${own === null ? text : own.replaceAll('{0}', text)} /></span>`;
    }
    case 'link': return typeof value === 'string' && isWebAddress(value) ? html`<a href=${value} target="_blank" rel="noreferrer noopener"><${Text} text=${format.link || text} /></a>` : html`<${Text} text=${text} />`;
    default: return html`<${Text} text=${text.length > 300 ? text.slice(0, 300) + '…' : text} />`;
  }
}

/** A mark beside the colour, which alone would say nothing to some. @type {Record<string, string>} */
const MARKS = { good: '✓ ', warn: '! ', failed: '✕ ' };

const WIDTH = 120;
const HEIGHT = 24;

/** A small chart in a cell. @param {{values: number[], style: 'line' | 'area' | 'bars'}} props */
export function Spark({ values, style }) {
  if (values.length === 0) return null;
  const low = Math.min(0, ...values), high = Math.max(...values, low + 1e-9);
  const x = (/** @type {number} */ at) => (values.length === 1 ? WIDTH / 2 : (at * WIDTH) / (values.length - 1));
  const y = (/** @type {number} */ value) => HEIGHT - 1 - ((value - low) / (high - low)) * (HEIGHT - 2);
  const label = `${values.length} values from ${Math.min(...values)} to ${Math.max(...values)}, the last ${values[values.length - 1]}`;
  const line = values.map((value, at) => `${at === 0 ? 'M' : 'L'}${x(at).toFixed(1)} ${y(value).toFixed(1)}`).join('');
  const width = WIDTH / values.length;
  return html`<svg class="spark" role="img" aria-label=${label} viewBox=${`0 0 ${WIDTH} ${HEIGHT}`} width=${WIDTH} height=${HEIGHT} preserveAspectRatio="none">
    ${style === 'bars' ? values.map((value, at) => html`<rect key=${at} x=${(at * width).toFixed(1)} y=${y(value).toFixed(1)} width=${Math.max(0.5, width - 0.5).toFixed(1)} height=${Math.max(0.5, HEIGHT - y(value)).toFixed(1)} />`)
      : html`${style === 'area' && html`<path class="spark-area" d=${`${line}L${WIDTH} ${HEIGHT}L0 ${HEIGHT}Z`} />`}<path class="spark-line" d=${line} />`}
  </svg>`;
}
