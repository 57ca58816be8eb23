// Running a query for a part of a screen: its state, and stopping it.

import { useLayoutEffect, useRef, useState } from '../vendor/preact.js';
import { ApiError, query } from '../lib/api.js';
import { range } from '../lib/time.js';

/**
 * @typedef {object} Run
 * @property {import('../lib/api.js').Result | null} result The last one; an old one while `old`.
 * @property {ApiError | null} error
 * @property {boolean} loading For longer than a moment.
 * @property {boolean} old Whether the result is of an earlier text or range.
 * @property {(how?: {noCache?: boolean}) => void} again
 * @property {() => void} stop
 */

/** How long nothing is said of loading, in milliseconds. */
const MOMENT = 150;

/**
 * Runs a query now and whenever its text or the time range changes. The request is closed when the part goes away, which stops the query.
 * @param {string} app
 * @param {string | null} text `null` runs nothing.
 * @param {{timespan?: string | null, workspace?: boolean}} [options] Another timespan than that of the address, `null` for none; and whether
 *   tables have the names of a workspace.
 * @returns {Run}
 */
export function useQuery(app, text, { timespan, workspace = false } = {}) {
  const [state, setState] = useState(/** @type {{result: any, error: any, loading: boolean, old: boolean}} */ ({
    result: null, error: null, loading: false, old: false,
  }));
  const running = useRef(/** @type {AbortController | null} */ (null));
  const [round, setRound] = useState({ number: 0, noCache: false });
  const over = timespan === undefined ? range.value.timespan : timespan;
  // It is sent before the browser paints, not after.
  useLayoutEffect(() => {
    if (text === null) return undefined;
    const controller = new AbortController();
    running.current = controller;
    setState((state) => ({ ...state, old: true }));
    const slow = setTimeout(() => setState((state) => ({ ...state, loading: true })), MOMENT);
    let wait = /** @type {any} */ (null);
    query(app, text, { timespan: over ?? undefined, signal: controller.signal, noCache: round.noCache, workspace }).then((result) => {
      setState({ result, error: null, loading: false, old: false });
    }, (error) => {
      if (controller.signal.aborted) {
        setState((state) => ({ ...state, loading: false }));
        return;
      }
      const shown = error instanceof ApiError ? error : new ApiError({ status: 0, message: String(error.message) });
      setState((state) => ({ ...state, error: shown, loading: false }));
      // Too many queries, or a server that is away: it is tried again.
      const seconds = shown.retryAfter ?? (shown.status === 0 ? 5 : undefined);
      if (seconds !== undefined) wait = setTimeout(() => setRound(({ number }) => ({ number: number + 1, noCache: false })), seconds * 1000);
    }).finally(() => clearTimeout(slow));
    return () => {
      clearTimeout(slow);
      clearTimeout(wait);
      controller.abort();
    };
  }, [app, text, over, workspace, round]);
  return {
    ...state,
    again: ({ noCache = false } = {}) => setRound(({ number }) => ({ number: number + 1, noCache })),
    stop: () => running.current?.abort(),
  };
}

/**
 * The rows of a result's table as objects.
 * @param {import('../lib/api.js').Result | null} result
 * @param {number} [table]
 * @returns {Record<string, any>[]}
 */
export function objects(result, table = 0) {
  const found = result?.tables[table];
  if (found === undefined) return [];
  return found.rows.map((row) => Object.fromEntries(found.columns.map(({ name }, index) => [name, row[index]])));
}
