// The shell: navigation, the application and the time range, and the screen of the address. `begin.js` signs in.

import { effect, html, render, signal, useEffect, useRef, useState } from './vendor/preact.js';
import { address, go, href } from './lib/address.js';
import { application, applications, firstApplication, remember } from './lib/apps.js';
import { lostSince } from './lib/api.js';
import { me, problem, signIn, signOut, state } from './lib/auth.js';
import { bind } from './lib/keys.js';
import { navigation, theme, toggleNavigation, zone } from './lib/preferences.js';
import { time } from './lib/time.js';
import { SCREENS } from './screens/list.js';
import { Commands, openCommands } from './shell/commands.js';
import { Help, openHelp } from './shell/help.js';
import { TimePicker, focusTimePicker } from './shell/time-picker.js';
import { Icon } from './shell/icon.js';

/** The module of the screen of the address. @type {import('./vendor/preact.js').Signal<{name: string, module: any} | null>} */
const loaded = signal(null);
/** Whether the module could not be loaded. */
const failed = signal(false);

function load() {
  const { screen } = address.value;
  const known = SCREENS.find(({ name }) => name === screen);
  if (known === undefined) return;
  failed.value = false;
  known.load().then((module) => {
    if (address.peek().screen === known.name) loaded.value = { name: known.name, module };
    prepare();
  }, () => {
    failed.value = true;
  });
}

/** How long the requests of the first screen have before others are sent, in milliseconds. */
const FIRST = 1500;
let prepared = false;

/** Loads Logs when there is nothing else to do: each panel leads there. */
function prepare() {
  if (prepared) return;
  prepared = true;
  const logs = () => SCREENS.find(({ name }) => name === 'logs')?.load().catch(() => {
    // It is loaded again when it is opened.
  });
  setTimeout(() => ('requestIdleCallback' in globalThis ? requestIdleCallback(logs) : logs()), FIRST);
}

// It needs no one to be signed in.
effect(load);

// An address without a screen or an application leads to one.
effect(() => {
  const { app, screen } = address.value;
  const list = applications.value;
  if (state.value !== 'in' || list === null) return;
  if (screen === 'applications') return;
  if (list.length === 0) {
    go({ app: '', screen: 'applications' }, { replace: true });
  } else if (app === '') {
    const first = firstApplication();
    if (first !== null) go({ app: first.name, screen: screen === '' ? 'overview' : screen }, { replace: true });
  } else if (screen === '') {
    go({ screen: 'overview' }, { replace: true });
  }
});

effect(() => {
  if (application.value !== null) remember(application.value);
});

effect(() => {
  const known = SCREENS.find(({ name }) => name === address.value.screen);
  const parts = [known?.title, application.value?.name, 'Hindsight'];
  document.title = parts.filter((part) => part !== undefined && part !== '').join(' – ');
});

function Shell() {
  switch (state.value) {
    case 'starting': return html`<main class="center" aria-busy="true"></main>`;
    case 'insecure': return html`<${Insecure} />`;
    case 'out': return html`<${SignedOut} />`;
    default: return html`<${SignedIn} />`;
  }
}

function Insecure() {
  return html`<main class="center"><div class="card-page">
    <h1>This connection is not encrypted</h1>
    <p>The portal signs in over TLS, or on this machine by its loopback address. Over plain HTTP a password and what it opens could be read
      on the way.</p>
    <p>Start the server with <code>hindsight serve --dev-tls</code>, give it a certificate (<code>tls.certificate</code>,
      <code>tls.key</code>), or put a proxy with TLS before it and set <code>public_url</code>.</p>
  </div></main>`;
}

function SignedOut() {
  const button = useRef(/** @type {HTMLButtonElement | null} */ (null));
  useEffect(() => button.current?.focus(), []);
  return html`<main class="center"><div class="card-page">
    <h1>Hindsight</h1>
    ${problem.value !== '' && html`<p class="note warn" role="alert">${problem.value}</p>`}
    <p><button ref=${button} class="btn primary" onClick=${signIn}>Sign in</button></p>
    <p class="muted">With a name and a password of <code>hindsight user create</code>. On the machine of the server,
      <code>hindsight portal</code> prints a link that needs neither.</p>
  </div></main>`;
}

function SignedIn() {
  useEffect(() => {
    const ends = [
      bind('Ctrl+K', 'Commands: screens, applications, choices', openCommands),
      bind('?', 'This list of keys', openHelp),
      bind('t', 'Time range', focusTimePicker),
      ...SCREENS.filter(({ key }) => key !== '').map((screen) =>
        bind(`g ${screen.key}`, screen.title, () => open(screen.name))),
    ];
    return () => ends.forEach((end) => end());
  }, []);
  return html`
    <a class="skip" href="#content" onClick=${(/** @type {Event} */ event) => {
      event.preventDefault();
      document.getElementById('content')?.focus();
    }}>Skip to the content</a>
    <div class="shell" data-navigation=${navigation.value}>
      <${Header} />
      <${Navigation} />
      <main id="content" tabindex="-1"><${Banner} /><${Content} /></main>
    </div>
    <${Commands} /><${Help} />`;
}

/** @param {string} screen */
function open(screen) {
  go({ screen, params: {} });
}

function Header() {
  return html`<header class="topbar">
    <button class="btn icon quiet" aria-label="Navigation" aria-expanded=${navigation.value === 'open'} aria-controls="navigation"
      onClick=${toggleNavigation}>
      <${Icon} path="M2 4h12M2 8h12M2 12h12" /></button>
    <a class="brand" href="/portal/" onClick=${follow({ screen: 'overview', params: {} })}><${Icon} path="M1 11l3.5-5.5 3 4 3-6.5 3.5 8" />Hindsight</a>
    <${ApplicationPicker} />
    <span class="grow"></span>
    <${TimePicker} />
    <button class="btn quiet command" onClick=${openCommands}>Commands <kbd>Ctrl K</kbd></button>
    <${Account} />
  </header>`;
}

function ApplicationPicker() {
  const list = applications.value;
  if (list === null || list.length === 0) return null;
  const chosen = application.value?.name ?? '';
  return html`<label class="picker"><span class="visually-hidden">Application</span>
    <select class="input" value=${chosen} onChange=${(/** @type {any} */ event) => {
      const screen = address.value.screen === 'applications' || address.value.screen === 'operation' ? 'overview' : address.value.screen;
      go({ app: event.currentTarget.value, screen });
    }}>
      ${chosen === '' && html`<option value="" disabled>Application</option>`}
      ${list.map(({ name }) => html`<option key=${name} value=${name} selected=${name === chosen}>${name}</option>`)}
    </select></label>`;
}

function Account() {
  const [isOpen, setOpen] = useState(false);
  const box = useRef(/** @type {HTMLElement | null} */ (null));
  useEffect(() => {
    if (!isOpen) return undefined;
    const close = (/** @type {Event} */ event) => {
      if (!(event.target instanceof Node) || !box.current?.contains(event.target)) setOpen(false);
    };
    addEventListener('pointerdown', close);
    return () => removeEventListener('pointerdown', close);
  }, [isOpen]);
  const set = (/** @type {any} */ choice) => (/** @type {any} */ event) => { choice.value = event.currentTarget.value; };
  return html`<div class="account" ref=${box} onKeyDown=${(/** @type {KeyboardEvent} */ event) => {
    if (event.key === 'Escape' && isOpen) {
      event.preventDefault();
      setOpen(false);
      box.current?.querySelector('button')?.focus();
    }
  }}>
    <button class="btn quiet" aria-expanded=${isOpen} aria-controls="account" aria-label=${`Account and display: ${me.value?.name ?? ''}`} onClick=${() => setOpen(!isOpen)}>
      <${Icon} path="M8 2a3 3 0 1 0 0 6 3 3 0 0 0 0-6zM2.5 14a5.5 5.5 0 0 1 11 0" /><span class="wide">${me.value?.name}</span></button>
    ${isOpen && html`<div class="menu" id="account">
      <p><strong>${me.value?.name}</strong><br /><span class="muted">Hindsight ${me.value?.version}</span></p>
      <label>Colours <select class="input" value=${theme.value} onChange=${set(theme)}>
        <option value="system">System</option><option value="light">Light</option><option value="dark">Dark</option></select></label>
      <label>Times <select class="input" value=${zone.value} onChange=${set(zone)}>
        <option value="local">Local</option><option value="utc">UTC</option></select></label>
      <a href="/docs">API reference</a>
      <a href="/portal/licences">Licences</a>
      <button class="btn" onClick=${openHelp}>Keys</button>
      <button class="btn" onClick=${signOut}>Sign out</button>
    </div>`}
  </div>`;
}

function Navigation() {
  const groups = [...new Set(SCREENS.map(({ group }) => group))].filter((group) => group !== '');
  const here = address.value.screen;
  return html`<nav id="navigation" aria-label="Screens">
    ${groups.map((group) => html`<section key=${group}><h2>${group}</h2><ul>
      ${SCREENS.filter((screen) => screen.group === group).map((screen) => html`<li key=${screen.name}>
        <a href=${href({ screen: screen.name, params: {} })} aria-current=${screen.name === here ? 'page' : undefined}
          title=${screen.title} onClick=${follow({ screen: screen.name, params: {} })}>
          <${Icon} path=${screen.icon} /><span>${screen.title}</span></a></li>`)}
    </ul></section>`)}
  </nav>`;
}

/** @param {import('./lib/address.js').Step} step */
function follow(step) {
  return (/** @type {MouseEvent} */ event) => {
    if (event.ctrlKey || event.metaKey || event.shiftKey || event.button !== 0) return;
    event.preventDefault();
    go(step);
    document.getElementById('content')?.focus();
  };
}

/** What is wrong with the session or the connection. */
function Banner() {
  if (state.value === 'ended') {
    return html`<div class="note error" role="alert">The session has ended. Your texts are kept.
      <button class="btn primary" onClick=${signIn}>Sign in again</button></div>`;
  }
  if (lostSince.value !== null) {
    return html`<div class="note warn" role="status">The server cannot be reached since ${time(lostSince.value, { date: false })}. What is shown
      stays; it is tried again.</div>`;
  }
  return null;
}

function Content() {
  const { screen, app } = address.value;
  if (failed.value) {
    return html`<div class="note error" role="alert">A part of the page could not be loaded. <button class="btn" onClick=${load}>Try again</button></div>`;
  }
  const known = SCREENS.find(({ name }) => name === screen);
  if (known === undefined) {
    return screen === '' ? null : html`<div class="screen"><h1>There is no screen “${screen}”</h1>
      <p><a href=${href({ screen: 'overview', params: {} })} onClick=${follow({ screen: 'overview', params: {} })}>Overview</a></p></div>`;
  }
  if (loaded.value?.name !== screen || applications.value === null) return null;
  if (screen === 'applications') return html`<${loaded.value.module.Screen} app="" />`;
  if (application.value === null) {
    return html`<div class="screen"><h1>There is no application “${app}” that you may see</h1>
      <p>Choose another one above, or ask who administers the server.</p></div>`;
  }
  // A screen begins anew for another application.
  return html`${known.plain && html`<h1 class="visually-hidden">${known.title}</h1>`}
    <${loaded.value.module.Screen} key=${`${screen} ${application.value.id}`} app=${application.value.name} />`;
}

render(html`<${Shell} />`, /** @type {HTMLElement} */ (document.getElementById('app')));
