// A text to copy.

import { html, useState } from '../vendor/preact.js';

/** @param {{text: string, label: string}} properties */
export function Copy({ text, label }) {
  const [done, setDone] = useState(false);
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text);
      setDone(true);
      setTimeout(() => setDone(false), 2000);
    } catch {
      // The browser does not permit it: the text can be selected.
    }
  };
  return html`<div class="copy"><pre tabindex="0" aria-label=${label}>${text}</pre>
    <button class="btn" onClick=${copy} aria-label=${`Copy: ${label}`}>${done ? 'Copied' : 'Copy'}</button>
    <span class="visually-hidden" role="status">${done ? 'Copied' : ''}</span></div>`;
}
