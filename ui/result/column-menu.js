/** What can be done with a column: everything that a drag or a click on its head does, by buttons. */
import { html, useEffect, useRef } from '../vendor/preact.js';

/**
 * @param {{column: import('./values.js').Column, width: number, x: number, onSort: (way: 'up' | 'down' | 'none') => void,
 *   onHide: () => void, onWidth: (width: number) => void, onClose: () => void}} props
 */
export function ColumnMenu({ column, width, x, onSort, onHide, onWidth, onClose }) {
  const list = useRef(/** @type {HTMLDivElement | null} */ (null));
  useEffect(() => /** @type {HTMLElement | null} */ (list.current?.querySelector('button'))?.focus(), []);
  const item = (/** @type {string} */ label, /** @type {() => void} */ action, stays = false) => html`
    <button type="button" role="menuitem" tabindex="-1" onClick=${() => {
      action();
      if (!stays) onClose();
    }}>${label}</button>`;
  return html`
    <div class="menu grid-menu" role="menu" ref=${list} aria-label=${`Column ${column.name}`} style=${{ left: `${Math.max(0, x)}px` }}
      onKeyDown=${(/** @type {KeyboardEvent} */ event) => menuKey(event, onClose)} onFocusOut=${(/** @type {FocusEvent} */ event) => {
        if (!list.current?.contains(/** @type {Node | null} */ (event.relatedTarget))) onClose();
      }}>
      <p class="menu-title" role="presentation">${column.name} <span class="muted">${column.type}</span></p>
      ${item('Sort ascending', () => onSort('up'))}
      ${item('Sort descending', () => onSort('down'))}
      ${item('Do not sort', () => onSort('none'))}
      ${item('Wider', () => onWidth(width + 60), true)}
      ${item('Narrower', () => onWidth(Math.max(40, width - 60)), true)}
      ${item('Hide column', onHide)}
    </div>`;
}

/**
 * The keys of a menu: arrows, Home and End move, Escape and Tab close.
 * @param {KeyboardEvent} event
 * @param {() => void} onClose
 */
export function menuKey(event, onClose) {
  const menu = /** @type {HTMLElement} */ (event.currentTarget);
  const items = /** @type {HTMLElement[]} */ ([...menu.querySelectorAll('[role^=menuitem]')]);
  const at = items.indexOf(/** @type {HTMLElement} */ (document.activeElement));
  const to = (/** @type {number} */ index) => items[(index + items.length) % items.length]?.focus();
  switch (event.key) {
    case 'ArrowDown': to(at + 1); break;
    case 'ArrowUp': to(at - 1); break;
    case 'Home': to(0); break;
    case 'End': to(-1); break;
    case 'Escape': case 'Tab': onClose(); break;
    default: return;
  }
  event.preventDefault();
  event.stopPropagation();
}
