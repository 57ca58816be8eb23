/** Workbooks: documents of texts, parameters and queries, in the form that the cloud publishes them in. */
import { html, useEffect, useMemo, useState } from '../vendor/preact.js';
import { address, go } from '../lib/address.js';
import { applications } from '../lib/apps.js';
import { ApiError } from '../lib/api.js';
import { Text } from '../result/cell.js';
import { stylesheet } from '../result/style.js';
import { Link } from '../shell/link.js';
import { Book } from '../workbooks/book.js';
import { parseWorkbook } from '../workbooks/document.js';
import { Items } from '../workbooks/items.js';
import { Library } from '../workbooks/library.js';
import { OptionQueries } from '../workbooks/parameter-bar.js';
import { GALLERY, deleteWorkbook, draftOf, galleryText, keepDraft, saveWorkbook, savedWorkbook } from '../workbooks/saved.js';

stylesheet(new URL('../workbooks/workbooks.css', import.meta.url));

export const title = 'Workbooks';

/** Queries come from documents. @type {{title: string, query: string}[]} */
export const panels = [];

/** @typedef {{name: string, text: string, etag: string | null, isDraft: boolean}} Opened `etag`: of a saved one */

/** @param {{app: string}} props */
export function Screen({ app }) {
  const known = applications.value?.find((one) => one.name === app || one.id === app);
  if (!known) return null;
  const { params } = address.value;
  const [name, sample, draft] = [params.get('w'), params.get('sample'), params.get('draft')];
  if (name === null && sample === null && draft === null) return html`<${Library} app=${known} />`;
  return html`<${Open} key=${`${name} ${sample} ${draft}`} app=${known} name=${name} sample=${sample} />`;
}

/** @param {{app: {id: string, name: string}, name: string | null, sample: string | null}} props */
function Open({ app, name, sample }) {
  const [opened, setOpened] = useState(/** @type {Opened | null} */ (null));
  const [problem, setProblem] = useState('');
  useEffect(() => {
    load(app.id, name, sample).then(setOpened, (error) => setProblem(error.message));
  }, []);
  if (problem !== '') return html`<div class="screen"><header><h1>Workbooks</h1></header><p class="note error" role="alert"><${Text} text=${problem} /></p><p><${All} /></p></div>`;
  return opened === null ? html`<div class="screen"><header><h1>Workbooks</h1></header></div>` : html`<${Shown} app=${app} opened=${opened} onChange=${setOpened} />`;
}

/** @param {string} app @param {string | null} name @param {string | null} sample @returns {Promise<Opened>} */
async function load(app, name, sample) {
  if (name !== null) {
    const saved = await savedWorkbook(app, name);
    return { name, text: saved.text, etag: saved.etag, isDraft: false };
  }
  if (sample !== null) return { name: GALLERY.find(({ id }) => id === sample)?.name ?? sample, text: await galleryText(sample), etag: null, isDraft: false };
  const draft = draftOf(app);
  if (draft === null) throw new Error('This browser has no imported workbook. Import it again, or ask who sent the address to save it.');
  return { ...draft, etag: null, isDraft: true };
}

/** Back to the list. */
const All = () => html`<${Link} className="btn quiet" step=${{ params: new URLSearchParams() }}>All workbooks</${Link}>`;

/** @param {{app: {id: string, name: string}, opened: Opened, onChange: (opened: Opened) => void}} props */
function Shown({ app, opened, onChange }) {
  const [isEditing, setEditing] = useState(false);
  const [problem, setProblem] = useState('');
  const read = useMemo(() => {
    try {
      return { book: new Book(app, parseWorkbook(opened.text)), error: '' };
    } catch (error) {
      return { book: null, error: /** @type {Error} */ (error).message };
    }
  }, [opened.text]);
  const { book } = read;
  const remove = async () => {
    if (opened.etag === null) return;
    try {
      await deleteWorkbook(app.id, { name: opened.name, etag: opened.etag });
      go({ params: new URLSearchParams() });
    } catch (error) {
      setProblem(error instanceof ApiError ? error.message : String(error));
    }
  };
  return html`<div class="screen workbook">
    <header><h1><${Text} text=${opened.name} /></h1>
      <${All} />
      ${book !== null && html`<button type="button" class="btn quiet" onClick=${() => book.refresh()}>Refresh</button>`}
      <button type="button" class="btn quiet" aria-expanded=${isEditing} onClick=${() => setEditing(!isEditing)}>Edit</button>
      <${Export} opened=${opened} />
      <${Save} app=${app} opened=${opened} onSaved=${onChange} />
      ${opened.etag !== null && html`<${Delete} name=${opened.name} onDelete=${remove} />`}
    </header>
    ${(problem || read.error) !== '' && html`<p class="note error" role="alert"><${Text} text=${problem || read.error} /></p>`}
    ${isEditing && html`<${Editor} text=${opened.text} onApply=${(/** @type {string} */ text) => {
      onChange({ ...opened, text });
      if (opened.isDraft) keepDraft(app.id, { name: opened.name, text });
    }} />`}
    ${book !== null && book.workbook.refused > 0 && html`<p class="note">${book.workbook.refused === 1 ? 'One part of this workbook is' : `${book.workbook.refused} parts of this workbook are`} not supported, and named in place.</p>`}
    ${book !== null && html`<${OptionQueries} book=${book} /><${Items} book=${book} items=${book.workbook.items} />`}
  </div>`;
}

/** The document as a file, as it was imported or saved. @param {{opened: Opened}} props */
function Export({ opened }) {
  const download = () => {
    const link = document.createElement('a');
    link.href = URL.createObjectURL(new Blob([opened.text], { type: 'application/json' }));
    link.download = `${opened.name.replace(/[^\p{L}\p{N} ._-]/gu, '_')}.workbook`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  };
  return html`<button type="button" class="btn quiet" onClick=${download}>Export</button>`;
}

/** @param {{name: string, onDelete: () => void}} props */
function Delete({ name, onDelete }) {
  const [isAsked, setAsked] = useState(false);
  return isAsked ? html`<button type="button" class="btn danger" onClick=${onDelete}>Delete for everyone</button><button type="button" class="btn" onClick=${() => setAsked(false)}>Keep</button>`
    : html`<button type="button" class="btn quiet" aria-label=${`Delete ${name}`} onClick=${() => setAsked(true)}>Delete</button>`;
}

/** @param {{app: {id: string, name: string}, opened: Opened, onSaved: (opened: Opened) => void}} props */
function Save({ app, opened, onSaved }) {
  const [isNaming, setNaming] = useState(false);
  const [problem, setProblem] = useState('');
  const save = async (/** @type {string} */ name) => {
    try {
      const isSame = opened.etag !== null && name === opened.name;
      const saved = await saveWorkbook(app.id, name, opened.text, isSame ? opened.etag : null);
      if (opened.isDraft) keepDraft(app.id, null);
      setNaming(false);
      setProblem('');
      const params = new URLSearchParams(address.peek().params);
      for (const other of ['sample', 'draft']) params.delete(other);
      params.set('w', name);
      onSaved({ name, text: opened.text, etag: saved.etag, isDraft: false });
      go({ params }, { replace: true });
    } catch (error) {
      const isTaken = error instanceof ApiError && error.status === 412;
      setProblem(isTaken ? 'A workbook of this name was saved before, or this one was changed meanwhile. Choose another name.' : error instanceof ApiError ? error.message : String(error));
    }
  };
  if (!isNaming) return html`<button type="button" class="btn primary" onClick=${() => setNaming(true)}>Save</button>`;
  return html`<form class="form" onSubmit=${(/** @type {any} */ event) => {
    event.preventDefault();
    save(String(new FormData(event.currentTarget).get('name')).trim());
  }}>
    <label>Name <input class="input" name="name" required maxlength="200" autocomplete="off" defaultValue=${opened.name} ref=${(/** @type {HTMLInputElement | null} */ field) => field?.focus()} /></label>
    <button class="btn primary">Save for everyone</button><button type="button" class="btn" onClick=${() => setNaming(false)}>Cancel</button>
    ${problem !== '' && html`<p class="note error" role="alert">${problem}</p>`}
  </form>`;
}

/** The document as text. @param {{text: string, onApply: (text: string) => void}} props */
function Editor({ text, onApply }) {
  const [draft, setDraft] = useState(() => pretty(text));
  const [problem, setProblem] = useState('');
  const apply = (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      parseWorkbook(draft);
      setProblem('');
      onApply(draft);
    } catch (error) {
      setProblem(/** @type {Error} */ (error).message);
    }
  };
  return html`<form class="card book-editor" onSubmit=${apply}>
    <label class="book-field">The document <textarea class="input mono" rows="18" spellcheck=${false} value=${draft} onInput=${(/** @type {any} */ event) => setDraft(event.currentTarget.value)}></textarea></label>
    ${problem !== '' && html`<p class="note error" role="alert"><${Text} text=${problem} /></p>`}
    <button class="btn primary">Apply</button> <span class="muted">It is kept when it is saved.</span>
  </form>`;
}

/** @param {string} text */
function pretty(text) {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}
