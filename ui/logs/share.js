/** A query as lines for a terminal. Pure. */

/** One word of a POSIX shell. @param {string} text */
export function shellWord(text) {
  return /^[A-Za-z0-9_./:=@%+-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`;
}

/**
 * The request as `curl`; the key is a variable of the shell and in no text.
 * @param {{origin: string, app: string, text: string, timespan: string}} query
 */
export function curlLine({ origin, app, text, timespan }) {
  const body = JSON.stringify({ query: text, timespan });
  return `curl -s ${shellWord(`${origin}/v1/apps/${encodeURIComponent(app)}/query`)} -H "X-Api-Key: $KEY" -H 'Content-Type: application/json' -d ${shellWord(body)}`;
}

/** The same by the program, for results beyond what a page exports. @param {{origin: string, app: string, text: string, timespan: string}} query */
export function commandLine({ origin, app, text, timespan }) {
  return `HINDSIGHT_KEY=$KEY hindsight query --url ${shellWord(origin)} --app ${shellWord(app)} --timespan ${shellWord(timespan)} --output csv ${shellWord(text)}`;
}
