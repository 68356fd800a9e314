/** Mechanism of the reports, as it is published with a head list. */
import { type Fields, isObject, type Json } from './canonical.js';
import { isDecimal, toDecimal } from './fraction.js';
import { must } from './refusal.js';

/** LocalAlg of the paper (Fig. 6); numbers are decimal texts, as published. */
export interface LocalAlgMechanism {
  readonly name: 'local-alg';
  readonly epsilon: string;
  readonly delta: string;
  readonly queryBudgetFraction: string;
  readonly recordsPerClient: number;
}

/** Subset selection: a client names several cells, its own more often than any other. */
export interface SubsetSelectionMechanism {
  readonly name: 'subset-selection';
  readonly epsilon: string;
  readonly queryShare: string;
}

export type Mechanism = LocalAlgMechanism | SubsetSelectionMechanism;

/** Reads the mechanism of a head list; refuses one that is unknown or outside its range. */
export function readMechanism(value: Json | undefined): Mechanism {
  must(isObject(value), 'mechanism must be an object with fields');
  const name = `${value.name}/${value.version}`;
  const epsilon = decimal(value, 'epsilon', (x) => x > 0 && x < Number.POSITIVE_INFINITY);
  if (name === 'subset-selection/1') {
    const queryShare = decimal(value, 'query_share', (x) => x >= 0 && x < 1);
    return { name: 'subset-selection', epsilon, queryShare };
  }
  must(name === 'local-alg/1', 'mechanism must be local-alg/1 or subset-selection/1');
  const recordsPerClient = value.records_per_client;
  must(
    typeof recordsPerClient === 'number' &&
      Number.isSafeInteger(recordsPerClient) &&
      recordsPerClient > 0,
    'records_per_client must be a whole number, at least 1',
  );
  return {
    name: 'local-alg',
    epsilon,
    delta: decimal(value, 'delta', (x) => x > 0 && x < 1),
    queryBudgetFraction: decimal(value, 'query_budget_fraction', (x) => x > 0 && x < 1),
    recordsPerClient,
  };
}

/** Writes a mechanism as it is published. */
export function mechanismDocument(mechanism: Mechanism): Fields {
  const { name, epsilon } = mechanism;
  if (name === 'subset-selection') {
    return { name, version: 1, epsilon, query_share: mechanism.queryShare };
  }
  return {
    name,
    version: 1,
    epsilon,
    delta: mechanism.delta,
    query_budget_fraction: mechanism.queryBudgetFraction,
    records_per_client: mechanism.recordsPerClient,
  };
}

/** Returns a number that a document holds as a text, in its one spelling and within its range. */
export function decimal(
  fields: Fields,
  name: string,
  isInside: (value: number) => boolean,
): string {
  const text = fields[name];
  must(isDecimal(text), `${name} must be a number written as a text`);
  must(isInside(Number(text)), `${name} is outside its range`);
  // Reports name a list by its digest: another spelling of a number would be another list.
  must(toDecimal(Number(text)) === text, `${name} must be in its shortest spelling`);
  return text;
}
