// Keys: what they do is registered once, and the help lists it.

import { signal } from '../vendor/preact.js';
import { letters } from './preferences.js';

/**
 * @typedef {object} Binding
 * @property {string} keys Such as `Ctrl+K`, `?`, `g l` (one after the other).
 * @property {string} description
 * @property {(event: KeyboardEvent) => void} handler
 */

/** All bindings, for the help. @type {import('../vendor/preact.js').Signal<Binding[]>} */
export const bindings = signal([]);

/** How long the second key of a sequence may take. */
const SEQUENCE = 1500;

let begun = '';
let begunAt = 0;

/**
 * Binds keys to what they do, until the returned function is called. Bindings made later go first.
 * Keys without Ctrl, Alt or Meta are ignored in text fields, and where the person has switched single letters off.
 * @param {string} keys
 * @param {string} description
 * @param {(event: KeyboardEvent) => void} handler
 * @returns {() => void}
 */
export function bind(keys, description, handler) {
  const binding = { keys, description, handler };
  bindings.value = [binding, ...bindings.peek()];
  return () => {
    bindings.value = bindings.peek().filter((known) => known !== binding);
  };
}

/** Whether an element takes text. @param {EventTarget | null} target */
export function takesText(target) {
  const element = target instanceof Element ? target : null;
  if (element === null) return false;
  if (element.shadowRoot !== null && element.shadowRoot.activeElement !== null) return takesText(element.shadowRoot.activeElement);
  if (element instanceof HTMLInputElement) return !['checkbox', 'radio', 'button', 'submit', 'range'].includes(element.type);
  return element instanceof HTMLTextAreaElement || element instanceof HTMLSelectElement
    || (element instanceof HTMLElement && element.isContentEditable);
}

/** A key as bindings name it. @param {KeyboardEvent} event */
function named(event) {
  const modifiers = [];
  if (event.ctrlKey || event.metaKey) modifiers.push('Ctrl');
  if (event.altKey) modifiers.push('Alt');
  const key = event.key.length === 1 && modifiers.length > 0 ? event.key.toUpperCase() : event.key;
  // The shift of a printed character is in the character.
  if (event.shiftKey && (event.key.length > 1 || modifiers.length > 0)) modifiers.push('Shift');
  return [...modifiers, key].join('+');
}

addEventListener('keydown', (event) => {
  if (event.defaultPrevented || event.isComposing) return;
  const key = named(event);
  const single = event.key.length === 1 && !event.ctrlKey && !event.altKey && !event.metaKey;
  if (single && (letters.peek() === 'off' || takesText(event.composedPath()[0] ?? event.target))) return;
  // A list, a grid or a tree has keys of its own.
  const sequence = begun !== '' && event.timeStamp - begunAt < SEQUENCE ? `${begun} ${key}` : '';
  const all = bindings.peek();
  const found = all.find((binding) => binding.keys === sequence) ?? all.find((binding) => binding.keys === key);
  begun = '';
  if (found !== undefined) {
    event.preventDefault();
    found.handler(event);
    return;
  }
  if (single && all.some((binding) => binding.keys.startsWith(key + ' '))) {
    begun = key;
    begunAt = event.timeStamp;
  }
});
