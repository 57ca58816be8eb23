/**
 * The parameters of a workbook: what they are, the values that they have, and how values go into texts. Pure.
 *
 * @typedef {{value: string, label: string, selected: boolean, group: string}} Option
 * @typedef {{
 *   name: string, label: string, description: string, type: 'text' | 'choice' | 'time' | 'application' | 'refused', why: string,
 *   required: boolean, hidden: boolean, multi: boolean, quote: string, delimiter: string, all: string, special: string[],
 *   query: string, workspace: boolean, time: {parameter: string} | {length: number} | null, options: Option[] | null, initial: any, ranges: number[], custom: boolean,
 * }} Parameter `options`: null where a query has them; `all`: the value of a choice of all options; `special`: `value::all`, `value::1` …;
 *   `ranges`: of a time range, in milliseconds
 * @typedef {{inQuery: boolean, now: number, time: (at: number) => string}} How `now`: where relative ranges end; `time` writes a time for people
 * @typedef {{relative: number} | {from: number, to: number}} Span In milliseconds.
 * @typedef {{is: 'text', text: string, label: string} | {is: 'time', span: Span} | {is: 'unset', waiting: boolean, required: boolean}} Value
 */
import { DAY, HOUR, MINUTE, words } from '../lib/length.js';
import { WORKSPACES, refusalOfQuery } from './source.js';

/** The ranges of a time parameter that names none. */
const RANGES = [5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 4 * HOUR, 12 * HOUR, DAY, 2 * DAY, 3 * DAY, 7 * DAY, 14 * DAY, 30 * DAY];

/** @type {Record<number, string>} */
const CLOUD = { 6: 'a subscription of the cloud', 7: 'a type of the cloud’s resources', 8: 'a location of the cloud', 9: 'a cost', 11: 'several values of other parameters' };

/** @param {any} given @param {any} content of the item that has it @returns {Parameter} */
export function parameterOf(given, content) {
  const settings = given.typeSettings ?? {};
  const length = Number(given.timeContext?.durationMs ?? 0);
  /** @type {Parameter} */
  const common = {
    name: String(given.name ?? ''), label: String(given.label || given.name || ''), description: String(given.description ?? ''), type: 'text', why: '',
    required: given.isRequired === true, hidden: given.isHiddenWhenLocked === true, multi: given.multiSelect === true, quote: String(given.quote ?? ''),
    delimiter: String(given.delimiter ?? ','), all: String(settings.selectAllValue ?? ''), special: settings.additionalResourceOptions ?? [], query: String(given.query ?? ''),
    workspace: given.resourceType === WORKSPACES,
    time: given.timeContextFromParameter ? { parameter: String(given.timeContextFromParameter) } : length > 0 ? { length } : null,
    options: null, initial: given.value ?? null,
    ranges: (settings.selectableValues ?? []).map((/** @type {any} */ one) => Number(one.durationMs)).filter((/** @type {number} */ one) => one > 0),
    custom: settings.allowCustom !== false,
  };
  const refused = (/** @type {string} */ why) => ({ ...common, type: /** @type {const} */ ('refused'), why });
  if (!/^[A-Za-z_]\w*$/.test(common.name)) return refused('Its name is no word.');
  if (given.criteriaData?.length > 0) return refused('Its value follows criteria over other parameters.');
  const why = common.query === '' ? '' : refusalOfQuery({ resourceType: content.resourceType, ...given, queryType: given.queryType ?? (given.query ? 0 : undefined) });
  if (why !== '') return refused(why);
  switch (given.type) {
    case 1: return common;
    case 2: case 10: return choice(common, given, refused);
    case 4: return { ...common, type: 'time', ranges: common.ranges.length > 0 ? common.ranges : RANGES };
    case 5: {
      const types = Object.keys(settings.resourceTypeFilter ?? {});
      const others = types.filter((type) => type !== 'microsoft.insights/components' && settings.resourceTypeFilter[type]);
      return others.length > 0 || common.query !== '' ? refused(`It picks resources of the cloud${others.length > 0 ? ` of the type “${others[0]}”` : ''}.`) : { ...common, type: 'application' };
    }
    default: return refused(Object.hasOwn(CLOUD, given.type) ? `It picks ${CLOUD[given.type]}.` : `Parameters of the type ${given.type} are not supported.`);
  }
}

/** @param {Parameter} common @param {any} given @param {(why: string) => Parameter} refused @returns {Parameter} */
function choice(common, given, refused) {
  if (common.query !== '') return { ...common, type: 'choice' };
  try {
    return { ...common, type: 'choice', options: optionsOfJson(given.jsonData ? JSON.parse(given.jsonData) : []) };
  } catch {
    return refused('Its list of values is no JSON.');
  }
}

/** @param {any} list @returns {Option[]} */
export function optionsOfJson(list) {
  if (!Array.isArray(list)) throw new Error('no list');
  return list.map((one) => {
    if (typeof one !== 'object' || one === null) return { value: String(one), label: String(one), selected: false, group: '' };
    return { value: String(one.value), label: String(one.label ?? one.value), selected: one.selected === true, group: String(one.group ?? '') };
  });
}

/**
 * The options that a query gives: columns `value`, `label`, `selected` and `group` where it names them, else its first column and, as
 * the label, a second one.
 * @param {{columns: {name: string}[], rows: any[][]}} table
 * @returns {Option[]}
 */
export function optionsOfTable({ columns, rows }) {
  const at = (/** @type {string} */ name) => columns.findIndex((column) => column.name.toLowerCase() === name);
  const value = Math.max(0, at('value'));
  const label = at('label') >= 0 ? at('label') : at('value') < 0 && columns.length === 2 ? 1 : value;
  const text = (/** @type {any[]} */ row, /** @type {number} */ column) => (row[column] === null || row[column] === undefined ? '' : String(row[column]));
  const seen = new Set();
  return rows.flatMap((row) => {
    const option = { value: text(row, value), label: text(row, label), selected: at('selected') >= 0 && [true, 1, 'true', 'True'].includes(row[at('selected')]), group: at('group') >= 0 ? text(row, at('group')) : '' };
    if (seen.has(option.value)) return [];
    seen.add(option.value);
    return [option];
  });
}

/**
 * What is chosen of a parameter, before its options are looked at: the person's choice, or that of the document.
 * @param {Parameter} parameter
 * @param {string[] | null} chosen of the address; null where nothing was chosen
 * @param {Option[] | null} options
 * @returns {string[]}
 */
export function chosenOf(parameter, chosen, options) {
  if (chosen !== null) return chosen.filter((one) => one !== '');
  const { initial } = parameter;
  const given = Array.isArray(initial) ? initial.map(String) : initial === null || typeof initial === 'object' ? [] : [String(initial)];
  if (given.length > 0 && given[0] !== '') return given;
  return (options ?? []).filter(({ selected }) => selected).map(({ value }) => value).slice(0, parameter.multi ? undefined : 1);
}

/**
 * The value of a parameter.
 * @param {Parameter} parameter
 * @param {string[] | null} chosen
 * @param {Option[] | null} options null while they are on their way
 * @param {string} application the name of the page's application
 * @returns {Value}
 */
export function valueOf(parameter, chosen, options, application) {
  const unset = (waiting = false) => /** @type {Value} */ ({ is: 'unset', waiting, required: parameter.required });
  switch (parameter.type) {
    case 'application': return { is: 'text', text: application, label: application };
    case 'time': {
      const span = chosen === null || chosen[0] === undefined ? spanOfDocument(parameter.initial) : spanOfText(chosen[0]);
      return span === null ? unset() : { is: 'time', span };
    }
    case 'text': {
      const fallback = parameter.query !== '' && (parameter.initial === null || parameter.initial === '') ? options?.[0]?.value ?? null : parameter.initial;
      if (chosen === null && parameter.query !== '' && fallback === null && options === null) return unset(true);
      const text = chosen === null ? fallback : chosen[0] ?? '';
      return text === null || text === '' ? unset() : { is: 'text', text: String(text), label: String(text) };
    }
    case 'choice': return valueOfChoice(parameter, chosen, options, unset);
    default: return unset();
  }
}

/** @param {Parameter} parameter @param {string[] | null} chosen @param {Option[] | null} options @param {(waiting?: boolean) => Value} unset @returns {Value} */
function valueOfChoice(parameter, chosen, options, unset) {
  if (options === null) return unset(true);
  const names = chosenOf(parameter, chosen, options);
  if (names.includes('value::all') && parameter.all !== '') return { is: 'text', text: joined([parameter.all], parameter), label: 'All' };
  const picked = names.flatMap((name) => {
    if (name === 'value::all') return options;
    const first = /^value::(\d+)$/.exec(name);
    if (first !== null) return options.slice(0, Number(first[1]));
    return options.find(({ value }) => value === name) ?? { value: name, label: name, selected: false, group: '' };
  });
  if (picked.length === 0) return unset();
  const shown = parameter.multi ? picked : picked.slice(0, 1);
  return { is: 'text', text: joined(shown.map(({ value }) => value), parameter), label: shown.map(({ label }) => label).join(', ') };
}

/** Several values between quotes and delimiters; a quote or a backslash inside of quotes is escaped as KQL escapes it. @param {string[]} values @param {Parameter} parameter */
function joined(values, { multi, quote, delimiter }) {
  if (!multi) return values[0];
  const quoted = (/** @type {string} */ value) => (quote === '' ? value : quote + value.replaceAll('\\', '\\\\').replaceAll(quote, '\\' + quote) + quote);
  return values.map(quoted).join(delimiter);
}

/** @param {any} value `{durationMs, endTime}` @returns {Span | null} */
function spanOfDocument(value) {
  const length = Number(value?.durationMs ?? 0);
  if (!(length > 0)) return null;
  const to = typeof value.endTime === 'string' ? Date.parse(value.endTime) : NaN;
  return Number.isFinite(to) ? { from: to - length, to } : { relative: length };
}

/** @param {string} text milliseconds, or two times with a slash between @returns {Span | null} */
export function spanOfText(text) {
  if (/^\d{1,15}$/.test(text)) return Number(text) > 0 ? { relative: Number(text) } : null;
  const [from, to] = text.split('/').map((part) => Date.parse(part));
  return Number.isFinite(from) && Number.isFinite(to) && to > from ? { from, to } : null;
}

/** @param {Span} span @param {(at: number) => string} time writes a time */
export function spanLabel(span, time) {
  if ('relative' in span && span.relative === DAY) return 'Last 24 hours';
  return 'relative' in span ? `Last ${words(span.relative).replace(/^1 /, '')}` : `${time(span.from)} – ${time(span.to)}`;
}

/** A span as requests send it. @param {Span} span */
export function timespanOf(span) {
  return 'relative' in span ? `PT${span.relative / 1000}S` : `${iso(span.from)}/${iso(span.to)}`;
}

const iso = (/** @type {number} */ at) => new Date(at).toISOString();

/** @param {number} length in milliseconds, as a literal of KQL */
function literal(length) {
  const units = /** @type {[number, string][]} */ ([[DAY, 'd'], [HOUR, 'h'], [MINUTE, 'm'], [1000, 's'], [1, 'ms']]);
  const [width, unit] = units.find(([width]) => length >= width && length % width === 0) ?? [1, 'ms'];
  return `${length / width}${unit}`;
}

/** The widths of bins by the length of the range: between 24 and 72 bins for the usual ranges. @type {[number, number][]} */
const GRAINS = [[5 * MINUTE, 10_000], [15 * MINUTE, 30_000], [HOUR, MINUTE], [4 * HOUR, 5 * MINUTE], [12 * HOUR, 15 * MINUTE], [DAY, 30 * MINUTE], [3 * DAY, HOUR], [7 * DAY, 6 * HOUR], [14 * DAY, 6 * HOUR], [60 * DAY, DAY]];

/** @param {Span} span */
export function grainOf(span) {
  const length = 'relative' in span ? span.relative : span.to - span.from;
  return literal(GRAINS.find(([most]) => length <= most)?.[1] ?? 7 * DAY);
}

/**
 * A time range in a text.
 * @param {Span} span @param {string} format @param {How} how
 * @returns {string | null} null for a format that is not supported
 */
function spanText(span, format, how) {
  const { inQuery, now, time } = how;
  const from = 'relative' in span ? now - span.relative : span.from;
  const to = 'relative' in span ? now : span.to;
  const moment = (/** @type {number} */ at) => (inQuery ? `datetime(${iso(at)})` : time(at));
  switch (format) {
    case '': return inQuery ? spanText(span, 'query', how) : spanLabel(span, time);
    case 'label': return spanLabel(span, time);
    case 'value': case 'query': return 'relative' in span ? `> ago(${literal(span.relative)})` : `between (datetime(${iso(from)}) .. datetime(${iso(to)}))`;
    case 'start': return moment(from);
    case 'end': return moment(to);
    case 'startISO': return iso(from);
    case 'endISO': return iso(to);
    case 'grain': return grainOf(span);
    default: return null;
  }
}

/** @param {{text: string, label: string}} value @param {string} format */
function textOf(value, format) {
  switch (format) {
    case '': case 'value': return value.text;
    case 'label': return value.label;
    case 'escapejson': return JSON.stringify(value.text).slice(1, -1);
    case 'base64': return btoa(String.fromCharCode(...new TextEncoder().encode(value.text)));
    default: return null;
  }
}

/**
 * A text with the values of parameters in it. Braces that name no parameter stay.
 * @param {string} text
 * @param {Map<string, Value>} values
 * @param {How} how
 * @returns {{text: string, missing: string[], waiting: boolean, unknown: string[]}} `missing`: parameters that have no value;
 *   `unknown`: placeholders with a format that is not supported
 */
export function substitute(text, values, how) {
  const missing = new Set(), unknown = new Set();
  let waiting = false;
  const filled = text.replace(/\{([A-Za-z_]\w*)(?::([^{}\n]*))?\}/g, (whole, name, format = '') => {
    const value = values.get(name);
    if (value === undefined) return whole;
    if (value.is === 'unset') {
      waiting ||= value.waiting;
      // What need not be chosen is an empty text, as in the cloud.
      if (value.required || value.waiting) missing.add(name);
      return '';
    }
    const shown = value.is === 'time' ? spanText(value.span, format, how) : textOf(value, format);
    if (shown === null) unknown.add(whole);
    return shown ?? '';
  });
  return { text: filled, missing: [...missing], waiting, unknown: [...unknown] };
}

/**
 * Whether an item is visible.
 * @param {import('./document.js').Condition[]} conditions @param {Map<string, Value>} values
 */
export function isVisible(conditions, values) {
  return conditions.every(({ parameter, equal, value }) => {
    const now = values.get(parameter);
    const text = now === undefined || now.is === 'unset' ? '' : now.is === 'time' ? timespanOf(now.span) : now.text;
    return (text === value) === equal;
  });
}
