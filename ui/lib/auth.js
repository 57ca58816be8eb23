// Signing in: authorisation code with PKCE at the issuer of the own origin. Tokens live in the memory of the page alone.

import { signal } from '../vendor/preact.js';
import { address, parse } from './address.js';
import { forgetTexts } from './preferences.js';

const CLIENT = 'hindsight-portal';
const AUTHORIZE = '/common/oauth2/v2.0/authorize';
const TOKEN = '/common/oauth2/v2.0/token';
const SESSION = '/portal/session';
/** What a sign-in that is on its way needs on its return: in the session of this tab, and removed then. */
const PENDING = 'hindsight.signin';
/** How long before its end a token is renewed, in milliseconds. */
const EARLY = 5 * 60_000;

/**
 * @typedef {object} Me
 * @property {string} name
 * @property {string[]} rights On every application: `read`, `ingest`, `admin`.
 * @property {string} version Of the program.
 */

/** Who is signed in. @type {import('../vendor/preact.js').Signal<Me | null>} */
export const me = signal(null);

/**
 * How far signing in is. `ended`: the session has ended while the page was open; `insecure`: the connection is not encrypted.
 * @type {import('../vendor/preact.js').Signal<'starting' | 'out' | 'in' | 'ended' | 'insecure'>}
 */
export const state = signal('starting');

/** What went wrong while signing in. @type {import('../vendor/preact.js').Signal<string>} */
export const problem = signal('');

/** @type {{access: string, refresh: string | null, ends: number} | null} */
let tokens = null;
/** @type {Promise<void> | null} */
let renewing = null;

/** Begins: with the printed link, with the answer of the issuer, or by asking it with the session that the browser may have. */
export async function start() {
  if (!isSecureContext || crypto.subtle === undefined) {
    state.value = 'insecure';
    return;
  }
  const link = new URLSearchParams(location.hash.slice(1)).get('t');
  if (link !== null) {
    history.replaceState(null, '', location.pathname + location.search);
    const reply = await fetch(SESSION, {
      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ token: link }),
    });
    if (!reply.ok) {
      problem.value = await sentence(reply);
      state.value = 'out';
      return;
    }
    await askSession();
    return;
  }
  const answer = new URLSearchParams(location.search);
  const pending = takePending();
  if (answer.has('state') && (answer.has('code') || answer.has('error'))) {
    const target = pending?.target ?? '/portal/';
    history.replaceState(null, '', target);
    const url = new URL(target, location.origin);
    address.value = parse(url.pathname, url.search);
    await take(answer, pending);
    return;
  }
  await askSession();
}

/**
 * Asks the issuer for a code with the session of the browser. A request of the page does, and the page stays: the issuer sends it back to
 * the page's own origin, where its address can be read.
 */
async function askSession() {
  const { pending, query } = await request('none', location.pathname + location.search);
  const reply = await fetch(`${AUTHORIZE}?${query}`, { cache: 'no-store', priority: 'high' });
  const answer = new URL(reply.url);
  if (answer.origin + answer.pathname === redirect()) await take(answer.searchParams, pending);
  // The issuer says on a page of its own why it sends nobody back.
  else leave(pending, query);
}

/** Takes the answer of the issuer. @param {URLSearchParams} answer @param {Pending | null} pending */
async function take(answer, pending) {
  if (pending === null || pending.state !== answer.get('state')) {
    problem.value = 'The answer of the sign-in does not belong to this page.';
    state.value = 'out';
    return;
  }
  const code = answer.get('code');
  if (code === null) {
    const error = answer.get('error');
    problem.value = error === 'login_required' ? '' : answer.get('error_description') ?? error ?? '';
    state.value = 'out';
    return;
  }
  await exchange({ grant_type: 'authorization_code', code, code_verifier: pending.verifier, redirect_uri: redirect() });
  // What is shown waits for the token alone.
  state.value = 'in';
  await loadMe();
}

/** Leaves the page for the issuer's, and comes back to the same address. */
export async function signIn() {
  const { pending, query } = await request('', location.pathname + location.search);
  leave(pending, query);
}

/** Revokes the tokens, ends the session of the browser, and forgets drafts. */
export async function signOut() {
  const held = tokens;
  tokens = null;
  me.value = null;
  forgetTexts();
  if (held !== null) {
    await fetch('/portal/api/sign-out', { method: 'POST', headers: { Authorization: `Bearer ${held.access}` } });
  }
  problem.value = 'You are signed out.';
  state.value = 'out';
}

/**
 * An access token that is good for some minutes.
 * @param {{fresh?: boolean}} [how] `fresh`: the present one was refused.
 * @returns {Promise<string>}
 */
export async function token({ fresh = false } = {}) {
  if (tokens === null) throw new Error('You are not signed in.');
  if (fresh || tokens.ends - Date.now() < EARLY) {
    renewing ??= renewed().finally(() => {
      renewing = null;
    });
    await renewing;
  }
  return tokens.access;
}

async function renewed() {
  const refresh = tokens?.refresh ?? null;
  try {
    if (refresh === null) throw new Error('There is no refresh token.');
    await exchange({ grant_type: 'refresh_token', refresh_token: refresh });
  } catch (error) {
    // A token that is still good is used to its end.
    if (tokens !== null && tokens.ends > Date.now() && !(error instanceof Refused)) return;
    state.value = 'ended';
    throw error;
  }
}

/** The issuer's refusal. */
class Refused extends Error {}

/** @param {Record<string, string>} fields */
async function exchange(fields) {
  const body = new URLSearchParams({ client_id: CLIENT, ...fields });
  const reply = await fetch(TOKEN, { method: 'POST', body });
  if (!reply.ok) {
    const message = await sentence(reply);
    throw reply.status === 400 || reply.status === 401 ? new Refused(message) : new Error(message);
  }
  const given = await reply.json();
  tokens = {
    access: given.access_token,
    refresh: given.refresh_token ?? null,
    ends: Date.now() + Number(given.expires_in) * 1000,
  };
}

async function loadMe() {
  const reply = await fetch('/portal/api/me', { headers: { Authorization: `Bearer ${await token()}` } });
  if (!reply.ok) throw new Error(await sentence(reply));
  me.value = await reply.json();
}

function redirect() {
  return location.origin + '/portal/';
}

/**
 * @typedef {{state: string, verifier: string, target: string}} Pending What the answer to a request needs. `target`: where the page is then.
 */

/**
 * A request for a code.
 * @param {string} prompt @param {string} target
 * @returns {Promise<{pending: Pending, query: URLSearchParams}>}
 */
async function request(prompt, target) {
  const verifier = random();
  const key = random();
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(verifier)));
  const of = location.origin;
  const query = new URLSearchParams({
    client_id: CLIENT, response_type: 'code', redirect_uri: redirect(), state: key,
    scope: `openid offline_access ${of}/Data.Read ${of}/Data.Write ${of}/Data.Manage`,
    code_challenge: base64url(hash), code_challenge_method: 'S256',
  });
  if (prompt !== '') query.set('prompt', prompt);
  return { pending: { state: key, verifier, target }, query };
}

/** Leaves the page for the issuer's. @param {Pending} pending @param {URLSearchParams} query */
function leave(pending, query) {
  sessionStorage.setItem(PENDING, JSON.stringify(pending));
  location.replace(`${AUTHORIZE}?${query}`);
}

/** @returns {Pending | null} */
function takePending() {
  const text = sessionStorage.getItem(PENDING);
  sessionStorage.removeItem(PENDING);
  return text === null ? null : JSON.parse(text);
}

function random() {
  return base64url(crypto.getRandomValues(new Uint8Array(32)));
}

/** @param {Uint8Array} bytes */
function base64url(bytes) {
  return btoa(String.fromCharCode(...bytes)).replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '');
}

/** The sentence of a refusal, in the server's words. @param {Response} reply */
async function sentence(reply) {
  try {
    const body = await reply.json();
    const inner = body.error?.innererror?.message ?? body.error?.message ?? body.error_description ?? body.error;
    return String(inner);
  } catch {
    return `The server answered with status ${reply.status}.`;
  }
}
