/**
 * Markdown of workbooks as a tree. Pure. Raw HTML has no meaning here: it is text like any other, so nothing that a document or a
 * parameter holds becomes markup.
 *
 * @typedef {{is: 'text', text: string} | {is: 'code', text: string} | {is: 'strong' | 'em', parts: Inline[]}
 *   | {is: 'link', to: string, parts: Inline[]} | {is: 'image', alt: string}} Inline
 * @typedef {{is: 'heading', level: number, parts: Inline[]} | {is: 'paragraph', parts: Inline[]} | {is: 'quote', parts: Inline[]}
 *   | {is: 'list', ordered: boolean, items: Inline[][]} | {is: 'code', text: string} | {is: 'rule'}
 *   | {is: 'table', head: Inline[][], rows: Inline[][][]}} Block
 */

const RULE = /^ {0,3}([-*_])(?:\s*\1){2,}\s*$/;
const HEADING = /^ {0,3}(#{1,6})\s+(.*?)\s*#*\s*$/;
const FENCE = /^ {0,3}(```+|~~~+)/;
const ITEM = /^\s*(?:[-*+]|(\d+)[.)])\s+(.*)$/;
const DIVIDER = /^\s*\|?\s*:?-+:?\s*(\|\s*:?-+:?\s*)*\|?\s*$/;

/** @param {string} text @returns {Block[]} */
export function blocksOf(text) {
  const lines = text.replace(/\r\n?/g, '\n').split('\n');
  /** @type {Block[]} */
  const blocks = [];
  let at = 0;
  while (at < lines.length) {
    const line = lines[at];
    const heading = HEADING.exec(line);
    if (line.trim() === '') at++;
    else if (FENCE.test(line)) at = fence(lines, at, blocks);
    else if (heading !== null) {
      blocks.push({ is: 'heading', level: heading[1].length, parts: inlinesOf(heading[2]) });
      at++;
    } else if (RULE.test(line)) {
      blocks.push({ is: 'rule' });
      at++;
    } else if (ITEM.test(line)) at = list(lines, at, blocks);
    else if (line.trimStart().startsWith('>')) at = quote(lines, at, blocks);
    else if (line.includes('|') && DIVIDER.test(lines[at + 1] ?? '') && (lines[at + 1] ?? '').includes('-')) at = table(lines, at, blocks);
    else at = paragraph(lines, at, blocks);
  }
  return blocks;
}

/** @param {string[]} lines @param {number} at @param {Block[]} blocks */
function fence(lines, at, blocks) {
  const mark = /** @type {RegExpExecArray} */ (FENCE.exec(lines[at]))[1];
  const from = at + 1;
  let end = from;
  while (end < lines.length && !lines[end].trimStart().startsWith(mark)) end++;
  blocks.push({ is: 'code', text: lines.slice(from, end).join('\n') });
  return end + 1;
}

/** @param {string[]} lines @param {number} at @param {Block[]} blocks */
function list(lines, at, blocks) {
  /** @type {string[]} */
  const items = [];
  const ordered = ITEM.exec(lines[at])?.[1] !== undefined;
  for (; at < lines.length && lines[at].trim() !== ''; at++) {
    const item = ITEM.exec(lines[at]);
    if (item !== null && (item[1] !== undefined) !== ordered) break;
    if (item !== null) items.push(item[2]);
    else items[items.length - 1] += '\n' + lines[at].trim();
  }
  blocks.push({ is: 'list', ordered, items: items.map(inlinesOf) });
  return at;
}

/** @param {string[]} lines @param {number} at @param {Block[]} blocks */
function quote(lines, at, blocks) {
  const inside = [];
  for (; at < lines.length && lines[at].trimStart().startsWith('>'); at++) inside.push(lines[at].trimStart().slice(1).trim());
  blocks.push({ is: 'quote', parts: inlinesOf(inside.join('\n')) });
  return at;
}

/** @param {string} line */
function cells(line) {
  return line.trim().replace(/^\||\|$/g, '').split('|').map((cell) => inlinesOf(cell.trim()));
}

/** @param {string[]} lines @param {number} at @param {Block[]} blocks */
function table(lines, at, blocks) {
  const head = cells(lines[at]);
  const rows = [];
  for (at += 2; at < lines.length && lines[at].includes('|'); at++) rows.push(cells(lines[at]));
  blocks.push({ is: 'table', head, rows });
  return at;
}

/** @param {string[]} lines @param {number} at @param {Block[]} blocks */
function paragraph(lines, at, blocks) {
  const from = at++;
  while (at < lines.length && lines[at].trim() !== '' && !HEADING.test(lines[at]) && !FENCE.test(lines[at]) && !ITEM.test(lines[at])) at++;
  blocks.push({ is: 'paragraph', parts: inlinesOf(lines.slice(from, at).map((line) => line.trim()).join('\n')) });
  return at;
}

/** In order: escapes, code, pictures, links, bold, italic. */
const INLINE = /\\([\\`*_{}[\]()#+\-.!|>])|(`+)(.+?)\2(?!`)|!\[([^\]]*)\]\([^)\s]*(?:\s+"[^"]*")?\)|\[((?:[^\][]|\[[^\]]*\])*)\]\(([^)\s]+)(?:\s+"[^"]*")?\)|(\*\*|__)(?=\S)([\s\S]*?\S)\7|(?<![A-Za-z0-9])([*_])(?=\S)([\s\S]*?\S)\9(?![A-Za-z0-9])/;

/** @param {string} text @returns {Inline[]} */
export function inlinesOf(text) {
  /** @type {Inline[]} */
  const parts = [];
  const plain = (/** @type {string} */ more) => {
    const last = parts[parts.length - 1];
    if (more === '') return;
    if (last?.is === 'text') last.text += more;
    else parts.push({ is: 'text', text: more });
  };
  let rest = text;
  while (rest !== '') {
    const found = INLINE.exec(rest);
    if (found === null) break;
    plain(rest.slice(0, found.index));
    const [whole, escaped, , code, alt, label, to, , strong, , em] = found;
    if (escaped !== undefined) plain(escaped);
    else if (code !== undefined) parts.push({ is: 'code', text: code });
    else if (alt !== undefined) parts.push({ is: 'image', alt });
    else if (to !== undefined) parts.push({ is: 'link', to, parts: inlinesOf(label) });
    else if (strong !== undefined) parts.push({ is: 'strong', parts: inlinesOf(strong) });
    else parts.push({ is: 'em', parts: inlinesOf(em) });
    rest = rest.slice(found.index + whole.length);
  }
  plain(rest);
  return parts;
}
