/** Replies of the metrics API as tables. Pure. */

/**
 * One row for each time and segment; the deepest segments hold the values.
 * @param {any} body the reply
 * @param {string} aggregation
 * @returns {import('../result/values.js').Table}
 */
export function tableOf(body, aggregation) {
  const { value } = body;
  const metric = metricOf(value);
  /** @type {any[][]} */
  const rows = [];
  let hasSegments = false;
  const walk = (/** @type {any} */ node, /** @type {string} */ start, /** @type {string[]} */ names) => {
    const at = node.start ?? start;
    const own = Object.entries(node).filter(([key, one]) => !['start', 'end', 'interval', 'segments', '@ai.query'].includes(key) && key !== metric && key !== aggregation && typeof one !== 'object').map(([, one]) => String(one));
    const all = node === value ? [] : [...names, ...own];
    if (Array.isArray(node.segments)) {
      for (const child of node.segments) walk(child, at, all);
      return;
    }
    const leaf = node[metric];
    const number = typeof leaf === 'object' && leaf !== null ? leaf[aggregation] : node[aggregation];
    if (all.length > 0) hasSegments = true;
    rows.push([at, all.join(', '), number ?? null]);
  };
  walk(value, value.start, []);
  const columns = [{ name: 'timestamp', type: 'datetime' }, { name: 'segment', type: 'string' }, { name: aggregation, type: 'real' }];
  if (hasSegments) return { name: metric, columns, rows };
  return { name: metric, columns: [columns[0], columns[2]], rows: rows.map(([at, , number]) => [at, number]) };
}

/** The metric's id: the key that has the values, which contains a slash. @param {any} node @returns {string} */
function metricOf(node) {
  const found = Object.entries(node).find(([key, one]) => key.includes('/') && (one === null || typeof one === 'object'));
  if (found) return found[0];
  return Array.isArray(node.segments) && node.segments.length > 0 ? metricOf(node.segments[0]) : '';
}

/** The query that gives the same numbers, where the reply has it. @param {any} body @returns {string | null} */
export function kqlOf(body) {
  const found = body['@ai.query'] ?? body.value?.['@ai.query'];
  return typeof found === 'string' ? found : found?.query ?? null;
}

/** The width of a bin as an ISO duration. @param {string} bin such as `5m` */
export function isoOfBin(bin) {
  const [, number, unit] = /** @type {RegExpExecArray} */ (/^(\d+)([smhd])$/.exec(bin));
  return unit === 'd' ? `P${number}D` : `PT${number}${unit.toUpperCase()}`;
}
