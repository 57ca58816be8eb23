/** The state of Logs for one application: its tabs, the result that is shown, and what runs. */
import { batch, signal } from '../vendor/preact.js';
import { address, go, packed, unpacked } from '../lib/address.js';
import { lostSince, queryRequest } from '../lib/api.js';
import { ApiError, errorOf } from '../lib/api-error.js';
import { state as session, token } from '../lib/auth.js';
import { range } from '../lib/time.js';
import { DataWorker } from '../result/source.js';
import { addHistory } from './history-list.js';
import { savedOf } from './saved-list.js';
import { loadTabs, saveTabs } from './tabs-list.js';

/** An address is longer than this: other programs drop it. */
export const LONGEST_ADDRESS = 8000;
/** The parameters of a view, which are of one result. */
const NO_VIEW = { v: null, k: null, row: null, cell: null, sort: null, hide: null, find: null };
/** How long the page waits before it tries a lost server again, in milliseconds. */
const AGAIN = 3000;

/**
 * @typedef {{
 *   text: string, range: import('../lib/time.js').Range,
 *   tables: {name: string, columns: import('../result/values.js').Column[], count: number, source: import('../result/source.js').RowSource}[],
 *   render: import('../charts/shape.js').Render | null, statistics: any, messages: string[], age: number, requestId: string,
 *   took: number, bytes: number, number: number, at: number,
 * }} Result
 * @typedef {{text: string, since: number, number: number}} Running
 */

/** The worker of all results of the page. @type {DataWorker | null} */
let worker = null;
const dataWorker = () => (worker ??= new DataWorker());

export class LogsStore {
  /** @param {{id: string, name: string}} app */
  constructor(app) {
    this.app = app;
    const { tabs, active } = loadTabs(app.id);
    this.tabs = signal(tabs);
    this.active = signal(active);
    this.result = signal(/** @type {Result | null} */ (null));
    this.running = signal(/** @type {Running | null} */ (null));
    this.error = signal(/** @type {{error: ApiError, text: string} | null} */ (null));
    /** Seconds until a throttled query is sent again; null when none waits. */
    this.waiting = signal(/** @type {number | null} */ (null));
    /** What the live region says. */
    this.message = signal('');
    /** What of the address was run last. */
    this.lastKey = '';
    /** @type {import('../kql/editor.js').Editor | null} */
    this.editor = null;
    this.timer = 0;
    this.isClosed = false;
  }

  get tab() {
    return this.tabs.value.find((tab) => tab.id === this.active.value) ?? this.tabs.value[0];
  }

  /** @param {string} text */
  setText(text) {
    this.tabs.value = this.tabs.value.map((tab) => (tab.id === this.active.value ? { ...tab, text } : tab));
    saveTabs(this.app.id, this.tabs.value, this.active.value);
  }

  /** @param {string} id */
  activate(id) {
    if (this.active.value === id) return;
    this.active.value = id;
    saveTabs(this.app.id, this.tabs.value, id);
    this.editor?.open(this.tab.text);
  }

  /** @param {string} [text] @param {string} [title] */
  addTab(text = '', title = '') {
    const tab = { id: crypto.randomUUID(), text, title };
    batch(() => {
      this.tabs.value = [...this.tabs.value, tab];
      this.active.value = tab.id;
    });
    saveTabs(this.app.id, this.tabs.value, tab.id);
    this.editor?.open(text);
  }

  /** @param {string} id */
  closeTab(id) {
    const at = this.tabs.value.findIndex((tab) => tab.id === id);
    const rest = this.tabs.value.filter((tab) => tab.id !== id);
    if (rest.length === 0) return this.renameTab(id, ''), this.editor?.replace('');
    batch(() => {
      this.tabs.value = rest;
      if (this.active.value === id) this.active.value = rest[Math.max(0, at - 1)].id;
    });
    saveTabs(this.app.id, this.tabs.value, this.active.value);
    this.editor?.open(this.tab.text);
  }

  /** @param {string} id @param {string} title */
  renameTab(id, title) {
    this.tabs.value = this.tabs.value.map((tab) => (tab.id === id ? { ...tab, title } : tab));
    saveTabs(this.app.id, this.tabs.value, this.active.value);
  }

  /** Shows a text: in the tab that has it, in one that is empty, or in a new one. @param {string} text @param {string} [title] */
  show(text, title = '') {
    const same = this.tabs.value.find((tab) => tab.text.trim() === text.trim());
    if (same) return this.activate(same.id);
    if (this.tab.text.includes(text)) return undefined;
    if (this.tab.text.trim() !== '') return this.addTab(text, title);
    this.setText(text);
    this.editor?.open(text);
    return undefined;
  }

  /**
   * What the address says is run, unless it was just run from here. Called when the address or the time range has changed.
   */
  async follow() {
    const { params } = address.peek();
    if (address.peek().screen !== 'logs') return;
    const saved = params.get('saved');
    const key = keyOf(params.get('q'), params.get('z'), saved);
    if (key === this.lastKey) return;
    const text = saved === null ? await unpacked(params) : await this.textOfSaved(saved);
    if (text === null) {
      if (params.has('z')) this.error.value = { text: '', error: new ApiError({ status: 0, message: 'The text of this link cannot be read: it was cut or changed.' }) };
      return;
    }
    this.lastKey = key;
    this.show(text, saved ?? '');
    await this.execute(text, false);
  }

  /** @param {string} name @returns {Promise<string | null>} */
  async textOfSaved(name) {
    try {
      const found = (await savedOf(this.app.id)).find((one) => one.name === name);
      if (found) return found.text;
      this.error.value = { text: '', error: new ApiError({ status: 0, message: `No query is saved under the name “${name}”.` }) };
    } catch (error) {
      this.error.value = { text: '', error: error instanceof ApiError ? error : new ApiError({ status: -1, message: String(error) }) };
    }
    return null;
  }

  /** The name under which exactly this text is saved. @param {string} text @returns {Promise<string | null>} */
  async nameOfSaved(text) {
    const saved = await savedOf(this.app.id).catch(() => []);
    return saved.find((one) => one.text === text)?.name ?? null;
  }

  /** Opens a saved query: its address is its name, which is short whatever its text is. @param {string} name */
  openSaved(name) {
    this.lastKey = '';
    go({ params: { saved: name, q: null, z: null, ...NO_VIEW } });
  }

  /** Runs a text and writes it into the address, as a step of the history. @param {string} text @param {{noCache?: boolean}} [options] */
  async run(text, { noCache = false } = {}) {
    if (text.trim() === '') return;
    const { q, z } = await packed(text);
    if ((q ?? z ?? '').length > LONGEST_ADDRESS) {
      const name = await this.nameOfSaved(text);
      this.lastKey = keyOf(null, null, name);
      go({ params: { q: null, z: null, saved: name, ...NO_VIEW } });
      if (name === null) this.message.value = 'This text is too long for an address. Save it, and its address is its name.';
    } else {
      this.lastKey = keyOf(q, z, null);
      const now = address.peek().params;
      const same = now.get('q') === q && now.get('z') === z;
      go({ params: same ? { row: null } : { q, z, saved: null, ...NO_VIEW } }, { replace: same });
    }
    await this.execute(text, noCache);
  }

  /** @param {string} text @param {boolean} noCache */
  async execute(text, noCache) {
    this.stop();
    const number = dataWorker().number();
    this.running.value = { text, since: Date.now(), number };
    this.error.value = null;
    const asked = range.peek();
    try {
      const reply = await this.send(number, text, asked.timespan, noCache);
      if (this.running.value?.number !== number) return;
      lostSince.value = null;
      if (reply.isFailure) this.failed(errorOf(reply.status, reply.failure, headersOf(reply)), text, noCache);
      else this.answered(reply, number, text, asked);
    } catch (error) {
      if (this.running.value?.number !== number) return;
      const { name, message } = /** @type {Error} */ (error);
      if (name === 'AbortError') return;
      this.failed(name === 'TypeError' ? new ApiError({ status: 0, code: 'Unreached', message: 'The server cannot be reached.' }) : error instanceof ApiError ? error : new ApiError({ status: -1, message }), text, noCache);
    } finally {
      if (this.running.value?.number === number) this.running.value = null;
    }
  }

  /** @param {number} number @param {string} text @param {string} timespan @param {boolean} noCache */
  async send(number, text, timespan, noCache) {
    const request = queryRequest(text, { timespan, noCache, statistics: true });
    const ask = (/** @type {string} */ credential) => dataWorker().call('ask', {
      result: number, url: `/v1/apps/${encodeURIComponent(this.app.id)}/query`, body: request.body, headers: { ...request.headers, Authorization: `Bearer ${credential}` },
    });
    const reply = await ask(await this.credential(false));
    if (reply.status !== 401) return reply;
    const again = await ask(await this.credential(true));
    if (again.status === 401) session.value = 'ended';
    return again;
  }

  /** @param {boolean} fresh */
  async credential(fresh) {
    try {
      return await token({ fresh });
    } catch (error) {
      if (error instanceof TypeError) throw error;
      session.value = 'ended';
      throw new ApiError({ status: 401, message: 'The session has ended. Sign in again; your texts are kept.' });
    }
  }

  /** @param {any} reply @param {number} number @param {string} text @param {import('../lib/time.js').Range} asked */
  answered(reply, number, text, asked) {
    const last = this.result.value;
    if (last) dataWorker().call('free', { result: last.number });
    const rows = reply.tables.reduce((/** @type {number} */ sum, /** @type {any} */ table) => sum + table.count, 0);
    const took = (reply.statistics?.query?.executionTime ?? 0) * 1000 || reply.took;
    const result = {
      text, range: asked, number, render: reply.render ?? null, statistics: reply.statistics ?? null, age: Number(reply.age ?? 0), requestId: reply.requestId ?? '', took: reply.took, bytes: reply.bytes, at: Date.now(),
      messages: (reply.error?.details ?? []).map((/** @type {any} */ detail) => detail.innererror?.message ?? detail.message),
      tables: reply.tables.map((/** @type {any} */ table, /** @type {number} */ index) => ({ ...table, source: dataWorker().source(number, index, table) })),
    };
    batch(() => {
      this.result.value = result;
      this.running.value = null;
      this.message.value = `${rows.toLocaleString('en-US')} rows in ${(reply.took / 1000).toFixed(2)} seconds`;
    });
    addHistory(this.app.id, { text, t: asked.text, at: Date.now(), rows, took });
  }

  /** @param {ApiError} error @param {string} text @param {boolean} noCache */
  failed(error, text, noCache) {
    batch(() => {
      this.error.value = { error, text };
      this.running.value = null;
      this.message.value = error.message;
    });
    if (error.status === 0 && error.code === 'Unreached') {
      lostSince.value ??= Date.now();
      this.timer = window.setTimeout(() => !this.isClosed && this.execute(text, noCache), AGAIN);
    } else if (error.status === 429) {
      this.countDown(Math.max(1, Math.ceil(error.retryAfter ?? 5)), () => this.execute(text, noCache));
    } else if (error.line !== undefined) {
      this.editor?.refuse(text, { start: offsetOf(text, error.line, error.position ?? 0), length: error.token?.length || 1, message: error.message, severity: 'error' });
    }
  }

  /** @param {number} seconds @param {() => void} then */
  countDown(seconds, then) {
    this.waiting.value = seconds;
    if (this.isClosed) return;
    this.timer = window.setTimeout(() => {
      if (seconds > 1) this.countDown(seconds - 1, then);
      else {
        this.waiting.value = null;
        then();
      }
    }, 1000);
  }

  /** Ends what runs or waits: the request is closed, and the server ends the query. */
  stop() {
    clearTimeout(this.timer);
    this.waiting.value = null;
    const running = this.running.value;
    if (!running) return;
    this.running.value = null;
    this.message.value = 'Stopped';
    dataWorker().call('cancel', { result: running.number });
  }

  close() {
    this.isClosed = true;
    this.stop();
    const last = this.result.value;
    if (last) dataWorker().call('free', { result: last.number });
  }
}

/** What of the address decides what is run. @param {string | null} q @param {string | null} z @param {string | null} saved */
const keyOf = (q, z, saved) => JSON.stringify([q, z, saved, range.peek().text]);

/** The headers of a reply that an error carries. @param {{requestId: string | null, retryAfter: string | null}} reply */
function headersOf({ requestId, retryAfter }) {
  const headers = new Headers();
  if (requestId) headers.set('x-ms-request-id', requestId);
  if (retryAfter) headers.set('Retry-After', retryAfter);
  return headers;
}

/** @param {string} text @param {number} line from 1 @param {number} position in the line, from 0 */
export function offsetOf(text, line, position) {
  let at = 0;
  for (let now = 1; now < line; now++) {
    const end = text.indexOf('\n', at);
    if (end < 0) break;
    at = end + 1;
  }
  return Math.min(text.length, at + position);
}
