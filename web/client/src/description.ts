/** The description of a campaign: what people are promised, the same for everybody. */
import { digestOf, type Fields, isObject, type Json, textDigest } from './canonical.js';
import { isDecimal } from './fraction.js';
import type { Cost } from './policy.js';
import { must } from './refusal.js';

/** What a campaign promises. */
export interface Description extends Cost {
  /** The digest of all of it, which signed lists name. */
  readonly digest: string;
  /** The digest of the text that opt-in users agree to. */
  readonly consent: string;
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
  const { epsilon, delta } = fields.parameters;
  must(isDecimal(epsilon) && isDecimal(delta), 'epsilon and delta must be numbers as texts');
  const { text: consent } = fields.consent;
  must(typeof consent === 'string', 'consent must have a text');
  return {
    digest: await digestOf(fields),
    consent: await textDigest(consent),
    epsilon,
    delta,
    fields,
  };
}

function parsed(text: string): Json {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}
