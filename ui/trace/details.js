/** An item of an operation, whole, and where to look on from it. */
import { html, useEffect, useRef } from '../vendor/preact.js';
import { between, range, time } from '../lib/time.js';
import { zone } from '../lib/preferences.js';
import { openInLogs } from '../kql/link.js';
import { Text } from '../result/cell.js';
import { Fields } from '../result/viewer.js';
import { durationText } from '../result/values.js';
import { relatedOf } from './related.js';
import { severityText } from './tree.js';

/** @param {{item: import('./tree.js').Item, columns: import('../result/values.js').Column[], operation: string, hasFocus: boolean, onClose: () => void}} props */
export function Details({ item, columns, operation, hasFocus, onClose }) {
  const close = useRef(/** @type {HTMLButtonElement | null} */ (null));
  useEffect(() => {
    if (hasFocus) close.current?.focus();
  }, [item, hasFocus]);
  return html`
    <section class="viewer trace-details" aria-label="Details of the item" onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
      if (event.key !== 'Escape') return;
      event.preventDefault();
      event.stopPropagation();
      onClose();
    }}>
      <header class="viewer-head"><h2><${Text} text=${item.name.slice(0, 300)} /></h2><button type="button" class="tiny" ref=${close} aria-label="Close" onClick=${onClose}>✕</button></header>
      <div class="viewer-body" tabindex="0" role="group" aria-label="Fields">
        <p class="trace-facts">${[item.itemType, item.failed ? 'failed' : '', severityText(item.severity), item.itemType === 'trace' || item.itemType === 'exception' ? '' : durationText(item.duration), time(item.start, { milliseconds: true }), item.role].filter(Boolean).map((fact) => html`<span key=${fact} class=${fact === 'failed' ? 'problem' : ''}><${Text} text=${fact} /></span>`)}</p>
        <h2>Related, in Logs</h2>
        <ul class="related">${relatedOf(item, operation).map(({ title, query, around }) => html`<li key=${title}><button type="button" class="btn quiet" onClick=${() => openInLogs(query, { t: around ? between(item.start - 300_000, item.start + item.duration + 300_000) : range.peek().text })}>${title}</button></li>`)}</ul>
        <h2>Fields</h2>
        <${Fields} columns=${columns} row=${item.cells} zone=${zone.value} />
      </div>
    </section>`;
}
