/** The colours of series, as a canvas takes them: it knows neither variables nor `light-dark()`. */

/** As many as there are tokens `--series-1` …; further series repeat them with another dash. */
export const COLOURS = 10;

/** Names of series that count failures: red means failed, and nothing else. */
const FAILED = /^(count_)?(failed|failures?|errors?)([ _:].*)?$/i;

/** The token of a series' colour. @param {string} name @param {number} index */
export const tokenOf = (name, index) => (FAILED.test(name) ? '--failed' : `--series-${(index % COLOURS) + 1}`);

/** @param {string} name @param {number} index */
export const seriesColour = (name, index) => `var(${tokenOf(name, index)})`;

/** @param {number} index */
export const dashOf = (index) => [[], [6, 3], [2, 3], [8, 3, 2, 3]][Math.floor(index / COLOURS) % 4];

/**
 * What tokens are in the present colour scheme.
 * @param {HTMLElement} parent
 * @param {string[]} tokens such as `--line`
 * @returns {Record<string, string>}
 */
export function resolved(parent, tokens) {
  const probe = document.createElement('span');
  probe.hidden = true;
  parent.append(probe);
  /** @type {Record<string, string>} */
  const out = {};
  for (const token of tokens) {
    probe.style.color = `var(${token})`;
    out[token] = getComputedStyle(probe).color;
  }
  probe.remove();
  return out;
}

/**
 * Calls back when the colour scheme changes, by the system or by the switch of the page.
 * @param {() => void} changed
 * @returns {() => void} ends it
 */
export function onScheme(changed) {
  const queries = ['(prefers-color-scheme: dark)', '(forced-colors: active)', '(prefers-contrast: more)'].map((query) => matchMedia(query));
  for (const query of queries) query.addEventListener('change', changed);
  const observer = new MutationObserver(changed);
  observer.observe(document.documentElement, { attributes: true, attributeFilter: ['data-theme', 'class', 'style'] });
  return () => {
    for (const query of queries) query.removeEventListener('change', changed);
    observer.disconnect();
  };
}
