/** Queries that were run, as the browser keeps them: the last ones, and those with a star. */
import { signal } from '../vendor/preact.js';
import { keep, kept } from '../lib/preferences.js';
import { parsed } from './tabs-list.js';

/** @typedef {{text: string, t: string, at: number, rows: number, took: number, star?: boolean}} Run */

const MOST = 100;

/** Counts changes, so that a list that is open follows them. */
export const changes = signal(0);

/** @param {string} app @returns {Run[]} newest first */
export function historyOf(app) {
  const found = parsed(kept(`history.${app}`));
  return Array.isArray(found) ? found.filter((run) => typeof run?.text === 'string') : [];
}

/** @param {string} app @param {Run[]} runs */
function save(app, runs) {
  keep(`history.${app}`, JSON.stringify(runs));
  changes.value++;
}

/** The same text is kept once, with its last run. @param {string} app @param {Run} run */
export function addHistory(app, run) {
  const all = historyOf(app);
  const before = all.find((one) => one.text === run.text);
  const rest = all.filter((one) => one !== before);
  const next = [{ ...run, star: before?.star ?? false }, ...rest];
  const plain = next.filter((one) => !one.star).slice(0, MOST);
  save(app, next.filter((one) => one.star || plain.includes(one)));
}

/** @param {string} app @param {string} text */
export function toggleStar(app, text) {
  save(app, historyOf(app).map((run) => (run.text === text ? { ...run, star: !run.star } : run)));
}

/** Forgets all but those with a star. @param {string} app */
export function clearHistory(app) {
  save(app, historyOf(app).filter((run) => run.star));
}
