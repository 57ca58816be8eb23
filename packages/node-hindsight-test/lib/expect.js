/** Expectations about telemetry: they wait for it, and say what was there instead. */
import { AssertionError } from 'node:assert';
import { equals } from './kql.js';
import { tableText } from './table-text.js';

/** Rows that a failure shows. */
const SHOWN = 10;

/** Rows of a table or a query that are expected. `where` narrows them; the other methods wait and assert. */
export class Expectation {
  #hindsight;
  #source;
  #timeout;
  #predicates;
  #columns;

  constructor(hindsight, query, timeout = 10, predicates = [], columns = []) {
    this.#hindsight = hindsight;
    this.#source = String(query);
    this.#timeout = timeout;
    this.#predicates = predicates;
    this.#columns = columns;
  }

  where(...conditions) {
    const predicates = conditions.flatMap((condition) => typeof condition === 'string' ? [condition]
      : Object.entries(condition).flatMap(([column, value]) => equals(column, value)));
    const columns = conditions.flatMap((condition) => typeof condition === 'string' ? [] : Object.keys(condition));
    return new Expectation(this.#hindsight, this.#source, this.#timeout, [...this.#predicates, ...predicates],
      [...this.#columns, ...columns]);
  }

  within(seconds) {
    return new Expectation(this.#hindsight, this.#source, seconds, this.#predicates, this.#columns);
  }

  /** The KQL text. */
  get query() {
    // On lines of their own: a comment may end the line before.
    return this.#source + this.#predicates.map((predicate) => `\n| where ${predicate}`).join('');
  }

  async rows() {
    return this.#hindsight.query(this.query);
  }

  async count(expected) {
    const reply = await this.#hindsight.wait(this.query, { minCount: expected, timeout: this.#timeout });
    if (reply.rows.length !== expected) throw await this.#failure(expected, expected, reply, this.count);
    return reply.rows;
  }

  async atLeast(expected) {
    const reply = await this.#hindsight.wait(this.query, { minCount: expected, timeout: this.#timeout });
    if (!reply.holds) throw await this.#failure(`at least ${expected}`, expected, reply, this.atLeast);
    return reply.rows;
  }

  async none() {
    await this.count(0);
  }

  async #failure(description, expected, { rows, waited }, stackStartFn) {
    const lines = [`expected ${description} rows of`, `    ${this.query.replaceAll('\n', '\n    ')}`,
      `found ${rows.length} after ${waited.toFixed(1)} s${rows.length > 0 ? ':' : ''}`, ...this.#shown(rows, rows.length)];
    if (rows.length === 0 && this.#predicates.length > 0) {
      const others = await this.#hindsight.query(`${this.#source}\n| take ${SHOWN}`);
      const [{ Count: total }] = await this.#hindsight.query(`${this.#source}\n| count`);
      lines.push(`without 'where' there are ${total}${total > 0 ? ':' : ''}`, ...this.#shown(others, total));
    }
    return new AssertionError({ message: lines.join('\n'), actual: rows.length, expected, operator: 'count', stackStartFn });
  }

  #shown(rows, total) {
    const lines = tableText(rows.slice(0, SHOWN), this.#columns).map((line) => `    ${line}`);
    return total > SHOWN ? [...lines, `    … and ${total - SHOWN} more`] : lines;
  }
}
