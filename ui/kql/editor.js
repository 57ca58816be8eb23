/**
 * The editor of queries. It lives in a shadow root: CodeMirror then adopts its style sheets, and the page needs no inline styles.
 */
import {
  EditorSelection, EditorState, EditorView, Prec, autocompletion, bracketMatching, closeBrackets, closeBracketsKeymap, completionKeymap, defaultKeymap,
  drawSelection, highlightActiveLine, highlightSelectionMatches, highlightSpecialChars, history, historyKeymap, hoverTooltip, indentLess,
  indentMore, indentUnit, keymap, lineNumbers, nextDiagnostic, placeholder, search, searchKeymap, setDiagnostics, startCompletion, toggleComment, tooltips,
} from '../vendor/codemirror.js';
import { highlight } from './highlight.js';
import { editorTheme } from './theme.js';
import { blockAt } from './text.js';

/** How long after the last key the server is asked, in milliseconds. */
const CHECK_AFTER = 400;

/**
 * @typedef {{start: number, length: number, message: string, severity: string, code?: string}} Problem
 * @typedef {{
 *   parent: HTMLElement,
 *   text: string,
 *   label: string,
 *   language: import('./client.js').Language | null,
 *   check?: (text: string, signal: AbortSignal) => Promise<Problem[] | null>,
 *   onChange?: (text: string) => void,
 *   onRun?: (text: string) => void,
 *   onStop?: () => void,
 *   onPaste?: (text: string) => string | Promise<string | null> | null,
 *   onProblems?: (problems: Problem[]) => void,
 * }} Options
 */

/** An editor in the page. It knows no framework. */
export class Editor {
  /** @param {Options} options */
  constructor(options) {
    this.options = options;
    this.root = options.parent.shadowRoot ?? options.parent.attachShadow({ mode: 'open' });
    /** @type {Problem[]} */
    this.parserProblems = [];
    /** The server's opinion of `checkedText`; null where it has none. @type {Problem[] | null} */
    this.serverProblems = null;
    this.checked = { from: 0, text: '' };
    /** The block that the parser's problems are of. */
    this.parsed = { from: 0, text: '' };
    /** What the run of the query was refused for. @type {{text: string, problem: Problem} | null} */
    this.runProblem = null;
    this.timer = 0;
    /** @type {AbortController | null} */
    this.asking = null;
    this.view = new EditorView({ state: this.state(options.text), parent: this.root, root: this.root });
    options.language?.ready.then(() => this.changed());
    this.changed();
  }

  /** @param {string} text */
  state(text) {
    const run = () => {
      this.options.onRun?.(this.chosen());
      return true;
    };
    const keys = [
      { key: 'Ctrl-Enter', mac: 'Cmd-Enter', run },
      { key: 'Shift-Enter', run },
      { key: 'Shift-Alt-f', run: () => (this.format(), true) },
      { key: 'F8', run: nextDiagnostic },
      { key: 'Ctrl-Space', run: startCompletion },
      { key: 'Mod-/', run: toggleComment },
      { key: 'Ctrl-]', run: indentMore },
      { key: 'Ctrl-[', run: indentLess },
    ];
    return EditorState.create({
      doc: text,
      extensions: [
        Prec.highest(keymap.of(keys)),
        lineNumbers(), history(), drawSelection(), highlightActiveLine(), highlightSelectionMatches(), bracketMatching(), closeBrackets(),
        highlightSpecialChars({ addSpecialChars: /[\u061c\u180e\u2060-\u206f]/g }), highlight, editorTheme, indentUnit.of('    '), search({ top: true }),
        EditorView.lineWrapping, EditorState.allowMultipleSelections.of(true), placeholder('requests | take 10'),
        tooltips({ position: 'fixed', parent: this.tooltipBox() }),
        autocompletion({ override: [(/** @type {any} */ context) => this.completions(context)], maxRenderedOptions: 60, icons: true, interactionDelay: 20 }),
        hoverTooltip((/** @type {any} */ _view, /** @type {number} */ position) => this.hover(position)),
        keymap.of([{ key: 'Escape', run: () => (this.options.onStop?.(), false) }, ...closeBracketsKeymap, ...completionKeymap, ...searchKeymap, ...historyKeymap, ...defaultKeymap]),
        EditorView.contentAttributes.of({ 'aria-label': this.options.label, 'aria-multiline': 'true', spellcheck: 'false', autocapitalize: 'off', autocorrect: 'off' }),
        EditorView.updateListener.of((/** @type {any} */ update) => {
          if (update.docChanged) this.options.onChange?.(this.text());
          if (update.docChanged || (update.selectionSet && this.block().from !== this.parsed.from)) this.changed();
        }),
        EditorView.domEventHandlers({ paste: (/** @type {ClipboardEvent} */ event) => this.paste(event) }),
      ],
    });
  }

  /** Lists and hints stand in the shadow root, above everything. */
  tooltipBox() {
    const box = document.createElement('div');
    this.root.append(box);
    return box;
  }

  text() {
    return this.view.state.doc.toString();
  }

  caret() {
    return this.view.state.selection.main.head;
  }

  /** The block with the caret: completion and problems are about it alone. */
  block() {
    const text = this.text();
    const { from, to } = blockAt(text, this.caret());
    return { from, text: text.slice(from, to) };
  }

  /** What a run sends: the selection, or the block with the caret. */
  chosen() {
    const { from, to } = this.view.state.selection.main;
    return from !== to ? this.text().slice(from, to) : this.block().text;
  }

  /** Replaces the whole text. @param {string} text @param {number} [caret] */
  replace(text, caret) {
    if (text === this.text()) return;
    this.view.dispatch({ changes: this.smallestChange(text), selection: caret === undefined ? undefined : EditorSelection.cursor(Math.min(caret, text.length)), scrollIntoView: true });
  }

  /** The change between the present text and another: undoing it moves nothing else. @param {string} text */
  smallestChange(text) {
    const now = this.text();
    let from = 0;
    while (from < now.length && from < text.length && now[from] === text[from]) from++;
    let end = 0;
    while (end < now.length - from && end < text.length - from && now[now.length - 1 - end] === text[text.length - 1 - end]) end++;
    return { from, to: now.length - end, insert: text.slice(from, text.length - end) };
  }

  /** Another tab: its text with a history of its own. @param {string} text */
  open(text) {
    this.view.setState(this.state(text));
    this.runProblem = null;
    this.changed();
  }

  /** Writes at the caret, as a hot key of the schema does. @param {string} text */
  insert(text) {
    this.view.dispatch(this.view.state.replaceSelection(text));
    this.view.focus();
  }

  focus() {
    this.view.focus();
  }

  async format() {
    const whole = this.text(), { from, text } = this.block();
    const answer = await this.options.language?.call('format', { text, position: this.caret() - from });
    if (answer && this.text() === whole) this.replace(whole.slice(0, from) + answer.text + whole.slice(from + text.length), from + answer.position);
  }

  /** @param {any} context */
  async completions(context) {
    const { language } = this.options;
    if (!language?.isReady) return null;
    const word = context.matchBefore(/[\w$-]*/);
    if (!context.explicit && word.from === word.to && !/[\s(,|]$/.test(context.state.sliceDoc(Math.max(0, context.pos - 1), context.pos))) return null;
    const block = this.block();
    const answer = await language.call('complete', { text: block.text.padEnd(context.pos - block.from), position: context.pos - block.from });
    if (!answer || answer.items.length === 0 || context.aborted) return null;
    return {
      from: block.from + answer.from,
      validFor: /^[\w$-]*$/,
      options: answer.items.map((/** @type {any} */ item, /** @type {number} */ index) => ({
        label: item.match, displayLabel: item.label, type: item.type, boost: -Math.min(99, index / 10), info: item.info ? () => infoNode(item.info) : undefined,
        apply: (/** @type {any} */ view, /** @type {any} */ _completion, /** @type {number} */ from, /** @type {number} */ to) => {
          view.dispatch({ changes: { from, to, insert: item.before + item.after }, selection: EditorSelection.cursor(from + item.before.length), userEvent: 'input.complete' });
          // After a name that wants more, the next list follows at once.
          if (/[ (]$/.test(item.before)) startCompletion(view);
        },
      })),
    };
  }

  /** @param {number} position */
  async hover(position) {
    const block = this.block();
    if (position < block.from || position > block.from + block.text.length) return null;
    const answer = await this.options.language?.call('hover', { text: block.text, position: position - block.from });
    if (!answer) return null;
    return { pos: block.from + answer.from, end: block.from + answer.to, above: true, create: () => ({ dom: infoNode({ lines: answer.about?.lines ?? answer.texts, description: answer.reason ? `Refused: ${answer.reason}` : answer.about?.description ?? '' }) }) };
  }

  /** The text or the block has changed: the parser is asked now, the server when the keys rest. */
  changed() {
    const block = this.block();
    this.parsed = block;
    if (this.runProblem && !this.text().includes(this.runProblem.text)) this.runProblem = null;
    if (this.checked.text !== block.text) this.serverProblems = null;
    this.checked.from = block.from;
    const { language } = this.options;
    if (language?.isReady) {
      language.call('diagnose', { text: block.text }).then((problems) => {
        if (problems === null || this.parsed !== block) return;
        this.parserProblems = problems;
        this.show();
      });
    }
    clearTimeout(this.timer);
    this.asking?.abort();
    if (this.options.check && block.text.trim() !== '') this.timer = window.setTimeout(() => this.ask(block), CHECK_AFTER);
    else this.parserProblems = [];
    this.show();
  }

  /** @param {{from: number, text: string}} block */
  async ask(block) {
    this.asking = new AbortController();
    try {
      const problems = await this.options.check?.(block.text, this.asking.signal);
      if (this.parsed !== block) return;
      this.serverProblems = problems ?? null;
      this.checked = { ...block };
      this.show();
    } catch {
      // A check that failed has no opinion: the run will say what is wrong.
    }
  }

  /** The problem of the run, at its place. @param {string} text what was sent @param {Problem} problem places in the sent text */
  refuse(text, problem) {
    this.runProblem = { text, problem };
    this.show();
  }

  /**
   * What is shown, by its place in the whole text. The server's opinion overrides the parser's: a text that the server takes has no errors.
   * @returns {Problem[]}
   */
  problems() {
    const isTaken = this.serverProblems !== null && this.serverProblems.length === 0;
    const parser = this.serverProblems === null ? this.parserProblems : isTaken ? this.parserProblems.filter((one) => one.severity !== 'error') : [];
    const all = [...(this.serverProblems ?? []), ...parser].map((one) => ({ ...one, start: one.start + this.parsed.from }));
    if (this.runProblem && this.serverProblems === null) {
      const at = this.text().indexOf(this.runProblem.text);
      if (at >= 0) all.unshift({ ...this.runProblem.problem, start: at + this.runProblem.problem.start });
    }
    return all;
  }

  show() {
    const { length } = this.view.state.doc;
    const problems = this.problems();
    const diagnostics = problems.map((problem) => {
      const from = Math.max(0, Math.min(problem.start, length));
      const to = Math.min(length, Math.max(from + Math.max(1, problem.length), from));
      const severity = /** @type {'error' | 'warning' | 'info'} */ (problem.severity === 'error' || problem.severity === 'warning' ? problem.severity : 'info');
      return { from: from === length && from > 0 ? from - 1 : from, to, severity, message: problem.message };
    });
    this.view.dispatch(setDiagnostics(this.view.state, diagnostics));
    this.options.onProblems?.(problems);
  }

  /** @param {ClipboardEvent} event */
  paste(event) {
    const text = event.clipboardData?.getData('text/plain') ?? '';
    const answer = this.options.onPaste?.(text);
    if (!answer) return false;
    event.preventDefault();
    Promise.resolve(answer).then((query) => this.insert(query ?? text));
    return true;
  }

  close() {
    clearTimeout(this.timer);
    this.asking?.abort();
    this.view.destroy();
    this.root.replaceChildren();
  }
}

/** @param {{lines: string[], description: string}} info */
function infoNode(info) {
  const box = document.createElement('div');
  box.className = 'kql-info';
  for (const line of info.lines.slice(0, 8)) box.append(Object.assign(document.createElement('code'), { textContent: line }));
  if (info.description) box.append(Object.assign(document.createElement('p'), { textContent: info.description }));
  return box;
}

