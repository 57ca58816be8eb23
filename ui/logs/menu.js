/** A button with a list below it. */
import { html, useEffect, useRef, useState } from '../vendor/preact.js';
import { menuKey } from '../result/column-menu.js';

/**
 * @param {{label: any, title?: string, kind?: string, children: any}} props `children`: a function of `close`, or elements with the
 *   roles of a menu's items
 */
export function Menu({ label, title, kind = 'btn', children }) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const button = useRef(/** @type {HTMLButtonElement | null} */ (null));
  const close = () => {
    setOpen(false);
    button.current?.focus();
  };
  useEffect(() => {
    if (isOpen) /** @type {HTMLElement | null} */ (box.current?.querySelector('[role^=menuitem]'))?.focus();
  }, [isOpen]);
  return html`
    <span class="menu-holder" onFocusOut=${(/** @type {FocusEvent} */ event) => {
      if (!(/** @type {HTMLElement} */ (event.currentTarget).contains(/** @type {Node | null} */ (event.relatedTarget)))) setOpen(false);
    }}>
      <button type="button" class=${kind} ref=${button} title=${title} aria-haspopup="menu" aria-expanded=${isOpen} onClick=${() => setOpen(!isOpen)}>${label} ▾</button>
      ${isOpen && html`<div class="menu" role="menu" ref=${box} onKeyDown=${(/** @type {KeyboardEvent} */ event) => menuKey(event, close)}>${typeof children === 'function' ? children(close) : children}</div>`}
    </span>`;
}

/** @param {{onClick: () => void, children: any, checked?: boolean}} props `checked`: an item that is on or off */
export function Item({ onClick, children, checked }) {
  return html`<button type="button" tabindex="-1" role=${checked === undefined ? 'menuitem' : 'menuitemcheckbox'} aria-checked=${checked} onClick=${onClick}>${checked === undefined ? '' : checked ? '☑ ' : '☐ '}${children}</button>`;
}
