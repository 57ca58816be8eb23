/** The items of a workbook, in their order and widths. */
import { html, useState } from '../vendor/preact.js';
import { Text } from '../result/cell.js';
import { Markdown, isWebAddress } from './markdown-view.js';
import { ParameterBar } from './parameter-bar.js';
import { isVisible } from './parameters.js';
import { QueryItem } from './query-item.js';

/** @typedef {{book: import('./book.js').Book}} OfBook */

/** @param {OfBook & {items: import('./document.js').Item[]}} props */
export function Items({ book, items }) {
  const values = book.values.value;
  const shown = items.filter((item) => isVisible(item.visible, values));
  return html`<div class="book-items">${shown.map((item) => html`<div key=${item.key} class=${`book-item book-${item.is}`}
    style=${item.width === null ? undefined : { '--width': `${item.width}%` }}><${Item} book=${book} item=${item} /></div>`)}</div>`;
}

/** @param {OfBook & {item: import('./document.js').Item}} props */
function Item({ book, item }) {
  switch (item.is) {
    case 'text': return html`<${TextItem} book=${book} item=${item} />`;
    case 'parameters': return html`<${ParameterBar} book=${book} item=${item} />`;
    case 'query': return html`<${QueryItem} book=${book} query=${item.query} id=${item.key} />`;
    case 'links': return html`<${Links} book=${book} item=${item} />`;
    case 'group': return html`<${Group} book=${book} item=${item} />`;
    default: return html`<${Refused} what=${item.what} why=${item.why} />`;
  }
}

/** What is not supported, in its place. @param {{what: string, why: string}} props */
export function Refused({ what, why }) {
  return html`<p class="note book-refusal"><strong><${Text} text=${what} /></strong> is not shown. <${Text} text=${why} /></p>`;
}

/** Styles of texts, as notes of the page. @type {Record<string, string>} */
const STYLES = { info: 'note', upsell: 'note', success: 'note', warning: 'note warn', error: 'note error' };

/** @param {OfBook & {item: import('./document.js').TextItem}} props */
function TextItem({ book, item }) {
  const fill = (/** @type {string} */ text) => book.fill(text, false).text;
  const text = html`<${Markdown} text=${item.markdown} fill=${fill} />`;
  return Object.hasOwn(STYLES, item.style) ? html`<div class=${STYLES[item.style]}>${text}</div>` : text;
}

/** @param {OfBook & {item: import('./document.js').LinksItem}} props */
function Links({ book, item }) {
  const links = item.links.map((link, at) => html`<${Link} key=${at} book=${book} link=${link} tabs=${item.tabs} />`);
  return item.tabs ? html`<div class="tabs book-tabs" role="group" aria-label="Parts of the workbook">${links}</div>` : html`<div class="book-links">${links}</div>`;
}

/** @param {OfBook & {link: import('./document.js').LinkContent, tabs: boolean}} props */
function Link({ book, link, tabs }) {
  const fill = (/** @type {string} */ text) => book.fill(text, false).text;
  const label = fill(link.label);
  if (link.to === 'refused') return html`<${Refused} what=${label || 'A link'} why=${link.why} />`;
  if (link.to === 'url') {
    const address = fill(link.url);
    const shown = isWebAddress(address) ? html`<a href=${address} target="_blank" rel="noreferrer noopener"><${Text} text=${label} /></a>` : html`<${Text} text=${label} />`;
    return html`<span>${fill(link.before)} ${shown} ${fill(link.after)}</span>`;
  }
  const now = book.values.value.get(link.parameter);
  const isChosen = now?.is === 'text' && now.text === link.value;
  const choose = () => book.choose(link.parameter, [link.value]);
  if (tabs) return html`<button type="button" class="tab" aria-pressed=${isChosen} onClick=${choose}><${Text} text=${label} /></button>`;
  return html`<span>${fill(link.before)} <button type="button" class="link" aria-pressed=${isChosen} onClick=${choose}><${Text} text=${label} /></button> ${fill(link.after)}</span>`;
}

/** @param {OfBook & {item: import('./document.js').GroupItem}} props */
function Group({ book, item }) {
  const [isLoaded, setLoaded] = useState(!item.explicit);
  const [isOpen, setOpen] = useState(!item.expandable || item.expanded);
  const title = book.fill(item.title, false).text;
  const inside = isLoaded ? html`<${Items} book=${book} items=${item.items} />` : html`<p><button type="button" class="btn" onClick=${() => setLoaded(true)}>${item.button}</button></p>`;
  if (!item.expandable) return html`<section class="book-section" aria-label=${title || undefined}>${title !== '' && html`<h2><${Text} text=${title} /></h2>`}${inside}</section>`;
  return html`<details class="book-section" open=${isOpen} onToggle=${(/** @type {any} */ event) => setOpen(event.currentTarget.open)}>
    <summary><${Text} text=${title || 'More'} /></summary>${isOpen && inside}</details>`;
}
