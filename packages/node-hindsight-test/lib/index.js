/** Hindsight in test mode for node's test runner. */
import { after, before, beforeEach } from 'node:test';
import { Hindsight } from './server.js';

export { Expectation } from './expect.js';
export { Hindsight, HindsightError } from './server.js';
export { tables } from './tables.js';

/** Starts a server. */
export async function start(options) {
  return new Hindsight(options).start();
}

/** A server for the tests of a file: started before them, reset before each, stopped after them. */
export function useHindsight(options) {
  const hindsight = new Hindsight(options);
  before(() => hindsight.start());
  beforeEach(async () => {
    await hindsight.clock.followMachine();
    await hindsight.reset();
  });
  after(() => hindsight.stop());
  return hindsight;
}
