// The time range of the address: a list of relative ranges, or a start and an end.

import { html, useEffect, useRef, useState } from '../vendor/preact.js';
import { RANGES, between, range, setRange, time, zone } from '../lib/time.js';
import { address } from '../lib/address.js';
import { Icon } from './icon.js';

/** Screens whose time range is not chosen here: those without one, Live, which shows the last minute, and workbooks, whose parameters have it. */
const WITHOUT = ['applications', 'access', 'live', 'workbooks'];

/** Opens the picker. */
export function focusTimePicker() {
  const button = document.getElementById('time-range');
  button?.focus();
  button?.click();
}

export function TimePicker() {
  const [isOpen, setOpen] = useState(false);
  const [problem, setProblem] = useState('');
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    if (!isOpen) return undefined;
    const chosen = box.current?.querySelector('[aria-checked="true"]') ?? box.current?.querySelector('[role="radio"]');
    if (chosen instanceof HTMLElement) chosen.focus();
    const close = (/** @type {Event} */ event) => {
      if (!(event.target instanceof Node) || !box.current?.contains(event.target)) setOpen(false);
    };
    addEventListener('pointerdown', close);
    return () => removeEventListener('pointerdown', close);
  }, [isOpen]);
  if (WITHOUT.includes(address.value.screen)) return null;
  const now = range.value;
  const choose = (/** @type {string} */ text) => {
    setOpen(false);
    setProblem('');
    setRange(text);
    document.getElementById('time-range')?.focus();
  };
  const end = now.to ?? Date.now();
  const apply = (/** @type {Event} */ event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    const zoned = zone.value === 'utc' ? 'Z' : '';
    const [from, to] = ['from', 'to'].map((name) => Date.parse(String(form.get(name)).trim().replace(' ', 'T') + zoned));
    if (!Number.isFinite(from) || !Number.isFinite(to) || to <= from) {
      setProblem('Both are times such as 2026-01-31 08:00:00, and the start is before the end.');
      return;
    }
    choose(between(from, to));
  };
  return html`<div class="time" ref=${box} onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
    if (event.key === 'Escape' && isOpen) {
      event.preventDefault();
      setOpen(false);
      document.getElementById('time-range')?.focus();
    }
  }}>
    <button id="time-range" class="btn" aria-expanded=${isOpen} aria-controls="time-ranges" aria-label=${`Time range: ${now.label}`}
      onClick=${() => setOpen(!isOpen)}><${Icon} path="M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM8 4v4l3 2" /><span>${now.label}</span></button>
    ${isOpen && html`<div class="menu" id="time-ranges">
      <div role="radiogroup" aria-label="Time range" class="options" onKeyDown=${move}>
        ${RANGES.map(([text, label]) => html`<button key=${text} role="radio" class="option" aria-checked=${text === now.text}
          tabindex=${text === now.text || (text === RANGES[0][0] && !RANGES.some(([known]) => known === now.text)) ? 0 : -1}
          onClick=${() => choose(text)}>${label}</button>`)}
      </div>
      <form onSubmit=${apply}>
        <label>From <input class="input" name="from" value=${time(end - now.length)} autocomplete="off" /></label>
        <label>To <input class="input" name="to" value=${time(end)} autocomplete="off" /></label>
        ${problem !== '' && html`<p class="note error" role="alert">${problem}</p>`}
        <p class="muted">${zone.value === 'utc' ? 'Times are UTC.' : 'Times are local.'}</p>
        <button class="btn primary">Apply</button>
      </form>
    </div>`}
  </div>`;
}

/** Arrows move among the options. @param {KeyboardEvent} event */
function move(event) {
  const step = { ArrowDown: 1, ArrowUp: -1 }[event.key];
  if (step === undefined || !(event.currentTarget instanceof Element)) return;
  event.preventDefault();
  const options = [...event.currentTarget.querySelectorAll('[role="radio"]')];
  const at = options.indexOf(/** @type {Element} */ (document.activeElement));
  const next = options[(at + step + options.length) % options.length];
  if (next instanceof HTMLElement) next.focus();
}
