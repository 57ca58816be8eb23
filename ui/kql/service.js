/*
 * The official parser of the language, for the worker: what it offers with our own list of functions. A classic script, because the
 * parser is one: it defines `KustoService` where the parser has defined `Kusto` and `Bridge`.
 */
/* global Bridge, Kusto */
'use strict';

/** @typedef {{name: string, aliases?: string[], description?: string, signatures?: string[], syntax?: string}} Entry */
/**
 * @typedef {{functions: Entry[], aggregates: Entry[], plugins: Entry[], operators?: Entry[], renderKinds?: string[],
 *   refused?: {name: string, reason: string}[]}} Language
 */
/** @typedef {{name: string, columns: {name: string, type: string}[]}} SchemaTable */

const KustoService = (() => {
  // @ts-ignore: defined by the parser
  const L = Kusto.Language, B = Bridge;
  const S = L.Symbols;
  /** @param {any} list @returns {any[]} */
  const arrayOf = (list) => (list === null || list === undefined ? [] : Array.isArray(list) ? list : B.toArray(list));
  const { System } = B.global;
  /** @param {any[]} items */
  const listOf = (items) => new (System.Collections.Generic.List$1(System.Object).$ctor1)(items);

  const KINDS = ['text', 'keyword', 'text', 'keyword', 'text', 'text', 'keyword', 'keyword', 'keyword', 'keyword', 'keyword', 'keyword', 'constant',
    'property', 'class', 'function', 'function', 'function', 'method', 'variable', 'variable', 'namespace', 'namespace', 'class', 'class', 'class', 'type',
    'keyword', 'class'];

  let globals = L.GlobalState.Default;
  /** What the reference says of a name. @type {Map<string, {lines: string[], description: string}>} */
  let lines = new Map();
  /** @type {Map<string, string>} */
  let refused = new Map();
  /** The kinds of charts that completion offers; null offers all. @type {Set<string> | null} */
  let offered = null;
  /** @type {{text: string, service: any} | null} */
  let last = null;

  /** @param {{tables: SchemaTable[], language: Language | null}} about */
  function configure({ tables, language }) {
    const symbols = tables.map((table) => new S.TableSymbol.$ctor7(table.name,
      `(${table.columns.map((column) => `['${column.name.replaceAll("'", "\\'")}']: ${column.type}`).join(', ')})`, null));
    const database = new S.DatabaseSymbol.$ctor1('app', symbols, false);
    globals = L.GlobalState.Default.WithCluster(new S.ClusterSymbol.$ctor1('here', [database], false)).WithDatabase(database);
    lines = new Map();
    refused = new Map();
    offered = null;
    last = null;
    if (!language) return;
    const known = (/** @type {Entry[]} */ entries) => new Set(entries.flatMap((entry) => [entry.name, ...(entry.aliases ?? [])]));
    const keep = (/** @type {any} */ symbols_, /** @type {Set<string>} */ names) => listOf(arrayOf(symbols_).filter((symbol) => names.has(symbol.Name)));
    globals = globals.WithFunctions(keep(globals.Functions, known(language.functions)))
      .WithAggregates(keep(globals.Aggregates, known(language.aggregates)))
      .WithPlugIns(keep(globals.PlugIns, known(language.plugins)));
    for (const entry of [...language.functions, ...language.aggregates, ...language.plugins, ...(language.operators ?? [])]) {
      const about = { lines: entry.signatures ?? (entry.syntax ? [entry.syntax] : []), description: entry.description ?? '' };
      for (const name of [entry.name, ...(entry.aliases ?? [])]) lines.set(name, about);
    }
    for (const { name, reason } of language.refused ?? []) refused.set(name, reason);
    if (language.renderKinds) offered = new Set(language.renderKinds.map((kind) => kind.toLowerCase()));
  }

  /** @param {string} text */
  function serviceOf(text) {
    if (last === null || last.text !== text) last = { text, service: new L.Editor.KustoCodeService.$ctor1(text, globals) };
    return last.service;
  }

  /** @param {{text: string, position: number}} at */
  function complete({ text, position }) {
    const found = serviceOf(text).GetCompletionItems(position, L.Editor.CompletionOptions.Default);
    const items = arrayOf(found.Items).filter((item) => !refused.has(item.MatchText) && (item.Kind !== 12 || offered === null || offered.has(item.MatchText.toLowerCase())));
    return {
      from: found.EditStart,
      items: items.map((item) => ({
        label: item.DisplayText, match: item.MatchText, type: KINDS[item.Kind] ?? 'text',
        before: item.BeforeText ?? item.EditText ?? item.DisplayText, after: item.AfterText ?? '', order: item.OrderText ?? item.DisplayText,
        info: infoOf(item.MatchText),
      })),
    };
  }

  /** @param {string} name */
  function infoOf(name) {
    const about = lines.get(String(name).replace(/\(\)?$/, ''));
    return about ? { lines: about.lines, description: about.description } : null;
  }

  /** @param {{text: string}} of */
  function diagnose({ text }) {
    return arrayOf(serviceOf(text).GetDiagnostics(true, System.Threading?.CancellationToken?.None)).map((one) => {
      const word = text.slice(one.Start, one.Start + one.Length);
      const reason = refused.get(word.replace(/\s*\(.*$/s, ''));
      return { start: one.Start, length: one.Length, severity: String(one.Severity).toLowerCase(), code: one.Code, message: reason ? `“${word}” is refused: ${reason}` : one.Message };
    });
  }

  /** @param {{text: string, position: number}} at */
  function hover({ text, position }) {
    const word = wordAt(text, position);
    const about = word && infoOf(word.text);
    const reason = word && refused.get(word.text);
    const quick = serviceOf(text).GetQuickInfo(position, null);
    const texts = arrayOf(quick?.Items).filter((item) => item.Kind !== 20).map((item) => item.Text).filter(Boolean);
    if (!about && !reason && texts.length === 0) return null;
    return { from: word?.from ?? position, to: word?.to ?? position, texts, about, reason: reason ?? null };
  }

  /** @param {string} text @param {number} position */
  function wordAt(text, position) {
    const before = /[\w-]*$/.exec(text.slice(0, position));
    const after = /^[\w-]*/.exec(text.slice(position));
    const from = position - (before?.[0].length ?? 0), to = position + (after?.[0].length ?? 0);
    return to > from ? { from, to, text: text.slice(from, to) } : null;
  }

  /** @param {{text: string, position: number}} of */
  function format({ text, position }) {
    const formatted = serviceOf(text).GetFormattedText(L.Editor.FormattingOptions.Default, position);
    // The formatter breaks lines as Windows does.
    const before = formatted.Text.slice(0, formatted.Position).replaceAll('\r\n', '\n');
    return { text: formatted.Text.replaceAll('\r\n', '\n'), position: before.length };
  }

  return { configure, complete, diagnose, hover, format };
})();
