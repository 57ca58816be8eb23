// Lengths of time. This module needs no page, so that tests and workers can use it.

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;

/** A length in words: `90 minutes`, `2 days`. @param {number} length Milliseconds. */
export function words(length) {
  const units = /** @type {[number, string][]} */ ([[DAY, 'day'], [HOUR, 'hour'], [MINUTE, 'minute'], [SECOND, 'second']]);
  const [width, unit] = units.find(([width]) => length >= width && length % width === 0) ?? [SECOND, 'second'];
  const count = Math.round(length / width);
  return `${count} ${unit}${count === 1 ? '' : 's'}`;
}
