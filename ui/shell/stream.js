// Streams of lines over fetch, which sends a bearer token where EventSource cannot.

import { send } from '../lib/api.js';

/**
 * Reads the lines of a reply as they come, until the signal ends it. A stream that breaks is begun again after a pause.
 * @param {string} path
 * @param {RequestInit & {headers?: Record<string, string>}} init
 * @param {AbortSignal} signal
 * @param {{line: (text: string) => void, state: (state: 'open' | 'broken', error?: Error) => void}} on
 */
export async function follow(path, init, signal, on) {
  while (!signal.aborted) {
    try {
      const reply = await send(path, { ...init, signal });
      on.state('open');
      await read(reply, on.line);
    } catch (error) {
      if (signal.aborted) return;
      on.state('broken', /** @type {Error} */ (error));
      // What the server refuses is not asked again.
      if (/** @type {any} */ (error).status >= 400 && /** @type {any} */ (error).status < 500) return;
    }
    await new Promise((resolve) => {
      setTimeout(resolve, 2000);
    });
  }
}

/** @param {Response} reply @param {(text: string) => void} line */
async function read(reply, line) {
  const reader = /** @type {ReadableStream<Uint8Array>} */ (reply.body).getReader();
  const decoder = new TextDecoder();
  let rest = '';
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    const lines = (rest + decoder.decode(value, { stream: true })).split('\n');
    rest = lines.pop() ?? '';
    for (const text of lines) if (text !== '') line(text);
  }
}
