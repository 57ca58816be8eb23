#!/usr/bin/env node
// Makes ui/vendor from the packages of package-lock.json: `make ui-vendor`. With --check it makes them in a folder of their own and
// fails where they differ from those in the repository: `make ui-vendor-check`. With --types it checks the types of the portal's sources. The same lock file gives the same bytes.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const UI = dirname(fileURLToPath(import.meta.url));
const VENDOR = join(UI, 'vendor');
const INSTALLED = join(process.env.CARGO_TARGET_DIR ?? join(UI, '..', 'target'), 'ui');

/** The bundles: the names that the portal imports, from the packages that have them. */
const BUNDLES = {
  'preact.js': `
    import { h } from 'preact';
    import htm from 'htm';
    export { h, render, Fragment, createContext, createRef, cloneElement, toChildArray, Component } from 'preact';
    export { useCallback, useContext, useEffect, useErrorBoundary, useId, useLayoutEffect, useMemo, useReducer, useRef, useState } from 'preact/hooks';
    export { batch, computed, effect, signal, untracked, useComputed, useSignal, useSignalEffect } from '@preact/signals';
    export const html = htm.bind(h);`,
  'codemirror.js': `
    export { Compartment, EditorSelection, EditorState, Prec, RangeSetBuilder, StateEffect, StateField } from '@codemirror/state';
    export { Decoration, EditorView, ViewPlugin, drawSelection, highlightActiveLine, highlightSpecialChars, hoverTooltip, keymap, lineNumbers, placeholder,
      tooltips } from '@codemirror/view';
    export { defaultKeymap, history, historyKeymap, indentLess, indentMore, toggleComment } from '@codemirror/commands';
    export { autocompletion, closeBrackets, closeBracketsKeymap, completionKeymap, completionStatus, insertCompletionText, pickedCompletion,
      startCompletion } from '@codemirror/autocomplete';
    export { forceLinting, lintKeymap, nextDiagnostic, setDiagnostics } from '@codemirror/lint';
    export { bracketMatching, indentUnit } from '@codemirror/language';
    export { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search';`,
  'uplot.js': `export { default as uPlot } from 'uplot';`,
  'parquet.js': `export { parquetWriteBuffer } from 'hyparquet-writer';`,
};

/** The parser of the language is a script for a worker: its runtime and itself, one after the other. */
const KUSTO = ['bridge.min.js', 'Kusto.Language.Bridge.min.js'];

/** Its package has no file with a licence: its manifest says MIT, its repository and the runtime are under the Apache License 2.0. */
const KUSTO_LICENCES = (/** @type {string} */ apache) => `Its manifest declares the MIT licence:

${MIT('Microsoft Corporation')}

Its repository, github.com/microsoft/Kusto-Query-Language, is under the Apache License 2.0, and so is the runtime of Bridge.NET, which the
package carries (Copyright 2008-2019 Object.NET, Inc.):

${apache}`;

const MIT = (/** @type {string} */ holder) => `MIT License

Copyright (c) ${holder}

Permission is hereby granted, free of charge, to any person obtaining a copy of this software and associated documentation files (the
"Software"), to deal in the Software without restriction, including without limitation the rights to use, copy, modify, merge, publish,
distribute, sublicense, and/or sell copies of the Software, and to permit persons to whom the Software is furnished to do so, subject to
the following conditions:

The above copyright notice and this permission notice shall be included in all copies or substantial portions of the Software.

THE SOFTWARE IS PROVIDED "AS IS", WITHOUT WARRANTY OF ANY KIND, EXPRESS OR IMPLIED, INCLUDING BUT NOT LIMITED TO THE WARRANTIES OF
MERCHANTABILITY, FITNESS FOR A PARTICULAR PURPOSE AND NONINFRINGEMENT. IN NO EVENT SHALL THE AUTHORS OR COPYRIGHT HOLDERS BE LIABLE FOR ANY
CLAIM, DAMAGES OR OTHER LIABILITY, WHETHER IN AN ACTION OF CONTRACT, TORT OR OTHERWISE, ARISING FROM, OUT OF OR IN CONNECTION WITH THE
SOFTWARE OR THE USE OR OTHER DEALINGS IN THE SOFTWARE.`;

/** Installs the packages of the lock file, unless these are there already. */
function install() {
  const lock = readFileSync(join(UI, 'package-lock.json'), 'utf8');
  const stamp = join(INSTALLED, 'installed-from');
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lock) return;
  rmSync(INSTALLED, { recursive: true, force: true });
  mkdirSync(INSTALLED, { recursive: true });
  for (const file of ['package.json', 'package-lock.json']) copyFileSync(join(UI, file), join(INSTALLED, file));
  execFileSync('npm', ['ci', '--silent', '--no-audit', '--no-fund', '--no-update-notifier'], { cwd: INSTALLED, stdio: 'inherit' });
  writeFileSync(stamp, lock);
}

const package_ = (/** @type {string} */ name) => join(INSTALLED, 'node_modules', name);
const manifest = (/** @type {string} */ name) => JSON.parse(readFileSync(join(package_(name), 'package.json'), 'utf8'));

/** @param {string} folder where the bundles are written */
async function make(folder) {
  const { build } = await import(join(package_('esbuild'), 'lib', 'main.js'));
  mkdirSync(folder, { recursive: true });
  /** @type {Map<string, Set<string>>} */
  const used = new Map();
  for (const [file, contents] of Object.entries(BUNDLES)) {
    const result = await build({
      stdin: { contents, resolveDir: INSTALLED, sourcefile: file }, outfile: join(folder, file), absWorkingDir: INSTALLED, bundle: true,
      minify: true, format: 'esm', target: 'es2022', legalComments: 'none', metafile: true, logLevel: 'warning', charset: 'utf8',
    });
    const packages = Object.keys(result.metafile.inputs).map((path) => /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1]);
    used.set(file, new Set(/** @type {string[]} */ (packages.filter(Boolean))));
  }
  copyFileSync(join(package_('uplot'), 'dist', 'uPlot.min.css'), join(folder, 'uplot.css'));
  const service = '@kusto/language-service-next';
  writeFileSync(join(folder, 'kusto.js'), KUSTO.map((file) => readFileSync(join(package_(service), file), 'utf8').replace(/^\/\/# sourceMappingURL=.*$/gm, '')).join('\n;\n'));
  used.set('kusto.js', new Set([service]));
  writeFileSync(join(folder, 'LICENSES.txt'), licences(used));
}

/** @param {string} name */
function licenceOf(name) {
  const file = readdirSync(package_(name)).find((entry) => /^licen[cs]e/i.test(entry));
  return file ? readFileSync(join(package_(name), file), 'utf8').trim() : null;
}

/** @param {Map<string, Set<string>>} used the packages in each bundle */
function licences(used) {
  const bundles = (/** @type {string} */ name) => [...used].filter(([, packages]) => packages.has(name)).map(([file]) => file).join(', ');
  const apache = /** @type {string} */ (licenceOf('htm'));
  const parts = [...new Set([...used.values()].flatMap((packages) => [...packages]))].sort().map((name) => {
    const { version, license } = manifest(name);
    const text = name === '@kusto/language-service-next' ? KUSTO_LICENCES(apache) : licenceOf(name);
    if (!text) throw new Error(`${name} has no licence file`);
    return `${name} ${version} (${license}), in ${bundles(name)}\n\n${text}\n`;
  });
  const head = 'The portal carries these programs of others, each under its licence.\n';
  return [head, ...parts].join(`\n${'='.repeat(100)}\n\n`);
}

/** @param {string} folder */
function differences(folder) {
  const names = new Set([...readdirSync(folder), ...readdirSync(VENDOR).filter((name) => !name.endsWith('.d.ts'))]);
  return [...names].filter((name) => {
    const [made, kept] = [join(folder, name), join(VENDOR, name)];
    return !existsSync(made) || !existsSync(kept) || !readFileSync(made).equals(readFileSync(kept));
  });
}

install();
if (process.argv.includes('--types')) {
  const { status } = spawnSync(join(INSTALLED, 'node_modules', '.bin', 'tsc'), ['--project', join(UI, 'tsconfig.json')], { stdio: 'inherit' });
  process.exitCode = status ?? 1;
} else if (process.argv.includes('--check')) {
  const folder = mkdtempSync(join(tmpdir(), 'ui-vendor-'));
  try {
    await make(folder);
    const different = differences(folder);
    if (different.length > 0) {
      console.error(`ui/vendor is not what package-lock.json makes: ${different.join(', ')}. Run \`make ui-vendor\`.`);
      process.exitCode = 1;
    } else console.log('ui/vendor is what package-lock.json makes');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
} else await make(VENDOR);
