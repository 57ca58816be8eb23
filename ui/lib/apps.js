// The applications that the person may see.

import { computed, signal } from '../vendor/preact.js';
import { address } from './address.js';
import { get } from './api.js';
import { keep, kept } from './preferences.js';

/**
 * @typedef {object} Application
 * @property {string} id
 * @property {string} name
 * @property {string} instrumentationKey
 * @property {string} connectionString
 * @property {string} tier
 * @property {number | null} dailyCapBytes
 * @property {number | null} retentionDays
 * @property {string} created
 * @property {string[]} rights Of the person: `read`, `ingest`, `admin`.
 */

/** By name; `null` until they are known. @type {import('../vendor/preact.js').Signal<Application[] | null>} */
export const applications = signal(null);

/** The application of the address. */
export const application = computed(() => {
  const name = address.value.app;
  return applications.value?.find((app) => app.name === name || app.id === name) ?? null;
});

/** Reads the list again. */
export async function loadApplications() {
  const { applications: list } = await get('/portal/api/apps');
  applications.value = list;
}

/** The application to begin with: the last one, or the one with the name `demo`, or the first. @returns {Application | null} */
export function firstApplication() {
  const list = applications.peek() ?? [];
  return list.find((app) => app.id === kept('application')) ?? list.find((app) => app.name === 'demo') ?? list[0] ?? null;
}

/** @param {Application} app */
export function remember(app) {
  keep('application', app.id);
}

/** @param {Application | null} app @param {string} right */
export function may(app, right) {
  return app !== null && (app.rights.includes(right) || app.rights.includes('admin'));
}
