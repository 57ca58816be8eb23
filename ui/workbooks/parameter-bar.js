/** The fields of parameters, and the queries that give their options. */
import { html, useEffect, useId, useRef, useState } from '../vendor/preact.js';
import { DAY } from '../lib/length.js';
import { time, zone } from '../lib/time.js';
import { Text } from '../result/cell.js';
import { useQuery } from '../shell/run.js';
import { chosenOf, optionsOfTable, spanLabel } from './parameters.js';

/** @typedef {{book: import('./book.js').Book, parameter: import('./parameters.js').Parameter}} Props */

/** @param {{book: import('./book.js').Book, item: import('./document.js').ParametersItem}} props */
export function ParameterBar({ book, item }) {
  const shown = item.parameters.filter(({ hidden }) => !hidden);
  if (shown.length === 0) return null;
  return html`<div class="book-bar">${shown.map((parameter) => html`<${Field} key=${parameter.name} book=${book} parameter=${parameter} />`)}</div>`;
}

/** @param {Props} props */
function Field({ book, parameter }) {
  switch (parameter.type) {
    case 'refused': return html`<p class="note book-refusal">The parameter <strong><${Text} text=${parameter.label} /></strong> is not supported. ${parameter.why}</p>`;
    case 'application': return html`<div class="book-field"><span>${parameter.label}</span><span class="input book-fixed" title="Workbooks ask the application of this page"><${Text} text=${book.app.name} /></span></div>`;
    case 'time': return html`<${TimeField} book=${book} parameter=${parameter} />`;
    case 'text': return html`<${TextField} book=${book} parameter=${parameter} />`;
    default: return parameter.multi ? html`<${SeveralField} book=${book} parameter=${parameter} />` : html`<${OneField} book=${book} parameter=${parameter} />`;
  }
}

/** @param {Props} props */
const labelOf = ({ parameter }) => html`<span title=${parameter.description || undefined}><${Text} text=${parameter.label} />${parameter.required && html`<span class="muted" title="Required"> *</span>`}</span>`;

/** @param {Props} props */
function TextField({ book, parameter }) {
  const value = book.values.value.get(parameter.name);
  const text = value?.is === 'text' ? value.text : '';
  return html`<label class="book-field">${labelOf({ book, parameter })}
    <input class="input" value=${text} autocomplete="off" spellcheck=${false} onChange=${(/** @type {any} */ event) => book.choose(parameter.name, [event.currentTarget.value])} /></label>`;
}

/** What a choice offers beside its options. @param {import('./parameters.js').Parameter} parameter */
function specials(parameter) {
  return parameter.special.map((value) => {
    const count = /^value::(\d+)$/.exec(value)?.[1];
    return { value, label: value === 'value::all' ? 'All' : count === '1' ? 'Any one' : count ? `Any ${count}` : value, group: '', selected: false };
  });
}

/** @param {Props} props */
function OneField({ book, parameter }) {
  const options = book.optionsOf(parameter);
  const [chosen = ''] = chosenOf(parameter, book.chosen(parameter.name), options);
  const all = [...specials(parameter), ...(options ?? [])];
  const isKnown = chosen === '' || all.some(({ value }) => value === chosen);
  const groups = [...new Set(all.map(({ group }) => group))];
  const option = (/** @type {import('./parameters.js').Option} */ one) => html`<option key=${one.value} value=${one.value} selected=${one.value === chosen}>${one.label}</option>`;
  return html`<label class="book-field">${labelOf({ book, parameter })}
    <select class="input" value=${chosen} aria-busy=${options === null} onChange=${(/** @type {any} */ event) => book.choose(parameter.name, [event.currentTarget.value])}>
      <option value="" selected=${chosen === ''}>${options === null ? 'Loading …' : parameter.required ? 'Choose …' : '(none)'}</option>
      ${!isKnown && html`<option value=${chosen} selected>${chosen}</option>`}
      ${groups.map((group) => (group === '' ? all.filter((one) => one.group === '').map(option) : html`<optgroup key=${group} label=${group}>${all.filter((one) => one.group === group).map(option)}</optgroup>`))}
    </select></label>`;
}

/** @param {Props} props */
function SeveralField({ book, parameter }) {
  const [isOpen, setOpen] = useState(false);
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  const id = useId();
  useEffect(() => {
    if (!isOpen) return undefined;
    const close = (/** @type {Event} */ event) => {
      if (!(event.target instanceof Node) || !box.current?.contains(event.target)) setOpen(false);
    };
    addEventListener('pointerdown', close);
    return () => removeEventListener('pointerdown', close);
  }, [isOpen]);
  const options = book.optionsOf(parameter);
  const chosen = chosenOf(parameter, book.chosen(parameter.name), options);
  const all = [...specials(parameter), ...(options ?? [])];
  const value = book.values.value.get(parameter.name);
  const label = options === null ? 'Loading …' : chosen.length === 0 ? '(none)' : chosen.length > 2 ? `${chosen.length} chosen` : chosen.map((one) => all.find((option) => option.value === one)?.label ?? one).join(', ');
  const toggle = (/** @type {string} */ one) => {
    const isSpecial = one.startsWith('value::');
    const next = chosen.includes(one) ? chosen.filter((other) => other !== one) : isSpecial ? [one] : [...chosen.filter((other) => !other.startsWith('value::')), one];
    book.choose(parameter.name, next);
  };
  return html`<div class="book-field" ref=${box} onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
    if (event.key !== 'Escape' || !isOpen) return;
    event.preventDefault();
    setOpen(false);
    box.current?.querySelector('button')?.focus();
  }}>
    <span id=${`${id}-label`}>${labelOf({ book, parameter })}</span>
    <button type="button" class="input book-several" id=${`${id}-button`} aria-expanded=${isOpen} aria-controls=${id} aria-labelledby=${`${id}-label ${id}-button`}
      title=${value?.is === 'text' ? value.label : undefined} onClick=${() => setOpen(!isOpen)}><${Text} text=${label} /><span aria-hidden="true"> ▾</span></button>
    ${isOpen && html`<div class="menu" id=${id} role="group" aria-labelledby=${`${id}-label`}>
      ${all.length === 0 && html`<p class="muted">There is nothing to choose.</p>`}
      ${all.map((option) => html`<label class="check" key=${option.value}><input type="checkbox" checked=${chosen.includes(option.value)} onChange=${() => toggle(option.value)} /> <${Text} text=${option.label} /></label>`)}
    </div>`}
  </div>`;
}

/** @param {Props} props */
function TimeField({ book, parameter }) {
  const [isOther, setOther] = useState(false);
  const [problem, setProblem] = useState('');
  const value = book.values.value.get(parameter.name);
  const span = value?.is === 'time' ? value.span : null;
  const now = span === null ? '' : 'relative' in span ? String(span.relative) : 'fixed';
  const ranges = span !== null && 'relative' in span && !parameter.ranges.includes(span.relative) ? [...parameter.ranges, span.relative] : parameter.ranges;
  const choose = (/** @type {string} */ text) => {
    setOther(text === 'other');
    if (text !== 'other' && text !== 'fixed') book.choose(parameter.name, text === '' ? [] : [text]);
  };
  const apply = (/** @type {Event} */ event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    const [from, to] = ['from', 'to'].map((name) => Date.parse(String(form.get(name)).trim().replace(' ', 'T') + (zone.value === 'utc' ? 'Z' : '')));
    if (!Number.isFinite(from) || !Number.isFinite(to) || to <= from) return setProblem('Both are times such as 2026-01-31 08:00:00, and the start is before the end.');
    setProblem('');
    setOther(false);
    return book.choose(parameter.name, [`${new Date(from).toISOString()}/${new Date(to).toISOString()}`]);
  };
  const end = span !== null && 'to' in span ? span.to : book.now.value;
  const start = span === null ? end - DAY : 'from' in span ? span.from : end - span.relative;
  return html`<div class="book-time"><label class="book-field">${labelOf({ book, parameter })}
    <select class="input" value=${isOther ? 'other' : now} onChange=${(/** @type {any} */ event) => choose(event.currentTarget.value)}>
      ${span === null && html`<option value="" selected>Choose …</option>`}
      ${ranges.map((length) => html`<option key=${length} value=${length} selected=${!isOther && String(length) === now}>${spanLabel({ relative: length }, time)}</option>`)}
      ${now === 'fixed' && span !== null && html`<option value="fixed" selected=${!isOther}>${spanLabel(span, time)}</option>`}
      ${parameter.custom && html`<option value="other" selected=${isOther}>Other times …</option>`}
    </select></label>
    ${isOther && html`<form class="book-bar" onSubmit=${apply}>
      <label class="book-field">From <input class="input" name="from" defaultValue=${time(start)} autocomplete="off" /></label>
      <label class="book-field">To <input class="input" name="to" defaultValue=${time(end)} autocomplete="off" /></label>
      <button class="btn primary">Apply</button>
      ${problem !== '' && html`<p class="note error" role="alert">${problem}</p>`}
    </form>`}</div>`;
}

/** Runs the queries of all parameters, those of hidden ones too. @param {{book: import('./book.js').Book}} props */
export function OptionQueries({ book }) {
  return book.parameters.filter(({ query }) => query !== '').map((parameter) => html`<${OptionQuery} key=${parameter.name} book=${book} parameter=${parameter} />`);
}

/** @param {Props} props */
function OptionQuery({ book, parameter }) {
  const filled = book.fill(parameter.query, true);
  const { timespan, missing } = book.timespan(parameter.time);
  const isReady = filled.missing.length === 0 && filled.unknown.length === 0 && missing === null;
  const run = useQuery(book.app.name, isReady ? filled.text : null, { timespan, workspace: parameter.workspace });
  const table = run.result?.tables[0];
  useEffect(() => {
    if (table !== undefined && !run.old) book.setOptions(parameter.name, optionsOfTable(table));
  }, [table, run.old]);
  if (filled.unknown.length > 0) return html`<p class="note error" role="alert">The parameter <${Text} text=${parameter.label} /> is not filled: ${filled.unknown.join(', ')} is not supported.</p>`;
  return run.error === null ? null : html`<p class="note error" role="alert">The values of the parameter <${Text} text=${parameter.label} /> are not known: <${Text} text=${run.error.message} /></p>`;
}
