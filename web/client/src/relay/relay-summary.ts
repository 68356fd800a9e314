/** Summary of a campaign's relay: what is known before anything is reported through it. */
import type { Odds } from '../odds.js';
import type { SignedHeadList } from '../signed-head-list.js';
import { oddsOf } from '../subset-selection.js';
import { relayChannel, relayCost } from './relayed-response.js';

export interface RelaySummary {
  /** Where the encrypted report is sent. */
  readonly address: string;
  /** The relay passes on no smaller batch. */
  readonly leastBatch: number;
  /** (ε, δ) as long as the relay does not work together with the collector. */
  readonly epsilon: number;
  readonly delta: number;
  /** ε0 if they do. */
  readonly relayEpsilon: number;
  /** What a report says. */
  readonly odds: Odds;
}

/** Returns what a report through the relay of a list says and costs, if there is one. */
export function summarized({ headList, relay }: SignedHeadList): RelaySummary | undefined {
  const { cells, relay: mechanism } = headList;
  if (!relay || !mechanism) return undefined;
  const cost = relayCost(cells, mechanism);
  return {
    address: relay.address,
    leastBatch: mechanism.leastBatch,
    epsilon: Number(cost.epsilon),
    delta: Number(cost.delta),
    relayEpsilon: Number(cost.relayEpsilon),
    odds: oddsOf('record', relayChannel(cells, mechanism)),
  };
}
