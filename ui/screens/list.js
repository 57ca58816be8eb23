// The screens: how they are named, where they stand in the navigation, and how they are loaded.

/**
 * @typedef {object} Screen
 * @property {string} name In addresses.
 * @property {string} title
 * @property {string} group Its heading in the navigation; empty for a screen that others lead to.
 * @property {string} key After `g`; empty for none.
 * @property {string} icon The path of a drawing of 16 by 16.
 * @property {boolean} [plain] Whether the screen has no heading of its own.
 * @property {() => Promise<any>} load
 */

/** In the order of the navigation. @type {readonly Screen[]} */
export const SCREENS = [
  {
    name: 'overview', title: 'Overview', group: 'Investigate', key: 'o', load: () => import('./overview.js'),
    icon: 'M2 2h5v6H2zM9 2h5v3H9zM9 7h5v7H9zM2 10h5v4H2z',
  },
  {
    name: 'failures', title: 'Failures', group: 'Investigate', key: 'f', load: () => import('./failures.js'),
    icon: 'M8 1.5 15 14H1zM8 6v4M8 12v.5',
  },
  {
    name: 'performance', title: 'Performance', group: 'Investigate', key: 'p', load: () => import('./performance.js'),
    icon: 'M2 12a6 6 0 1 1 12 0M8 12l3-5',
  },
  {
    name: 'live', title: 'Live', group: 'Investigate', key: 'v', load: () => import('./live.js'),
    icon: 'M1 8h3l2-5 4 10 2-5h3',
  },
  {
    name: 'search', title: 'Search', group: 'Investigate', key: 's', load: () => import('./search.js'),
    icon: 'M7 2a5 5 0 1 0 0 10A5 5 0 0 0 7 2zM11 11l3.5 3.5',
  },
  {
    name: 'map', title: 'Application map', group: 'Investigate', key: 'm', load: () => import('./map.js'),
    icon: 'M1 6h4v4H1zM11 1h4v4h-4zM11 11h4v4h-4zM5 8h3M8 3v10M8 3h3M8 13h3',
  },
  {
    name: 'availability', title: 'Availability', group: 'Investigate', key: '', load: () => import('./availability.js'),
    icon: 'M8 1.5a6.5 6.5 0 1 0 0 13 6.5 6.5 0 0 0 0-13zM5 8l2.2 2.2L11 6',
  },
  {
    name: 'logs', title: 'Logs', group: 'Analyse', key: 'l', plain: true, load: () => import('./logs.js'),
    icon: 'M2 3l4 4-4 4M8 12h6',
  },
  {
    name: 'metrics', title: 'Metrics', group: 'Analyse', key: 'e', load: () => import('./metrics.js'),
    icon: 'M2 14V2M2 14h12M5 11V8M8 11V5M11 11V7',
  },
  {
    name: 'usage', title: 'Usage', group: 'Analyse', key: 'u', load: () => import('./usage.js'),
    icon: 'M6 2a2.5 2.5 0 1 0 0 5 2.5 2.5 0 0 0 0-5zM1.5 14c0-6 9-6 9 0M11 3a2.3 2.3 0 0 1 0 4M12 9.5c2 .5 2.8 2 2.8 4.5',
  },
  {
    name: 'volume', title: 'Volume', group: 'Analyse', key: '', load: () => import('./volume.js'),
    icon: 'M2 4c0-3 12-3 12 0v8c0 3-12 3-12 0zM2 4c0 3 12 3 12 0M2 8c0 3 12 3 12 0',
  },
  {
    name: 'workbooks', title: 'Workbooks', group: 'Analyse', key: 'w', load: () => import('./workbooks.js'),
    icon: 'M3 2h10v12H3zM6 2v12M8.5 5.5h2.5M8.5 8.5h2.5',
  },
  {
    name: 'operation', title: 'Operation', group: '', key: '', plain: true, load: () => import('./operation.js'),
    icon: 'M2 3h7M5 8h7M8 13h6',
  },
  {
    name: 'access', title: 'API access', group: 'Configure', key: 'a', load: () => import('./access.js'),
    icon: 'M5 6a3 3 0 1 0 0 4h4l1.5-1.5L12 10l2.5-2L13 6z',
  },
  {
    name: 'applications', title: 'Applications', group: 'Configure', key: '', load: () => import('./applications.js'),
    icon: 'M2 2h5v5H2zM9 2h5v5H9zM2 9h5v5H2zM9 9h5v5H9z',
  },
];
