/** Description of a campaign: the promise to people, the same for all of them. */
import { digestOf, type Fields, isObject, type Json, parsed, textDigest } from './canonical.js';
import { decimal, exact, isBelow } from './fraction.js';
import type { Cost } from './policy.js';
import { must } from './refusal.js';
import {
  type DescribedRelay,
  readDescribedRelay,
  requireDescribedRelay,
} from './relay/listed-relay.js';
import type { SignedHeadList } from './signed-head-list.js';
import {
  type DescribedReports,
  readDescribedReports,
  requireDescribedKey,
} from './token/listed-issuer.js';

/** What a campaign promises. */
export interface Description extends Cost, DescribedReports {
  /** The digest of all of it, which signed lists name. */
  readonly digest: string;
  /** The digest of the text that opt-in users agree to. */
  readonly consent: string;
  /** How far the campaign is, which the description does not say. */
  readonly state: Json;
  /** The relay, and the limits of what its clients are asked for; undefined without one. */
  readonly relay: DescribedRelay | undefined;
  /** Everything that is in it, as it was published. */
  readonly fields: Fields;
}

/** Reads the description in what a service says of a campaign; digests are computed, not believed. */
export async function readDescription(text: string, campaign: string): Promise<Description> {
  const shown = parsed(text);
  const fields = isObject(shown) ? shown.description : null;
  must(
    isObject(fields) && isObject(fields.parameters) && isObject(fields.consent),
    'a campaign must have a description',
  );
  must(fields.id === campaign, 'campaign must be the one that was asked for');
  const epsilon = decimal(fields.parameters, 'epsilon', (x) => x > 0 && Number.isFinite(x));
  const delta = decimal(fields.parameters, 'delta', (x) => x >= 0 && x < 1);
  const { text: consent } = fields.consent;
  must(typeof consent === 'string', 'consent must have a text');
  return {
    digest: await digestOf(fields),
    consent: await textDigest(consent),
    epsilon,
    delta,
    state: (isObject(shown) && shown.state) || null,
    relay: fields.relay === undefined ? undefined : readDescribedRelay(fields.relay),
    ...readDescribedReports(fields.reports, fields.issuer),
    fields,
  };
}

/** Refuses a list that is bound to another description, or asks for more than this one promises. */
export function requirePromised(
  { description, headList, relay }: SignedHeadList,
  promise: Description,
): void {
  must(description === promise.digest, 'the list must be bound to the campaign’s description');
  for (const asked of [headList.mechanism, headList.relay]) {
    must(
      !asked ||
        (!isBelow(exact(promise.epsilon), exact(asked.epsilon)) &&
          !isBelow(exact(promise.delta), exact(asked.delta))),
      'epsilon and delta must be at most what the campaign promises',
    );
  }
  requireDescribedRelay(relay, headList.relay, promise.relay);
  requireDescribedKey(headList.tokenKey, promise);
}
