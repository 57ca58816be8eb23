/** The items of an operation as a tree over time: a treegrid, of which only the rows on screen are in the page. */
import { html, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../vendor/preact.js';
import { Text } from '../result/cell.js';
import { textScale } from '../result/geometry.js';
import { stylesheet } from '../result/style.js';
import { countText, durationText } from '../result/values.js';
import { DEEPEST, foldedBelow, runsOf, shownOf } from './tree.js';

stylesheet(new URL('./trace.css', import.meta.url));

/** The height of a row at the usual text size, in pixels. */
const ROW_HEIGHT = 26;

/** How kinds of items are called on a row. */
export const KINDS = { request: 'REQ', dependency: 'DEP', exception: 'EXC', trace: 'LOG', pageView: 'PAGE', customEvent: 'EVT', availabilityResult: 'TEST', browserTiming: 'TIME' };

/**
 * @typedef {{from: number, to: number}} Span
 * @typedef {{
 *   tree: ReturnType<typeof import('./tree.js').treeOf>, roles: string[], selected: number | null, span: Span, needle: string,
 *   onSelect: (index: number | null, open?: boolean) => void, onSpan: (span: Span | null) => void,
 * }} Props `selected`: the index of an item; `span`: the times that the bars show
 */

/** @param {Props} props */
export function Waterfall({ tree, roles, selected, span, needle, onSelect, onSpan }) {
  const [folded, setFolded] = useState(/** @type {Set<number>} */ (new Set()));
  const [depth, setDepth] = useState(Infinity);
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [port, setPort] = useState({ top: 0, height: 400, row: ROW_HEIGHT });
  const ROW = port.row;
  const matches = useMemo(() => matcher(needle), [needle]);
  const runs = useMemo(() => runsOf(tree.roots), [tree]);
  const [opened, setOpened] = useState(/** @type {Set<number>} */ (new Set()));
  const rows = useMemo(() => shownOf(tree.roots, { folded, matches, runs, opened }), [tree, folded, matches, runs, opened]);
  const places = useMemo(() => new Map(rows.map(({ node }, at) => [node.item.index, at])), [rows]);
  const active = selected === null ? -1 : places.get(selected) ?? -1;
  const parents = useMemo(() => parentsOf(tree.roots), [tree]);
  const measure = () => box.current && setPort({
    top: box.current.scrollTop, height: box.current.clientHeight, row: Math.round(ROW_HEIGHT * textScale(getComputedStyle(document.documentElement).fontSize)),
  });
  useLayoutEffect(() => {
    measure();
    const observer = new ResizeObserver(measure);
    if (box.current) observer.observe(box.current);
    // The page grows with its text.
    observer.observe(document.body);
    return () => observer.disconnect();
  }, []);
  useEffect(() => {
    setFolded(new Set());
    setOpened(new Set());
  }, [tree]);
  // What is selected from elsewhere is unfolded and shown.
  useEffect(() => {
    if (selected === null) return;
    /** @type {number[]} */
    const above = [];
    for (let at = parents.get(selected); at !== undefined; at = parents.get(at)) if (folded.has(at)) above.push(at);
    const run = runs.first.get(selected);
    if (above.length > 0) setFolded(new Set([...folded].filter((index) => !above.includes(index))));
    else if (run !== undefined && run !== selected && !opened.has(run) && !needle) setOpened(new Set([...opened, run]));
    else reveal(active);
  }, [selected, rows]);
  const reveal = (/** @type {number} */ at) => {
    const element = box.current;
    if (!element || at < 0) return;
    const top = at * ROW, room = element.clientHeight - ROW;
    if (top < element.scrollTop) element.scrollTop = top;
    else if (top + ROW > element.scrollTop + room) element.scrollTop = top + ROW - room;
  };
  const to = (/** @type {number} */ at) => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, at))];
    if (row) onSelect(row.node.item.index);
  };
  const fold = (/** @type {number} */ index, /** @type {boolean} */ isFolded) => {
    const next = new Set(folded);
    if (isFolded) next.add(index);
    else next.delete(index);
    setFolded(next);
  };
  /** Shows a run of equal neighbours whole, or as one row. */
  const openRun = (/** @type {number} */ index, /** @type {boolean} */ isOpen) => {
    const next = new Set(opened);
    if (isOpen) next.add(index);
    else next.delete(index);
    setOpened(next);
    if (!isOpen) onSelect(index);
  };
  const toDepth = (/** @type {number} */ next) => {
    const deepest = Math.max(0, ...rows.map(({ node }) => node.depth));
    const wanted = Math.max(0, Math.min(next, deepest + 1));
    setDepth(wanted);
    setFolded(foldedBelow(tree.roots, wanted));
  };
  const nextFailure = () => {
    const order = shownOf(tree.roots, { folded: new Set(), matches });
    const from = order.findIndex(({ node }) => node.item.index === selected);
    const found = [...order.slice(from + 1), ...order.slice(0, from + 1)].find(({ node }) => node.item.failed);
    if (found) onSelect(found.node.item.index);
  };
  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.target !== event.currentTarget) return;
    const row = rows[active];
    const page = Math.max(1, Math.floor(port.height / ROW) - 2);
    const isFolded = row && folded.has(row.node.item.index);
    const hasChildren = row && row.node.children.length > 0;
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowDown: () => to(active + 1), ArrowUp: () => to(active - 1), PageDown: () => to(active + page), PageUp: () => to(active - page),
      Home: () => to(0), End: () => to(rows.length - 1),
      ArrowRight: () => row && row.run ? openRun(row.node.item.index, true) : row && (hasChildren && isFolded ? fold(row.node.item.index, false) : hasChildren && to(active + 1)),
      ArrowLeft: () => row && !needle && opened.has(runs.first.get(row.node.item.index) ?? -1) ? openRun(/** @type {number} */ (runs.first.get(row.node.item.index)), false) : row && (hasChildren && !isFolded && !needle ? fold(row.node.item.index, true) : parents.has(row.node.item.index) && onSelect(/** @type {number} */ (parents.get(row.node.item.index)))),
      Enter: () => row && onSelect(row.node.item.index, true),
      ' ': () => row?.run ? openRun(row.node.item.index, true) : row && hasChildren && fold(row.node.item.index, !isFolded),
      e: nextFailure,
      '[': () => toDepth((depth === Infinity ? Math.max(0, ...rows.map(({ node }) => node.depth)) : depth) - 1),
      ']': () => toDepth(depth === Infinity ? Infinity : depth + 1),
      '+': () => zoom(0.5), '-': () => zoom(2), 0: () => onSpan(null),
    };
    if (!keys[event.key]) return;
    event.preventDefault();
    keys[event.key]();
  };
  const zoom = (/** @type {number} */ factor) => {
    const item = rows[active]?.node.item;
    const middle = item ? item.start + item.duration / 2 : (span.from + span.to) / 2;
    const half = ((span.to - span.from) * factor) / 2;
    const next = { from: Math.max(tree.start, middle - half), to: Math.min(tree.end, middle + half) };
    onSpan(next.from <= tree.start && next.to >= tree.end ? null : next);
  };
  const zoomToItem = () => {
    const item = rows[active]?.node.item;
    if (item) onSpan({ from: item.start - Math.max(0.5, item.duration * 0.05), to: item.start + Math.max(1, item.duration * 1.05) });
  };
  const drag = useDrag(span, onSpan);
  const first = Math.max(0, Math.floor(port.top / ROW) - 2), last = Math.min(rows.length, first + Math.ceil(port.height / ROW) + 5);
  const failures = tree.failures;
  return html`
    <div class="trace-tools" role="toolbar" aria-label="Tree">
      <button type="button" class="btn quiet" disabled=${failures === 0} onClick=${nextFailure} title="e">Next failure${failures > 0 ? ` (${countText(failures)})` : ''}</button>
      <button type="button" class="btn quiet" onClick=${() => { setDepth(0); setFolded(foldedBelow(tree.roots, 0)); setOpened(new Set()); }}>Fold all</button>
      <button type="button" class="btn quiet" onClick=${() => { setDepth(Infinity); setFolded(new Set()); setOpened(new Set(runs.nodes.keys())); }}>Unfold all</button>
      <button type="button" class="btn quiet" onClick=${zoomToItem} disabled=${active < 0}>Zoom to item</button>
      <button type="button" class="btn quiet" onClick=${() => zoom(0.5)} title="+">Zoom in</button>
      <button type="button" class="btn quiet" onClick=${() => zoom(2)} title="-">Zoom out</button>
      <button type="button" class="btn quiet" onClick=${() => onSpan(null)} title="0">Whole</button>
      <span class="muted">${needle ? `${countText(rows.filter((row) => row.match).length)} of ${countText(countOf(tree.roots))} items match` : `${countText(countOf(tree.roots))} items`}</span>
    </div>
    <div class="waterfall" role="treegrid" aria-label="Items of the operation" aria-rowcount=${rows.length + 1} aria-colcount="4" tabindex="0" ref=${box} style=${{ '--row': `${ROW}px` }} onScroll=${measure} onKeyDown=${onKeyDown}
      aria-activedescendant=${active >= first && active < last ? `item-${rows[active].node.item.index}` : undefined} onFocus=${() => active < 0 && to(0)}>
      <div class="trace-head trace-row" role="row" aria-rowindex="1">
        <span role="columnheader">Item</span><span role="columnheader">Role</span><span role="columnheader" class="number">Duration</span>
        <span role="columnheader" class="trace-axis" ...${drag}>${ticks(span, tree.start).map((tick) => html`<span class="trace-tick" key=${tick} style=${{ left: `${share(tick, span)}%` }}>${tick === tree.start ? '0' : durationText(tick - tree.start)}</span>`)}</span>
      </div>
      <div class="trace-space" role="rowgroup" style=${{ height: `${rows.length * ROW}px` }}>
        ${rows.slice(first, last).map(({ node, match, run }, index) => html`<${Row} key=${node.item.index} node=${node} match=${match} run=${run} isFirst=${!needle && opened.has(node.item.index)} at=${first + index} span=${span} isFolded=${folded.has(node.item.index) && !needle} isActive=${node.item.index === selected}
          role=${roles.indexOf(node.item.role)} row=${ROW} onFold=${() => (runs.nodes.has(node.item.index) && !needle ? openRun(node.item.index, run !== null) : fold(node.item.index, !folded.has(node.item.index)))} onSelect=${() => onSelect(node.item.index, true)} />`)}
      </div>
    </div>`;
}

/** Bars of a run that are drawn: more would lie upon each other. */
const MOST_BARS = 200;

/** @param {{node: import('./tree.js').Node, match: boolean, run: import('./tree.js').Node[] | null, isFirst: boolean, at: number, span: Span, isFolded: boolean, isActive: boolean, role: number, row: number, onFold: () => void, onSelect: () => void}} props */
function Row({ node, match, run, isFirst, at, span, isFolded, isActive, role, row, onFold, onSelect }) {
  const { item } = node;
  const hasChildren = node.children.length > 0;
  const bars = (run ?? [node]).slice(0, MOST_BARS).map((one) => ({ left: share(one.item.start, span), width: (100 * one.item.duration) / (span.to - span.from) }));
  const took = (run ?? [node]).reduce((sum, one) => sum + one.item.duration, 0);
  const canFold = hasChildren || run !== null || isFirst;
  const isClosed = isFolded || run !== null;
  const isPoint = item.itemType === 'trace' || item.itemType === 'exception' || item.itemType === 'customEvent';
  const colour = item.failed ? 'var(--failed)' : `var(--series-${(Math.max(0, role) % 10) + 1})`;
  return html`
    <div class=${`trace-row${isActive ? ' active' : ''}${match ? '' : ' dim'}${item.failed ? ' failed' : ''}`} role="row" id=${`item-${item.index}`} aria-rowindex=${at + 2} aria-level=${node.depth + 1} aria-selected=${isActive}
      aria-expanded=${canFold ? !isClosed : undefined} style=${{ transform: `translateY(${at * row}px)` }} onClick=${onSelect}>
      <span class="trace-name" role="gridcell" style=${{ paddingLeft: `${Math.min(node.depth, DEEPEST) * 14}px` }}>
        ${canFold ? html`<button type="button" class="trace-fold" tabindex="-1" aria-label=${isClosed ? 'Unfold' : 'Fold'} onClick=${(/** @type {Event} */ event) => { event.stopPropagation(); onFold(); }}>${isClosed ? '▸' : '▾'}</button>` : html`<span class="trace-fold" aria-hidden="true"></span>`}
        <span class=${`trace-kind kind-${item.itemType}`}>${/** @type {Record<string, string>} */ (KINDS)[item.itemType] ?? item.itemType}</span>
        ${item.failed && html`<span class="trace-failed"><span aria-hidden="true">✕</span><span class="visually-hidden">failed</span></span>`}
        ${node.orphan && html`<span class="trace-orphan" title="Its parent is not among the items">orphan</span>`}
        <span class="trace-label" title=${item.name}><${Text} text=${item.name.length > 200 ? item.name.slice(0, 200) + '…' : item.name} /></span>
        ${run && html`<span class="badge" title="Equal neighbours; unfold them for each">× ${countText(run.length)}</span>`}
        ${isFolded && html`<span class="muted trace-under">${countText(node.under)} below${node.failures > 0 ? html`, <span class="problem">${countText(node.failures)} failed</span>` : ''}</span>`}
        ${item.code && item.itemType !== 'trace' && html`<span class="muted mono"><${Text} text=${item.code} /></span>`}
      </span>
      <span class="trace-role" role="gridcell"><span class="swatch" style=${{ background: `var(--series-${(Math.max(0, role) % 10) + 1})` }}></span><${Text} text=${item.role} /></span>
      <span class="number mono" role="gridcell">${isPoint ? '' : durationText(took)}</span>
      <span class="trace-lane" role="gridcell" aria-label=${`starts after ${durationText(item.start - span.from)}`}>${bars.filter(({ left, width }) => left <= 100 && left + width >= 0).map(({ left, width }, nth) => (isPoint ? html`<span key=${nth} class="trace-point" style=${{ left: `${left}%`, backgroundColor: colour }}></span>`
        : html`<span key=${nth} class=${`trace-bar${item.failed ? ' failed' : ''}`} style=${{ left: `${Math.max(0, left)}%`, width: `max(2px, ${Math.min(100, left + width) - Math.max(0, left)}%)`, backgroundColor: colour }}></span>`))}</span>
    </div>`;
}

/** @param {number} at @param {Span} span */
const share = (at, span) => (100 * (at - span.from)) / (span.to - span.from);

/** @param {string} needle */
function matcher(needle) {
  const wanted = needle.trim().toLowerCase();
  if (wanted === '') return null;
  return (/** @type {import('./tree.js').Item} */ item) => [item.name, item.role, item.itemType, item.target, item.code, item.type, item.failed ? 'failed' : ''].some((text) => text.toLowerCase().includes(wanted))
    || item.cells.some((value) => typeof value === 'string' && value.length < 20_000 && value.toLowerCase().includes(wanted));
}

/** @param {import('./tree.js').Node[]} roots */
const countOf = (roots) => roots.reduce((sum, node) => sum + node.under + 1, 0);

/** The item above each item. @param {import('./tree.js').Node[]} roots @returns {Map<number, number>} */
function parentsOf(roots) {
  const out = new Map();
  const waiting = [...roots];
  while (waiting.length > 0) {
    const node = /** @type {import('./tree.js').Node} */ (waiting.pop());
    for (const child of node.children) {
      out.set(child.item.index, node.item.index);
      waiting.push(child);
    }
  }
  return out;
}

/** Round times after the start of the operation. @param {Span} span @param {number} start */
function ticks(span, start) {
  const wanted = (span.to - span.from) / 4;
  const power = 10 ** Math.floor(Math.log10(wanted));
  const step = [1, 2, 5, 10].map((factor) => factor * power).find((size) => size >= wanted) ?? power;
  const out = [];
  for (let at = start + Math.ceil((span.from - start) / step) * step; at < span.to - step * 0.2; at += step) out.push(at);
  return out;
}

/** Choosing a span by a drag on the axis; the buttons above do the same. @param {Span} span @param {(span: Span | null) => void} onSpan */
function useDrag(span, onSpan) {
  return {
    onPointerDown: (/** @type {PointerEvent} */ event) => {
      const element = /** @type {HTMLElement} */ (event.currentTarget);
      const { left, width } = element.getBoundingClientRect();
      const at = (/** @type {PointerEvent} */ now) => span.from + (Math.max(0, Math.min(1, (now.clientX - left) / width))) * (span.to - span.from);
      const from = at(event);
      element.setPointerCapture(event.pointerId);
      element.onpointerup = (now) => {
        element.onpointerup = null;
        const to = at(now);
        if (Math.abs(to - from) > (span.to - span.from) / 100) onSpan({ from: Math.min(from, to), to: Math.max(from, to) });
      };
    },
  };
}
