/**
 * The grid of results: virtual in both directions, so that it has some hundred elements whatever the size of the result.
 *
 * The focus stays on the grid itself and `aria-activedescendant` names the active cell: rows come and go while the reader scrolls.
 */
import { html, useCallback, useEffect, useLayoutEffect, useMemo, useRef, useState } from '../vendor/preact.js';
import { Cell } from './cell.js';
import { ColumnMenu } from './column-menu.js';
import { heightScale, offsets, textScale, visibleColumns, widthsOf } from './geometry.js';
import { sourceOfTable } from './source.js';
import { stylesheet } from './style.js';
import { cellText, countText } from './values.js';

stylesheet(new URL('./grid.css', import.meta.url));

/** The height of a row at the usual text size, in pixels. */
const ROW_HEIGHT = 24;
const PAGE = 100;
/** Columns on either side that are drawn beside the visible ones. */
const OVER = 1;

let grids = 0;

/**
 * @typedef {{keys: import('./rows.js').SortKey[], hidden: number[], needle: string}} View
 * @typedef {{
 *   table?: import('./values.js').Table,
 *   source?: import('./source.js').RowSource,
 *   label?: string,
 *   height?: number | string,
 *   zone?: 'local' | 'utc',
 *   view?: View,
 *   bar?: boolean,
 *   onView?: (view: View) => void,
 *   onFilter?: (column: import('./values.js').Column, value: any, without: boolean) => void,
 *   onOpen?: (place: number, column: number | null) => void,
 *   onMessage?: (text: string) => void,
 * }} Props
 */

/** @param {Props} props */
export function Grid(props) {
  const { table, label = 'Result', zone = 'local', onFilter, onOpen, onMessage = () => {} } = props;
  const source = useMemo(() => props.source ?? sourceOfTable(table ?? { name: '', columns: [], rows: [] }), [props.source, table]);
  const [ownView, setOwnView] = useState(/** @type {View} */ ({ keys: [], hidden: [], needle: '' }));
  const view = props.view ?? ownView;
  const setView = props.onView ?? setOwnView;
  const id = useMemo(() => `grid-${++grids}`, []);
  const rows = useRows(source, view);
  const columns = useMemo(() => source.columns.flatMap((_, index) => (view.hidden.includes(index) ? [] : [index])), [source, view.hidden]);
  const [text, setText] = useState(1);
  const ROW = Math.round(ROW_HEIGHT * text);
  const [widths, setWidths] = useState(/** @type {number[]} */ ([]));
  useEffect(() => setWidths([]), [source]);
  const allWidths = useMemo(() => (widths.length > 0 ? widths : widthsOf(source.columns, rows.sample, zone, text)), [widths, source, rows.sample, zone, text]);
  const places = useMemo(() => offsets(columns.map((index) => allWidths[index])), [columns, allWidths]);
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [port, setPort] = useState({ top: 0, left: 0, width: 800, height: 400 });
  const [active, setActive] = useState({ row: -1, column: 0 });
  const [anchor, setAnchor] = useState(/** @type {{row: number, column: number} | null} */ (null));
  const [menu, setMenu] = useState(/** @type {number | null} */ (null));
  const scale = useMemo(() => heightScale(rows.count, ROW), [rows.count, ROW]);
  const tall = Math.max(1, Math.floor((port.height - ROW) / ROW));

  useEffect(() => {
    setActive({ row: -1, column: 0 });
    setAnchor(null);
    if (box.current) box.current.scrollTop = 0;
  }, [source]);

  const measure = useCallback(() => {
    const element = box.current;
    setText(textScale(getComputedStyle(document.documentElement).fontSize));
    if (element) setPort({ top: element.scrollTop, left: element.scrollLeft, width: element.clientWidth, height: element.clientHeight });
  }, []);
  useLayoutEffect(() => {
    measure();
    const observer = new ResizeObserver(measure);
    if (box.current) observer.observe(box.current);
    // The page grows with its text.
    observer.observe(document.body);
    return () => observer.disconnect();
  }, [measure]);

  const first = scale.rowAt(port.top, tall);
  const last = Math.min(rows.count, first + tall + 2);
  useEffect(() => rows.want(first, last), [first, last, rows.version]);
  const [left, right] = visibleColumns(places, port.left, port.width, OVER);

  const reveal = useCallback((/** @type {number} */ row, /** @type {number} */ column) => {
    const element = box.current;
    if (!element) return;
    if (row >= 0) {
      const top = scale.rowAt(element.scrollTop, tall);
      if (row < top) element.scrollTop = scale.topOf(row, tall);
      else if (row >= top + tall) element.scrollTop = scale.topOf(row - tall + 1, tall);
    }
    const from = places[column] ?? 0, to = places[column + 1] ?? from;
    if (from < element.scrollLeft) element.scrollLeft = from;
    else if (to > element.scrollLeft + element.clientWidth) element.scrollLeft = Math.min(from, to - element.clientWidth);
  }, [scale, tall, places]);

  const move = (/** @type {number} */ row, /** @type {number} */ column, /** @type {boolean} */ extend) => {
    const to = { row: Math.max(-1, Math.min(rows.count - 1, row)), column: Math.max(0, Math.min(columns.length - 1, column)) };
    setAnchor(extend ? anchor ?? active : null);
    setActive(to);
    reveal(to.row, to.column);
  };

  const area = anchor && anchor.row >= 0 && active.row >= 0
    ? { top: Math.min(anchor.row, active.row), bottom: Math.max(anchor.row, active.row), left: Math.min(anchor.column, active.column), right: Math.max(anchor.column, active.column) }
    : { top: active.row, bottom: active.row, left: active.column, right: active.column };

  const copy = async (/** @type {boolean} */ header) => {
    if (area.top < 0) return;
    const chosen = columns.slice(area.left, area.right + 1);
    const text = await source.text(area.top, area.bottom + 1, chosen, header);
    await navigator.clipboard.writeText(text);
    onMessage(`Copied ${countText(area.bottom - area.top + 1)} rows × ${chosen.length} columns`);
  };

  const sortBy = (/** @type {number} */ column, /** @type {'up' | 'down' | 'none' | 'next'} */ direction) => {
    const now = view.keys.find((key) => key.column === column);
    const next = direction === 'next' ? (now === undefined ? 'up' : now.descending ? 'none' : 'down') : direction;
    setView({ ...view, keys: next === 'none' ? [] : [{ column, descending: next === 'down' }] });
  };

  const filter = async (/** @type {boolean} */ without) => {
    const row = rows.at(active.row);
    if (!row || !onFilter) return;
    const column = columns[active.column];
    onFilter(source.columns[column], await source.cell(row.place, column), without);
  };

  const onKeyDown = (/** @type {KeyboardEvent} */ event) => {
    if (event.target !== event.currentTarget) return;
    const { row, column } = active;
    const control = event.ctrlKey || event.metaKey, extend = event.shiftKey;
    const to = (/** @type {number} */ r, /** @type {number} */ c) => move(r, c, extend);
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowDown: () => to(row + 1, column),
      ArrowUp: () => to(row - 1, column),
      ArrowRight: () => to(row, column + 1),
      ArrowLeft: () => to(row, column - 1),
      PageDown: () => to(row + tall, column),
      PageUp: () => to(Math.max(row >= 0 ? 0 : -1, row - tall), column),
      Home: () => (control ? to(0, 0) : to(row, 0)),
      End: () => (control ? to(rows.count - 1, columns.length - 1) : to(row, columns.length - 1)),
      Enter: () => {
        if (row < 0) setMenu(columns[column]);
        else openAt(columns[column]);
      },
      ' ': () => (row < 0 ? sortBy(columns[column], 'next') : openAt(null)),
    };
    if (!control && !event.altKey && event.key.toLowerCase() === 'f' && onFilter && row >= 0) return consume(event, () => filter(event.shiftKey));
    if (control && event.key.toLowerCase() === 'c') return consume(event, () => copy(extend));
    if (control && event.key.toLowerCase() === 'a') {
      return consume(event, () => {
        setAnchor({ row: 0, column: 0 });
        setActive({ row: rows.count - 1, column: columns.length - 1 });
      });
    }
    if (event.altKey || (control && !['Home', 'End'].includes(event.key))) return;
    if (keys[event.key]) consume(event, keys[event.key]);
  };

  const openAt = (/** @type {number | null} */ column) => {
    const row = rows.at(active.row);
    if (row && onOpen) onOpen(row.place, column);
  };

  const onPointerDown = (/** @type {PointerEvent} */ event) => {
    const at = cellAt(event);
    if (!at || event.button !== 0) return;
    setAnchor(event.shiftKey ? anchor ?? active : null);
    setActive(at);
  };
  const onPointerMove = (/** @type {PointerEvent} */ event) => {
    if (event.buttons !== 1 || event.pointerType === 'touch' || active.row < 0) return;
    const at = cellAt(event);
    if (!at || (at.row === active.row && at.column === active.column)) return;
    setAnchor(anchor ?? active);
    setActive(at);
  };

  const shown = [];
  for (let row = first; row < last; row++) shown.push(row);
  const width = places[places.length - 1];
  const activeId = active.row >= -1 && columns.length > 0 ? `${id}-${active.row}-${active.column}` : undefined;
  const isDrawn = (active.row === -1 || (active.row >= first && active.row < last)) && active.column >= left && active.column < right;

  return html`
    <div class="grid-frame" style=${{ height: heightOf(props, rows.count, ROW), '--row': `${ROW}px` }}>
      <div class="grid" ref=${box} role="grid" tabindex="0" aria-label=${label} aria-rowcount=${rows.count + 1} aria-colcount=${columns.length}
        aria-multiselectable="true" aria-activedescendant=${isDrawn ? activeId : undefined} onScroll=${measure} onKeyDown=${onKeyDown}
        onFocus=${() => active.row === -1 && rows.count > 0 && anchor === null && setActive({ row: 0, column: active.column })}
        onPointerDown=${onPointerDown} onPointerMove=${onPointerMove} onDblClick=${() => active.row >= 0 && openAt(columns[active.column])}>
        <div class="grid-space" style=${{ width: `${width}px`, height: `${scale.height + ROW}px` }}>
          <div class="grid-row grid-head" role="row" aria-rowindex="1" style=${{ width: `${width}px` }}>
            ${columns.slice(left, right).map((column, at) => html`
              <${Head} key=${column} id=${`${id}--1-${left + at}`} column=${source.columns[column]} place=${left + at} x=${places[left + at]}
                width=${allWidths[column]} sorted=${view.keys.find((key) => key.column === column)} isActive=${active.row === -1 && active.column === left + at}
                onSort=${() => sortBy(column, 'next')} onMenu=${() => setMenu(menu === column ? null : column)}
                onWidth=${(/** @type {number} */ size) => setWidths(allWidths.map((now, index) => (index === column ? size : now)))} />`)}
          </div>
          ${shown.map((at) => {
            const row = rows.at(at);
            return html`
              <div key=${at} class=${`grid-row${at % 2 ? ' odd' : ''}`} role="row" aria-rowindex=${at + 2}
                style=${{ transform: `translateY(${scale.pixel(at, first, port.top) + ROW}px)`, width: `${width}px` }}>
                ${columns.slice(left, right).map((column, index) => {
                  const place = left + index;
                  const isActive = active.row === at && active.column === place;
                  const isSelected = at >= area.top && at <= area.bottom && place >= area.left && place <= area.right;
                  return html`<${Cell} key=${column} id=${`${id}-${at}-${place}`} row=${at} place=${place} x=${places[place]} width=${allWidths[column]}
                    value=${row ? row.cells[column] : undefined} type=${source.columns[column].type} zone=${zone} isActive=${isActive} isSelected=${isSelected} />`;
                })}
              </div>`;
          })}
        </div>
      </div>
      ${menu !== null && html`<${ColumnMenu} column=${source.columns[menu]} width=${allWidths[menu]} x=${(places[columns.indexOf(menu)] ?? 0) - port.left}
        onSort=${(/** @type {'up' | 'down' | 'none'} */ way) => sortBy(menu, way)}
        onHide=${() => setView({ ...view, hidden: [...view.hidden, menu] })}
        onWidth=${(/** @type {number} */ size) => setWidths(allWidths.map((now, index) => (index === menu ? size : now)))}
        onClose=${() => {
          setMenu(null);
          box.current?.focus();
        }} />`}
      ${rows.count === 0 && html`<p class="grid-empty muted">${view.needle ? 'No row contains this text.' : 'No rows.'}</p>`}
    </div>`;
}

/** A table in a panel is as tall as its rows, up to a limit; a source fills the place that it is given. @param {Props} props @param {number} count @param {number} row height */
function heightOf({ height, source }, count, row) {
  if (height !== undefined) return typeof height === 'number' ? `${height}px` : height;
  return source ? '100%' : `${Math.min(15, Math.max(1, count) + 1) * row + 20}px`;
}

/** @param {Event} event @param {() => void} action */
function consume(event, action) {
  event.preventDefault();
  action();
}

/** @param {Event} event */
function cellAt(event) {
  const element = /** @type {HTMLElement} */ (event.target).closest?.('[data-row]');
  if (!(element instanceof HTMLElement)) return null;
  return { row: Number(element.dataset.row), column: Number(element.dataset.place) };
}

/**
 * The pages of rows that were asked for, and the sort and filter of the view.
 * @param {import('./source.js').RowSource} source
 * @param {View} view
 */
function useRows(source, view) {
  const [count, setCount] = useState(source.total);
  const [version, setVersion] = useState(0);
  const [sample, setSample] = useState(/** @type {any[][]} */ ([]));
  const pages = useRef(/** @type {Map<number, import('./source.js').Row[] | null>} */ (new Map()));
  const order = useRef('');
  const wanted = JSON.stringify([view.keys, view.needle]);
  // Another source shows its own first rows at once, never those of the last one.
  const shownSource = useRef(source);
  if (shownSource.current !== source) {
    shownSource.current = source;
    pages.current = new Map();
    order.current = '';
  }
  useEffect(() => {
    let isCurrent = true;
    const arranged = view.keys.length > 0 || view.needle !== '' || order.current !== '' ? source.arrange(view.keys, view.needle) : Promise.resolve(source.total);
    order.current = wanted;
    arranged.then((rows) => source.slice(0, PAGE).then((answer) => {
      if (!isCurrent) return;
      pages.current = new Map([[0, answer.rows]]);
      setSample(answer.rows.slice(0, 50).map((row) => row.cells));
      setCount(rows);
      setVersion((now) => now + 1);
    })).catch(() => {});
    return () => {
      isCurrent = false;
    };
  }, [source, wanted]);

  const want = (/** @type {number} */ from, /** @type {number} */ to) => {
    for (let page = Math.floor(from / PAGE); page * PAGE < to; page++) {
      if (pages.current.has(page)) continue;
      const into = pages.current;
      into.set(page, null);
      source.slice(page * PAGE, (page + 1) * PAGE).then((answer) => {
        into.set(page, answer.rows);
        if (into.size > 40) into.delete(/** @type {number} */ ([...into.keys()].find((key) => Math.abs(key - page) > 5)));
        setVersion((now) => now + 1);
      }).catch(() => into.delete(page));
    }
  };
  const at = (/** @type {number} */ row) => pages.current.get(Math.floor(row / PAGE))?.[row % PAGE] ?? null;
  return { count: shownSource.current === source ? count : source.total, version, sample, want, at };
}

/**
 * @param {{id: string, column: import('./values.js').Column, place: number, x: number, width: number, isActive: boolean,
 *   sorted?: import('./rows.js').SortKey, onSort: () => void, onMenu: () => void, onWidth: (width: number) => void}} props
 */
function Head({ id, column, place, x, width, sorted, isActive, onSort, onMenu, onWidth }) {
  const drag = (/** @type {PointerEvent} */ event) => {
    event.preventDefault();
    event.stopPropagation();
    const handle = /** @type {HTMLElement} */ (event.currentTarget);
    const from = event.clientX;
    handle.setPointerCapture(event.pointerId);
    handle.onpointermove = (now) => onWidth(Math.max(40, width + now.clientX - from));
    handle.onpointerup = () => (handle.onpointermove = handle.onpointerup = null);
  };
  return html`
    <div class=${`grid-cell grid-column${isActive ? ' active' : ''}`} id=${id} role="columnheader" aria-colindex=${place + 1} data-row="-1" data-place=${place}
      aria-sort=${sorted ? (sorted.descending ? 'descending' : 'ascending') : 'none'} style=${{ left: `${x}px`, width: `${width}px` }}
      title=${`${column.name}: ${column.type}`} onClick=${onSort}>
      <span class="grid-name">${column.name}</span>
      ${sorted && html`<span class="grid-sort" aria-hidden="true">${sorted.descending ? '↓' : '↑'}</span>`}
      <button class="grid-menu-button" type="button" tabindex="-1" aria-label=${`Menu of ${column.name}`} onClick=${(/** @type {Event} */ event) => {
        event.stopPropagation();
        onMenu();
      }}>⋮</button>
      <span class="grid-handle" aria-hidden="true" onPointerDown=${drag} onClick=${(/** @type {Event} */ event) => event.stopPropagation()}></span>
    </div>`;
}

/** The text of a cell for a tooltip or a message. @param {any} value @param {string} type */
export const plainCell = (value, type) => cellText(value && typeof value === 'object' && 'cut' in value ? value.cut : value, type);
