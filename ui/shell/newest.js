// What an empty time range says: when the newest item is and a step to the range that has it, or how an application begins to send.

import { html, useEffect, useState } from '../vendor/preact.js';
import { address } from '../lib/address.js';
import { query } from '../lib/api.js';
import { between, range, setRange, time } from '../lib/time.js';
import { Link } from './link.js';

const TABLES = 'requests, dependencies, exceptions, traces, customEvents, pageViews, availabilityResults';

/** Whether there is any item in the time range. */
export const ANY = `union ${TABLES}\n| take 1\n| count`;

/** The time of the newest item. */
export const NEWEST = `union ${TABLES}\n| summarize newest = max(timestamp)`;

/** An hour, in milliseconds. */
const HOUR = 3_600_000;

/** @param {{app: string}} properties */
export function Newest({ app }) {
  const [newest, setNewest] = useState(/** @type {number | 'none' | null} */ (null));
  const { timespan, label } = range.value;
  useEffect(() => {
    const controller = new AbortController();
    const { signal } = controller;
    setNewest(null);
    const look = async () => {
      const inRange = await query(app, ANY, { timespan, signal, later: true });
      if (Number(inRange.tables[0].rows[0][0]) > 0) return;
      const all = await query(app, NEWEST, { signal });
      const at = Date.parse(all.tables[0].rows[0][0] ?? '');
      setNewest(Number.isFinite(at) ? at : 'none');
    };
    look().catch(() => {
      // The panels say what is wrong.
    });
    return () => controller.abort();
  }, [app, timespan]);
  if (newest === null) return null;
  if (newest === 'none') {
    // Overview has the lines while there is nothing at all; API access has them always.
    const screen = address.value.screen === 'overview' ? 'access' : 'overview';
    return html`<p class="note" role="status">${app} has sent nothing yet that could be shown here.
      ${' '}<${Link} step=${{ screen, params: {} }}>Send something</${Link}></p>`;
  }
  return html`<p class="note" role="status">There is no telemetry in this time range (${label.toLowerCase()}). The newest item is of ${time(newest)}.
    <button class="btn" onClick=${() => setRange(between(newest - HOUR, newest + 1000))}>Show its hour</button></p>`;
}
