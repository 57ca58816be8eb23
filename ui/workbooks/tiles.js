/** Tiles: a card for each row; and a stat: one number of the result. */
import { html, useMemo } from '../vendor/preact.js';
import { zone } from '../lib/preferences.js';
import { Text } from '../result/cell.js';
import { countText } from '../result/values.js';
import { FormattedCell } from './formatted-table.js';
import { formatOf, statOf, textOfCell } from './visual.js';

/** More tiles are not read. */
const MOST_TILES = 100;

/** The parts of a tile, by their names in documents. */
const PARTS = /** @type {const} */ (['titleContent', 'subtitleContent', 'leftContent', 'rightContent', 'secondaryContent']);

/** @param {{table: import('../result/values.js').Table, settings: any, label: string}} props */
export function Tiles({ table, settings, label }) {
  const { parts, notes } = useMemo(() => partsOf(table, settings ?? {}), [table, settings]);
  const shown = table.rows.slice(0, MOST_TILES);
  return html`
    ${notes.map((note) => html`<p class="said" key=${note}><${Text} text=${note} /></p>`)}
    ${shown.length < table.rows.length && html`<p class="said">The first ${MOST_TILES} of ${countText(table.rows.length)} rows.</p>`}
    <ul class="book-tiles" aria-label=${label}>${shown.map((row, at) => html`<li key=${at}>${parts.map(({ part, column }) => html`<div key=${part} class=${`tile-${part} ${column.format.kind === 'big' ? 'big' : ''}`}>
      <${FormattedCell} value=${row[column.index]} column=${column} /></div>`)}</li>`)}</ul>`;
}

/** @param {import('../result/values.js').Table} table @param {any} settings */
function partsOf(table, settings) {
  /** @type {string[]} */
  const notes = [];
  const parts = PARTS.flatMap((part) => {
    const about = settings[part];
    if (!about?.columnMatch) return [];
    const index = table.columns.findIndex(({ name }) => name === about.columnMatch);
    if (index < 0) {
      notes.push(`The result has no column “${about.columnMatch}”.`);
      return [];
    }
    const { name, type } = table.columns[index];
    return [{ part: part.replace('Content', ''), column: { index, name, label: name, type, format: formatOf(about, table, index, notes) } }];
  });
  if (parts.length > 0) return { parts, notes };
  // A document that says nothing of its tiles gets the first columns.
  const first = table.columns.slice(0, 2).map(({ name, type }, index) => ({
    part: index === 0 ? 'title' : 'left', column: { index, name, label: name, type, format: formatOf(index === 0 ? null : { formatter: 12 }, table, index, notes) },
  }));
  return { parts: first, notes };
}

/** @param {{table: import('../result/values.js').Table, settings: any}} props */
export function Stat({ table, settings }) {
  const stat = statOf(table, settings);
  if ('refused' in stat) return html`<p class="note"><${Text} text=${stat.refused} /></p>`;
  const column = { type: stat.type, format: formatOf({ formatter: 12, numberFormat: settings?.numberFormat }, { name: '', columns: [{ name: stat.name, type: stat.type }], rows: [] }, 0, []) };
  return html`<dl class="value-cards"><div class="value-card"><dt><${Text} text=${stat.name} /></dt><dd><${Text} text=${textOfCell(stat.value, column, zone.value) || 'null'} /></dd></div></dl>`;
}
