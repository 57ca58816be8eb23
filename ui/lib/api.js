// Requests to the server: queries through the public API, and the portal's own endpoints.

import { signal } from '../vendor/preact.js';
import { ApiError, errorOf } from './api-error.js';
import { state, token } from './auth.js';

/**
 * @typedef {object} Column
 * @property {string} name
 * @property {string} type Of KQL: `string`, `long`, `datetime`, …
 *
 * @typedef {object} Table
 * @property {string} name
 * @property {Column[]} columns
 * @property {any[][]} rows
 *
 * @typedef {object} Result
 * @property {Table[]} tables
 * @property {any} render `{visualization, title, kind, …}`; `null` where it was not asked for.
 * @property {any} statistics
 * @property {string[]} messages Why the result is not whole, in the server's words.
 * @property {boolean} partial
 * @property {number} age Seconds since the reply was made; 0 for a fresh one.
 * @property {string} requestId
 */

export { ApiError };

/** Since when the server has not been reached, in milliseconds since 1970; `null` while it is. @type {import('../vendor/preact.js').Signal<number | null>} */
export const lostSince = signal(null);

/**
 * Sends a request with a token; a token that is refused is renewed once.
 * @param {string} path
 * @param {RequestInit & {headers?: Record<string, string>}} [init]
 * @returns {Promise<Response>} One with a status below 400.
 */
export async function send(path, init = {}) {
  let reply = await fetched(path, init, await bearer(false));
  if (reply.status === 401) {
    reply = await fetched(path, init, await bearer(true));
    if (reply.status === 401) state.value = 'ended';
  }
  if (!reply.ok) throw await failure(reply);
  return reply;
}

/** @param {boolean} fresh */
async function bearer(fresh) {
  try {
    return await token({ fresh });
  } catch (error) {
    if (error instanceof TypeError) throw unreached();
    throw new ApiError({ status: 401, message: 'The session has ended. Sign in again; your texts are kept.' });
  }
}

/** @param {string} path @param {RequestInit & {headers?: Record<string, string>}} init @param {string} credential */
async function fetched(path, init, credential) {
  try {
    const reply = await fetch(path, { ...init, headers: { ...init.headers, Authorization: `Bearer ${credential}` } });
    lostSince.value = null;
    return reply;
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error;
    throw unreached();
  }
}

function unreached() {
  lostSince.value ??= Date.now();
  return new ApiError({ status: 0, code: 'Unreached', message: 'The server cannot be reached.' });
}

/** @param {Response} reply */
async function failure(reply) {
  let body = null;
  try {
    body = await reply.json();
  } catch {
    // No JSON: the status says what there is to say.
  }
  return errorOf(reply.status, body, reply.headers);
}

/**
 * Runs a query through the public API, with the rights of who looks.
 * @param {string} app Id or name.
 * @param {string} text
 * @param {{timespan?: string, signal?: AbortSignal, noCache?: boolean, statistics?: boolean, workspace?: boolean, later?: boolean}} [options]
 *   `workspace`: tables and columns have the names that they have in a workspace. `later`: queries of what is shown are sent first
 * @returns {Promise<Result>}
 */
export async function query(app, text, { timespan, signal, noCache = false, statistics = false, workspace = false, later = false } = {}) {
  const reply = await send(`/v1/${workspace ? 'workspaces' : 'apps'}/${encodeURIComponent(app)}/query`,
    { ...queryRequest(text, { timespan, signal, noCache, statistics }), priority: later ? 'low' : 'auto' });
  return result(await reply.json(), reply.headers);
}

/**
 * The request of a query, for those who read the reply in another way (a worker).
 * @param {string} text
 * @param {{timespan?: string, signal?: AbortSignal, noCache?: boolean, statistics?: boolean}} options
 */
export function queryRequest(text, { timespan, signal, noCache = false, statistics = false }) {
  /** @type {Record<string, string>} */
  const headers = {
    'Content-Type': 'application/json',
    Prefer: `include-render=true${statistics ? ', include-statistics=true' : ''}`,
  };
  if (noCache) headers['Cache-Control'] = 'no-cache';
  return { method: 'POST', headers, body: JSON.stringify(timespan === undefined ? { query: text } : { query: text, timespan }), signal };
}

/**
 * @param {any} body @param {Headers} headers
 * @returns {Result}
 */
export function result(body, headers) {
  const details = body.error?.details ?? [];
  const messages = details.map((/** @type {any} */ detail) => detail.innererror?.message ?? detail.message);
  return {
    tables: body.tables ?? [],
    render: body.render ?? null,
    statistics: body.statistics ?? null,
    messages,
    partial: body.error !== undefined,
    age: Number(headers.get('Age') ?? 0),
    requestId: headers.get('x-ms-request-id') ?? '',
  };
}

/** @param {string} path @param {{signal?: AbortSignal}} [options] */
export async function get(path, { signal } = {}) {
  return (await send(path, { signal })).json();
}

/** @param {string} path @param {unknown} body @param {{signal?: AbortSignal, headers?: Record<string, string>}} [options] */
export function post(path, body, options = {}) {
  return changed('POST', path, body, options);
}

/** @param {string} path @param {unknown} body @param {{signal?: AbortSignal, headers?: Record<string, string>}} [options] */
export function put(path, body, options = {}) {
  return changed('PUT', path, body, options);
}

/** @param {string} path @param {{signal?: AbortSignal, headers?: Record<string, string>}} [options] */
export function del(path, options = {}) {
  return changed('DELETE', path, undefined, options);
}

/**
 * @param {string} method @param {string} path @param {unknown} body
 * @param {{signal?: AbortSignal, headers?: Record<string, string>}} options
 */
async function changed(method, path, body, { signal, headers = {} }) {
  const init = body === undefined ? { method, headers, signal }
    : { method, headers: { 'Content-Type': 'application/json', ...headers }, body: JSON.stringify(body), signal };
  const reply = await send(path, init);
  const text = await reply.text();
  return text === '' ? null : JSON.parse(text);
}
