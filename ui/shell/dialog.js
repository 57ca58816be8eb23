// A dialog over the page: the command list, the keys, a new API key, a deletion.

import { html, useLayoutEffect, useRef } from '../vendor/preact.js';

/**
 * @param {{title: string, onClose: () => void, className?: string, children?: any}} properties `onClose`: the person pressed Escape.
 */
export function Dialog({ title, onClose, className = '', children }) {
  const element = useRef(/** @type {HTMLDialogElement | null} */ (null));
  // The dialog has the focus before the next key is pressed; an effect after the browser has painted would lose letters.
  useLayoutEffect(() => {
    const dialog = element.current;
    dialog?.showModal();
    // `close` gives the focus back. A dialog that is no longer in the page cannot.
    return () => dialog?.close();
  }, []);
  return html`<dialog ref=${element} class=${className} aria-label=${title} onCancel=${(/** @type {Event} */ event) => {
    event.preventDefault();
    onClose();
  }}>${children}</dialog>`;
}
