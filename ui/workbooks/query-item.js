/** A query of a workbook: its text with the values of parameters, and its result as the document wants it drawn. */
import { html, useMemo } from '../vendor/preact.js';
import { zone } from '../lib/preferences.js';
import { Chart } from '../charts/chart.js';
import { Grid } from '../result/grid.js';
import { Text } from '../result/cell.js';
import { useQuery } from '../shell/run.js';
import { Failure, Loading, QueryLink, Said } from '../shell/said.js';
import { FormattedTable } from './formatted-table.js';
import { Stat, Tiles } from './tiles.js';
import { heightOf, renderOf } from './visual.js';

/** @param {{book: import('./book.js').Book, query: import('./document.js').QueryContent, id: string}} props */
export function QueryItem({ book, query, id }) {
  const filled = book.fill(query.text, true);
  const { timespan, missing } = book.timespan(query.time);
  const lacks = [...new Set([...filled.missing, ...(missing === null ? [] : [missing])])];
  const isReady = lacks.length === 0 && filled.unknown.length === 0;
  const run = useQuery(book.app.name, isReady ? filled.text : null, { timespan, workspace: query.workspace });
  const title = book.fill(query.title, false).text;
  const label = title || 'Query';
  const head = `book-query-${id.replaceAll('.', '-')}`;
  return html`<section class="panel" aria-labelledby=${head} data-old=${isReady && run.old}>
    <header><h2 id=${head} class=${title === '' ? 'visually-hidden' : ''}><${Text} text=${label} /></h2>
      ${isReady && !query.workspace && html`<${QueryLink} text=${filled.text} label=${`Query of ${label} in Logs`} t=${timespan ?? undefined} />`}</header>
    <div class="body">
      ${query.notes.map((note) => html`<p class="said" key=${note}><${Text} text=${note} /></p>`)}
      ${filled.unknown.length > 0 ? html`<p class="note error" role="alert">This query is not run: <${Text} text=${filled.unknown.join(', ')} /> is not supported.</p>`
        : lacks.length > 0 ? html`<p class="muted">${filled.waiting ? 'Waits for the values of' : 'Waits for a choice of'} ${lacks.join(', ')}.</p>`
          : html`<${Loading} run=${run} />
            ${run.error !== null ? html`<${Failure} error=${run.error} again=${() => run.again()} />` : html`<${Said} run=${run} />`}
            ${run.result !== null && run.error === null && html`<div class="result"><${Result} book=${book} query=${query} result=${run.result} label=${label} /></div>`}`}
    </div>
  </section>`;
}

/** @param {{book: import('./book.js').Book, query: import('./document.js').QueryContent, result: import('../lib/api.js').Result, label: string}} props */
function Result({ book, query, result, label }) {
  const [table] = result.tables;
  const render = useMemo(() => (query.visualization === 'tiles' || query.visualization === 'stat' ? null : renderOf(query, table, result.render)), [query, result]);
  if (table === undefined || table.rows.length === 0) return html`<p class="muted"><${Text} text=${query.empty || 'The query returned no results.'} /></p>`;
  if (query.visualization === 'tiles') return html`<${Tiles} table=${table} settings=${query.settings.tileSettings} label=${label} />`;
  if (query.visualization === 'stat') return html`<${Stat} table=${table} settings=${query.settings.statSettings} />`;
  if (render !== null) {
    const { time } = query;
    const brush = time !== null && 'parameter' in time ? (/** @type {number} */ from, /** @type {number} */ to) => book.choose(time.parameter, [`${new Date(from).toISOString()}/${new Date(Math.max(to, from + 1)).toISOString()}`]) : undefined;
    return html`<${Chart} table=${table} render=${render} label=${label} height=${heightOf(query.size)} onBrush=${brush} />`;
  }
  const grid = query.settings.gridSettings;
  const isFormatted = query.exports.length > 0 || ['formatters', 'labelSettings', 'sortBy', 'filter', 'rowLimit'].some((name) => grid?.[name] && grid[name].length !== 0);
  return isFormatted ? html`<${FormattedTable} book=${book} table=${table} settings=${grid ?? {}} exports=${query.exports} label=${label} />` : html`<${Grid} table=${table} label=${label} zone=${zone.value} />`;
}
