/** KQL texts of JavaScript values. */

/** A string literal. */
export function string(text) {
  const escapes = { '\\': '\\\\', '"': '\\"', '\n': '\\n', '\r': '\\r', '\t': '\\t' };
  return `"${text.replace(/[\\"\n\r\t]/g, (character) => escapes[character])}"`;
}

/** A column's name. */
export function name(text) {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(text) ? text : `[${string(text)}]`;
}

/** A literal. A value of a type that KQL does not have is a TypeError. */
export function literal(value) {
  switch (typeof value) {
    case 'boolean': return String(value);
    case 'string': return string(value);
    case 'bigint': return `long(${value})`;
    case 'number':
      if (Number.isSafeInteger(value)) return `long(${value})`;
      if (Number.isNaN(value)) return 'real(nan)';
      return `real(${Number.isFinite(value) ? value : value > 0 ? '+inf' : '-inf'})`;
    default:
      if (value instanceof Date) return `datetime(${value.toISOString()})`;
      throw new TypeError(`${String(value)} has no type of KQL`);
  }
}

/** The predicates under which a column has a value; an object is about the keys of a property bag. */
export function equals(column, value) {
  const path = column.endsWith(']') ? column : name(column);
  if (value === null || value === undefined) return [`isempty(${path})`];
  if (typeof value === 'object' && !(value instanceof Date)) {
    return Object.entries(value).flatMap(([key, inner]) => equals(`${path}[${string(key)}]`, inner));
  }
  return [`${path} == ${literal(value)}`];
}
