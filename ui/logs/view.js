/** What of the view of a result is in the address: sort, hidden columns, filter. Pure. */

/** @param {URLSearchParams} params @param {number} columns how many the result has @returns {import('../result/grid.js').View} */
export function viewOf(params, columns) {
  const place = (/** @type {string} */ text) => (/^\d+$/.test(text) && Number(text) < columns ? Number(text) : null);
  const keys = (params.get('sort') ?? '').split(',').flatMap((part) => {
    const column = place(part.replace(/^-/, ''));
    return column === null ? [] : [{ column, descending: part.startsWith('-') }];
  });
  const hidden = (params.get('hide') ?? '').split(',').flatMap((part) => {
    const column = place(part);
    return column === null ? [] : [column];
  });
  return { keys, hidden, needle: params.get('find') ?? '' };
}

/** @param {import('../result/grid.js').View} view */
export function viewParams({ keys, hidden, needle }) {
  return {
    sort: keys.map(({ column, descending }) => (descending ? '-' : '') + column).join(',') || null,
    hide: hidden.join(',') || null,
    find: needle || null,
  };
}

/** The chart of a result without `render`. @param {import('../result/values.js').Column[]} columns @returns {import('../charts/shape.js').Render} */
export function guessedRender(columns) {
  const has = (/** @type {string} */ type) => columns.some((column) => column.type === type);
  return { visualization: has('datetime') ? 'timechart' : columns[0]?.type === 'string' ? 'barchart' : 'linechart' };
}
