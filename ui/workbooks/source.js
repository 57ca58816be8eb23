/** What a query of a workbook asks: Logs of this application, by the names of its tables or by those of a workspace. Pure. */

const APPLICATIONS = 'microsoft.insights/components';
export const WORKSPACES = 'microsoft.operationalinsights/workspaces';

/** Why a query, of an item or of a parameter, is not asked; empty where it is. @param {any} content */
export function refusalOfQuery(content) {
  const type = content.queryType ?? 0;
  if (type !== 0) return `Its data source is not Logs (queryType ${type}).`;
  if (![undefined, null, '', APPLICATIONS, WORKSPACES].includes(content.resourceType)) return `It asks resources of the type “${content.resourceType}”.`;
  const others = (content.crossComponentResources ?? []).filter((/** @type {any} */ one) => !/^\{[A-Za-z_]\w*\}$/.test(one) && !/^value::/.test(one));
  return others.length > 0 ? `It asks another resource: ${others[0]}` : '';
}
