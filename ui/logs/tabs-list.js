/** The drafts of the tabs, as the browser keeps them: texts of queries, never telemetry. */
import { keep, kept } from '../lib/preferences.js';

/** @typedef {{id: string, text: string, title: string}} Tab */

/** @param {string} app @returns {{tabs: Tab[], active: string}} */
export function loadTabs(app) {
  const found = parsed(kept(`draft.${app}`));
  const tabs = (Array.isArray(found?.tabs) ? found.tabs : []).filter((/** @type {any} */ tab) => typeof tab?.id === 'string' && typeof tab.text === 'string');
  if (tabs.length === 0) tabs.push({ id: crypto.randomUUID(), text: '', title: '' });
  const active = tabs.some((/** @type {Tab} */ tab) => tab.id === found?.active) ? found.active : tabs[0].id;
  return { tabs, active };
}

/** @param {string} app @param {Tab[]} tabs @param {string} active */
export function saveTabs(app, tabs, active) {
  keep(`draft.${app}`, JSON.stringify({ tabs, active }));
}

/** @param {string | null} text */
export function parsed(text) {
  try {
    return text === null ? null : JSON.parse(text);
  } catch {
    return null;
  }
}

/** How a tab is named: its title, or the first words of its text. @param {Tab} tab */
export function nameOf(tab) {
  const first = tab.text.split('\n').map((line) => line.replace(/^\s*\/\/\s*/, '').trim()).find(Boolean) ?? '';
  return tab.title || (first.length > 28 ? first.slice(0, 27) + '…' : first) || 'New query';
}
