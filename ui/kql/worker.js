/*
 * The language worker: a classic one, as the parser is a classic script. Messages are `{id, op, …}`; each gets one `{id, value}` or
 * `{id, error}`. A later request of the same kind makes an earlier one, which still waits, worthless: it is answered with null.
 */
/* global KustoService */
'use strict';
// The two scripts have fixed names, which is all that this policy lets through.
const FILES = ['../vendor/kusto.js', './service.js'];
const policy = /** @type {any} */ (self).trustedTypes?.createPolicy('hindsight', {
  createScriptURL: (/** @type {string} */ name) => {
    if (!FILES.includes(name)) throw new TypeError(`${name} is no script of this worker`);
    return name;
  },
});
// @ts-ignore: a script of its own
importScripts(...FILES.map((name) => policy?.createScriptURL(name) ?? name));

/** @type {any[]} */
const waiting = [];
let isBusy = false;

/** Requests whose answer is dropped once a later one came. */
const REPLACED = new Set(['complete', 'diagnose', 'hover']);

addEventListener('message', ({ data }) => {
  if (REPLACED.has(data.op)) {
    const at = waiting.findIndex((message) => message.op === data.op);
    if (at >= 0) postMessage({ id: waiting.splice(at, 1)[0].id, value: null });
  }
  waiting.push(data);
  if (!isBusy) next();
});

/** Answers the oldest request, and lets messages in between: one that came meanwhile may replace another. */
function next() {
  const message = waiting.shift();
  isBusy = message !== undefined;
  if (message === undefined) return;
  try {
    // @ts-ignore: a script of its own
    postMessage({ id: message.id, value: KustoService[message.op](message) ?? null });
  } catch (error) {
    postMessage({ id: message.id, error: String(error) });
  }
  setTimeout(next);
}
