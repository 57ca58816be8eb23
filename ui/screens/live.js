// Live: the last minute in figures, the instances that send live metrics, and the items as they arrive.

import { html, useEffect, useRef, useState } from '../vendor/preact.js';
import { Chart } from '../charts/chart.js';
import { address, go } from '../lib/address.js';
import { ApiError, query } from '../lib/api.js';
import { application } from '../lib/apps.js';
import { bytes, count, milliseconds } from '../lib/time.js';
import { Item } from '../shell/item.js';
import { Failure, QueryLink } from '../shell/said.js';
import { SendSomething, useHasTelemetry } from '../shell/send-something.js';
import { follow } from '../shell/stream.js';
import { Table } from '../shell/table.js';

export const title = 'Live';

/** The panels are statements of one query, which is asked every two seconds. */
const EVERY = 2000;

/** @type {import('../shell/panel.js').PanelData[]} */
export const panels = [
  {
    title: 'Requests',
    query: `requests
| where timestamp > ago(1m)
| summarize succeeded = sumif(itemCount, not(success == false)), failed = sumif(itemCount, success == false) by bin(timestamp, 1s)
| render columnchart with (kind=stacked)`,
  },
  {
    title: 'Duration of requests',
    query: `requests
| where timestamp > ago(1m)
| summarize duration = avg(duration) by bin(timestamp, 1s)
| render columnchart with (ytitle="ms")`,
  },
  {
    title: 'Dependencies',
    query: `dependencies
| where timestamp > ago(1m)
| summarize succeeded = sumif(itemCount, not(success == false)), failed = sumif(itemCount, success == false) by bin(timestamp, 1s)
| render columnchart with (kind=stacked)`,
  },
  {
    title: 'Exceptions',
    query: `exceptions
| where timestamp > ago(1m)
| summarize exceptions = sum(itemCount) by bin(timestamp, 1s)
| render columnchart`,
  },
];

/** How each statement is drawn; a reply names the rendering of one result. */
const RENDERS = [
  { visualization: 'columnchart', kind: 'stacked' }, { visualization: 'columnchart', yTitle: 'ms' }, { visualization: 'columnchart', kind: 'stacked' },
  { visualization: 'columnchart' },
];

/** Items that the list keeps. */
const KEPT = 1000;

/** @param {{app: string}} properties */
export function Screen({ app }) {
  const has = useHasTelemetry(app);
  return html`<div class="screen">
    <header><h1>Live</h1></header>
    ${has === false && html`<${SendSomething} app=${app} />`}
    <${Figures} app=${app} />
    <${Instances} />
    <${Tail} app=${app} />
  </div>`;
}

/** Whether the page can be seen; while it cannot, nothing is asked. */
function useVisible() {
  const [visible, setVisible] = useState(!document.hidden);
  useEffect(() => {
    const change = () => setVisible(!document.hidden);
    document.addEventListener('visibilitychange', change);
    return () => document.removeEventListener('visibilitychange', change);
  }, []);
  return visible;
}

/** @param {{app: string}} properties */
function Figures({ app }) {
  const [result, setResult] = useState(/** @type {import('../lib/api.js').Result | null} */ (null));
  const [error, setError] = useState(/** @type {ApiError | null} */ (null));
  const visible = useVisible();
  useEffect(() => {
    if (!visible) return undefined;
    const controller = new AbortController();
    const text = panels.map((panel) => panel.query.split('\n| render')[0]).join(';\n');
    let timer = /** @type {any} */ (null);
    const ask = async () => {
      let pause = EVERY;
      try {
        setResult(await query(app, text, { noCache: true, signal: controller.signal }));
        setError(null);
      } catch (error) {
        if (controller.signal.aborted) return;
        setError(error instanceof ApiError ? error : new ApiError({ status: 0, message: String(error) }));
        pause = error instanceof ApiError && error.retryAfter !== undefined ? error.retryAfter * 1000 : EVERY;
      }
      timer = setTimeout(ask, pause);
    };
    ask();
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [app, visible]);
  return html`${error !== null && html`<${Failure} error=${error} />`}
    <div class="panels live">${panels.map((panel, index) => {
      const table = result?.tables[index];
      return html`<section class="panel" key=${panel.title} aria-label=${`${panel.title}, the last minute`}>
        <header><h2>${panel.title}</h2><${QueryLink} text=${panel.query} label=${`Query of ${panel.title} in Logs`} /></header>
        <div class="body">
          ${table !== undefined && html`<p class="said">${said(panel.title, table)}</p>`}
          ${table !== undefined && table.rows.length > 0 && html`<${Chart} table=${table} render=${RENDERS[index]} label=${`${panel.title}, the last minute`} height=${140} />`}
        </div></section>`;
    })}</div>`;
}

/** What a panel says in words. @param {string} title @param {import('../lib/api.js').Table} table */
function said(title, table) {
  const sum = (/** @type {number} */ column) => table.rows.reduce((all, row) => all + Number(row[column] ?? 0), 0);
  if (table.rows.length === 0) return 'Nothing in the last minute.';
  if (title === 'Duration of requests') return `${milliseconds(sum(1) / table.rows.length)} on average.`;
  if (title === 'Exceptions') return `${count(sum(1))} in the last minute.`;
  return `${count(sum(1) + sum(2))} in the last minute, ${count(sum(2))} failed.`;
}

/** What instances of SDKs measure of themselves, while somebody looks. */
function Instances() {
  const [instances, setInstances] = useState(/** @type {Record<string, any>} */ ({}));
  const visible = useVisible();
  const id = application.value?.id ?? '';
  useEffect(() => {
    if (!visible || id === '') return undefined;
    const controller = new AbortController();
    follow(`/v1/apps/${id}/live/metrics`, { headers: { Accept: 'text/event-stream' } }, controller.signal, {
      line: (text) => {
        if (!text.startsWith('data: ')) return;
        const sample = JSON.parse(text.slice(6));
        if (sample.metrics === undefined) return;
        setInstances((known) => ({ ...known, [`${sample.role} ${sample.instance}`]: sample }));
      },
      state: () => {},
    });
    return () => controller.abort();
  }, [id, visible]);
  const rows = Object.entries(instances).sort(([one], [other]) => one.localeCompare(other));
  if (rows.length === 0) return null;
  const metric = (/** @type {any} */ sample, /** @type {string[]} */ names) => sample.metrics.find((/** @type {any} */ one) => names.includes(one.name))?.value;
  return html`<section class="panel instances" aria-labelledby="instances"><header><h2 id="instances">Instances that send live metrics</h2></header><div class="body">
    <${Table} label="Instances" head=${['Instance', 'Role', '#Requests/s', '#Failed/s', '#Processor', '#Memory']} rows=${rows.map(([key, sample]) => ({
      key, chosen: false,
      cells: [sample.instance || sample.machine || sample.stream, sample.role,
        figure(metric(sample, ['\\ApplicationInsights\\Requests/Sec'])), figure(metric(sample, ['\\ApplicationInsights\\Requests Failed/Sec'])),
        percent(metric(sample, ['\\Process\\CPU Percentage', '\\% Process\\Processor Time Normalized', '\\Processor(_Total)\\% Processor Time', '\\% Processor Time'])),
        bytes(metric(sample, ['\\Process\\Physical Bytes', '\\Memory\\Committed Bytes', '\\Process(??APP_WIN32_PROC??)\\Private Bytes']))],
    }))} /></div></section>`;
}

/** @param {number | undefined} value */
const figure = (value) => (value === undefined ? '' : count(Number(value.toFixed(1))));
/** @param {number | undefined} value */
const percent = (value) => (value === undefined ? '' : `${value.toFixed(1)} %`);

/** @param {{app: string}} properties */
function Tail({ app }) {
  const filter = address.value.params.get('filter') ?? '';
  const [shown, setShown] = useState(/** @type {any[]} */ ([]));
  const [held, setHeld] = useState(/** @type {any[]} */ ([]));
  const [omitted, setOmitted] = useState(0);
  const [paused, setPaused] = useState(false);
  const [open, setOpen] = useState('');
  const [error, setError] = useState(/** @type {ApiError | null} */ (null));
  const [state, setState] = useState('');
  const list = useRef(/** @type {HTMLElement | null} */ (null));
  const visible = useVisible();
  const isPaused = useRef(false);
  isPaused.current = paused;

  /** The list stands still while it is read: paused, scrolled, focused, or with a selection in it. */
  const holds = () => {
    const box = list.current;
    if (isPaused.current) return true;
    if (box === null) return false;
    const selection = getSelection();
    return box.scrollTop > 0 || box.contains(document.activeElement)
      || (selection !== null && !selection.isCollapsed && box.contains(selection.anchorNode));
  };
  useEffect(() => {
    if (!visible) return undefined;
    const controller = new AbortController();
    setError(null);
    /** @type {any[]} */
    let batch = [];
    let timer = /** @type {any} */ (null);
    const flush = () => {
      timer = null;
      const next = batch.reverse();
      batch = [];
      (holds() ? setHeld : setShown)((known) => [...next, ...known].slice(0, KEPT));
    };
    follow(`/portal/api/apps/${encodeURIComponent(app)}/tail`, {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(filter === '' ? {} : { filter }),
    }, controller.signal, {
      line: (text) => {
        const line = JSON.parse(text);
        if (line.item !== undefined) batch.push(line.item);
        if (line.omitted !== undefined) setOmitted((known) => known + line.omitted);
        if (line.error !== undefined) setError(new ApiError({ status: 0, message: line.error }));
        timer ??= setTimeout(flush, 50);
      },
      state: (now, problem) => {
        setState(now);
        setError(problem instanceof ApiError ? problem : null);
      },
    });
    return () => {
      controller.abort();
      clearTimeout(timer);
    };
  }, [app, filter, visible]);
  const release = () => {
    setShown((known) => [...held, ...known].slice(0, KEPT));
    setHeld([]);
    if (list.current !== null) list.current.scrollTop = 0;
  };
  const text = `union requests, dependencies, exceptions, traces, customEvents, pageViews, availabilityResults${filter === '' ? '' : `\n| where ${filter}`}\n| order by timestamp desc\n| take 200`;
  return html`<section class="panel tail" aria-labelledby="tail"><header><h2 id="tail">Items as they arrive</h2>
      ${held.length > 0 && html`<button class="btn primary" onClick=${() => { setPaused(false); release(); }}>${held.length} new</button>`}
      <button class="btn" aria-pressed=${paused} onClick=${() => { if (paused) release(); setPaused(!paused); }}>${paused ? 'Go on' : 'Pause'}</button>
      <button class="btn" onClick=${() => { setShown([]); setHeld([]); setOmitted(0); }}>Clear</button>
      <${QueryLink} text=${text} label="Items as a query in Logs" /></header>
    <div class="body">
      <form class="form" onSubmit=${(/** @type {Event} */ event) => {
        event.preventDefault();
        const data = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
        setShown([]);
        setHeld([]);
        go({ params: { filter: String(data.get('filter')).trim() } });
      }}>
        <label class="grow">Filter, a predicate of KQL <input class="input mono" name="filter" key=${filter} defaultValue=${filter} autocomplete="off" spellcheck=${false} placeholder="success == false or severityLevel >= 3" /></label>
        <button class="btn">Apply</button></form>
      ${error !== null && html`<${Failure} error=${error} />`}
      <p class="muted">${state === 'open' ? html`<span class="waiting" aria-hidden="true"></span>Waiting for items of the last hour, the newest first.` : 'Connecting …'}
        ${omitted > 0 && ` ${count(omitted)} were left out: a second shows 200.`}</p>
      <div class="rows" ref=${list} tabindex="0" role="region" aria-label="Items">
        ${shown.length > 0 && html`<ul class="items">${shown.map((item) => html`<${Item} key=${item.itemId} row=${item} open=${open === item.itemId}
          onToggle=${() => setOpen(open === item.itemId ? '' : item.itemId)} />`)}</ul>`}
      </div>
    </div></section>`;
}
