// What the browser remembers of a person: choices of display and drafts of queries. Never telemetry, tokens or keys.

import { signal } from '../vendor/preact.js';

const PREFIX = 'hindsight.';

/** @param {string} name @returns {string | null} The kept text; `null` also where the browser keeps nothing. */
export function kept(name) {
  try {
    return localStorage.getItem(PREFIX + name);
  } catch {
    return null;
  }
}

/** @param {string} name @param {string | null} value What is kept; `null` removes it. */
export function keep(name, value) {
  try {
    if (value === null) localStorage.removeItem(PREFIX + name);
    else localStorage.setItem(PREFIX + name, value);
  } catch {
    // The browser keeps nothing, or no more: the choice lasts as long as the page.
  }
}

/** Choices of display, which stay when somebody signs out. */
const STAY = ['theme', 'zone', 'letters', 'navigation'];

/** Forgets drafts, the history of queries and the like: a text may name people. */
export function forgetTexts() {
  try {
    for (const name of Object.keys(localStorage)) {
      if (name.startsWith(PREFIX) && !STAY.includes(name.slice(PREFIX.length))) localStorage.removeItem(name);
    }
  } catch {
    // Nothing was kept.
  }
}

/**
 * A choice among some values, kept by the browser.
 * @template {string} T
 * @param {string} name
 * @param {readonly [T, ...T[]]} values The first is the default.
 */
function choice(name, values) {
  const known = values.find((value) => value === kept(name));
  return signal(/** @type {T} */ (known ?? values[0]));
}

/** Colours: those of the system, light or dark. */
export const theme = choice('theme', /** @type {const} */ (['system', 'light', 'dark']));

/** Times in the zone of the browser or in UTC. */
export const zone = choice('zone', /** @type {const} */ (['local', 'utc']));

/** Whether single letters are keys (WCAG 2.1.4). */
export const letters = choice('letters', /** @type {const} */ (['on', 'off']));

/** Whether the navigation is folded; at first where there is little room. */
export const navigation = choice('navigation', matchMedia('(max-width: 48rem)').matches
  ? /** @type {const} */ (['folded', 'open']) : /** @type {const} */ (['open', 'folded']));

theme.subscribe((value) => {
  document.documentElement.dataset.theme = value;
  keep('theme', value === 'system' ? null : value);
});
zone.subscribe((value) => keep('zone', value === 'local' ? null : value));
letters.subscribe((value) => keep('letters', value === 'on' ? null : value));

/** Folds or opens the navigation. What was never chosen is not kept: another window has other room. */
export function toggleNavigation() {
  navigation.value = navigation.value === 'open' ? 'folded' : 'open';
  keep('navigation', navigation.value);
}
