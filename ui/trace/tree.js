/**
 * The items of one operation as a tree by `operation_ParentId`, and the rows of it that are shown. Pure.
 *
 * @typedef {{
 *   index: number, id: string, parentId: string, itemId: string, itemType: string, name: string, role: string, start: number,
 *   duration: number, failed: boolean, severity: number | null, code: string, target: string, type: string, cells: any[],
 * }} Item
 * @typedef {{item: Item, children: Node[], depth: number, orphan: boolean, under: number, failures: number}} Node
 * @typedef {{nodes: Map<number, Node[]>, first: Map<number, number>}} Runs Of equal neighbours: the nodes of each by the index of its first
 *   item, and the index of the first item of the run that an item is in
 */
import { numberOf } from '../result/values.js';

/** Items of this many levels and more are shown at the last indentation. */
export const DEEPEST = 30;

const SEVERITIES = ['Verbose', 'Information', 'Warning', 'Error', 'Critical'];

/** @param {number | null} level */
export const severityText = (level) => (level === null ? '' : SEVERITIES[level] ?? String(level));

/**
 * The items of a table with the columns of the telemetry schema.
 * @param {import('../result/values.js').Table} table
 * @returns {Item[]}
 */
export function itemsOf(table) {
  const place = new Map(table.columns.map((column, index) => [column.name, index]));
  const reader = (/** @type {string} */ name) => {
    const index = place.get(name);
    return (/** @type {any[]} */ row) => (index === undefined ? null : row[index]);
  };
  const text = (/** @type {string} */ name) => {
    const read = reader(name);
    return (/** @type {any[]} */ row) => String(read(row) ?? '');
  };
  const [timestamp, duration, success, severity] = ['timestamp', 'duration', 'success', 'severityLevel'].map(reader);
  const [id, parentId, itemId, itemType, name, role, message, code, target, type, outer, problem, reason] =
    ['id', 'operation_ParentId', 'itemId', 'itemType', 'name', 'cloud_RoleName', 'message', 'resultCode', 'target', 'type',
      'outerMessage', 'problemId', 'innermostMessage'].map(text);
  const timings = reader('totalDuration');
  return table.rows.map((row, index) => {
    const kind = itemType(row);
    const level = severity(row);
    const label = kind === 'exception' ? [type(row) || problem(row), outer(row) || reason(row)].filter(Boolean).join(': ')
      : kind === 'trace' ? message(row) : name(row);
    const start = numberOf(timestamp(row), 'datetime') ?? 0;
    // Browser timings have their total in a column of its own.
    const took = Number(duration(row) ?? timings(row) ?? 0) || 0;
    return {
      index, id: id(row), parentId: parentId(row), itemId: itemId(row), itemType: kind, name: label || '(no name)', role: role(row),
      start, duration: Math.max(0, took), failed: failedOf(success(row), kind, level), severity: level === null ? null : Number(level),
      code: code(row), target: target(row), type: type(row), cells: row,
    };
  });
}

/** @param {any} success @param {string} kind @param {any} level */
function failedOf(success, kind, level) {
  if (kind === 'exception') return true;
  if (kind === 'trace') return level !== null && Number(level) >= 3;
  // Text in tables of this schema, 0 and 1 for availability, truth elsewhere.
  return success === false || success === 'False' || success === 'false' || success === '0' || success === 0;
}

/**
 * The tree. An item whose parent is absent is an orphan and stands at the top; so does one of the items of a cycle.
 * @param {Item[]} items
 * @param {string} operation its id: an item that names it as its parent begins the operation
 * @returns {{roots: Node[], orphans: number, start: number, end: number, failures: number}}
 */
export function treeOf(items, operation) {
  /** @type {Map<string, Node>} */
  const byId = new Map();
  const nodes = items.map((item) => /** @type {Node} */ ({ item, children: [], depth: 0, orphan: false, under: 0, failures: 0 }));
  for (const node of nodes) {
    // Traces and exceptions have no id of their own; the first of two items with one id keeps it.
    if (node.item.id && !byId.has(node.item.id)) byId.set(node.item.id, node);
  }
  /** @type {Node[]} */
  const roots = [];
  /** @type {Map<Node, Node>} */
  const parents = new Map();
  let orphans = 0;
  for (const node of nodes) {
    const { parentId } = node.item;
    const parent = parentId ? byId.get(parentId) : undefined;
    if (parent && parent !== node && !leadsTo(parents, parent, node)) {
      parents.set(node, parent);
      parent.children.push(node);
      continue;
    }
    node.orphan = parentId !== '' && parent === undefined && parentId !== operation;
    if (node.orphan) orphans++;
    roots.push(node);
  }
  arrange(roots);
  const start = items.reduce((least, item) => Math.min(least, item.start), Infinity);
  const end = items.reduce((most, item) => Math.max(most, item.start + item.duration), -Infinity);
  return { roots, orphans, start, end: Math.max(end, start + 1), failures: items.filter((item) => item.failed).length };
}

/** Whether `from` has `node` above it. @param {Map<Node, Node>} parents @param {Node} from @param {Node} node */
function leadsTo(parents, from, node) {
  for (let at = /** @type {Node | undefined} */ (from); at; at = parents.get(at)) if (at === node) return true;
  return false;
}

/** Sorts by time and counts, without recursion: a chain of 10,000 items is a tree too. @param {Node[]} roots */
function arrange(roots) {
  const order = [];
  const waiting = [...roots];
  roots.sort(byTime);
  while (waiting.length > 0) {
    const node = /** @type {Node} */ (waiting.pop());
    order.push(node);
    node.children.sort(byTime);
    for (const child of node.children) {
      child.depth = node.depth + 1;
      waiting.push(child);
    }
  }
  for (const node of order.reverse()) {
    for (const child of node.children) {
      node.under += child.under + 1;
      node.failures += child.failures + (child.item.failed ? 1 : 0);
    }
  }
}

/** @param {Node} a @param {Node} b */
function byTime(a, b) {
  return a.item.start - b.item.start || b.item.duration - a.item.duration || a.item.index - b.item.index;
}

/** The number of equal neighbours that are shown as one row. */
export const LEAST_RUN = 5;

/**
 * Equal neighbours: siblings without children that follow each other in time and have the same kind, name, role, target and outcome.
 * @param {Node[]} roots
 * @returns {Runs}
 */
export function runsOf(roots) {
  /** @type {Runs} */
  const runs = { nodes: new Map(), first: new Map() };
  const lists = [roots];
  while (lists.length > 0) {
    const list = /** @type {Node[]} */ (lists.pop());
    for (let from = 0, to; from < list.length; from = to) {
      const key = keyOf(list[from]);
      to = from + 1;
      while (key !== null && to < list.length && keyOf(list[to]) === key) to++;
      if (to - from >= LEAST_RUN) addRun(runs, list.slice(from, to));
    }
    for (const node of list) if (node.children.length > 0) lists.push(node.children);
  }
  return runs;
}

/** What equal neighbours share; null for a node that has a row of its own. @param {Node} node */
function keyOf({ item, children }) {
  return children.length > 0 ? null : JSON.stringify([item.itemType, item.name, item.role, item.target, item.type, item.code, item.failed]);
}

/** @param {Runs} runs @param {Node[]} nodes */
function addRun(runs, nodes) {
  const { index } = nodes[0].item;
  runs.nodes.set(index, nodes);
  for (const { item } of nodes) runs.first.set(item.index, index);
}

/**
 * The nodes that are shown, in order: without what is below a folded node, and with a run of equal neighbours as its first node. With a
 * filter, the nodes that match and all above them.
 * @param {Node[]} roots
 * @param {{folded: Set<number>, matches?: ((item: Item) => boolean) | null, runs?: Runs | null, opened?: Set<number>}} view `folded`: indexes of
 *   items; `opened`: the runs that are shown whole, by the indexes of their first items
 * @returns {{node: Node, match: boolean, run: Node[] | null}[]} `run`: the nodes that the row stands for
 */
export function shownOf(roots, { folded, matches = null, runs = null, opened = new Set() }) {
  const kept = matches ? keptBy(roots, matches) : null;
  const out = [];
  const waiting = [...roots].reverse();
  while (waiting.length > 0) {
    const node = /** @type {Node} */ (waiting.pop());
    if (kept && !kept.has(node)) continue;
    const { index } = node.item;
    const first = kept || runs === null ? undefined : runs.first.get(index);
    const isClosed = first !== undefined && !opened.has(first);
    if (isClosed && first !== index) continue;
    out.push({ node, match: matches ? matches(node.item) : true, run: isClosed ? runs?.nodes.get(index) ?? null : null });
    // A filter shows matches below folded nodes too.
    if (!kept && folded.has(node.item.index)) continue;
    for (let at = node.children.length - 1; at >= 0; at--) waiting.push(node.children[at]);
  }
  return out;
}

/** @param {Node[]} roots @param {(item: Item) => boolean} matches */
function keptBy(roots, matches) {
  const order = [];
  const waiting = [...roots];
  while (waiting.length > 0) {
    const node = /** @type {Node} */ (waiting.pop());
    order.push(node);
    waiting.push(...node.children);
  }
  /** @type {Set<Node>} */
  const kept = new Set();
  for (const node of order.reverse()) {
    if (matches(node.item) || node.children.some((child) => kept.has(child))) kept.add(node);
  }
  return kept;
}

/**
 * The items to fold so that nothing deeper than `depth` is shown.
 * @param {Node[]} roots @param {number} depth
 */
export function foldedBelow(roots, depth) {
  const folded = new Set();
  const waiting = [...roots];
  while (waiting.length > 0) {
    const node = /** @type {Node} */ (waiting.pop());
    if (node.children.length === 0) continue;
    if (node.depth >= depth) folded.add(node.item.index);
    waiting.push(...node.children);
  }
  return folded;
}
