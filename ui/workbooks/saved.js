/** Workbooks that are saved for an application, for everyone who reads it; those that come with the portal; and a draft of this browser. */
import { del, get, put } from '../lib/api.js';
import { keep, kept } from '../lib/preferences.js';

/** @typedef {{name: string, by: string, changed: string, etag: string}} SavedWorkbook */

const path = (/** @type {string} */ app, name = '') => `/portal/api/apps/${encodeURIComponent(app)}/workbooks${name && `/${encodeURIComponent(name)}`}`;

/** @param {string} app @returns {Promise<SavedWorkbook[]>} */
export async function savedWorkbooks(app) {
  return (await get(path(app))).workbooks;
}

/** @param {string} app @param {string} name @returns {Promise<SavedWorkbook & {text: string}>} */
export async function savedWorkbook(app, name) {
  return get(path(app, name));
}

/** @param {string} app @param {string} name @param {string} text @param {string | null} etag of the version that is replaced; null for a new one */
export async function saveWorkbook(app, name, text, etag) {
  return put(path(app, name), { text, range: null }, { headers: etag === null ? { 'If-None-Match': '*' } : { 'If-Match': etag } });
}

/** @param {string} app @param {{name: string, etag: string}} saved */
export async function deleteWorkbook(app, saved) {
  await del(path(app, saved.name), { headers: { 'If-Match': saved.etag } });
}

/** Workbooks of the portal, in the published form. @type {readonly {id: string, name: string, about: string}[]} */
export const GALLERY = [
  { id: 'requests', name: 'Requests at a glance', about: 'Tiles, rates and durations of the operations that you choose, and the operations in a table.' },
  { id: 'failures', name: 'Failures by role and code', about: 'What fails where, in tabs: requests, dependencies and exceptions. A row chooses the details below it.' },
  { id: 'usage', name: 'Users and sessions', about: 'People, sessions and page views over time, and the browsers that they use.' },
];

/** The text of one of the portal's. @param {string} id */
export async function galleryText(id) {
  if (!GALLERY.some((one) => one.id === id)) throw new Error(`There is no workbook “${id}” in the gallery.`);
  const reply = await fetch(new URL(`./gallery/${id}.workbook`, import.meta.url));
  if (!reply.ok) throw new Error('The workbook could not be loaded.');
  return reply.text();
}

/** The workbook that was imported and not saved. @param {string} app @returns {{name: string, text: string} | null} */
export function draftOf(app) {
  try {
    return JSON.parse(kept(`workbook.${app}`) ?? 'null');
  } catch {
    return null;
  }
}

/** @param {string} app @param {{name: string, text: string} | null} draft */
export function keepDraft(app, draft) {
  keep(`workbook.${app}`, draft === null ? null : JSON.stringify(draft));
}
