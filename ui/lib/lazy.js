// Parts that are loaded when they are first shown.

import { html, signal } from '../vendor/preact.js';

/**
 * A component whose module is loaded when it is first drawn.
 * @param {() => Promise<any>} load
 * @param {string} name Of the export.
 */
export function lazy(load, name) {
  const component = signal(/** @type {any} */ (null));
  const failed = signal(false);
  let begun = false;
  return function Lazy(/** @type {any} */ properties) {
    if (!begun) {
      begun = true;
      load().then((module) => {
        component.value = module[name];
      }, () => {
        failed.value = true;
      });
    }
    if (failed.value) return html`<p class="note error">A part of the page could not be loaded. Reload it.</p>`;
    return component.value === null ? null : html`<${component.value} ...${properties} />`;
  };
}
