// Drawings of 16 by 16, in the colour of the text. They say nothing that a text beside them does not.

import { html } from '../vendor/preact.js';

/** @param {{path: string}} properties */
export function Icon({ path }) {
  return html`<svg class="icon" viewBox="0 0 16 16" width="16" height="16" aria-hidden="true" focusable="false"><path d=${path} /></svg>`;
}
