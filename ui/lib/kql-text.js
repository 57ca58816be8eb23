// Texts of queries with values in them.

/**
 * A string literal of KQL.
 * @param {string} text
 */
export function literal(text) {
  const escaped = text.replace(/[\\"\u0000-\u001f\u007f-\u009f\u2028\u2029]/g, (character) => {
    switch (character) {
      case '\\': return '\\\\';
      case '"': return '\\"';
      case '\n': return '\\n';
      case '\r': return '\\r';
      case '\t': return '\\t';
      default: return '\\u' + character.charCodeAt(0).toString(16).padStart(4, '0');
    }
  });
  return `"${escaped}"`;
}

/**
 * A column's name in a query, in brackets where it is no plain name.
 * @param {string} column
 */
export function name(column) {
  return /^[A-Za-z_][A-Za-z0-9_]*$/.test(column) ? column : `[${literal(column)}]`;
}

/**
 * A panel's text with its placeholders filled in: `{bin}` with a span such as `5m`, every other `{name}` with a string literal.
 * A placeholder without a value stays, so that the query is refused and not another one.
 * @param {string} text
 * @param {Record<string, string>} values
 */
export function fill(text, values) {
  return text.replace(/\{([a-z][A-Za-z]*)\}/g, (whole, key) => {
    if (!(key in values)) return whole;
    return key === 'bin' ? values[key] : literal(values[key]);
  });
}
