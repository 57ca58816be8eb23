/** Markdown of a workbook as elements. Values of parameters are put into its texts, never into its marks. */
import { html, useMemo } from '../vendor/preact.js';
import { Text } from '../result/cell.js';
import { blocksOf } from './markdown.js';

/** Where links may lead. @param {string} address */
export const isWebAddress = (address) => /^https?:\/\/[^\s]+$/i.test(address);

/** @param {{text: string, fill: (text: string) => string}} props */
export function Markdown({ text, fill }) {
  const blocks = useMemo(() => blocksOf(text), [text]);
  return html`<div class="markdown">${blocks.map((block, at) => html`<${Block} key=${at} block=${block} fill=${fill} />`)}</div>`;
}

/** @param {{block: import('./markdown.js').Block, fill: (text: string) => string}} props */
function Block({ block, fill }) {
  const inline = (/** @type {import('./markdown.js').Inline[]} */ parts) => html`<${Inline} parts=${parts} fill=${fill} />`;
  switch (block.is) {
    // The page has the first heading.
    case 'heading': return html`<div role="heading" aria-level=${Math.min(6, block.level + 1)} class=${`heading h${block.level}`}>${inline(block.parts)}</div>`;
    case 'paragraph': return html`<p>${inline(block.parts)}</p>`;
    case 'quote': return html`<blockquote>${inline(block.parts)}</blockquote>`;
    case 'code': return html`<pre tabindex="0"><${Text} text=${fill(block.text)} lines=${true} /></pre>`;
    case 'rule': return html`<hr />`;
    case 'list': {
      const items = block.items.map((item, at) => html`<li key=${at}>${inline(item)}</li>`);
      return block.ordered ? html`<ol>${items}</ol>` : html`<ul>${items}</ul>`;
    }
    default: return html`<div class="scroll" tabindex="0" role="region" aria-label="Table"><table class="list">
      <thead><tr>${block.head.map((cell, at) => html`<th key=${at}>${inline(cell)}</th>`)}</tr></thead>
      <tbody>${block.rows.map((row, at) => html`<tr key=${at}>${row.map((cell, place) => html`<td key=${place}>${inline(cell)}</td>`)}</tr>`)}</tbody></table></div>`;
  }
}

/** @param {{parts: import('./markdown.js').Inline[], fill: (text: string) => string}} props */
function Inline({ parts, fill }) {
  return parts.map((part, at) => {
    switch (part.is) {
      case 'text': return html`<${Text} key=${at} text=${fill(part.text)} lines=${true} />`;
      case 'code': return html`<code key=${at}><${Text} text=${fill(part.text)} /></code>`;
      case 'strong': return html`<strong key=${at}><${Inline} parts=${part.parts} fill=${fill} /></strong>`;
      case 'em': return html`<em key=${at}><${Inline} parts=${part.parts} fill=${fill} /></em>`;
      case 'image': return html`<span key=${at} class="muted">[picture${part.alt && `: ${part.alt}`}]</span>`;
      default: {
        const address = fill(part.to);
        const label = html`<${Inline} parts=${part.parts} fill=${fill} />`;
        return isWebAddress(address) ? html`<a key=${at} href=${address} target="_blank" rel="noreferrer noopener">${label}</a>` : html`<span key=${at}>${label} <span class="muted">(${part.to})</span></span>`;
      }
    }
  });
}
