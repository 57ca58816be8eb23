/** Style sheets of components, which come with the component that is shown first. */

/** @type {Set<string>} */
const loaded = new Set();

/** Adds a style sheet to the page once. @param {URL} address */
export function stylesheet(address) {
  if (loaded.has(address.href)) return;
  loaded.add(address.href);
  const link = document.createElement('link');
  link.rel = 'stylesheet';
  link.href = address.href;
  document.head.append(link);
}
