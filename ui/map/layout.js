/**
 * Where the roles and targets of an application map stand: callers to the left of what they call. Pure.
 *
 * @typedef {{caller: string, callee: string, type: string, calls: number, failed: number, p95: number | null}} Edge
 * @typedef {{name: string, layer: number, x: number, y: number, isRole: boolean, calls: number, failed: number}} Place
 */

export const WIDTH = 180, HEIGHT = 46;
const ACROSS = 360, DOWN = 74, MARGIN = 12;

/**
 * @param {Edge[]} edges
 * @returns {{nodes: Place[], width: number, height: number}}
 */
export function layout(edges) {
  const names = [...new Set(edges.flatMap(({ caller, callee }) => [caller, callee]))];
  const roles = new Set(edges.map(({ caller }) => caller));
  const layers = layersOf(names, withoutCycles(names, edges));
  /** @type {string[][]} */
  const rows = [];
  for (const name of names) (rows[layers.get(name) ?? 0] ??= []).push(name);
  /** @type {Map<string, number>} */
  const order = new Map();
  rows.forEach((row) => {
    // Near to those that call it, so that lines cross seldom.
    const pull = (/** @type {string} */ name) => {
      const from = edges.filter((edge) => edge.callee === name && order.has(edge.caller)).map((edge) => order.get(edge.caller) ?? 0);
      return from.length === 0 ? 0 : from.reduce((sum, at) => sum + at, 0) / from.length;
    };
    row.sort((a, b) => pull(a) - pull(b) || a.localeCompare(b)).forEach((name, at) => order.set(name, at - (row.length - 1) / 2));
  });
  const tallest = Math.max(0, ...rows.map((row) => row.length));
  const middle = MARGIN + ((tallest - 1) * DOWN) / 2;
  const nodes = names.map((name) => {
    const into = edges.filter((edge) => edge.callee === name);
    return {
      name, layer: layers.get(name) ?? 0, isRole: roles.has(name), x: MARGIN + (layers.get(name) ?? 0) * ACROSS, y: middle + (order.get(name) ?? 0) * DOWN,
      calls: into.reduce((sum, edge) => sum + edge.calls, 0), failed: into.reduce((sum, edge) => sum + edge.failed, 0),
    };
  });
  return { nodes, width: 2 * MARGIN + Math.max(0, rows.length - 1) * ACROSS + WIDTH, height: 2 * MARGIN + Math.max(0, tallest - 1) * DOWN + HEIGHT };
}

/** The edges without those that lead back, by a search in depth. @param {string[]} names @param {Edge[]} edges */
function withoutCycles(names, edges) {
  /** @type {Map<string, 'open' | 'done'>} */
  const state = new Map();
  /** @type {Set<Edge>} */
  const back = new Set();
  const from = (/** @type {string} */ name) => edges.filter((edge) => edge.caller === name);
  // Roles without callers come first: a cycle is then cut where it is entered.
  const called = new Set(edges.filter(({ caller, callee }) => caller !== callee).map(({ callee }) => callee));
  for (const root of [...names].sort((a, b) => Number(called.has(a)) - Number(called.has(b)))) {
    if (state.has(root)) continue;
    const stack = [{ name: root, rest: from(root) }];
    state.set(root, 'open');
    while (stack.length > 0) {
      const top = stack[stack.length - 1];
      const edge = top.rest.shift();
      if (edge === undefined) {
        state.set(top.name, 'done');
        stack.pop();
      } else if (state.get(edge.callee) === 'open') back.add(edge);
      else if (!state.has(edge.callee)) {
        state.set(edge.callee, 'open');
        stack.push({ name: edge.callee, rest: from(edge.callee) });
      }
    }
  }
  return edges.filter((edge) => !back.has(edge));
}

/** One more than the furthest of those that call it. @param {string[]} names @param {Edge[]} edges without cycles */
function layersOf(names, edges) {
  /** @type {Map<string, number>} */
  const layers = new Map(names.map((name) => [name, 0]));
  for (let round = 0; round < names.length; round++) {
    let isChanged = false;
    for (const { caller, callee } of edges) {
      const least = (layers.get(caller) ?? 0) + 1;
      if ((layers.get(callee) ?? 0) < least) {
        layers.set(callee, least);
        isChanged = true;
      }
    }
    if (!isChanged) break;
  }
  return layers;
}

/** The line of an edge between two places. @param {Place} from @param {Place} to */
export function line(from, to) {
  const [x1, y1, x2, y2] = [from.x + WIDTH, from.y + HEIGHT / 2, to.x, to.y + HEIGHT / 2];
  if (from === to) return `M ${x1 - 40} ${from.y} C ${x1 - 40} ${from.y - 34}, ${x1 + 34} ${from.y - 20}, ${x1} ${y1 - 6}`;
  // A line that leads back goes below.
  if (x2 <= x1) return `M ${from.x + WIDTH / 2} ${from.y + HEIGHT} C ${from.x + WIDTH / 2} ${from.y + HEIGHT + 40}, ${to.x + WIDTH / 2} ${to.y + HEIGHT + 40}, ${to.x + WIDTH / 2} ${to.y + HEIGHT}`;
  const bend = (x2 - x1) / 2;
  return `M ${x1} ${y1} C ${x1 + bend} ${y1}, ${x2 - bend} ${y2}, ${x2} ${y2}`;
}
