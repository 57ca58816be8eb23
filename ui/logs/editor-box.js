/** The place of the editor in the page. The language comes after it. */
import { html, useLayoutEffect, useRef, useState } from '../vendor/preact.js';
import { get, post } from '../lib/api.js';
import { Text } from '../result/cell.js';
import { language as sharedLanguage } from '../kql/client.js';
import { isCloudLink, queryOfCloudLink } from '../kql/cloud-link.js';
import { Editor } from '../kql/editor.js';
import { schemaOf } from './schema-list.js';

/** @param {{store: import('./store.js').LogsStore}} props */
export function EditorBox({ store }) {
  const box = useRef(/** @type {HTMLDivElement | null} */ (null));
  const [problems, setProblems] = useState(/** @type {import('../kql/editor.js').Problem[]} */ ([]));
  const [isTall, setTall] = useState(false);
  useLayoutEffect(() => {
    if (!box.current) return undefined;
    const language = sharedLanguage();
    const editor = new Editor({
      parent: box.current, text: store.tab.text, label: 'Query', language,
      onChange: (text) => store.setText(text),
      onRun: (text) => store.run(text),
      onStop: () => store.stop(),
      onPaste: (text) => (isCloudLink(text) ? queryOfCloudLink(text) : null),
      onProblems: setProblems,
      check: (text, signal) => check(store.app.id, text, signal),
    });
    store.editor = editor;
    configure(language, store.app.id);
    return () => {
      editor.close();
      store.editor = null;
    };
  }, [store]);
  const errors = problems.filter((problem) => problem.severity === 'error');
  return html`
    <div class=${`editor-frame${isTall ? ' tall' : ''}`}>
      <div class="editor-box" ref=${box}></div>
      <div class="editor-foot">
        <span class=${errors.length > 0 ? 'problem' : 'muted'}>${errors.length > 0 ? html`<${Text} text=${errors[0].message} />${errors.length > 1 ? ` (and ${errors.length - 1} more, F8)` : ''}` : 'Shift+Enter runs, Ctrl+Space completes, Shift+Alt+F formats, Tab leaves the editor'}</span>
        <button type="button" class="tiny" aria-pressed=${isTall} onClick=${() => setTall(!isTall)}>${isTall ? 'Smaller' : 'Taller'}</button>
      </div>
    </div>`;
}

/** What was configured last: tabs of one application share it. */
let configured = '';

/** @param {import('../kql/client.js').Language} language @param {string} app */
async function configure(language, app) {
  if (configured === app) return;
  configured = app;
  const [tables, list] = await Promise.all([schemaOf(app).catch(() => []), get('/portal/api/language').catch(() => null)]);
  await language.configure({ tables, language: list });
}

/**
 * The opinion of the server's own binder.
 * @param {string} app @param {string} text @param {AbortSignal} signal
 * @returns {Promise<import('../kql/editor.js').Problem[] | null>}
 */
async function check(app, text, signal) {
  const answer = await post(`/portal/api/apps/${encodeURIComponent(app)}/check`, { query: text }, { signal });
  return (answer.diagnostics ?? []).map((/** @type {any} */ one) => ({ start: one.start, length: one.length, message: one.message, severity: one.severity ?? 'error', code: one.code }));
}
