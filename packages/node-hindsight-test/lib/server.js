/** The program in test mode, and its interface (docs/testing.md of Hindsight). */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { Expectation } from './expect.js';

/** Milliseconds that the program may take to start and to stop. */
const PATIENCE = 30_000;
/** Characters of the log that are kept. */
const LOG = 20_000;

/** The program cannot be started, or refuses a request. */
export class HindsightError extends Error {
  constructor(message, status) {
    super(message);
    this.name = 'HindsightError';
    this.status = status;
  }
}

/** A server in test mode. */
export class Hindsight {
  #program;
  #arguments;
  #process;
  #log = '';
  #kill = () => this.#process?.kill();

  constructor({ program, inMemory = true, arguments: more = [] } = {}) {
    this.#program = program ?? process.env.HINDSIGHT_PROGRAM ?? 'hindsight';
    this.#arguments = ['serve', '--test', ...(inMemory ? ['--in-memory'] : []), ...more];
    const put = async (body) => (await this.#ask('PUT', '/test/clock', body)).now;
    this.clock = {
      fix: (time) => put({ fixed: time instanceof Date ? time.toISOString() : time }),
      shift: (duration) => put({ offset: duration }),
      followMachine: () => put({ machine: true }),
      now: async () => (await this.#ask('GET', '/test/clock')).now,
    };
  }

  /** Starts the program and waits until it is ready. */
  async start() {
    const child = spawn(this.#program, this.#arguments, { stdio: ['ignore', 'pipe', 'pipe'] });
    this.#process = child;
    process.once('exit', this.#kill);
    child.stderr.setEncoding('utf8').on('data', (text) => { this.#log = (this.#log + text).slice(-LOG); });
    const lines = createInterface({ input: child.stdout });
    const timer = setTimeout(this.#kill, PATIENCE);
    const line = await Promise.race([
      once(lines, 'line').then(([text]) => text),
      // After `close` the log is complete; after `error` there is no process.
      once(child, 'close').then(() => undefined, (error) => { this.#log += error.message; }),
    ]);
    clearTimeout(timer);
    if (line === undefined) {
      this.#process = undefined;
      process.off('exit', this.#kill);
      throw new HindsightError(`${this.#program} ${this.#arguments.join(' ')} did not start:\n${this.#log}`);
    }
    // The runner ends a file, and calls its last hooks, once nothing keeps the process alive.
    for (const handle of [child, child.stdout, child.stderr]) handle.unref();
    const { url, appId, apiKey, instrumentationKey, connectionString } = JSON.parse(line);
    return Object.assign(this, { url, appId, apiKey, instrumentationKey, connectionString });
  }

  /** Stops the program; its data goes. */
  async stop() {
    const child = this.#process;
    this.#process = undefined;
    process.off('exit', this.#kill);
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) return;
    child.ref();
    const ended = once(child, 'exit');
    const timer = setTimeout(() => child.kill('SIGKILL'), PATIENCE);
    child.kill();
    await ended;
    clearTimeout(timer);
  }

  /** The end of what the program has logged. */
  get log() {
    return this.#log;
  }

  expect(query, { timeout } = {}) {
    return new Expectation(this, query, timeout);
  }

  async query(kql) {
    return rows(await this.#ask('POST', `/v1/apps/${this.appId}/query`, { query: kql }));
  }

  async wait(kql, { minCount, condition, timeout = 10 } = {}) {
    const body = { query: kql, minCount, condition, timeout };
    const reply = await this.#ask('POST', '/test/wait', body, timeout * 1000 + PATIENCE);
    return { holds: reply.holds, rows: rows(reply.result), waited: reply.waitedSeconds };
  }

  async reset() {
    await this.#ask('POST', '/test/reset', {});
  }

  async snapshot(name) {
    await this.#ask('POST', '/test/snapshot', { name });
  }

  async restore(name) {
    await this.#ask('POST', '/test/restore', { name });
  }

  async #ask(method, path, body, timeout = PATIENCE) {
    const reply = await fetch(this.url + path, {
      method,
      body: body && JSON.stringify(body),
      headers: { 'Content-Type': 'application/json', 'X-Api-Key': this.apiKey },
      signal: AbortSignal.timeout(timeout),
    });
    const text = await reply.text();
    if (!reply.ok) throw new HindsightError(refusal(reply.status, text), reply.status);
    return JSON.parse(text);
  }
}

/** The rows of the first table of a reply, as objects. */
function rows({ tables: [table] }) {
  const names = table.columns.map((column) => column.name);
  return table.rows.map((row) => Object.fromEntries(names.map((name, index) => [name, row[index]])));
}

/** What the reply to a refused request says, the innermost reason. */
function refusal(status, text) {
  try {
    let { error } = JSON.parse(text);
    while (error.innererror) error = error.innererror;
    return `${status}: ${error.message}`;
  } catch {
    return `${status}: ${text}`;
  }
}
