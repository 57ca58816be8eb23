// API access: what a program needs to send telemetry to the application and to query it, and its API keys.

import { html, useEffect, useState } from '../vendor/preact.js';
import { ApiError, del, get, post } from '../lib/api.js';
import { application, may } from '../lib/apps.js';
import { time } from '../lib/time.js';
import { Copy } from '../shell/copy.js';
import { Dialog } from '../shell/dialog.js';
import { Lines } from '../shell/send-something.js';

export const title = 'API access';

/** How long a new key may live. @type {readonly [string, number | null][]} */
const LIFETIMES = [['30 days', 30], ['90 days', 90], ['1 year', 365], ['Until it is deleted', null]];

/** @param {{app: string}} properties */
export function Screen({ app }) {
  const of = application.value;
  if (of === null) return null;
  const base = `${location.origin}/v1/apps/${of.id}`;
  return html`<div class="screen">
    <header><h1>API access</h1></header>
    <section class="card" aria-labelledby="identity"><h2 id="identity">${app}</h2>
      <p class="muted">SDKs take the connection string, queries the application id.</p>
      <dl class="facts">
        <dt>Application id</dt><dd><${Copy} label="Application id" text=${of.id} /></dd>
        <dt>Instrumentation key</dt><dd><${Copy} label="Instrumentation key" text=${of.instrumentationKey} /></dd>
        <dt>Connection string</dt><dd><${Copy} label="Connection string of the application" text=${of.connectionString} /></dd>
      </dl></section>
    ${may(of, 'admin') && html`<${Keys} app=${app} id=${of.id} />`}
    <section class="card" aria-labelledby="query-lines"><h2 id="query-lines">Query</h2>
      <p class="muted">Insert an API key with the right “read” as KEY.</p>
      <${Copy} label="Query with curl" text=${`curl -s -H "X-Api-Key: $KEY" ${base}/query --get --data-urlencode 'query=requests | take 5'`} />
      <${Copy} label="Query in Python" text=${`import os, requests

reply = requests.post("${base}/query", headers={"X-Api-Key": os.environ["KEY"]},
                      json={"query": "requests | take 5", "timespan": "P1D"})
print(reply.json()["tables"][0]["rows"])`} />
      <${Copy} label="Query with the command line" text=${`hindsight query 'requests | take 5' --app ${JSON.stringify(app)} --url ${location.origin} --key $KEY`} />
      <p><a href="/docs">Reference of the API</a></p>
    </section>
    <section class="card" aria-labelledby="send-lines"><h2 id="send-lines">Send telemetry</h2><${Lines} of=${of} /></section>
  </div>`;
}

/** @typedef {{id: string, name: string, rights: string[], created: string, expires: string | null, lastUsed: string | null, creator: string | null}} Key */

/** @param {{app: string, id: string}} properties */
function Keys({ app, id }) {
  const [keys, setKeys] = useState(/** @type {Key[] | null} */ (null));
  const [made, setMade] = useState(/** @type {{name: string, key: string} | null} */ (null));
  const [deleting, setDeleting] = useState(/** @type {Key | null} */ (null));
  const [problem, setProblem] = useState('');
  const path = `/portal/api/apps/${id}/keys`;
  const load = () => get(path).then(({ keys }) => setKeys(keys), (error) => setProblem(error.message));
  useEffect(() => {
    load();
  }, [id]);
  const create = async (/** @type {Event} */ event) => {
    event.preventDefault();
    const form = /** @type {HTMLFormElement} */ (event.currentTarget);
    const data = new FormData(form);
    const name = String(data.get('name')).trim();
    const days = LIFETIMES[Number(data.get('lifetime'))][1];
    const expires = days === null ? null : new Date(Date.now() + days * 86_400_000).toISOString();
    try {
      const { key } = await post(path, { name, rights: data.getAll('rights'), expires });
      setProblem('');
      setMade({ name, key });
      form.reset();
      await load();
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : String(error));
    }
  };
  return html`<section class="card" aria-labelledby="keys"><h2 id="keys">API keys</h2>
    <p class="muted">A program that queries ${app} shows a key. SDKs that send telemetry need none, unless the server is set to ask for one with
      the right “ingest”.</p>
    ${problem !== '' && html`<p class="note error" role="alert">${problem}</p>`}
    <form class="form" onSubmit=${create}>
      <label>Name <input class="input" name="name" required maxlength="128" autocomplete="off" /></label>
      <label>Expires <select class="input" name="lifetime">${LIFETIMES.map(([name], index) => html`<option key=${name} value=${index} selected=${index === 1}>${name}</option>`)}</select></label>
      <fieldset><legend>Rights</legend><div class="form">
        <label class="check"><input type="checkbox" name="rights" value="read" defaultChecked /> read</label>
        <label class="check"><input type="checkbox" name="rights" value="ingest" /> ingest</label>
        <label class="check"><input type="checkbox" name="rights" value="admin" /> admin</label></div></fieldset>
      <button class="btn primary">Create key</button>
    </form>
    ${keys !== null && keys.length === 0 && html`<p class="muted">${app} has no API key.</p>`}
    ${keys !== null && keys.length > 0 && html`<div class="scroll" tabindex="0" role="region" aria-label="API keys"><table class="list">
      <thead><tr><th>Name</th><th>Id</th><th>Rights</th><th>Created</th><th>Expires</th><th>Last used</th><th>By</th><th><span class="visually-hidden">Delete</span></th></tr></thead>
      <tbody>${keys.map((key) => html`<tr key=${key.id}>
        <td class="name">${key.name || html`<span class="muted">(no name)</span>`}</td><td class="mono">${key.id}</td><td>${key.rights.includes('admin') ? 'admin' : key.rights.join(', ')}</td>
        <td>${day(key.created)}</td><td>${key.expires === null ? 'never' : day(key.expires)}</td>
        <td>${key.lastUsed === null ? 'never' : time(key.lastUsed)}</td><td>${key.creator ?? ''}</td>
        <td><button class="btn danger" aria-label=${`Delete the key ${nameOf(key)}`} onClick=${() => setDeleting(key)}>Delete</button></td></tr>`)}</tbody>
    </table></div>`}
    ${made !== null && html`<${NewKey} made=${made} onClose=${() => setMade(null)} />`}
    ${deleting !== null && html`<${Delete} deleted=${deleting} path=${path} onClose=${() => { setDeleting(null); load(); }} />`}
  </section>`;
}

/** What a key is called: one of the command line may have no name. @param {Key} key */
const nameOf = (key) => key.name || key.id;

/** @param {string} at */
function day(at) {
  return time(at).slice(0, 10);
}

/**
 * A new key, shown once. Leaving without having it asks.
 * @param {{made: {name: string, key: string}, onClose: () => void}} properties
 */
function NewKey({ made, onClose }) {
  const [asks, setAsks] = useState(false);
  useEffect(() => {
    const ask = (/** @type {BeforeUnloadEvent} */ event) => event.preventDefault();
    addEventListener('beforeunload', ask);
    return () => removeEventListener('beforeunload', ask);
  }, []);
  return html`<${Dialog} title="New API key" onClose=${() => setAsks(true)}>
    <h2>The key “${made.name}”</h2>
    <p>It is shown now and never again.</p>
    <${Copy} label="API key" text=${made.key} />
    ${asks && html`<p class="note warn" role="alert">Without a copy the key is lost. It is listed, and can be deleted.</p>`}
    <button class="btn primary" onClick=${onClose}>I have it</button>
  </${Dialog}>`;
}

/** @param {{deleted: Key, path: string, onClose: () => void}} properties */
function Delete({ deleted, path, onClose }) {
  const [typed, setTyped] = useState('');
  const [problem, setProblem] = useState('');
  const remove = async (/** @type {Event} */ event) => {
    event.preventDefault();
    if (typed !== nameOf(deleted)) return;
    try {
      await del(`${path}/${encodeURIComponent(deleted.id)}`);
      onClose();
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : String(error));
    }
  };
  return html`<${Dialog} title="Delete an API key" onClose=${onClose}>
    <h2>Delete the key “${nameOf(deleted)}”?</h2>
    <p>Programs that use it are refused within a second.</p>
    ${problem !== '' && html`<p class="note error" role="alert">${problem}</p>`}
    <form onSubmit=${remove}>
      <p><label>Its ${deleted.name === '' ? 'id' : 'name'}, to delete it<br /><input class="input" value=${typed} autocomplete="off" onInput=${(/** @type {any} */ event) => setTyped(event.currentTarget.value)} /></label></p>
      <p><button class="btn danger" disabled=${typed !== nameOf(deleted)}>Delete</button> <button type="button" class="btn" onClick=${onClose}>Keep</button></p>
    </form>
  </${Dialog}>`;
}
