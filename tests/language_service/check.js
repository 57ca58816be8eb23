#!/usr/bin/env node
'use strict';
// Runs the official parser over queries, each with the tables that it may read. In the folder where the parser is installed:
// node check.js < in.jsonl > out.jsonl, with lines { query, tables: { name: [[column, type], …] } } in and
// { codes: [of each error, CRASH if the parser itself fails], columns: [[name, type], …] or null } out.
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

for (const line of fs.readFileSync(0, 'utf8').split('\n')) {
  if (!line) continue;
  const { query, tables } = JSON.parse(line);
  let diagnostics, columns;
  try {
    ({ diagnostics, columns } = check(query, catalogue(tables)));
  } catch (error) {
    // The official parser itself fails on some queries; they have no verdict.
    [diagnostics, columns] = [[{ severity: 'Error', code: 'CRASH' }], null];
  }
  const codes = diagnostics.filter(d => d.severity === 'Error').map(d => d.code);
  console.log(JSON.stringify({ codes, columns: columns && columns.map(c => [c.name, c.type]) }));
}
