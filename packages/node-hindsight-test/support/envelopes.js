/** What an SDK sends, without an SDK. */

/** Sends an item for each of `data`; resolves when they are acknowledged. */
export async function send(hindsight, baseType, ...data) {
  const item = (baseData) => (
    { time: new Date().toISOString(), iKey: hindsight.instrumentationKey, data: { baseType, baseData } });
  const reply = await fetch(`${hindsight.url}/v2.1/track`, { method: 'POST', body: JSON.stringify(data.map(item)) });
  const verdict = await reply.json();
  if (verdict.itemsAccepted !== data.length) throw new Error(JSON.stringify(verdict));
}

export function request(name, more = {}) {
  return { id: '1', name, duration: '00:00:00.0500000', responseCode: '200', success: true, ...more };
}
