/** The tables of an application, from the public metadata, and the frequent keys of their property bags, by a query. */
import { get, query } from '../lib/api.js';
import { reference } from '../kql/text.js';

/** @typedef {{name: string, columns: {name: string, type: string}[]}} SchemaTable */

/** @type {Map<string, Promise<SchemaTable[]>>} */
const known = new Map();

/** @param {string} app @returns {Promise<SchemaTable[]>} */
export function schemaOf(app) {
  let found = known.get(app);
  if (!found) {
    found = get(`/v1/apps/${encodeURIComponent(app)}/metadata`).then((reply) => reply.tables.map((/** @type {any} */ table) => ({ name: table.name, columns: table.columns.map((/** @type {any} */ column) => ({ name: column.name, type: column.type })) })));
    found.catch(() => known.delete(app));
    known.set(app, found);
  }
  return found;
}

/**
 * The query of the frequent keys of a bag, in the newest items.
 * @param {string} table @param {string} column
 */
export function keysQuery(table, column) {
  return `${reference(table)}\n| top 5000 by timestamp desc\n| mv-expand key = bag_keys(${reference(column)}) to typeof(string)\n| summarize items = count() by key\n| top 50 by items desc`;
}

/**
 * @param {string} app @param {string} table @param {string} column @param {string} timespan
 * @returns {Promise<{key: string, items: number}[]>}
 */
export async function keysOf(app, table, column, timespan) {
  const { tables } = await query(app, keysQuery(table, column), { timespan });
  return tables[0].rows.map(([key, items]) => ({ key, items }));
}
