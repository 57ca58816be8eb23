// A dialog over the page: the command list, the keys, a new API key, a deletion.

import { html, useEffect, useRef } from '../vendor/preact.js';

/**
 * @param {{title: string, onClose: () => void, className?: string, children?: any}} properties `onClose`: the person pressed Escape.
 */
export function Dialog({ title, onClose, className = '', children }) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
  useEffect(() => {
    const before = document.activeElement;
    element.current?.showModal();
    return () => {
      if (before instanceof HTMLElement) before.focus();
    };
  }, []);
  return html`<dialog ref=${element} class=${className} aria-label=${title} onCancel=${(/** @type {Event} */ event) => {
    event.preventDefault();
    onClose();
  }}>${children}</dialog>`;
}
