/** The list of workbooks: those that are saved, those of the portal, and importing one. */
import { html, useEffect, useState } from '../vendor/preact.js';
import { go } from '../lib/address.js';
import { time } from '../lib/time.js';
import { Text } from '../result/cell.js';
import { Link } from '../shell/link.js';
import { Table } from '../shell/table.js';
import { DocumentError, parseWorkbook } from './document.js';
import { GALLERY, draftOf, keepDraft, savedWorkbooks } from './saved.js';

/** Larger documents are no workbooks that somebody reads. The server keeps no larger ones. */
const LARGEST = 1 << 20;

/** @param {{app: {id: string, name: string}}} props */
export function Library({ app }) {
  const [saved, setSaved] = useState(/** @type {import('./saved.js').SavedWorkbook[] | null} */ (null));
  const [problem, setProblem] = useState('');
  useEffect(() => {
    savedWorkbooks(app.id).then(setSaved, (error) => setProblem(error.message));
  }, [app.id]);
  const draft = draftOf(app.id);
  return html`<div class="screen">
    <header><h1>Workbooks</h1></header>
    ${problem !== '' && html`<p class="note error" role="alert">${problem}</p>`}
    ${draft !== null && html`<p class="note">“<${Text} text=${draft.name} />” was imported in this browser and is not saved.
      ${' '}<${Link} className="btn" step=${{ params: { draft: '1' } }}>Open it</${Link}></p>`}
    <div class="two">
      <div class="stack">
        <section class="card" aria-labelledby="saved-workbooks"><h2 id="saved-workbooks">Saved for everyone who reads this application</h2>
          ${saved !== null && (saved.length === 0 ? html`<p class="muted">None yet. Open one of the portal’s or import one, and save it.</p>`
            : html`<${Table} label="Saved workbooks" head=${['Name', 'Changed', 'By']} rows=${saved.map((one) => ({
              key: one.name, chosen: false,
              cells: [html`<${Link} step=${{ params: { w: one.name } }}><${Text} text=${one.name} /></${Link}>`, html`<time class="mono" datetime=${one.changed}>${time(one.changed)}</time>`, html`<${Text} text=${one.by} />`],
            }))} />`)}</section>
        <section class="card" aria-labelledby="gallery"><h2 id="gallery">Of the portal</h2>
          <ul class="book-gallery">${GALLERY.map((one) => html`<li key=${one.id}><${Link} step=${{ params: { sample: one.id } }}>${one.name}</${Link}><div class="muted">${one.about}</div></li>`)}</ul></section>
      </div>
      <${Import} app=${app} />
    </div>
  </div>`;
}

/** @param {{app: {id: string, name: string}}} props */
function Import({ app }) {
  const [text, setText] = useState('');
  const [problem, setProblem] = useState('');
  const open = (/** @type {string} */ name, /** @type {string} */ document) => {
    try {
      if (document.length > LARGEST) throw new DocumentError('This document is larger than 1 MiB.');
      parseWorkbook(document);
      keepDraft(app.id, { name, text: document });
      go({ params: { draft: '1' } });
    } catch (error) {
      setProblem(/** @type {Error} */ (error).message);
    }
  };
  const read = async (/** @type {any} */ event) => {
    const [file] = event.currentTarget.files;
    if (file) open(file.name.replace(/\.(workbook|json)$/i, ''), await file.text());
  };
  return html`<section class="card" aria-labelledby="import"><h2 id="import">Import</h2>
    <p>The gallery’s form of the cloud’s workbooks (“Advanced editor” there), or a file of a template.</p>
    <p><label class="book-field">File <input class="input" type="file" accept=".workbook,.json,application/json" onChange=${read} /></label></p>
    <form onSubmit=${(/** @type {Event} */ event) => {
      event.preventDefault();
      open('Imported workbook', text);
    }}>
      <label class="book-field">Text <textarea class="input mono" rows="8" spellcheck=${false} placeholder='{"version":"Notebook/1.0","items":[…]}' value=${text} onInput=${(/** @type {any} */ event) => setText(event.currentTarget.value)}></textarea></label>
      <p><button class="btn primary" disabled=${text.trim() === ''}>Import</button></p>
    </form>
    ${problem !== '' && html`<p class="note error" role="alert"><${Text} text=${problem} /></p>`}
    <p class="muted">What is not supported is named in its place. Pictures and other hosts are not loaded.</p>
  </section>`;
}
