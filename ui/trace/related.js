/** Queries that lead on from an item. Pure. */
import { literal } from '../lib/kql-text.js';

/** The tables whose items form an operation. */
const TABLES = 'requests, dependencies, exceptions, traces, pageViews, customEvents, availabilityResults';

/** The most items that are shown of one operation. */
export const MOST_ITEMS = 10_000;

/** All items of an operation, as the waterfall shows them. @param {string} operation */
export function operationQuery(operation) {
  return `union ${TABLES}\n| where operation_Id == ${literal(operation)}\n| order by timestamp asc\n| take ${MOST_ITEMS}`;
}

/** Operations that began last: where one starts who has no id. */
export const RECENT = 'requests\n| top 200 by timestamp desc\n| project timestamp, operation_Name, operation_Id, success, resultCode, duration, cloud_RoleName';

/**
 * @param {import('./tree.js').Item} item @param {string} operation
 * @returns {{title: string, query: string, around?: boolean}[]} `around`: within some minutes of the item
 */
export function relatedOf(item, operation) {
  /** @type {{title: string, query: string, around?: boolean}[]} */
  const out = [{ title: 'All items of this operation', query: operationQuery(operation), around: true }];
  out.push({ title: 'Traces of this operation', query: `traces\n| where operation_Id == ${literal(operation)}\n| order by timestamp asc`, around: true });
  const table = TABLE_OF[item.itemType];
  if (table && item.itemId) out.push({ title: 'This item alone', query: `${table}\n| where itemId == ${literal(item.itemId)}`, around: true });
  if (item.role) out.push({ title: 'Traces and exceptions of this role, within 5 minutes', query: `union traces, exceptions\n| where cloud_RoleName == ${literal(item.role)}\n| order by timestamp asc\n| take 500`, around: true });
  if (item.itemType === 'request') out.push({ title: 'Requests of this name over time', query: `requests\n| where name == ${literal(item.name)}\n| summarize total = sum(itemCount), failed = sumif(itemCount, success == false) by bin(timestamp, 5m)\n| render timechart` });
  if (item.itemType === 'dependency') out.push({ title: 'Calls of this target over time', query: `dependencies\n| where target == ${literal(item.target)}\n| summarize total = sum(itemCount), failed = sumif(itemCount, success == false), percentile(duration, 95) by bin(timestamp, 5m)\n| render timechart` });
  if (item.itemType === 'exception' && item.type) out.push({ title: 'Exceptions of this type', query: `exceptions\n| where type == ${literal(item.type)}\n| project timestamp, problemId, outerMessage, cloud_RoleName, operation_Id\n| order by timestamp desc\n| take 200` });
  return out;
}

/** @type {Record<string, string>} */
const TABLE_OF = { request: 'requests', dependency: 'dependencies', exception: 'exceptions', trace: 'traces', pageView: 'pageViews', customEvent: 'customEvents', availabilityResult: 'availabilityResults' };
