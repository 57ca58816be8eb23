// Time ranges, the widths of bins, and how times are written.

import { computed } from '../vendor/preact.js';
import { address, go } from './address.js';
import { DAY, HOUR, MINUTE, SECOND, words } from './length.js';
import { zone } from './preferences.js';

export { words, zone };

/**
 * @typedef {object} Range
 * @property {string} text As the address has it: `PT24H`, or a start and a duration or end with a slash between.
 * @property {string} timespan As requests send it.
 * @property {boolean} relative Whether it ends now.
 * @property {number} length In milliseconds.
 * @property {number | null} from In milliseconds since 1970; `null` for a relative one.
 * @property {number | null} to
 * @property {string} label
 */

/** What Logs and every panel begin with; it is shown. */
export const DEFAULT_RANGE = 'PT24H';

/** The ranges of the picker. @type {readonly [string, string][]} */
export const RANGES = [
  ['PT5M', 'Last 5 minutes'], ['PT30M', 'Last 30 minutes'], ['PT1H', 'Last hour'], ['PT4H', 'Last 4 hours'],
  ['PT12H', 'Last 12 hours'], ['PT24H', 'Last 24 hours'], ['P2D', 'Last 2 days'], ['P3D', 'Last 3 days'],
  ['P7D', 'Last 7 days'], ['P30D', 'Last 30 days'], ['P90D', 'Last 90 days'],
];

/**
 * The length of an ISO 8601 duration of weeks, days, hours, minutes and seconds.
 * @param {string} text
 * @returns {number | null} Milliseconds.
 */
export function duration(text) {
  const parts = /^P(?:(\d+)W)?(?:(\d+)D)?(?:T(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?$/.exec(text);
  if (parts === null || text.endsWith('P') || text.endsWith('T')) return null;
  const [weeks, days, hours, minutes, seconds] = parts.slice(1).map((part) => Number(part ?? 0));
  const length = weeks * 7 * DAY + days * DAY + hours * HOUR + minutes * MINUTE + seconds * SECOND;
  return length > 0 ? length : null;
}

/** @param {string | null} text @returns {Range} The default for a text that is no range. */
export function parseRange(text) {
  const known = text ?? DEFAULT_RANGE;
  const relative = duration(known);
  if (relative !== null) {
    const label = RANGES.find(([value]) => value === known)?.[1] ?? `Last ${words(relative)}`;
    return { text: known, timespan: known, relative: true, length: relative, from: null, to: null, label };
  }
  const [start, rest] = known.split('/');
  const from = Date.parse(start);
  const length = duration(rest ?? '');
  const to = length === null ? Date.parse(rest ?? '') : from + length;
  if (!Number.isFinite(from) || !Number.isFinite(to) || to <= from) return parseRange(DEFAULT_RANGE);
  const timespan = `${new Date(from).toISOString()}/${new Date(to).toISOString()}`;
  return { text: known, timespan, relative: false, length: to - from, from, to, label: `${time(from)} – ${time(to)}` };
}

/** The time range of the address. */
export const range = computed(() => {
  // Times in the label follow the zone.
  zone.value;
  return parseRange(address.value.params.get('t'));
});

/**
 * A range between two times, as the address has it.
 * @param {number} from Milliseconds since 1970.
 * @param {number} to
 */
export function between(from, to) {
  return `${new Date(from).toISOString()}/${new Date(Math.max(to, from + 1)).toISOString()}`;
}

/** Replaces the time range, as one step of the history. @param {string} text */
export function setRange(text) {
  go({ params: { t: text } });
}

/** Widths of bins. @type {readonly [number, string][]} */
const BINS = [
  [SECOND, '1s'], [2 * SECOND, '2s'], [5 * SECOND, '5s'], [10 * SECOND, '10s'], [15 * SECOND, '15s'], [30 * SECOND, '30s'],
  [MINUTE, '1m'], [2 * MINUTE, '2m'], [5 * MINUTE, '5m'], [10 * MINUTE, '10m'], [15 * MINUTE, '15m'], [30 * MINUTE, '30m'],
  [HOUR, '1h'], [2 * HOUR, '2h'], [3 * HOUR, '3h'], [6 * HOUR, '6h'], [12 * HOUR, '12h'], [DAY, '1d'],
];

/**
 * The width of about 60 bins in a range, as a literal of KQL from `1s` to `1d`.
 * @param {{length: number}} of
 */
export function binOf({ length }) {
  const wanted = length / 60;
  const found = BINS.find(([width]) => width >= wanted * 0.8);
  return (found ?? BINS[BINS.length - 1])[1];
}

const two = (/** @type {number} */ number) => String(number).padStart(2, '0');

/**
 * A time in the chosen zone: `2026-11-22 08:15:30`, with `.123` where asked.
 * @param {number | string | Date} value
 * @param {{milliseconds?: boolean, date?: boolean}} [how]
 */
export function time(value, { milliseconds = false, date = true } = {}) {
  const at = new Date(value);
  if (Number.isNaN(at.getTime())) return String(value);
  const utc = zone.value === 'utc';
  const day = utc ? [at.getUTCFullYear(), at.getUTCMonth(), at.getUTCDate()] : [at.getFullYear(), at.getMonth(), at.getDate()];
  const clock = utc ? [at.getUTCHours(), at.getUTCMinutes(), at.getUTCSeconds()] : [at.getHours(), at.getMinutes(), at.getSeconds()];
  const rest = milliseconds ? '.' + String(at.getUTCMilliseconds()).padStart(3, '0') : '';
  const shown = clock.map(two).join(':') + rest;
  return date ? `${day[0]}-${two(day[1] + 1)}-${two(day[2])} ${shown}` : shown;
}

/** How long ago: `3 minutes ago`. @param {number} at Milliseconds since 1970. @param {number} now */
export function ago(at, now) {
  const length = Math.max(0, now - at);
  if (length < 5 * SECOND) return 'now';
  const units = /** @type {[number, string][]} */ ([[DAY, 'day'], [HOUR, 'hour'], [MINUTE, 'minute'], [SECOND, 'second']]);
  const [width, unit] = units.find(([width]) => length >= width) ?? [SECOND, 'second'];
  const count = Math.floor(length / width);
  return `${count} ${unit}${count === 1 ? '' : 's'} ago`;
}

/** A duration in milliseconds as people read it: `12 ms`, `1.2 s`, `3.4 min`. @param {number | null} value */
export function milliseconds(value) {
  if (value === null || value === undefined || Number.isNaN(value)) return '';
  if (value < 10) return `${trim(value, 1)} ms`;
  if (value < 1000) return `${Math.round(value)} ms`;
  if (value < 60_000) return `${trim(value / 1000, value < 10_000 ? 2 : 1)} s`;
  return `${trim(value / 60_000, 1)} min`;
}

/** @param {number} value @param {number} digits */
function trim(value, digits) {
  return String(Number(value.toFixed(digits)));
}

/** A count as people read it: `1,234`, `12.3k`, `4.5M`. @param {number | null} value */
export function count(value) {
  if (value === null || value === undefined) return '';
  if (value < 10_000) return value.toLocaleString('en');
  if (value < 1_000_000) return `${trim(value / 1000, 1)}k`;
  if (value < 1_000_000_000) return `${trim(value / 1_000_000, 1)}M`;
  return `${trim(value / 1_000_000_000, 1)}G`;
}

/** Bytes as people read them. @param {number | null} value */
export function bytes(value) {
  if (value === null || value === undefined) return '';
  const units = ['bytes', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  let rest = value;
  while (rest >= 1000 && unit < units.length - 1) {
    rest /= 1000;
    unit += 1;
  }
  return `${trim(rest, rest < 10 && unit > 0 ? 1 : 0)} ${units[unit]}`;
}
