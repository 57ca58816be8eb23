#!/usr/bin/env node
// Runs the program of this platform with the same arguments, and ends as it does.
'use strict';
const { spawn } = require('node:child_process');

const name = `hindsight-server-${process.platform}-${process.arch}`;
let program;
try {
  program = require.resolve(`${name}/bin/hindsight`);
} catch {
  console.error(`hindsight-server has no program for ${process.platform} on ${process.arch}: the package ${name} is not installed.`);
  process.exit(1);
}
const child = spawn(program, process.argv.slice(2), { stdio: 'inherit' });
child.on('error', (error) => {
  console.error(`${program} cannot be run: ${error.message}`);
  process.exit(1);
});
// A terminal sends its signals to both; others reach this process alone.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
  process.on(signal, () => {
    if (!process.stdin.isTTY || signal === 'SIGTERM') child.kill(signal);
  });
}
child.on('exit', (code, signal) => {
  if (signal === null) process.exit(code);
  process.removeAllListeners(signal);
  process.kill(process.pid, signal);
});
