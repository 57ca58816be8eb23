// Trusted Types: the page runs no scripts but those of the portal's own folder. Browsers without Trusted Types take the address as it is.

/** The folder of all files: this one is in `lib`. */
const FILES = new URL('..', import.meta.url).href;

/** @type {{createScriptURL: (address: string) => any} | undefined} */
const policy = /** @type {any} */ (globalThis).trustedTypes?.createPolicy('hindsight', {
  createScriptURL: (/** @type {string} */ address) => {
    if (!address.startsWith(FILES)) throw new TypeError(`${address} is no script of the portal`);
    return address;
  },
});

/** The address of a worker's script. @param {URL} address @returns {string} */
export function scriptAddress(address) {
  return policy === undefined ? address.href : policy.createScriptURL(address.href);
}
