// The reference of the API, made of /openapi.json.

import { html, render, useEffect, useState } from './vendor/preact.js';
import './lib/preferences.js';

const METHODS = ['get', 'post', 'put', 'delete'];

/** The last part of a reference. @param {string} reference */
const tail = (reference) => reference.slice(reference.lastIndexOf('/') + 1);

function Page() {
  const [document_, setDocument] = useState(/** @type {any} */ (null));
  const [problem, setProblem] = useState('');
  const [filter, setFilter] = useState('');
  useEffect(() => {
    fetch('/openapi.json').then((reply) => reply.json()).then(setDocument, (error) => setProblem(String(error.message)));
  }, []);
  useEffect(() => {
    if (document_ !== null && location.hash !== '') document.getElementById(decodeURIComponent(location.hash.slice(1)))?.scrollIntoView();
  }, [document_]);
  if (problem !== '') return html`<main class="center"><p class="note error" role="alert">${problem}</p></main>`;
  if (document_ === null) return html`<main class="center" aria-busy="true"></main>`;
  const words = filter.toLowerCase().split(/\s+/).filter((word) => word !== '');
  const operations = Object.entries(document_.paths).flatMap(([path, methods]) => METHODS
    .filter((method) => methods[method] !== undefined)
    .map((method) => ({ path, method, ...methods[method] })))
    .filter((operation) => {
      const all = `${operation.method} ${operation.path} ${operation.summary} ${operation.tags.join(' ')}`.toLowerCase();
      return words.every((word) => all.includes(word));
    });
  const tags = [...new Set(operations.flatMap(({ tags }) => tags))];
  return html`<main class="docs">
    <header><p><a href="/portal/">Portal</a></p><h1>API reference</h1>
      <p>${document_.info.description} Version ${document_.info.version}. The document itself is <a href="/openapi.json">/openapi.json</a>.</p>
      <p><label>Filter <input class="input" type="search" value=${filter} onInput=${(/** @type {any} */ event) => setFilter(event.currentTarget.value)} /></label>
        <span class="visually-hidden" role="status">${operations.length} operations</span></p></header>
    ${tags.map((tag) => html`<section key=${tag} aria-labelledby=${`tag-${tag}`}><h2 id=${`tag-${tag}`}>${tag}</h2>
      ${operations.filter(({ tags }) => tags.includes(tag)).map((operation) => html`<${Operation} key=${operation.method + operation.path} operation=${operation} document=${document_} />`)}
    </section>`)}
    <section aria-labelledby="schemas"><h2 id="schemas">Schemas</h2>
      ${Object.entries(document_.components.schemas).map(([name, schema]) => html`<details key=${name} id=${`schema-${name}`} class="card">
        <summary><code>${name}</code>${schema.description !== undefined && html` <span class="muted">${schema.description}</span>`}</summary>
        <pre tabindex="0">${JSON.stringify(schema, null, 2)}</pre></details>`)}
    </section>
  </main>`;
}

/** @param {{operation: any, document: any}} properties */
function Operation({ operation, document }) {
  const parameters = (operation.parameters ?? []).map((/** @type {any} */ one) => (one.$ref === undefined ? one : document.components.parameters[tail(one.$ref)]));
  return html`<details class="card" id=${operation.operationId}>
    <summary><span class="method">${operation.method.toUpperCase()}</span> <code>${operation.path}</code> <span class="muted">${operation.summary}</span></summary>
    <p><strong>Credential:</strong> ${credentials(operation.security)}</p>
    ${parameters.length > 0 && html`<h3>Parameters</h3><dl class="facts">${parameters.map((/** @type {any} */ one) => html`
      <dt key=${one.name}><code>${one.name}</code> <span class="badge">${one.in}${one.required ? ', required' : ''}</span></dt>
      <dd>${one.description ?? ''} <span class="muted">${JSON.stringify(one.schema)}</span></dd>`)}</dl>`}
    ${operation.requestBody !== undefined && html`<h3>Body</h3><${Content} content=${operation.requestBody.content} />`}
    <h3>Replies</h3><dl class="facts">${Object.entries(operation.responses).map(([status, reply]) => html`
      <dt key=${status}><code>${status}</code></dt><dd>${reply.description}<${Content} content=${reply.content} /></dd>`)}</dl>
  </details>`;
}

/** @param {{content: any}} properties */
function Content({ content }) {
  const media = Object.entries(content ?? {}).filter(([name]) => name !== '');
  return html`${media.map(([name, { schema }]) => html`<div key=${name}><code>${name}</code>${schema?.$ref !== undefined && html` <${Schema} name=${tail(schema.$ref)} />`}</div>`)}`;
}

/** @param {{name: string}} properties */
function Schema({ name }) {
  return html`<a href=${`#schema-${name}`} onClick=${() => {
    const element = document.getElementById(`schema-${name}`);
    if (element instanceof HTMLDetailsElement) element.open = true;
  }}>${name}</a>`;
}

/** @param {Record<string, any>[]} security */
function credentials(security) {
  if (security === undefined || security.length === 0) return 'none';
  const names = /** @type {Record<string, string>} */ ({
    apiKey: 'header X-Api-Key', apiKeyParameter: 'parameter api_key', bearer: 'bearer token', basic: 'basic authentication', client: 'client id and secret',
  });
  return security.map((one) => Object.keys(one)[0]).map((name) => (name === undefined ? 'none' : names[name] ?? name)).join(', or ');
}

render(html`<${Page} />`, /** @type {HTMLElement} */ (document.getElementById('app')));
