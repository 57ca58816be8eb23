/** A value that a column is compared with; an object is about the keys of a property bag, null is an absent value. */
export type Value = string | number | bigint | boolean | Date | null | { [key: string]: Value };
export type Row = Record<string, unknown>;

export interface Options {
  /** The path of the program; without it that of HINDSIGHT_PROGRAM, or `hindsight` on PATH. */
  program?: string;
  /** Keep telemetry in memory. Default true. */
  inMemory?: boolean;
  /** More arguments of `hindsight serve --test`. */
  arguments?: string[];
}

export interface Table {
  readonly name: string;
}

export const tables: Record<
  | 'availabilityResults' | 'browserTimings' | 'customEvents' | 'customMetrics' | 'dependencies'
  | 'exceptions' | 'pageViews' | 'performanceCounters' | 'requests' | 'traces', Table>;

export class HindsightError extends Error {
  /** The status of the reply that refused a request. */
  status?: number;
}

export class Expectation {
  readonly query: string;
  /** The rows with these values, for which these KQL predicates hold. */
  where(...conditions: (string | Record<string, Value>)[]): Expectation;
  /** Waits so long, in place of the usual 10 seconds. */
  within(seconds: number): Expectation;
  /** The rows that are there now. */
  rows(): Promise<Row[]>;
  /** Waits until there are so many rows; rejects if there are fewer in the end, or more. */
  count(expected: number): Promise<Row[]>;
  /** Waits until there are at least so many rows. */
  atLeast(expected: number): Promise<Row[]>;
  /** Rejects if there is a row. */
  none(): Promise<void>;
}

export class Hindsight {
  constructor(options?: Options);
  readonly url: string;
  readonly appId: string;
  readonly apiKey: string;
  readonly instrumentationKey: string;
  readonly connectionString: string;
  /** The end of what the program has logged. */
  readonly log: string;
  readonly clock: {
    /** Stops the clock at a time. */
    fix(time: string | Date): Promise<string>;
    /** Runs the clock at an offset from the machine's: ISO 8601 text or seconds. */
    shift(duration: string | number): Promise<string>;
    followMachine(): Promise<string>;
    now(): Promise<string>;
  };
  start(): Promise<this>;
  stop(): Promise<void>;
  expect(query: Table | string, options?: { timeout?: number }): Expectation;
  query(kql: string): Promise<Row[]>;
  wait(kql: string, options?: { minCount?: number; condition?: string; timeout?: number }):
    Promise<{ holds: boolean; rows: Row[]; waited: number }>;
  reset(): Promise<void>;
  snapshot(name: string): Promise<void>;
  restore(name: string): Promise<void>;
}

export function start(options?: Options): Promise<Hindsight>;
export function useHindsight(options?: Options): Hindsight;
