// Applications: the list, a new one, and the limits of each.

import { html, useState } from '../vendor/preact.js';
import { ApiError, post, put } from '../lib/api.js';
import { applications, loadApplications, may } from '../lib/apps.js';
import { me } from '../lib/auth.js';
import { bytes, time } from '../lib/time.js';
import { Link } from '../shell/link.js';

export const title = 'Applications';

const TIERS = ['free', 'basic', 'enterprise'];

export function Screen() {
  const list = applications.value ?? [];
  const mayCreate = me.value?.rights.includes('admin') ?? false;
  return html`<div class="screen">
    <header><h1>Applications</h1></header>
    <p class="muted">An application keeps its telemetry apart from that of others. It has a connection string, API keys and limits of its own.</p>
    ${mayCreate && html`<${Create} />`}
    ${list.length === 0 && html`<p class="muted">There is no application that you may see.</p>`}
    ${list.map((app) => html`<${Application} key=${app.id} app=${app} />`)}
  </div>`;
}

function Create() {
  const [problem, setProblem] = useState('');
  const [made, setMade] = useState('');
  const create = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.currentTarget);
    try {
      const { name } = await post('/portal/api/apps', { name: new FormData(form).get('name') });
      setProblem('');
      form.reset();
      await loadApplications();
      setMade(name);
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : String(error));
    }
  };
  return html`<form class="card form" onSubmit=${create}>
    <label>New application <input class="input" name="name" required maxlength="128" autocomplete="off" /></label>
    <button class="btn primary">Create</button>
    ${problem !== '' && html`<p class="note error" role="alert">${problem}</p>`}
    <p role="status">${made !== '' && html`${made} is ready. <${Link} step=${{ app: made, screen: 'overview', params: {} }}>Send its first telemetry</${Link}>`}</p>
  </form>`;
}

/** @param {{app: import('../lib/apps.js').Application}} properties */
function Application({ app }) {
  const [changes, setChanges] = useState(false);
  return html`<section class="card" aria-label=${app.name}>
    <h2>${app.name}</h2>
    <dl class="facts">
      <dt>Application id</dt><dd class="mono">${app.id}</dd>
      <dt>Created</dt><dd>${time(app.created)}</dd>
      <dt>Pricing tier</dt><dd>${app.tier}</dd>
      <dt>Daily cap</dt><dd>${app.dailyCapBytes === null ? 'none' : bytes(app.dailyCapBytes)}</dd>
      <dt>Retention</dt><dd>${app.retentionDays === null ? 'as the server is set' : `${app.retentionDays} days`}</dd>
    </dl>
    ${changes ? html`<${Limits} app=${app} onClose=${() => setChanges(false)} />` : html`<p class="buttons">
      <${Link} className="btn" step=${{ app: app.name, screen: 'overview', params: {} }}>Overview</${Link}>
      <${Link} className="btn" step=${{ app: app.name, screen: 'access', params: {} }}>API access</${Link}>
      ${may(app, 'admin') && html` <button class="btn" onClick=${() => setChanges(true)}>Change limits</button>`}</p>`}
  </section>`;
}

/** @param {{app: import('../lib/apps.js').Application, onClose: () => void}} properties */
function Limits({ app, onClose }) {
  const [problem, setProblem] = useState('');
  const save = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const form = new FormData(/** @type {HTMLFormElement} */ (event.currentTarget));
    const [cap, days] = ['cap', 'days'].map((name) => String(form.get(name)).trim());
    try {
      await put(`/portal/api/apps/${app.id}`, {
        tier: form.get('tier'),
        dailyCapBytes: cap === '' ? null : Math.round(Number(cap) * 1_000_000),
        retentionDays: days === '' ? null : Number(days),
      });
      await loadApplications();
      onClose();
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : String(error));
    }
  };
  return html`<form class="form" onSubmit=${save}>
    ${problem !== '' && html`<p class="note error" role="alert">${problem}</p>`}
    <label>Pricing tier <select class="input" name="tier">${TIERS.map((tier) => html`<option key=${tier} selected=${tier === app.tier}>${tier}</option>`)}</select></label>
    <label>Daily cap, MB <input class="input" name="cap" type="number" min="0" step="any" defaultValue=${app.dailyCapBytes === null ? '' : app.dailyCapBytes / 1_000_000} placeholder="none" /></label>
    <label>Retention, days <input class="input" name="days" type="number" min="1" step="1" defaultValue=${app.retentionDays ?? ''} placeholder="of the server" /></label>
    <button class="btn primary">Save</button><button type="button" class="btn" onClick=${onClose}>Cancel</button>
  </form>`;
}
