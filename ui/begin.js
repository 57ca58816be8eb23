// What the page begins with, before the modules of the shell have come: signing in, and the list of applications.

import { effect } from './vendor/preact.js';
import { loadApplications } from './lib/apps.js';
import { problem, start, state } from './lib/auth.js';

effect(() => {
  if (state.value === 'in') {
    loadApplications().catch(() => {
      // The banner says what is wrong with the server.
    });
  }
});

start().catch((error) => {
  problem.value = error instanceof TypeError ? 'The server cannot be reached.' : String(error.message);
  state.value = 'out';
});
