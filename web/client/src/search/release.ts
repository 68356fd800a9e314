/** A release as local search reads it: `release.json`, version 1. */
import { type Fields, isObject, type Json } from '../canonical.js';
import { at } from '../cells.js';
import { must } from '../refusal.js';

const FORMAT = 'blender-dp release';
const LARGEST = 2 ** 62;

/** What a row says; null where there is nothing to say. */
export interface Row {
  readonly cell: string;
  readonly query: string | null;
  /** Null in rows of queries. */
  readonly url: string | null;
  readonly probability: number;
  readonly stdError: number | null;
  /** Estimate of all clients; null where no client was asked, as for an empty list. */
  readonly clientProbability: number | null;
  readonly clientStdError: number | null;
  readonly optInProbability: number | null;
  readonly optInStdError: number | null;
}

export interface Release {
  readonly optInUsers: number;
  /** All clients, relay clients among them. */
  readonly clientUsers: number;
  /** How many clients with a record a fake report for it counts for; 0 if unknown. */
  readonly fakeWeight: number;
  /** Most probable first, everything else among them. */
  readonly queries: readonly Row[];
  readonly records: readonly Row[];
}

/** Reads a release; refuses one that breaks a rule. Unknown fields are ignored. */
export function readRelease(text: string): Release {
  const document = parse(text);
  must(document.format === FORMAT, `format must be "${FORMAT}"`);
  must(document.version === 1, 'version must be 1, the version this software reads');
  must(typeof document.private === 'boolean', 'private must be true or false');
  const isNamed = typeof document.created === 'string' && typeof document.preset === 'string';
  must(isNamed, 'created and preset must be texts');
  const { promise, users } = document;
  must(isObject(promise) && isObject(users), 'promise and users must be objects with fields');
  number(promise, 'epsilon', 0);
  number(promise, 'delta', 0, 1);
  number(document, 'confidence', 0.5, 0.999999);
  if ('unlisted_bound' in document) numberOrNull(document, 'unlisted_bound', 0, 1);
  const queries = readRows(document.queries, ['query', 'other']);
  const records = readRows(document.records, ['record', 'other_url', 'other']);
  const names = (rows: readonly Row[]) => [...new Set(rows.map((row) => row.query))].sort();
  must(
    JSON.stringify(names(queries)) === JSON.stringify(names(records)),
    'records must be of the queries under queries, and of each of them',
  );
  return {
    optInUsers: whole(users, 'opt_in' in users ? 'opt_in' : 'opt_in_estimation'),
    clientUsers:
      whole(users, 'clients') + ('relay_clients' in users ? whole(users, 'relay_clients') : 0),
    fakeWeight: fakeWeight(document.disagreement),
    queries,
    records,
  };
}

/** Older releases do not say it. */
function fakeWeight(disagreement: Json | undefined): number {
  if (disagreement === undefined || disagreement === null) return 0;
  must(isObject(disagreement), 'disagreement must be an object with fields');
  return 'fake_weight' in disagreement ? (numberOrNull(disagreement, 'fake_weight', 0) ?? 0) : 0;
}

function parse(text: string): Fields {
  let document: Json = null;
  try {
    document = JSON.parse(text);
  } catch {
    // Refused below, like any other document that is no object.
  }
  must(isObject(document), 'a release must be a JSON object');
  return document;
}

function readRows(value: Json | undefined, cells: readonly string[]): readonly Row[] {
  must(Array.isArray(value), 'records and queries must be lists of objects');
  const rows = value.map((row) => readRow(row, cells));
  const keys = rows.map((row) => JSON.stringify([row.cell, row.query, row.url]));
  must(new Set(keys).size === keys.length, 'every row must be there once');
  const others = rows.filter((row) => row.cell === 'other');
  must(others.length === 1, 'one row must be of everything else');
  const isSorted = rows.every((row, i) => !i || at(rows, i - 1).probability >= row.probability);
  must(isSorted, 'rows must be sorted by probability, the largest first');
  return rows;
}

function readRow(row: Json, cells: readonly string[]): Row {
  must(isObject(row), 'records and queries must be lists of objects');
  const { cell } = row;
  must(typeof cell === 'string' && cells.includes(cell), `cell must be one of ${cells.join(', ')}`);
  const query = nameOrNull(row, 'query');
  must((query === null) === (cell === 'other'), 'query must be null only for everything else');
  const url = cells.length > 2 ? nameOrNull(row, 'url') : null;
  must((url !== null) === (cell === 'record'), 'url must be a text in rows of records only');
  requireInterval(row);
  // Only with relay clients, all clients are more than the local ones.
  const group = 'all_clients_probability' in row ? 'all_clients' : 'client';
  const clientProbability = numberOrNull(row, `${group}_probability`);
  const clientStdError = numberOrNull(row, `${group}_std_error`, 0);
  must(
    clientProbability !== null || clientStdError === null,
    `${group}_probability must be a number, and null only where its error is`,
  );
  number(row, 'raw_probability');
  numberOrNull(row, 'opt_in_weight');
  return {
    cell,
    query,
    url,
    probability: number(row, 'probability'),
    stdError: numberOrNull(row, 'std_error', 0),
    clientProbability,
    clientStdError,
    optInProbability: numberOrNull(row, 'opt_in_probability'),
    optInStdError: numberOrNull(row, 'opt_in_std_error', 0),
  };
}

function requireInterval(row: Fields): void {
  const [low, high] = [numberOrNull(row, 'low', 0, 1), numberOrNull(row, 'high', 0, 1)];
  const isOne = (low === null) === (high === null) && (low ?? 0) <= (high ?? 0);
  must(isOne, 'low and high must be an interval, or both null');
  must(
    (row.std_error === null) === (low === null),
    'std_error must be there where the interval is',
  );
}

function nameOrNull(row: Fields, name: string): string | null {
  const value = row[name];
  const isName = value === null || (typeof value === 'string' && !/\p{Cs}/u.test(value));
  must(isName, `${name} must be a text of whole characters, or null`);
  return value;
}

function number(row: Fields, name: string, least = -LARGEST, most = LARGEST): number {
  const value = row[name];
  must(typeof value === 'number' && value >= least && value <= most, `${name} must be a number`);
  return value;
}

function numberOrNull(row: Fields, name: string, least = -LARGEST, most = LARGEST): number | null {
  return row[name] === null ? null : number(row, name, least, most);
}

function whole(row: Fields, name: string): number {
  const value = number(row, name, 0);
  must(Number.isInteger(value), `${name} must be a whole number`);
  return value;
}
