/** Charts with a numeric axis: what uPlot draws. It knows no framework. */
import { uPlot } from '../vendor/uplot.js';
import { textScale } from '../result/geometry.js';
import { stylesheet } from '../result/style.js';
import { durationText } from '../result/values.js';
import { COLOURS, dashOf, resolved, tokenOf } from './colours.js';
import { numberText, stack } from './shape.js';

stylesheet(new URL('../vendor/uplot.css', import.meta.url));

/**
 * @typedef {{
 *   log: boolean, logX: boolean, xTitle?: string, yTitle?: string, xMin?: number, xMax?: number, yMin?: number, yMax?: number, zone: 'local' | 'utc',
 *   colours: number[],
 *   onBrush?: (from: number, to: number) => void,
 *   onCursor?: (index: number | null) => void,
 *   sync?: string,
 * }} Options `colours`: the place of each series among all, which gives its colour
 */

/**
 * @param {HTMLElement} parent
 * @param {import('./shape.js').Plot} shape
 * @param {Options} options
 * @param {number} height at the usual size of text
 */
export function plot(parent, shape, options, height) {
  const tokens = ['--fg', '--fg-muted', '--line', '--failed', '--bg-raised', ...Array.from({ length: COLOURS }, (_, index) => `--series-${index + 1}`)];
  const colours = resolved(parent, tokens);
  const { values, lower } = drawn(shape, options);
  const colour = (/** @type {number} */ at) => colours[tokenOf(shape.series[at].name, options.colours[at])];
  const tzDate = options.zone === 'utc' ? (/** @type {number} */ at) => uPlot.tzDate(new Date(at), 'Etc/UTC') : (/** @type {number} */ at) => new Date(at);
  const width = Math.max(120, parent.clientWidth);
  const { x } = shape;
  const isTime = x.type === 'time';
  const columns = shape.style === 'column' ? columnPaths(lower, shape.stacked === '' ? shape.series.length : 1) : null;
  // The canvas knows no text size of the page.
  const { fontFamily, fontSize } = getComputedStyle(parent);
  const scale = textScale(fontSize);
  const tall = Math.round(height * scale);
  const font = `${Math.round(11 * scale)}px ${fontFamily}`;
  const axis = { stroke: colours['--fg-muted'], grid: { stroke: colours['--line'], width: 1 }, ticks: { stroke: colours['--line'], width: 1 }, font, labelFont: font };
  const chart = new uPlot({
    width, height: tall, ms: 1, tzDate,
    // The last label of a time axis reaches beyond the axis.
    padding: [10, isTime ? 20 * scale : 12, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: Boolean(options.onBrush), y: false, setScale: false }, points: { size: 6 }, sync: options.sync ? { key: options.sync } : undefined },
    scales: {
      x: { time: isTime, distr: options.logX ? 3 : 1, range: xRange(shape, options) },
      y: { distr: options.log ? 3 : 1, range: yRange(shape, options) },
    },
    axes: [
      { ...axis, label: options.xTitle || undefined, labelSize: 18 * scale, size: (isTime ? 44 : 28) * scale, space: (isTime ? 80 : 50) * scale, ...xLabels(shape) },
      { ...axis, label: options.yTitle || undefined, labelSize: 18 * scale, size: (/** @type {any} */ _u, /** @type {(string | number)[] | null} */ labels) => yAxisSize(labels, scale), space: 30 * scale,
        values: (/** @type {any} */ _u, /** @type {(number | null)[]} */ splits) => splits.map((at) => (at === null ? '' : shape.stacked === 'stacked100' ? `${at}%` : shape.yType === 'duration' ? durationText(at) : axisText(at))) },
    ],
    series: [
      {},
      ...shape.series.map((one, at) => ({
        label: one.name, scale: 'y', stroke: colour(at), width: shape.style === 'column' ? 0 : 1.5, dash: dashOf(options.colours[at]),
        fill: shape.style === 'column' ? colour(at) : shape.style === 'area' ? withAlpha(colour(at), shape.stacked ? 0.7 : 0.25) : undefined,
        spanGaps: false,
        paths: shape.style === 'scatter' ? () => null : columns ? columns(at) : undefined,
        points: shape.style === 'scatter' ? { show: true, size: 5, width: 0, fill: colour(at), stroke: colour(at) } : shape.style === 'column' ? { show: false } : { size: 5 },
      })),
    ],
    bands: shape.style === 'area' && shape.stacked ? values.slice(1).map((_, at) => ({ series: [at + 2, at + 1] })) : undefined,
    hooks: {
      setSelect: [(/** @type {any} */ u) => {
        if (u.select.width < 3) return;
        const from = u.posToVal(u.select.left, 'x'), to = u.posToVal(u.select.left + u.select.width, 'x');
        u.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        options.onBrush?.(from, to);
      }],
      setCursor: [(/** @type {any} */ u) => options.onCursor?.(u.cursor.idx ?? null)],
      draw: [(/** @type {any} */ u) => drawAnomalies(u, shape, colours['--failed'])],
    },
  }, [x.values, ...values], parent);
  const resize = new ResizeObserver(() => {
    const now = parent.clientWidth;
    if (now > 0 && Math.abs(now - chart.width) > 1) chart.setSize({ width: now, height: tall });
  });
  resize.observe(parent);
  return {
    /** Moves the cursor to a point, as the keys do. @param {number} index */
    moveTo(index) {
      chart.setCursor({ left: chart.valToPos(x.values[index], 'x'), top: chart.height / 3 });
    },
    close() {
      resize.disconnect();
      chart.destroy();
    },
  };
}

/**
 * The values as they are drawn. A logarithmic axis has no place for what is not positive.
 * @param {import('./shape.js').Plot} shape @param {Options} options
 */
function drawn(shape, options) {
  const upper = stack(shape.series, shape.stacked);
  const lower = upper.map((_, at) => (shape.stacked === '' || at === 0 ? null : upper[at - 1]));
  const values = options.log ? upper.map((one) => one.map((value) => (value !== null && value > 0 ? value : null))) : upper;
  return { lower, values };
}

/**
 * Columns: side by side, or each from the top of the one below.
 * @param {((number | null)[] | null)[]} lower @param {number} beside how many stand side by side
 */
function columnPaths(lower, beside) {
  return (/** @type {number} */ at) => (/** @type {any} */ u, /** @type {number} */ series, /** @type {number} */ from, /** @type {number} */ to) => {
    const fill = new Path2D();
    const xs = u.data[0], ys = u.data[series];
    let gap = Infinity;
    for (let i = 1; i < xs.length; i++) if (xs[i] > xs[i - 1]) gap = Math.min(gap, u.valToPos(xs[i], 'x', true) - u.valToPos(xs[i - 1], 'x', true));
    if (!Number.isFinite(gap)) gap = u.bbox.width / 4;
    const whole = Math.max(1, Math.min(gap * 0.82, 120 * devicePixelRatio)), width = Math.max(1, whole / beside);
    for (let i = from; i <= to; i++) {
      if (ys[i] === null || ys[i] === undefined) continue;
      const base = lower[at]?.[i] ?? (u.scales.y.distr === 3 ? u.scales.y.min : 0);
      const top = u.valToPos(ys[i], 'y', true), bottom = u.valToPos(base, 'y', true);
      const left = u.valToPos(xs[i], 'x', true) - whole / 2 + (beside > 1 ? at * width : 0);
      fill.rect(left, Math.min(top, bottom), Math.max(1, width - (beside > 1 ? 1 : 0)), Math.max(1, Math.abs(bottom - top)));
    }
    return { fill, stroke: null, clip: null };
  };
}

/** @param {any} u @param {import('./shape.js').Plot} shape @param {string} colour */
function drawAnomalies(u, shape, colour) {
  const { ctx } = u;
  shape.series.forEach((one, at) => {
    if (!one.anomalies) return;
    ctx.save();
    ctx.strokeStyle = ctx.fillStyle = colour;
    ctx.lineWidth = 2 * devicePixelRatio;
    one.anomalies.forEach((odd, index) => {
      const value = u.data[at + 1][index];
      if (!odd || value === null) return;
      ctx.beginPath();
      ctx.arc(u.valToPos(shape.x.values[index], 'x', true), u.valToPos(value, 'y', true), 4 * devicePixelRatio, 0, 2 * Math.PI);
      ctx.stroke();
    });
    ctx.restore();
  });
}

/** @param {import('./shape.js').Plot} shape @param {Options} options */
function xRange(shape, options) {
  return (/** @type {any} */ _u, /** @type {number} */ low, /** @type {number} */ high) => /** @type {[number, number]} */ (bounds(low, high));

  /** @param {number} low @param {number} high @returns {number[]} */
  function bounds(low, high) {
    const { values } = shape.x;
    let [from, to] = [options.xMin ?? low, options.xMax ?? high];
    if (options.logX) return [Math.max(from, 1e-9), Math.max(to, from * 1.1)];
    // Columns are as wide as their distance: the first and the last want half of it beside them.
    if (shape.style === 'column') {
      let gap = Infinity;
      for (let i = 1; i < values.length; i++) if (values[i] > values[i - 1]) gap = Math.min(gap, values[i] - values[i - 1]);
      if (!Number.isFinite(gap)) gap = 1;
      from -= gap * 0.55;
      to += gap * 0.55;
    }
    return to > from ? [from, to] : [from - 0.5, to + 0.5];
  }
}

/** @param {import('./shape.js').Plot} shape @param {Options} options */
function yRange(shape, options) {
  return (/** @type {any} */ _u, /** @type {number | null} */ low, /** @type {number | null} */ high) => /** @type {[number, number]} */ (bounds(low, high));

  /** @param {number | null} low @param {number | null} high @returns {number[]} */
  function bounds(low, high) {
    if (low === null || high === null) return options.log ? [0.1, 1] : [0, 1];
    if (options.log) {
      // Without a positive lower end the axis would never end.
      const least = Math.max(options.yMin ?? low, Number.MIN_VALUE * 1e10);
      return [10 ** Math.floor(Math.log10(least)), 10 ** Math.ceil(Math.log10(Math.max(options.yMax ?? high, least * 10)))];
    }
    if (shape.stacked === 'stacked100') return [0, 100];
    const from = options.yMin ?? (shape.style === 'scatter' && low > 0 && (high - low) / high < 0.5 ? low : Math.min(0, low));
    const to = options.yMax ?? Math.max(0, high);
    const room = (to - from) * 0.06 || 1;
    return [options.yMin ?? (from < 0 ? from - room : from), options.yMax ?? to + room];
  }
}

/** @param {import('./shape.js').Plot} shape */
function xLabels(shape) {
  const { x } = shape;
  if (x.labels) {
    const labels = x.labels;
    return {
      incrs: [1, 2, 5, 10, 20, 50, 100, 200, 500],
      values: (/** @type {any} */ _u, /** @type {number[]} */ splits) => splits.map((at) => (Number.isInteger(at) ? shortened(labels[at] ?? '') : '')),
    };
  }
  if (x.type === 'duration') return { values: (/** @type {any} */ _u, /** @type {number[]} */ splits) => splits.map((at) => (at === null ? '' : durationText(at))) };
  if (x.type === 'number') return { values: (/** @type {any} */ _u, /** @type {number[]} */ splits) => splits.map((at) => (at === null ? '' : axisText(at))) };
  return { values: TIMES };
}

/** How times stand on an axis: ISO, never in an order that a reader has to guess. */
const TIMES = [
  [86_400_000 * 365, '{YYYY}', null, null, null, null, null, null, 1],
  [86_400_000 * 28, '{YYYY}-{MM}', null, null, null, null, null, null, 1],
  [86_400_000, '{MM}-{DD}', '\n{YYYY}', null, null, null, null, null, 1],
  [3_600_000, '{HH}:{mm}', '\n{MM}-{DD}', null, '\n{MM}-{DD}', null, null, null, 1],
  [60_000, '{HH}:{mm}', '\n{MM}-{DD}', null, '\n{MM}-{DD}', null, null, null, 1],
  [1000, '{HH}:{mm}:{ss}', null, null, null, null, null, null, 1],
  [1, '{ss}.{fff}', null, null, null, null, '\n{HH}:{mm}', null, 1],
];

/** @param {string} text */
const shortened = (text) => (text.length > 14 ? text.slice(0, 13) + '…' : text);

/** @param {number} value */
export function axisText(value) {
  const size = Math.abs(value);
  const units = /** @type {[number, string][]} */ ([[1e12, 'T'], [1e9, 'G'], [1e6, 'M'], [1e4, 'k']]);
  const unit = units.find(([least]) => size >= least);
  if (!unit) return numberText(value);
  const by = unit[1] === 'k' ? 1e3 : unit[0];
  return `${Number((value / by).toPrecision(4))}${unit[1]}`;
}

/** The axis is as wide as its longest label. @param {(string | number)[] | null} labels @param {number} scale of the text */
function yAxisSize(labels, scale) {
  return (labels === null ? 44 : Math.max(36, Math.max(...labels.map((label) => String(label).length)) * 6.6 + 14)) * scale;
}

/** @param {string} colour of a computed style @param {number} alpha */
function withAlpha(colour, alpha) {
  const parts = /rgba?\(([^)]+)\)/.exec(colour);
  if (parts) return `rgba(${parts[1].split(',').slice(0, 3).join(',')}, ${alpha})`;
  return colour.replace(/\)$/, ` / ${alpha})`);
}
