#!/usr/bin/env node
'use strict';
// Runs the official parser over queries, each with the tables that it may read. In the folder where the parser is installed:
// node check.js < in.jsonl > out.jsonl, with lines { query, tables: { name: [[column, type], …] } } in and
// { codes: [of each error, CRASH if the parser itself fails], columns: [[name, type], …] or null, errors: [[start, message], …] } out.
const fs = require('fs');
const path = require('path');
const { globals, check } = require(path.resolve('kusto.js'));

// Most queries read the same tables.
const known = new Map();
function catalogue(tables) {
  const key = JSON.stringify(tables);
  if (!known.has(key)) known.set(key, globals({ tables }));
  return known.get(key);
}

// The parser itself fails on some queries, such as a graph operator over rows: they have no verdict.
function verdict(query, known) {
  try {
    return check(query, known);
  } catch {
    return { diagnostics: [{ severity: 'Error', code: 'CRASH' }], columns: null };
  }
}

for (const line of fs.readFileSync(0, 'utf8').split('\n')) {
  if (!line) continue;
  const { query, tables } = JSON.parse(line);
  const { diagnostics, columns } = verdict(query, catalogue(tables));
  const errors = diagnostics.filter(d => d.severity === 'Error');
  console.log(JSON.stringify({
    codes: errors.map(d => d.code),
    columns: columns && columns.map(c => [c.name, c.type]),
    errors: errors.map(d => [d.start, d.message]),
  }));
}
