/** Queries that are saved for an application, for everyone who reads it. */
import { signal } from '../vendor/preact.js';
import { del, get, put } from '../lib/api.js';

/** @typedef {{name: string, text: string, range?: string | null, by?: string, changed?: string, etag: string}} Saved */

/** Counts changes, so that a list that is open follows them. */
export const changes = signal(0);

const path = (/** @type {string} */ app, name = '') => `/portal/api/apps/${encodeURIComponent(app)}/queries${name && `/${encodeURIComponent(name)}`}`;

/** @param {string} app @returns {Promise<Saved[]>} */
export async function savedOf(app) {
  return (await get(path(app))).queries;
}

/** Saves a text under a name; a query of this name is replaced only as it was read just now. @param {string} app @param {string} name @param {string} text @param {string} range */
export async function saveQuery(app, name, text, range) {
  const before = (await savedOf(app)).find((one) => one.name === name);
  await put(path(app, name), { text, range }, { headers: before ? { 'If-Match': before.etag } : { 'If-None-Match': '*' } });
  changes.value++;
}

/** @param {string} app @param {Saved} saved */
export async function removeQuery(app, saved) {
  await del(path(app, saved.name), { headers: { 'If-Match': saved.etag } });
  changes.value++;
}
