/**
 * A chart of a table, by the `render` of its query. Its accessible name is a sentence about what it shows, its rows are a table one
 * button away, and what is not drawn is said.
 */
import { html, useEffect, useId, useMemo, useRef, useState } from '../vendor/preact.js';
import { BarList, Cards, Grid, Pie, PivotTable, SpanList, Treemap } from './parts.js';
import { Text } from '../result/cell.js';
import { stylesheet } from '../result/style.js';
import { durationText } from '../result/values.js';
import { time } from '../lib/time.js';
import { zone } from '../lib/preferences.js';
import { dashOf, onScheme, seriesColour } from './colours.js';
import { plot } from './plot.js';
import { numberText, sentence, shape as shapeOf } from './shape.js';

stylesheet(new URL('./charts.css', import.meta.url));

/**
 * @typedef {{
 *   table: import('./shape.js').Table,
 *   render: import('./shape.js').Render | null,
 *   label?: string,
 *   height?: number,
 *   onBrush?: (from: number, to: number) => void,
 *   asTable?: boolean,
 * }} Props `onBrush`: a range of the time axis was chosen, in milliseconds since 1970
 */

/** @param {Props} props */
export function Chart({ table, render, label = '', height = 260, onBrush, asTable = false }) {
  const shape = useMemo(() => shapeOf(table, render ?? { visualization: 'table' }), [table, render]);
  const [isTable, setTable] = useState(asTable);
  const id = useId();
  if (!render || shape.form === 'none') {
    const reason = shape.form === 'none' ? shape.reason : '';
    return html`<div class="chart">${reason && html`<p class="note">${reason}</p>`}<${Grid} table=${table} label=${label || 'Result'} height=${height} /></div>`;
  }
  const text = sentence(shape, render, (at) => time(at));
  return html`
    <figure class="chart" aria-labelledby=${id}>
      <figcaption class="chart-head">
        <span class="chart-title">${render.title && html`<${Text} text=${render.title} />`}</span>
        <span class="visually-hidden" id=${id}>${label && `${label}. `}${text}</span>
        <button type="button" class="btn quiet" aria-pressed=${isTable} onClick=${() => setTable(!isTable)}>${isTable ? 'Show as chart' : 'Show as table'}</button>
      </figcaption>
      ${shape.notes.map((note) => html`<p class="note" key=${note}>${note}</p>`)}
      ${isTable ? html`<${Grid} table=${table} label=${label || 'Rows of the chart'} height=${height} />` : html`<${Drawing} shape=${shape} render=${render} height=${height} onBrush=${onBrush} label=${text} />`}
    </figure>`;
}

/** @param {{shape: any, render: import('./shape.js').Render, height: number, label: string, onBrush?: (from: number, to: number) => void}} props */
function Drawing({ shape, render, height, label, onBrush }) {
  switch (shape.form) {
    case 'plot': return html`<${PlotChart} shape=${shape} render=${render} height=${height} label=${label} onBrush=${onBrush} />`;
    case 'bars': return html`<${BarList} shape=${shape} height=${height} />`;
    case 'slices': return render.visualization.toLowerCase() === 'treemap' ? html`<${Treemap} shape=${shape} height=${height} label=${label} />` : html`<${Pie} shape=${shape} height=${height} label=${label} />`;
    case 'cards': return html`<${Cards} shape=${shape} />`;
    case 'spans': return html`<${SpanList} shape=${shape} height=${height} />`;
    default: return html`<${PivotTable} shape=${shape} height=${height} />`;
  }
}

/** @param {string | undefined} value @param {string} type */
function limit(value, type) {
  if (value === undefined || value === '' || value === null) return undefined;
  const number = type === 'time' ? Date.parse(value) : Number(value);
  return Number.isFinite(number) ? number : undefined;
}

/**
 * @param {{shape: import('./shape.js').Plot, render: import('./shape.js').Render, height: number, label: string,
 *   onBrush?: (from: number, to: number) => void}} props
 */
function PlotChart({ shape, render, height, label, onBrush }) {
  const [hidden, setHidden] = useState(/** @type {Set<string>} */ (new Set()));
  const [cursor, setCursor] = useState(/** @type {number | null} */ (null));
  const [anchor, setAnchor] = useState(/** @type {number | null} */ (null));
  const [spoken, setSpoken] = useState('');
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const plots = useRef(/** @type {{moveTo: (index: number) => void, close: () => void}[]} */ ([]));
  const [scheme, setScheme] = useState(0);
  const [failure, setFailure] = useState('');
  const isTime = shape.x.type === 'time';
  const canBrush = Boolean(onBrush) && isTime;
  const shown = useMemo(() => shape.series.map((one, at) => ({ one, at })).filter(({ one }) => !hidden.has(one.name)), [shape, hidden]);
  const isSplit = (render.ySplit === 'panels' || render.ySplit === 'axes') && shown.length > 1;
  useEffect(() => onScheme(() => setScheme((now) => now + 1)), []);
  useEffect(() => {
    const parent = box.current;
    if (!parent) return undefined;
    const parts = isSplit ? shown.map((one) => [one]) : [shown];
    try {
      plots.current = parts.map((part) => {
        const holder = document.createElement('div');
        parent.append(holder);
        const each = { ...shape, series: part.map(({ one }) => one) };
        return plot(holder, each, {
          log: render.yAxis === 'log', logX: render.xAxis === 'log' && !isTime, xTitle: render.xTitle, yTitle: isSplit ? part[0].one.name : render.yTitle,
          xMin: limit(render.xMin, shape.x.type), xMax: limit(render.xMax, shape.x.type), yMin: limit(render.yMin, 'number'), yMax: limit(render.yMax, 'number'),
          zone: zone.peek(), colours: part.map(({ at }) => at), onBrush: canBrush ? onBrush : undefined, onCursor: setCursor,
          sync: isSplit ? label : undefined,
        }, Math.max(110, Math.floor(height / (isSplit ? Math.min(parts.length, 4) : 1))));
      });
    } catch (error) {
      setFailure(String(error));
    }
    return () => {
      for (const one of plots.current) one.close();
      plots.current = [];
      parent.replaceChildren();
    };
  }, [shape, shown, isSplit, height, scheme, zone.value, canBrush]);

  const place = (/** @type {number} */ index) => isTime ? time(shape.x.values[index]) : shape.x.labels ? shape.x.labels[index]
    : shape.x.type === 'duration' ? durationText(shape.x.values[index]) : numberText(shape.x.values[index]);
  const say = (/** @type {number} */ index) => `${place(index)}: ${shown.slice(0, 12).map(({ one }) => `${one.name} ${numberText(one.values[index], shape.yType)}`).join(', ')}`;
  const to = (/** @type {number} */ index) => {
    const at = Math.max(0, Math.min(shape.x.values.length - 1, index));
    setCursor(at);
    for (const one of plots.current) one.moveTo(at);
    setSpoken(say(at));
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.ctrlKey || event.altKey || event.metaKey) return;
    const at = cursor ?? -1, step = Math.max(1, Math.round(shape.x.values.length / 10));
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowRight: () => to(at + 1), ArrowLeft: () => to(Math.max(0, at - 1)), PageDown: () => to(at + step), PageUp: () => to(Math.max(0, at - step)),
      Home: () => to(0), End: () => to(shape.x.values.length - 1),
    };
    if (keys[event.key]) {
      if (event.shiftKey && anchor === null) setAnchor(at);
      if (!event.shiftKey) setAnchor(null);
      event.preventDefault();
      keys[event.key]();
    } else if (event.key === 'Enter' && canBrush && anchor !== null && cursor !== null && anchor !== cursor) {
      event.preventDefault();
      brush(Math.min(anchor, cursor), Math.max(anchor, cursor));
    }
  };
  const brush = (/** @type {number} */ from, /** @type {number} */ until) => {
    setAnchor(null);
    onBrush?.(shape.x.values[from], shape.x.values[until]);
  };
  const zoom = (/** @type {number} */ factor) => {
    const { values } = shape.x;
    const first = values[0], last = values[values.length - 1];
    const middle = cursor === null ? (first + last) / 2 : values[cursor];
    const half = Math.max(500, ((last - first) * factor) / 2);
    onBrush?.(middle - half, middle + half);
  };
  if (failure) return html`<p class="note error">The chart could not be drawn: ${failure}</p>`;
  return html`
    <div class="plot" role="application" aria-roledescription="chart" aria-label=${label} tabindex="0" onKeyDown=${onKeyDown} ref=${box} style=${{ minHeight: `${height / 14}rem` }}></div>
    <div class="plot-foot">
      <p class="plot-read">${cursor === null || cursor >= shape.x.values.length ? html`<span class="muted">${canBrush ? 'Drag to choose a time range. Arrow keys read values, Shift+arrows and Enter choose.' : 'Arrow keys read values.'}</span>`
        : html`<strong class="mono">${place(cursor)}</strong>${anchor !== null && anchor !== cursor && ` … ${place(anchor)} (Enter chooses)`}`}</p>
      ${canBrush && html`<span class="plot-zoom"><button type="button" class="btn quiet" onClick=${() => zoom(0.5)}>Zoom in</button><button type="button" class="btn quiet" onClick=${() => zoom(2)}>Zoom out</button></span>`}
    </div>
    <span class="visually-hidden" aria-live="polite">${spoken}</span>
    ${render.legend !== 'hidden' && html`
      <ul class="legend" aria-label="Series">
        ${shape.series.map((one, at) => html`<li key=${one.name}>
          <button type="button" aria-pressed=${!hidden.has(one.name)} onClick=${() => setHidden(toggled(hidden, one.name))}>
            <svg class="legend-mark" viewBox="0 0 16 8" aria-hidden="true"><line x1="0" y1="4" x2="16" y2="4" stroke=${seriesColour(one.name, at)} stroke-width="4" stroke-dasharray=${dashOf(at).join(' ') || undefined} /></svg>
            <${Text} text=${one.name} />
            ${cursor !== null && cursor < one.values.length && html`<span class="mono legend-value">${numberText(one.values[cursor], shape.yType)}</span>`}
          </button></li>`)}
      </ul>`}`;
}

/** @param {Set<string>} set @param {string} name */
function toggled(set, name) {
  const next = new Set(set);
  if (!next.delete(name)) next.add(name);
  return next;
}
