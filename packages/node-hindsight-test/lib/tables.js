/** The tables of telemetry, by their names in KQL. */

/** A table. Where a query is expected, it stands for all of its rows. */
export class Table {
  constructor(name) {
    this.name = name;
  }

  toString() {
    return this.name;
  }
}

const names = ['availabilityResults', 'browserTimings', 'customEvents', 'customMetrics', 'dependencies', 'exceptions',
  'pageViews', 'performanceCounters', 'requests', 'traces'];

export const tables = Object.freeze(Object.fromEntries(names.map((name) => [name, new Table(name)])));
