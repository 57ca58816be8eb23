// What is said of a result: that it is being made, why there is none, what it lacks.

import { html, useEffect, useState } from '../vendor/preact.js';
import { href } from '../lib/address.js';
import { packed } from '../lib/address.js';
import { range } from '../lib/time.js';
import { Icon } from './icon.js';

/**
 * The error of a run, in the server's words.
 * @param {{error: import('../lib/api.js').ApiError, again?: () => void}} properties
 */
export function Failure({ error, again }) {
  return html`<div class="note error" role="alert">
    <p>${error.message}</p>
    ${error.line !== undefined && html`<p class="muted">Line ${error.line}, position ${error.position}${error.token ? html`: <code>${error.token}</code>` : ''}</p>`}
    ${error.status === 429 && html`<${Countdown} seconds=${error.retryAfter ?? 1} />`}
    ${error.requestId !== '' && html`<p class="muted">Request <code>${error.requestId}</code></p>`}
    ${again !== undefined && html`<button class="btn" onClick=${again}>Try again</button>`}
  </div>`;
}

/** @param {{seconds: number}} properties */
function Countdown({ seconds }) {
  const [left, setLeft] = useState(seconds);
  useEffect(() => {
    const timer = setInterval(() => setLeft((left) => Math.max(0, left - 1)), 1000);
    return () => clearInterval(timer);
  }, [seconds]);
  return html`<p>It is tried again in ${left} s.</p>`;
}

/**
 * What a result says of itself above its rows: what it lacks, and how old it is.
 * @param {{run: import('./run.js').Run}} properties
 */
export function Said({ run }) {
  const { result } = run;
  if (result === null) return null;
  return html`
    ${result.messages.map((message) => html`<p class="said warn" key=${message}>${message}</p>`)}
    ${result.age > 0 && html`<p class="said">Made ${result.age} s ago.${' '}
      <button class="link" onClick=${() => run.again({ noCache: true })}>Run again</button></p>`}`;
}

/** Loading, with a button that stops it. @param {{run: import('./run.js').Run}} properties */
export function Loading({ run }) {
  if (!run.loading) return null;
  return html`<div class="loading"><span class="visually-hidden" role="status">Loading</span>
    <button class="btn quiet" onClick=${run.stop}>Stop</button></div>`;
}

/**
 * A link to a query in Logs, with the time range of the screen or another one.
 * @param {{text: string, children?: any, label?: string, className?: string, t?: string}} properties
 */
export function QueryLink({ text, children, label, className = 'btn quiet', t }) {
  const [link, setLink] = useState('');
  const over = t ?? range.value.text;
  useEffect(() => {
    let current = true;
    packed(text).then(({ q, z }) => {
      if (current) setLink(href({ screen: 'logs', params: { q, z, t: over } }));
    });
    return () => {
      current = false;
    };
  }, [text, over]);
  return html`<a class=${className} href=${link} aria-label=${label}>${children ?? html`<${Icon} path="M2 3l4 4-4 4M8 12h6" />Query`}</a>`;
}
