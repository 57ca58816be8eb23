/** KQL texts that the page builds from names and values of telemetry. Pure. */
import { literal } from '../lib/kql-text.js';

/** Names of columns that need no brackets. */
const PLAIN = /^[A-Za-z_][A-Za-z0-9_]*$/;
/** Words that a bare name must not be. */
const RESERVED = new Set(['and', 'or', 'in', 'by', 'on', 'to', 'from', 'between', 'has', 'contains', 'true', 'false', 'null', 'let', 'set', 'with', 'of', 'where',
  'step', 'kind', 'asc', 'desc', 'nulls', 'first', 'last', 'print', 'datatable', 'union', 'range', 'find', 'search', 'project', 'extend', 'count', 'take', 'limit', 'as', 'default']);

/** @param {string} name a reference to a column */
export function reference(name) {
  return PLAIN.test(name) && !RESERVED.has(name) ? name : `[${literal(name)}]`;
}

/** @param {string} column @param {(string | number)[]} path keys and indexes within a dynamic value */
export function pathReference(column, path) {
  return reference(column) + path.map((step) => (typeof step === 'number' ? `[${step}]` : PLAIN.test(step) && !RESERVED.has(step) ? `.${step}` : `[${literal(step)}]`)).join('');
}

/**
 * A literal of a type's value, or null where there is none to compare with.
 * @param {any} value @param {string} type
 */
export function valueLiteral(value, type) {
  if (value === null || value === undefined) return null;
  switch (type) {
    case 'bool': return value ? 'true' : 'false';
    case 'int': case 'long': return String(value);
    case 'real': return typeof value === 'number' ? String(value) : `real(${value})`;
    case 'decimal': return `decimal(${value})`;
    case 'datetime': return `datetime(${value})`;
    case 'timespan': return `time(${value})`;
    case 'guid': return `guid(${value})`;
    default: return literal(String(value));
  }
}

/**
 * The predicate "this column has this value", or the opposite.
 * @param {{name: string, type: string}} column @param {any} value @param {boolean} without
 * @param {(string | number)[]} [path] within a dynamic value
 */
export function predicate(column, value, without, path = []) {
  const left = pathReference(column.name, path);
  const type = column.type === 'dynamic' ? typeOfJson(value) : column.type;
  if (value === null || value === undefined) return `${without ? 'isnotnull' : 'isnull'}(${left})`;
  if (value === '') return `${without ? 'isnotempty' : 'isempty'}(${left})`;
  const cast = column.type === 'dynamic' ? `${CASTS[type]}(${left})` : left;
  return `${cast} ${without ? '!=' : '=='} ${valueLiteral(value, type)}`;
}

/** @type {Record<string, string>} */
const CASTS = { string: 'tostring', bool: 'tobool', long: 'tolong', real: 'toreal' };

/** @param {any} value */
function typeOfJson(value) {
  if (typeof value === 'boolean') return 'bool';
  if (typeof value === 'bigint') return 'long';
  if (typeof value === 'number') return Number.isSafeInteger(value) ? 'long' : 'real';
  return 'string';
}

/**
 * The text with a `where` added to the statement of the caret: at its end, before `render` and whatever follows.
 * @param {string} text @param {number} caret @param {string} condition
 * @returns {{text: string, from: number, to: number}} the text, and where the new line is
 */
export function withWhere(text, caret, condition) {
  const { from, to } = statementAt(text, caret);
  const statement = text.slice(from, to);
  const pipe = lastRender(statement);
  const at = from + (pipe >= 0 ? pipe : statement.replace(/[\s;]+$/, '').length);
  const before = text.slice(0, at).replace(/\s+$/, '');
  const rest = text.slice(at);
  const line = `\n| where ${condition}`;
  const after = pipe >= 0 ? `\n${rest}` : rest;
  return { text: before + line + after, from: before.length + 1, to: before.length + line.length };
}

/** Where `| render` begins, outside of texts, comments and brackets; -1 without one. @param {string} statement */
function lastRender(statement) {
  let depth = 0, found = -1;
  for (const { kind, at, text } of tokens(statement)) {
    if (kind !== 'sign') continue;
    if ('([{'.includes(text)) depth++;
    else if (')]}'.includes(text)) depth--;
    else if (text === '|' && depth === 0) found = /^\|\s*render\b/.test(statement.slice(at)) ? at : -1;
  }
  return found;
}

/**
 * Tokens as far as blocks, colours and pipes need them: texts, comments, numbers, words, and single signs.
 * @param {string} text
 * @returns {Generator<{kind: 'text' | 'comment' | 'number' | 'word' | 'sign', at: number, text: string}>}
 */
export function* tokens(text) {
  const pattern = /(?<comment>\/\/[^\n]*)|(?<text>```[\s\S]*?(?:```|$)|[hH]?@"(?:[^"]|"")*"?|[hH]?@'(?:[^']|'')*'?|[hH]?"(?:[^"\\\n]|\\.)*"?|[hH]?'(?:[^'\\\n]|\\.)*'?)|(?<number>\b\d+(?:\.\d+)?(?:e[+-]?\d+)?(?:d|h|m|s|ms|microsecond|tick)?\b)|(?<word>[A-Za-z_$][\w-]*)|(?<sign>[^\s\w])/g;
  for (const match of text.matchAll(pattern)) {
    const groups = /** @type {Record<string, string>} */ (match.groups);
    const kind = /** @type {'text' | 'comment' | 'number' | 'word' | 'sign'} */ (Object.keys(groups).find((name) => groups[name] !== undefined));
    yield { kind, at: match.index, text: match[0] };
  }
}

/**
 * The block of statements around a place. Empty lines part blocks, as in the service's editor; unlike there, a `;` before them or a
 * `|` after them keeps the block together.
 * @param {string} text @param {number} caret
 */
export function blockAt(text, caret) {
  /** @type {{from: number, to: number}[]} */
  const blocks = [];
  let at = 0, isOpen = false;
  for (const line of text.split('\n')) {
    const end = at + line.length;
    const last = blocks[blocks.length - 1];
    if (line.trim() === '') isOpen = false;
    else if (last && (isOpen || continues(text.slice(last.from, last.to), line))) {
      last.to = end;
      isOpen = true;
    } else {
      blocks.push({ from: at, to: end });
      isOpen = true;
    }
    at = end + 1;
  }
  if (blocks.length === 0) return { from: 0, to: text.length };
  // On an empty line, the block before it is meant.
  return blocks.findLast((block) => block.from <= caret) ?? blocks[0];
}

/** @param {string} before @param {string} line */
function continues(before, line) {
  return /^\s*\|/.test(line) || /;\s*(\/\/[^\n]*\s*)*$/.test(before) || /^\s*(\/\/[^\n]*\s*)+$/.test(before);
}

/** The last statement of the block that ends after the caret; `let` statements before it stay. @param {string} text @param {number} caret */
function statementAt(text, caret) {
  const block = blockAt(text, caret);
  const inside = text.slice(block.from, block.to);
  let from = 0;
  let depth = 0;
  for (const { kind, at, text: sign } of tokens(inside)) {
    if (kind !== 'sign') continue;
    if ('([{'.includes(sign)) depth++;
    else if (')]}'.includes(sign)) depth--;
    else if (sign === ';' && depth === 0) {
      if (block.from + at >= caret) return { from: block.from + from, to: block.from + at };
      if (inside.slice(at + 1).trim() !== '') from = at + 1;
    }
  }
  return { from: block.from + from, to: block.to };
}
