// The kinds of charts that few panels have, and the table of a chart: each comes when it is first drawn.

import { lazy } from '../lib/lazy.js';

export const BarList = lazy(() => import('./bars.js'), 'BarList');
export const Cards = lazy(() => import('./cards.js'), 'Cards');
export const Grid = lazy(() => import('../result/grid.js'), 'Grid');
export const Pie = lazy(() => import('./pie.js'), 'Pie');
export const PivotTable = lazy(() => import('./pivot.js'), 'PivotTable');
export const SpanList = lazy(() => import('./spans.js'), 'SpanList');
export const Treemap = lazy(() => import('./treemap.js'), 'Treemap');
