/** Randomised response through a relay: how relay clients report, as a head list publishes it. */
import { type Fields, isObject, type Json } from '../canonical.js';
import type { Cells } from '../cells.js';
import { decimal, exact, plus, times } from '../fraction.js';
import type { Cost } from '../policy.js';
import { must } from '../refusal.js';
import { costOf } from '../report-cost.js';
import { likelihoodRatio, namingOne, type SubsetChannel } from '../subset-selection.js';
import { isKept } from './shuffle.js';

/** Nobody needs less, and the logarithm of less is not computed. */
const LEAST_DELTA = 1e-100;

/** Everything that a device knows of the mechanism; numbers are decimal texts, as published. */
export interface RelayedResponse {
  /** The fields that a head list publishes. */
  readonly document: Fields;
  /** (ε, δ) towards everybody who sees the batch. */
  readonly epsilon: string;
  readonly delta: string;
  /** ε0 of one report: what is left if relay and collector work together. */
  readonly reportEpsilon: string;
  /** The relay passes on no smaller batch. */
  readonly leastBatch: number;
  /** The share of a batch that may be dishonest. */
  readonly dishonest: string;
}

/** Reads how relay clients report; refuses what is unknown or outside its range. */
export function readRelayedResponse(described: Json | undefined): RelayedResponse {
  must(
    isObject(described) && described.name === 'relayed-response' && described.version === 1,
    'relay must be relayed-response/1',
  );
  const isPositive = (x: number) => x > 0 && Number.isFinite(x);
  const epsilon = decimal(described, 'epsilon', isPositive);
  const delta = decimal(described, 'delta', (x) => x >= LEAST_DELTA && x < 1);
  const reportEpsilon = decimal(described, 'report_epsilon', isPositive);
  const dishonest = decimal(described, 'dishonest', (x) => x >= 0 && x < 1);
  const leastBatch = described.least_batch;
  must(
    typeof leastBatch === 'number' && Number.isSafeInteger(leastBatch) && leastBatch > 0,
    'least_batch must be a whole number, at least 1',
  );
  const document = {
    name: 'relayed-response',
    version: 1,
    epsilon,
    delta,
    report_epsilon: reportEpsilon,
    least_batch: leastBatch,
    dishonest,
  };
  return { document, epsilon, delta, reportEpsilon, leastBatch, dishonest };
}

/** Returns the law of a report: it names one cell, the true one e^ε0 times as often as another. */
export function relayChannel({ queryOfCell }: Cells, relay: RelayedResponse): SubsetChannel {
  return namingOne(queryOfCell.length, exact(relay.reportEpsilon));
}

/** Returns what one report costs: (ε, δ) in a batch, and ε0 by itself, rounded up. */
export function relayCost(cells: Cells, relay: RelayedResponse): Required<Cost> {
  const { epsilon, delta } = relay;
  return { epsilon, delta, relayEpsilon: costOf(likelihoodRatio(relayChannel(cells, relay))) };
}

/** Refuses a list that promises more than a batch of this size keeps. */
export function requireKept(cells: Cells, relay: RelayedResponse): void {
  const honest = honestReports(relay);
  must(honest > 0, 'least_batch must be large enough for an honest report');
  must(
    isKept(relayChannel(cells, relay), honest, exact(relay.epsilon), exact(relay.delta)),
    'the reports of a batch must keep the epsilon and delta that the list promises',
  );
}

/** Returns how many reports of the smallest batch are honest, rounded down. */
function honestReports({ leastBatch, dishonest }: RelayedResponse): number {
  const [share, whole] = plus([1n, 1n], times([-1n, 1n], exact(dishonest)));
  return Number((share * BigInt(leastBatch)) / whole);
}
