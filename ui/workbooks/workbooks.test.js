import assert from 'node:assert/strict';
import { readFileSync, readdirSync } from 'node:fs';
import test from 'node:test';
import { DocumentError, everyItem, parseWorkbook } from './document.js';
import { blocksOf, inlinesOf } from './markdown.js';
import { grainOf, isVisible, optionsOfTable, parameterOf, spanOfText, substitute, timespanOf, valueOf } from './parameters.js';
import { columnId, columnsOf, renderOf, sorted, statOf, textOfCell, thresholdOf } from './visual.js';

/** @param {any[]} items */
const book = (...items) => parseWorkbook(JSON.stringify({ version: 'Notebook/1.0', items }));
const HOW = { inQuery: true, now: Date.parse('2026-03-01T12:00:00Z'), time: (/** @type {number} */ at) => new Date(at).toISOString() };

test('what is no workbook is refused with the reason', () => {
  assert.throws(() => parseWorkbook('{'), DocumentError);
  assert.throws(() => parseWorkbook('{"version":"Notebook/1.0"}'), /list “items”/);
  assert.throws(() => parseWorkbook('{"version":"Notebook/2.0","items":[]}'), /“Notebook\/2.0”/);
});

test('a template carries the document as text', () => {
  const serializedData = JSON.stringify({ version: 'Notebook/1.0', items: [{ type: 1, content: { json: 'x' } }] });
  for (const carrier of [{ serializedData }, { resources: [{}, { properties: { serializedData } }] }]) {
    assert.equal(parseWorkbook(JSON.stringify(carrier)).items[0].is, 'text');
  }
});

test('what is not supported stands in its place with a reason', () => {
  const { items, refused } = book(
    { type: 10, content: { title: 'Processor' }, customWidth: '50' },
    { type: 3, content: { title: 'Machines', queryType: 1, query: 'resources' } },
    { type: 3, content: { title: 'Other', crossComponentResources: ['/subscriptions/1'] } },
    { type: 3, content: { title: 'Graph', visualization: 'graph' } },
    { type: 12, content: { title: 'Shared', loadFromTemplateId: 'x' } },
    { type: 77, name: 'new' },
    { type: 9, content: { parameters: [{ name: 'Subscription', type: 6 }] } },
  );
  assert.deepEqual(items.map((item) => item.is), ['refused', 'refused', 'refused', 'refused', 'refused', 'refused', 'parameters']);
  const why = items.flatMap((item) => (item.is === 'refused' ? [`${item.what}: ${item.why}`] : []));
  assert.match(why[1], /Machines: .*queryType 1/);
  assert.match(why[2], /\/subscriptions\/1/);
  assert.match(why[3], /“graph”/);
  assert.match(why[5], /new: .*type 77/);
  assert.equal(items[0].width, 50);
  assert.equal(refused, 7);
});

test('a name that two parameters have is refused the second time', () => {
  const [item] = book({ type: 9, content: { parameters: [{ name: 'A', type: 1 }, { name: 'A', type: 1 }] } }).items;
  assert.deepEqual(item.is === 'parameters' && item.parameters.map(({ type }) => type), ['text', 'refused']);
});

test('the workbooks of the gallery are supported whole', () => {
  const folder = new URL('./gallery/', import.meta.url);
  const names = readdirSync(folder);
  assert.ok(names.length >= 3);
  for (const name of names) {
    const workbook = parseWorkbook(readFileSync(new URL(name, folder), 'utf8'));
    assert.equal(workbook.refused, 0, name);
    for (const item of everyItem(workbook.items)) if (item.is === 'query') assert.deepEqual(item.query.notes, [], name);
  }
});

test('values go into queries as the cloud writes them', () => {
  const several = parameterOf({ name: 'Names', type: 2, multiSelect: true, quote: "'", delimiter: ',', jsonData: '["a","it\'s","c"]', typeSettings: { selectAllValue: '*' } }, {});
  const one = parameterOf({ name: 'One', type: 2, jsonData: '[{"value":"dev","label":"Development"},{"value":"prod","label":"Production","selected":true}]' }, {});
  /** @type {Map<string, any>} */
  const values = new Map();
  values.set('Names', valueOf(several, ['a', "it's"], several.options, 'app'));
  values.set('One', valueOf(one, null, one.options, 'app'));
  values.set('Apps', valueOf(parameterOf({ name: 'Apps', type: 5 }, {}), null, null, 'shop'));
  values.set('T', { is: 'time', span: { relative: 86_400_000 } });
  values.set('F', { is: 'time', span: spanOfText('2026-02-01T00:00:00Z/2026-02-02T00:00:00Z') });
  const filled = (/** @type {string} */ text, inQuery = true) => substitute(text, values, { ...HOW, inQuery }).text;
  assert.equal(filled('name in ({Names})'), "name in ('a','it\\'s')");
  assert.equal(filled("env == '{One}' // {One:label} {Apps}"), "env == 'prod' // Production shop");
  assert.equal(filled('where timestamp {T}'), 'where timestamp > ago(1d)');
  assert.equal(filled('{T:start} {T:end} {T:grain}'), 'datetime(2026-02-28T12:00:00.000Z) datetime(2026-03-01T12:00:00.000Z) 30m');
  assert.equal(filled('{F}'), 'between (datetime(2026-02-01T00:00:00.000Z) .. datetime(2026-02-02T00:00:00.000Z))');
  assert.equal(filled('{F:startISO}'), '2026-02-01T00:00:00.000Z');
  assert.equal(filled('{T} {T:label} {T:query}', false), 'Last 24 hours Last 24 hours > ago(1d)');
  assert.equal(filled('let f = () {print x = 1}; f | extend {Unknown}'), 'let f = () {print x = 1}; f | extend {Unknown}');
  assert.equal(filled('{One:base64} {One:escapejson}'), 'cHJvZA== prod');
  assert.deepEqual(substitute('{One:tomltojson} {T:seconds}', values, HOW).unknown, ['{One:tomltojson}', '{T:seconds}']);
  const all = valueOf(several, ['value::all'], several.options, 'app');
  assert.deepEqual(all, { is: 'text', text: "'*'", label: 'All' });
  const first = valueOf({ ...several, all: '' }, ['value::2'], several.options, 'app');
  assert.equal(first.is === 'text' && first.text, "'a','it\\'s'");
});

test('a query waits for what is required and not chosen', () => {
  const required = parameterOf({ name: 'R', type: 2, isRequired: true, jsonData: '["a"]' }, {});
  const optional = parameterOf({ name: 'O', type: 1 }, {});
  const loading = parameterOf({ name: 'L', type: 2, query: 'requests | distinct name' }, {});
  const values = new Map([required, optional, loading].map((one) => [one.name, valueOf(one, null, one.options, 'app')]));
  assert.deepEqual(substitute('{R} {O} {L}', values, HOW), { text: '  ', missing: ['R', 'L'], waiting: true, unknown: [] });
});

test('times as requests send them, and their grains', () => {
  assert.equal(timespanOf({ relative: 3_600_000 }), 'PT3600S');
  assert.equal(spanOfText('0'), null);
  assert.equal(spanOfText('nothing'), null);
  assert.deepEqual([3_600_000, 86_400_000, 7 * 86_400_000, 30 * 86_400_000, 365 * 86_400_000].map((relative) => grainOf({ relative })), ['1m', '30m', '6h', '1d', '7d']);
});

test('visibility compares the value of a parameter', () => {
  /** @type {Map<string, any>} */
  const values = new Map([['Tab', { is: 'text', text: 'a', label: 'A' }], ['None', { is: 'unset', waiting: false, required: false }]]);
  assert.equal(isVisible([{ parameter: 'Tab', equal: true, value: 'a' }, { parameter: 'None', equal: true, value: '' }], values), true);
  assert.equal(isVisible([{ parameter: 'Tab', equal: false, value: 'a' }], values), false);
});

test('options come from columns by their names, or by their places', () => {
  const table = { columns: [{ name: 'label' }, { name: 'Value' }, { name: 'selected' }], rows: [['A', 1, true], ['B', 2, false], ['again', 2, false]] };
  assert.deepEqual(optionsOfTable(table), [{ value: '1', label: 'A', selected: true, group: '' }, { value: '2', label: 'B', selected: false, group: '' }]);
  assert.equal(optionsOfTable({ columns: [{ name: 'name' }], rows: [[null]] })[0].value, '');
});

test('markdown is a tree, and HTML is text', () => {
  const [heading, paragraph, list, table, code] = blocksOf('# One *two*\n\n<b onclick=x>raw</b> and [a](https://a.b/c) ![p](http://x/y.png)\n\n1. x\n2. y\n\n|a|b|\n|-|:-:|\n|1|2|\n\n```\n**code**\n```');
  assert.equal(heading.is === 'heading' && heading.level, 1);
  assert.deepEqual(paragraph, { is: 'paragraph', parts: [{ is: 'text', text: '<b onclick=x>raw</b> and ' }, { is: 'link', to: 'https://a.b/c', parts: [{ is: 'text', text: 'a' }] }, { is: 'text', text: ' ' }, { is: 'image', alt: 'p' }] });
  assert.deepEqual(list.is === 'list' && [list.ordered, list.items.length], [true, 2]);
  assert.equal(table.is === 'table' && table.rows[0].length, 2);
  assert.deepEqual(code, { is: 'code', text: '**code**' });
  assert.deepEqual(inlinesOf('snake_case_name and **bold _in_**'), [{ is: 'text', text: 'snake_case_name and ' }, { is: 'strong', parts: [{ is: 'text', text: 'bold ' }, { is: 'em', parts: [{ is: 'text', text: 'in' }] }] }]);
  assert.deepEqual(inlinesOf('{TimeRange:label} \\*'), [{ is: 'text', text: '{TimeRange:label} *' }]);
});

/** @type {import('../result/values.js').Table} */
const TABLE = { name: 'T', columns: [{ name: 'name', type: 'string' }, { name: 'n', type: 'long' }, { name: 'at', type: 'datetime' }], rows: [['b', 4, null], ['a', 10, null], ['c', null, null]] };

test('grids have the order, the labels and the formats of the document', () => {
  const settings = {
    sortBy: [{ itemKey: '$gen_bar_n_1', sortOrder: 2 }], labelSettings: [{ columnId: 'n', label: 'Count' }],
    formatters: [{ columnMatch: 'n|m', formatter: 4, numberFormat: { unit: 1, options: { minimumFractionDigits: 1, style: 'decimal' } } }, { columnMatch: 'at', formatter: 5 }, { columnMatch: 'name', formatter: 13 }],
  };
  assert.deepEqual(sorted(TABLE, settings).map(([name]) => name), ['a', 'b', 'c']);
  const { columns, notes } = columnsOf(TABLE, settings);
  assert.deepEqual(columns.map(({ label }) => label), ['name', 'Count']);
  assert.equal(columns[1].format.share(5), 0.5);
  assert.equal(textOfCell(4, columns[1], 'utc'), '4.0%');
  assert.equal(textOfCell(1234.56789, { type: 'real', format: columns[0].format }, 'utc'), '1234.568');
  assert.equal(textOfCell(12345, { type: 'long', format: columns[0].format }, 'utc'), '12345');
  assert.deepEqual(notes, ['The column “name” is shown as text: its renderer (13) is not supported.']);
  assert.equal(columnId('plain'), 'plain');
  const grid = [{ operator: '>', thresholdValue: '5', representation: 'error', text: 'bad {0}{1}' }, { operator: 'Default', representation: 'success', text: '{0}{1}' }];
  assert.deepEqual(thresholdOf(1, [{ operator: 'constructor', representation: 'constructor' }]), { says: '', text: null });
  assert.deepEqual([7, 2].map((value) => thresholdOf(value, grid)), [{ says: 'failed', text: 'bad {0}' }, { says: 'good', text: '{0}' }]);
});

test('charts and stats of the document', () => {
  const query = { visualization: 'barchart', title: '', settings: { chartSettings: { yAxis: ['n'], ySettings: { min: 0 } } } };
  assert.deepEqual(renderOf(query, TABLE, null), { visualization: 'columnchart', kind: 'stacked', yColumns: 'n', yMin: '0' });
  assert.equal(renderOf({ ...query, visualization: '' }, TABLE, { visualization: 'piechart' })?.visualization, 'piechart');
  assert.equal(renderOf({ ...query, visualization: 'table' }, TABLE, { visualization: 'piechart' }), null);
  assert.deepEqual(statOf(TABLE, { valueField: 'n', valueAggregation: 'Sum' }), { value: 14, type: 'long', name: 'n' });
  assert.deepEqual(statOf(TABLE, { valueField: 'x' }), { refused: 'The result has no column “x”.' });
  assert.ok('refused' in statOf(TABLE, { valueAggregation: 'Percentile' }));
});
