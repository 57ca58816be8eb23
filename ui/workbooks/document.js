/**
 * The published form of workbooks: `{"version": "Notebook/1.0", "items": […]}`. Pure. An item that is not supported becomes one that
 * says so in its place; nothing is left out without a word.
 *
 * @typedef {{parameter: string, equal: boolean, value: string}} Condition
 * @typedef {{key: string, width: number | null, visible: Condition[]}} Common
 * @typedef {Common & {is: 'text', markdown: string, style: string}} TextItem
 * @typedef {Common & {is: 'parameters', parameters: import('./parameters.js').Parameter[]}} ParametersItem
 * @typedef {Common & {is: 'query', query: QueryContent}} QueryItem
 * @typedef {Common & {is: 'links', tabs: boolean, links: LinkContent[]}} LinksItem
 * @typedef {Common & {is: 'group', title: string, expandable: boolean, expanded: boolean, explicit: boolean, button: string, items: Item[]}} GroupItem
 * @typedef {Common & {is: 'refused', what: string, why: string}} RefusedItem
 * @typedef {TextItem | ParametersItem | QueryItem | LinksItem | GroupItem | RefusedItem} Item
 * @typedef {{label: string, before: string, after: string, to: 'parameter' | 'url' | 'refused', parameter: string, value: string, url: string, why: string}} LinkContent
 * @typedef {{
 *   text: string, title: string, empty: string, size: number, visualization: string, workspace: boolean,
 *   time: {parameter: string} | {length: number} | null, exports: Export[], settings: any, notes: string[],
 * }} QueryContent `time`: null is "set in the query"; `settings`: the content as the document has it
 * @typedef {{field: string, parameter: string, initial: string | null}} Export A selected row sets `parameter`; an empty field is the whole row.
 * @typedef {{items: Item[], names: string[], refused: number}} Workbook `names`: of all parameters
 */
import { parameterOf } from './parameters.js';
import { WORKSPACES, refusalOfQuery } from './source.js';

/** What is no workbook. */
export class DocumentError extends Error {}

/** Visualizations that are drawn; an empty one is that of the query's `render`. */
export const DRAWN = ['', 'table', 'timechart', 'linechart', 'areachart', 'scatterchart', 'barchart', 'unstackedbar', 'categoricalbar', 'piechart', 'tiles', 'stat'];

/**
 * Reads a document: the published form, or a template for deployment that carries it as `serializedData`.
 * @param {string} text
 * @returns {Workbook}
 */
export function parseWorkbook(text) {
  const document = published(json(text));
  if (typeof document !== 'object' || document === null || !Array.isArray(document.items)) {
    throw new DocumentError('This is no workbook: it has no list “items”.');
  }
  if (document.version !== 'Notebook/1.0') {
    throw new DocumentError(`This form of workbooks is not known: its version is “${document.version ?? ''}” and not “Notebook/1.0”.`);
  }
  const names = /** @type {string[]} */ ([]);
  const items = itemsOf(document.items, '', names);
  return { items, names, refused: refusals(items) };
}

/** @param {string} text */
function json(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new DocumentError(`This is no JSON: ${/** @type {Error} */ (error).message}`);
  }
}

/** @param {any} document */
function published(document) {
  const inside = document?.serializedData ?? document?.properties?.serializedData
    ?? document?.resources?.find?.((/** @type {any} */ resource) => typeof resource?.properties?.serializedData === 'string')?.properties.serializedData;
  return typeof inside === 'string' ? json(inside) : document;
}

/** @param {Item[]} items @returns {number} */
function refusals(items) {
  return items.reduce((sum, item) => sum + (item.is === 'refused' ? 1 : 0) + (item.is === 'group' ? refusals(item.items) : 0)
    + (item.is === 'parameters' ? item.parameters.filter(({ type }) => type === 'refused').length : 0), 0);
}

/** @param {any[]} items @param {string} path @param {string[]} names @returns {Item[]} */
function itemsOf(items, path, names) {
  return items.map((item, index) => itemOf(item, `${path}${index}`, names));
}

/** @param {any} item @param {string} key @param {string[]} names @returns {Item} */
function itemOf(item, key, names) {
  const content = typeof item?.content === 'string' ? json(item.content) : item?.content ?? {};
  const width = Number(item?.customWidth);
  const common = { key, width: width > 0 && width < 100 ? width : null, visible: conditions(item) };
  const refused = (/** @type {string} */ what, /** @type {string} */ why) => ({ ...common, is: /** @type {const} */ ('refused'), what, why });
  const unknown = common.visible.find(({ parameter }) => parameter === '');
  if (unknown !== undefined) return refused(title(item, content), `The condition of its visibility has the comparison “${unknown.value}”.`);
  switch (item?.type) {
    case 1: return { ...common, is: 'text', markdown: String(content.json ?? ''), style: String(content.style ?? '') };
    case 3: return query(content, common, names, refused);
    case 9: return { ...common, is: 'parameters', parameters: (content.parameters ?? []).map((/** @type {any} */ one) => named(parameterOf(one, content), names)) };
    case 10: return refused(title(item, content), 'It reads metrics of a resource of the cloud. The screen Metrics has those of this application.');
    case 11: return { ...common, is: 'links', tabs: content.style === 'tabs', links: (content.links ?? []).map((/** @type {any} */ link) => linkOf(link, names)) };
    case 12: return group(content, common, key, names, refused);
    default: return refused(title(item, content), `Items of the type ${item?.type ?? 'without a number'} are not supported.`);
  }
}

/** @param {any} item @param {any} content */
const title = (item, content) => String(content?.title || item?.name || 'An item');

/**
 * A parameter whose name an earlier one has is refused: which of the two a query means depends on where it stands.
 * @param {import('./parameters.js').Parameter} parameter @param {string[]} names
 */
function named(parameter, names) {
  if (names.includes(parameter.name)) return { ...parameter, type: /** @type {const} */ ('refused'), why: 'An earlier parameter has this name.' };
  names.push(parameter.name);
  return parameter;
}

/** @param {any} item @returns {Condition[]} An unknown comparison has no parameter. */
function conditions(item) {
  const all = [item?.conditionalVisibility, ...(item?.conditionalVisibilities ?? [])].filter((one) => one !== null && typeof one === 'object');
  return all.map(({ parameterName, comparison, value }) => {
    if (comparison !== 'isEqualTo' && comparison !== 'isNotEqualTo') return { parameter: '', equal: true, value: String(comparison) };
    return { parameter: String(parameterName), equal: comparison === 'isEqualTo', value: value === null || value === undefined ? '' : String(value) };
  });
}

/** @param {any} content @param {Common} common @param {string[]} names @param {(what: string, why: string) => RefusedItem} refused @returns {Item} */
function query(content, common, names, refused) {
  const what = content.title || 'A query';
  const why = refusalOfQuery(content);
  if (why !== '') return refused(what, why);
  const visualization = String(content.visualization ?? '');
  if (!DRAWN.includes(visualization)) return refused(what, `The visualization “${visualization}” is not drawn here.`);
  const exports = exportsOf(content);
  const isChart = visualization !== '' && visualization !== 'table';
  const notes = notesOf(content, visualization);
  if (exports.length > 0 && isChart) notes.push(`Selecting in this chart does not set ${exports.map(({ parameter }) => `“${parameter}”`).join(', ')}.`);
  for (const { parameter } of exports) if (!names.includes(parameter)) names.push(parameter);
  if (content.timeBrushParameterName) notes.push(`Brushing this chart does not set “${content.timeBrushParameterName}”.`);
  return {
    ...common, is: 'query', query: {
      text: String(content.query ?? ''), title: String(content.title ?? ''), empty: String(content.noDataMessage ?? ''), size: Number(content.size ?? 0),
      visualization, workspace: content.resourceType === WORKSPACES, time: timeOf(content), exports: isChart ? [] : exports, settings: content, notes,
    },
  };
}

/** @param {any} content @returns {QueryContent['time']} */
function timeOf(content) {
  if (typeof content.timeContextFromParameter === 'string' && content.timeContextFromParameter !== '') return { parameter: content.timeContextFromParameter };
  const length = Number(content.timeContext?.durationMs ?? 0);
  return length > 0 ? { length } : null;
}

/** @param {any} content @returns {Export[]} */
function exportsOf(content) {
  const one = content.exportParameterName
    ? [{ field: String(content.exportFieldName ?? ''), parameter: String(content.exportParameterName), initial: content.exportDefaultValue ?? null }] : [];
  const several = (content.exportedParameters ?? []).map((/** @type {any} */ each) => ({
    field: String(each.fieldName ?? ''), parameter: String(each.parameterName), initial: each.defaultValue ?? null,
  }));
  return [...one, ...several];
}

/** Settings of the display that are known and not applied. @type {Record<string, string>} */
const LEFT_OUT = {
  seriesLabelSettings: 'names and colours of series', createOtherGroup: 'the group of all others', customThresholdLine: 'the line of a threshold',
  hierarchySettings: 'groups of rows', mapSettings: 'a map', graphSettings: 'a graph',
};

/** @param {any} content @param {string} visualization */
function notesOf(content, visualization) {
  const settings = visualization === 'tiles' ? content.tileSettings : visualization === 'table' || visualization === '' ? content.gridSettings : content.chartSettings;
  const found = Object.keys(settings ?? {}).filter((name) => Object.hasOwn(LEFT_OUT, name) && settings[name] !== null && !(Array.isArray(settings[name]) && settings[name].length === 0));
  return found.map((name) => `Not shown: ${LEFT_OUT[name]}.`);
}

/** @param {any} link @param {string[]} names @returns {LinkContent} */
function linkOf(link, names) {
  const common = { label: String(link.linkLabel ?? link.cellValue ?? ''), before: String(link.preText ?? ''), after: String(link.postText ?? ''), parameter: '', value: '', url: '', why: '' };
  if (link.linkTarget === 'parameter') {
    const parameter = String(link.cellValue ?? '');
    if (!names.includes(parameter)) names.push(parameter);
    return { ...common, to: 'parameter', parameter, value: String(link.subTarget ?? '') };
  }
  if (link.linkTarget === 'Url') return { ...common, to: 'url', url: String(link.cellValue ?? '') };
  return { ...common, to: 'refused', why: `Links to “${link.linkTarget ?? ''}” are not supported.` };
}

/** @param {any} content @param {Common} common @param {string} key @param {string[]} names @param {(what: string, why: string) => RefusedItem} refused @returns {Item} */
function group(content, common, key, names, refused) {
  if (content.groupType === 'template' || content.loadFromTemplateId) return refused(content.title || 'A group', 'Its items are a template of the cloud’s gallery.');
  return {
    ...common, is: 'group', title: String(content.title ?? ''), expandable: content.expandable === true, expanded: content.expanded === true,
    explicit: content.loadType === 'explicit', button: String(content.loadButtonText ?? 'Load'), items: itemsOf(content.items ?? [], `${key}.`, names),
  };
}

/** @param {Item[]} items @returns {Item[]} All items, those of groups too. */
export function everyItem(items) {
  return items.flatMap((item) => (item.is === 'group' ? [item, ...everyItem(item.items)] : [item]));
}
