// Links within the portal, which change the address without loading the page.

import { html } from '../vendor/preact.js';
import { go, href } from '../lib/address.js';

/** @param {{step: import('../lib/address.js').Step, className?: string, children?: any, label?: string}} properties */
export function Link({ step, className, children, label }) {
  return html`<a class=${className} href=${href(step)} aria-label=${label} onClick=${(/** @type {MouseEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go(step);
  }}>${children}</a>`;
}

/** The step to an operation, with the item that led there. @param {string} id @param {string} [item] */
export function operation(id, item) {
  return { screen: 'operation', params: { id, item: item ?? null } };
}
