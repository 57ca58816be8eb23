/** Links to Logs with a text. */
import { address, go, href, packed } from '../lib/address.js';

/**
 * @param {string} text
 * @param {Record<string, string | null>} [params] such as `t`, `v`
 * @returns {Promise<string>}
 */
export async function logsHref(text, params = {}) {
  return href({ screen: 'logs', params: new URLSearchParams(given({ ...keptRange(), ...(await packed(text)), ...params })) });
}

/** @param {string} text @param {Record<string, string | null>} [params] */
export async function openInLogs(text, params = {}) {
  go({ screen: 'logs', params: new URLSearchParams(given({ ...keptRange(), ...(await packed(text)), ...params })) });
}

function keptRange() {
  return { t: address.peek().params.get('t') };
}

/** @param {Record<string, string | null>} params @returns {Record<string, string>} */
function given(params) {
  return /** @type {Record<string, string>} */ (Object.fromEntries(Object.entries(params).filter(([, value]) => value !== null)));
}
