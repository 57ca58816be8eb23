// The address is the state: /portal/{app}/{screen}?parameters.

import { signal } from '../vendor/preact.js';

/** @typedef {{app: string, screen: string, params: URLSearchParams}} Address */
/** @typedef {{app?: string, screen?: string, params?: URLSearchParams | Record<string, string | number | null | undefined>}} Step */

const ROOT = '/portal/';

/** Screens that are about no single application: their address names none. */
const WITHOUT_APPLICATION = new Set(['applications']);

/** @param {string} path @param {string} search @returns {Address} */
export function parse(path, search) {
  const parts = path.slice(ROOT.length).split('/').map(decoded);
  const params = new URLSearchParams(search);
  if (WITHOUT_APPLICATION.has(parts[0]) && parts.length === 1) return { app: '', screen: parts[0], params };
  return { app: parts[0] ?? '', screen: parts[1] ?? '', params };
}

/** @param {string} part */
function decoded(part) {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

/** @param {Address} address */
export function write({ app, screen, params }) {
  const path = WITHOUT_APPLICATION.has(screen) ? screen
    : [app, screen].filter((part) => part !== '').map(encodeURIComponent).join('/');
  const search = params.toString();
  return ROOT + path + (search === '' ? '' : '?' + search);
}

/** Where the page is. */
export const address = signal(parse(location.pathname, location.search));

addEventListener('popstate', () => {
  address.value = parse(location.pathname, location.search);
});

/**
 * The address after a step from the present one. The time range stays when the screen changes; other parameters do not, unless the
 * screen stays. Parameters that are given as an object change those of the same name alone: `null` removes one.
 * @param {Step} step
 * @returns {Address}
 */
export function after(step) {
  const now = address.peek();
  const screen = step.screen ?? now.screen;
  const same = screen === now.screen && (step.app ?? now.app) === now.app;
  let params;
  if (step.params instanceof URLSearchParams) {
    params = new URLSearchParams(step.params);
    if (!same && !params.has('t') && now.params.has('t')) params.set('t', /** @type {string} */ (now.params.get('t')));
  } else {
    params = new URLSearchParams(same ? now.params : undefined);
    if (!same && now.params.has('t')) params.set('t', /** @type {string} */ (now.params.get('t')));
    for (const [name, value] of Object.entries(step.params ?? {})) {
      if (value === null || value === undefined || value === '') params.delete(name);
      else params.set(name, String(value));
    }
  }
  return { app: step.app ?? now.app, screen, params };
}

/** @param {Step} step @returns {string} For a link. */
export function href(step) {
  return write(after(step));
}

/** @param {Step} step @param {{replace?: boolean}} [how] */
export function go(step, { replace = false } = {}) {
  const next = after(step);
  const text = write(next);
  if (text !== location.pathname + location.search) {
    if (replace) history.replaceState(null, '', text);
    else history.pushState(null, '', text);
  }
  address.value = next;
}

/** The longest text that stands in an address as it is. */
const PLAIN = 1500;

/**
 * A query's text as parameters: `q` as it is, or `z` compressed and in base64url.
 * @param {string} text
 * @returns {Promise<{q: string | null, z: string | null}>}
 */
export async function packed(text) {
  if (text.length <= PLAIN) return { q: text, z: null };
  const stream = new Blob([text]).stream().pipeThrough(new CompressionStream('deflate-raw'));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  let binary = '';
  for (const byte of bytes) binary += String.fromCharCode(byte);
  return { q: null, z: btoa(binary).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '') };
}

/**
 * The query's text in parameters; `null` where there is none or it cannot be read.
 * @param {URLSearchParams} params
 * @returns {Promise<string | null>}
 */
export async function unpacked(params) {
  const plain = params.get('q');
  if (plain !== null) return plain;
  const packedText = params.get('z');
  if (packedText === null) return null;
  try {
    const binary = atob(packedText.replaceAll('-', '+').replaceAll('_', '/'));
    const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream('deflate-raw'));
    return await new Response(stream).text();
  } catch {
    return null;
  }
}
