/** Links of the cloud's portal, which are understood where they are pasted. Pure: nothing is asked of the cloud. */

/**
 * The query of a link of the cloud's portal: `…/q/<base64 of gzip>` or `…/query/<text>`, also within its `LogsBlade` addresses.
 * @param {string} link
 * @returns {Promise<string | null>} null where the text is no such link
 */
export async function queryOfCloudLink(link) {
  if (!isCloudLink(link)) return null;
  const text = decodeURIComponent(link.trim());
  const plain = /\/query\/(.+?)(?:\/(?:isQueryEditorVisible|timespan|prettify|source|limit)\b.*)?$/s.exec(text);
  const coded = /(?:\/q\/|[?&]q=)([A-Za-z0-9+/=_%-]+?)(?:\/(?:timespan|prettify|source|limit|isQuery)\b.*)?$/s.exec(text);
  if (coded) {
    const query = await gunzipped(decodeURIComponent(coded[1]));
    if (query !== null) return query;
  }
  return plain ? plain[1] : null;
}

/** @param {string} text */
export function isCloudLink(text) {
  return /^\s*https:\/\/(portal\.azure\.[a-z.]+|[a-z0-9.-]*portal\.azure\.com|portal\.loganalytics\.io|dataexplorer\.azure\.com|[a-z0-9.-]+\.kusto\.windows\.net)\/\S+\s*$/i.test(text)
    && /(\/q\/|[?&]q=|%2Fq%2F|[?&]query=|\/query\/|%2Fquery%2F)/i.test(text);
}

/** @param {string} coded */
async function gunzipped(coded) {
  try {
    const bytes = Uint8Array.from(atob(coded.replaceAll('-', '+').replaceAll('_', '/')), (sign) => sign.charCodeAt(0));
    return await new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
  } catch {
    return null;
  }
}
