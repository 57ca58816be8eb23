/** The state of a workbook that is shown: the values of its parameters, which the address has, and the options that queries gave. */
import { computed, signal } from '../vendor/preact.js';
import { address, go } from '../lib/address.js';
import { time } from '../lib/time.js';
import { everyItem } from './document.js';
import { substitute, timespanOf, valueOf } from './parameters.js';

/** Parameters of the workbook in the address: `p.` and the name. */
const PREFIX = 'p.';

export class Book {
  /** @param {{id: string, name: string}} app @param {import('./document.js').Workbook} workbook */
  constructor(app, workbook) {
    this.app = app;
    this.workbook = workbook;
    const items = everyItem(workbook.items);
    /** @type {import('./parameters.js').Parameter[]} */
    this.parameters = items.flatMap((item) => (item.is === 'parameters' ? item.parameters.filter(({ type }) => type !== 'refused') : []));
    /** Parameters that links and selected rows set, with the value that they begin with. @type {Map<string, {initial: string | null, required: boolean}>} */
    this.others = new Map();
    for (const item of items) {
      if (item.is === 'links') this.addLinks(item);
      if (item.is === 'query') for (const { parameter, initial } of item.query.exports) this.add(parameter, initial, true);
    }
    /** The options of parameters that have a query. @type {import('../vendor/preact.js').Signal<Map<string, import('./parameters.js').Option[]>>} */
    this.options = signal(new Map());
    /** Where relative time ranges end. */
    this.now = signal(Date.now());
    this.values = computed(() => this.valuesOf());
  }

  /** The first tab is chosen at first. @param {import('./document.js').LinksItem} item */
  addLinks(item) {
    for (const link of item.links) if (link.to === 'parameter') this.add(link.parameter, item.tabs ? link.value : null, false);
  }

  /** @param {string} name @param {string | null} initial @param {boolean} required */
  add(name, initial, required) {
    const isDefined = this.parameters.some((parameter) => parameter.name === name);
    if (!isDefined && !this.others.has(name)) this.others.set(name, { initial, required });
  }

  /** @param {string} name @returns {string[] | null} What was chosen; null where nothing was. */
  chosen(name) {
    const all = address.value.params.getAll(PREFIX + name);
    return all.length === 0 ? null : all;
  }

  /** Chooses values, as a step of the history; an empty list is no value. @param {string} name @param {string[]} values */
  choose(name, values) {
    this.chooseAll([[name, values]]);
  }

  /** Chooses values of several parameters, as one step of the history. @param {[string, string[]][]} choices */
  chooseAll(choices) {
    const params = new URLSearchParams(address.peek().params);
    for (const [name, values] of choices) {
      params.delete(PREFIX + name);
      for (const value of values.length === 0 ? [''] : values) params.append(PREFIX + name, value);
    }
    go({ params });
    this.refresh();
  }

  /** Relative time ranges end now. */
  refresh() {
    this.now.value = Date.now();
  }

  /** @param {string} name @param {import('./parameters.js').Option[]} list */
  setOptions(name, list) {
    if (JSON.stringify(this.options.peek().get(name)) === JSON.stringify(list)) return;
    this.options.value = new Map(this.options.peek()).set(name, list);
  }

  /** @param {import('./parameters.js').Parameter} parameter */
  optionsOf(parameter) {
    return parameter.options ?? this.options.value.get(parameter.name) ?? null;
  }

  valuesOf() {
    /** @type {Map<string, import('./parameters.js').Value>} */
    const values = new Map();
    for (const parameter of this.parameters) values.set(parameter.name, valueOf(parameter, this.chosen(parameter.name), this.optionsOf(parameter), this.app.name));
    for (const [name, { initial, required }] of this.others) {
      const text = this.chosen(name)?.[0] ?? initial ?? '';
      values.set(name, text === '' ? { is: 'unset', waiting: false, required } : { is: 'text', text, label: text });
    }
    return values;
  }

  /** A text with the values of parameters. @param {string} text @param {boolean} inQuery */
  fill(text, inQuery) {
    return substitute(text, this.values.value, { inQuery, now: this.now.value, time });
  }

  /**
   * The time range of a query.
   * @param {{parameter: string} | {length: number} | null} of
   * @returns {{timespan: string | null, missing: string | null}} `missing`: the parameter that has none
   */
  timespan(of) {
    if (of === null) return { timespan: null, missing: null };
    if ('length' in of) return { timespan: timespanOf({ relative: of.length }), missing: null };
    const value = this.values.value.get(of.parameter);
    return value?.is === 'time' ? { timespan: timespanOf(value.span), missing: null } : { timespan: null, missing: of.parameter };
  }
}
