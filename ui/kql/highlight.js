/** Colours of the text while and before the language is there: by words alone, for the lines on screen. */
import { Decoration, RangeSetBuilder, ViewPlugin } from '../vendor/codemirror.js';
import { tokens } from './text.js';

const KEYWORDS = new Set(`and or not in has contains startswith endswith matches regex between where extend project project-away project-keep project-rename project-reorder
  summarize by on join kind inner leftouter rightouter fullouter leftanti leftsemi rightanti rightsemi innerunique union withsource take limit top sort order asc desc nulls first
  last count distinct let set declare datatable print range from to step mv-expand mv-apply make-series default parse parse-where parse-kv with evaluate invoke render search find
  lookup as serialize sample sample-distinct scan partition fork facet getschema consume reduce top-nested top-hitters of typeof materialize toscalar view pattern restrict access
  alias query_parameters isfuzzy externaldata graph-match make-graph assert-schema macro-expand true false null dynamic datetime timespan guid string long int real bool decimal
  has_cs hasprefix hassuffix has_any has_all contains_cs startswith_cs endswith_cs`.split(/\s+/));

const marks = Object.fromEntries(['text', 'comment', 'number', 'keyword', 'call', 'pipe'].map((name) => [name, Decoration.mark({ class: `kql-${name}` })]));

/** @param {any} view */
function decorate(view) {
  const builder = new RangeSetBuilder();
  const { from, to } = view.viewport;
  const text = view.state.sliceDoc(from, to);
  for (const token of tokens(text)) {
    const at = from + token.at, end = at + token.text.length;
    const mark = markOf(token, text);
    if (mark) builder.add(at, end, marks[mark]);
  }
  return builder.finish();
}

/** @param {{kind: string, at: number, text: string}} token @param {string} text */
function markOf(token, text) {
  if (token.kind === 'word') {
    if (KEYWORDS.has(token.text.replace(/^!/, ''))) return 'keyword';
    return text[token.at + token.text.length] === '(' ? 'call' : null;
  }
  if (token.kind === 'sign') return token.text === '|' ? 'pipe' : null;
  return token.kind;
}

export const highlight = ViewPlugin.fromClass(class {
  /** @param {any} view */
  constructor(view) {
    this.decorations = decorate(view);
  }

  /** @param {any} update */
  update(update) {
    if (update.docChanged || update.viewportChanged) this.decorations = decorate(update.view);
  }
}, { decorations: (/** @type {any} */ plugin) => plugin.decorations });
