/** Issuer of a campaign's report tokens, as everybody was told. */
import { isObject, type Json } from '../canonical.js';
import { must } from '../refusal.js';
import { readAddress } from '../relay/listed-relay.js';
import type { IssuerKey } from './token.js';

/** The server that issues tokens, if it is not the service itself. */
export interface DescribedIssuer {
  /** Where tokens are asked for; it ends with a slash. */
  readonly address: string;
  /** The key that tokens are signed with, as lists have it. */
  readonly publicKey: string;
}

/** How a description says that reports are counted. */
export interface DescribedReports {
  /** Whether every report must carry a token. */
  readonly needsToken: boolean;
  /** Who issues tokens; undefined if the service does, or if there are none. */
  readonly issuer: DescribedIssuer | undefined;
}

/** Reads how reports are counted: `reports` and `issuer` of a description. */
export function readDescribedReports(
  reports: Json | undefined,
  issuer: Json | undefined,
): DescribedReports {
  must(reports === undefined || reports === 'token', 'reports must be "token", or left out');
  const needsToken = reports === 'token';
  if (issuer === undefined) return { needsToken, issuer };
  must(needsToken && isObject(issuer), 'issuer must be an object, in a campaign with tokens');
  const { address, public_key: publicKey } = issuer;
  must(typeof publicKey === 'string', 'public_key must be a text');
  return { needsToken, issuer: { address: readAddress(address), publicKey } };
}

/** Refuses a list whose token key is not what the description says. */
export function requireDescribedKey(
  key: IssuerKey | undefined,
  { needsToken, issuer }: DescribedReports,
): void {
  must(
    (key !== undefined) === needsToken,
    'the list must name a key for tokens if the campaign’s reports need them, and only then',
  );
  must(
    !issuer || issuer.publicKey === key?.text,
    'the list must name the issuer’s key that the campaign’s description names',
  );
}
