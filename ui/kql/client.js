/** The page's end of the language worker. It starts when the first editor is shown; typing never waits for it. */
import { scriptAddress } from '../lib/trusted.js';

export class Language {
  constructor() {
    this.worker = new Worker(scriptAddress(new URL('./worker.js', import.meta.url)));
    /** @type {Map<number, (value: any) => void>} */
    this.waiting = new Map();
    this.last = 0;
    /** Resolves when the language knows the tables. @type {Promise<void>} */
    this.ready = new Promise((resolve) => (this.becameReady = resolve));
    this.isReady = false;
    this.worker.addEventListener('message', ({ data }) => {
      // The parser itself fails on a few texts: they have no completion and no opinion of the parser.
      this.waiting.get(data.id)?.(data.error === undefined ? data.value : null);
      this.waiting.delete(data.id);
    });
  }

  /** @param {string} op @param {object} rest @returns {Promise<any>} null where the worker has no answer */
  call(op, rest) {
    const id = ++this.last;
    return new Promise((resolve) => {
      this.waiting.set(id, resolve);
      this.worker.postMessage({ ...rest, id, op });
    });
  }

  /** @param {{tables: {name: string, columns: {name: string, type: string}[]}[], language: any}} about */
  async configure(about) {
    await this.call('configure', about);
    // The first completion and the first check compile much: the result of this one is dropped.
    await this.call('complete', { text: `${about.tables[0]?.name ?? 'print'} | `, position: (about.tables[0]?.name.length ?? 5) + 3 });
    this.isReady = true;
    performance.mark('hindsight.language');
    this.becameReady?.();
  }
}

/** @type {Language | null} */
let shared = null;

/** One worker serves all editors of the page. */
export function language() {
  return (shared ??= new Language());
}
