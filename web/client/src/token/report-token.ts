/**
 * Report token of a device: asked for once per campaign, kept before it is used.
 *
 * The request is stored before it is sent. After a lost answer the same bytes are sent again, which
 * get the same answer: a person has one token, never two and never none.
 */
import { fromBase64url, toBase64url } from '../base64url.js';
import { isObject, type Json, parsed } from '../canonical.js';
import { requireOneRole } from '../kept-ledger.js';
import type { KeptToken, Ledger } from '../ledger.js';
import { type LoggedList, type Policy, requireKnown } from '../policy.js';
import { must } from '../refusal.js';
import { requireSafeAddress } from '../relay/listed-relay.js';
import type { Reporter } from '../reporting.js';
import type { Service } from '../transport.js';
import { drawBelow, secureBytes } from '../uniform.js';
import { challengeOf, finishToken, NONCE_BYTES, requestToken, SIGNATURE_BYTES } from './token.js';

const HOUR = 3_600_000;
const MOST_DELAY = 2 ** 31;
const STATES: readonly Json[] = ['list-published', 'clients-open'];
const WRONG_CODE =
  'the code is not known there; please choose again with the code that you were given';
/** Why an issuer gave no token, by the last word of its problem's type. */
const PROBLEMS: Readonly<Record<string, string>> = {
  'token-missing': WRONG_CODE,
  'token-unknown': WRONG_CODE,
  'token-issued-already': 'the code was used already, by another device or before all was deleted',
  'already-contributed': 'whoever contributed gets no token for a report; withdraw first',
  'too-many-requests': 'too many ask for tokens now; this device asks again later',
};
const NO_ANSWER = 'no token was given yet; this device asks again later';

/** Returns the token of a campaign whose reports need one, asked for now if it is not here. */
export async function tokenFor(
  reporter: Reporter,
  list: LoggedList,
  given: string | undefined,
): Promise<KeptToken | undefined> {
  const { campaign, headList } = list.signed;
  const key = headList.tokenKey;
  if (!key) return undefined;
  const { ledger } = reporter;
  const asked = await requested(reporter, list, given);
  if (asked.token) return asked;
  const response = await answered(reporter.service, campaign, asked);
  const [nonce, inverse] = [bytes(asked.nonce, NONCE_BYTES), bytes(asked.inverse, SIGNATURE_BYTES)];
  const challenge = await challengeOf(campaign);
  const token = toBase64url(await finishToken(key, challenge, { nonce, inverse }, response));
  const reportAfter = reporter.now() + drawDelay(reporter, list);
  return ledger.update((kept) => {
    const present = kept.tokens[campaign];
    must(present?.request === asked.request, 'the token was deleted while it was asked for');
    if (present.token) return { value: present };
    const value = { ...present, enrolment: '', nonce: '', inverse: '', token, reportAfter };
    return { ledger: withToken(kept, campaign, value), value };
  });
}

/** Returns what a ledger is once the token of a campaign is in its report. */
export function withSpentToken(ledger: Ledger, campaign: string, spent: KeptToken): Ledger {
  must(
    ledger.tokens[campaign]?.token === spent.token,
    'the token was deleted while the report was made',
  );
  const { [campaign]: _, ...tokens } = ledger.tokens;
  return { ...ledger, tokens };
}

/** Returns the one request of a campaign, made and stored now if there is none. */
async function requested(
  reporter: Reporter,
  list: LoggedList,
  given: string | undefined,
): Promise<KeptToken> {
  const { service, ledger, publicKey } = reporter;
  const { signed, promise } = list;
  const { campaign } = signed;
  const before = (await ledger.read()).tokens[campaign];
  if (before && (before.token || !given || before.enrolment === given)) return before;
  must(STATES.includes(promise.state), 'the campaign gives no tokens now');
  const enrolment = given ?? (await enrolmentFor(reporter, list));
  const made = before ? { ...before, enrolment } : await newRequest(reporter, list, enrolment);
  const kept = await ledger.update((present) => {
    requireOneRole(present, campaign, 'report');
    const known = requireKnown(present, service.address, list, publicKey);
    // Of two requests that were made at once the first one is kept: there is never a second.
    const first = present.tokens[campaign];
    const value = first && (first.token || !given) ? first : { ...(first ?? made), enrolment };
    return { ledger: withToken(known, campaign, value), value };
  });
  // A storage that answers before it has written would let a second request follow: look again.
  const found = (await ledger.read()).tokens[campaign];
  must(found?.request === kept.request, 'storage must have written before anything is sent');
  return found;
}

async function newRequest(
  { service, now }: Reporter,
  list: LoggedList,
  enrolment: string,
): Promise<KeptToken> {
  const { campaign, headList } = list.signed;
  const issuer = list.promise.issuer?.address ?? `${service.address}/`;
  must(headList.tokenKey !== undefined, 'the campaign has no tokens');
  requireSafeAddress('issuer', issuer);
  const challenge = await challengeOf(campaign);
  const made = await requestToken(headList.tokenKey, challenge, secureBytes);
  return {
    service: service.address,
    issuer,
    enrolment,
    request: toBase64url(made.request),
    nonce: toBase64url(made.nonce),
    inverse: toBase64url(made.inverse),
    token: '',
    askedAt: now(),
    reportAfter: 0,
  };
}

/** Returns what lets this person have a token: that of a withdrawn contribution, or a new one. */
async function enrolmentFor(
  { service, ledger }: Reporter,
  { signed, promise }: LoggedList,
): Promise<string> {
  must(!promise.issuer, 'this campaign needs the code that you were given');
  const { campaign } = signed;
  const given = await ledger.find(campaign, 'contribution');
  return given?.state === 'withdrawn' && given.token ? given.token : service.enrolled(campaign);
}

/** Sends the request; returns the issuer's answer, or refuses in words. */
async function answered(
  service: Service,
  campaign: string,
  { issuer, enrolment, request }: KeptToken,
): Promise<Uint8Array<ArrayBuffer>> {
  const body = JSON.stringify({ version: 1, request });
  const answer = await service
    .toward(issuer)
    .send(campaign, '/report-token', { body, token: enrolment });
  const document = parsed((await answer?.text().catch(() => '')) ?? '');
  const { response = null, type = '' } = isObject(document) ? document : {};
  must(answer?.ok === true, PROBLEMS[`${type}`.split(':').at(-1) ?? ''] ?? NO_ANSWER);
  return bytes(response, SIGNATURE_BYTES);
}

/** Draws how long the report waits, so that its time does not tell whose token it has. */
function drawDelay({ policy, now }: Reporter, { promise }: LoggedList): number {
  const most = Math.min(longestDelay(policy), timeLeft(promise.fields.rules, now()) / 2);
  return drawBelow(Math.max(Math.floor(most), 1), secureBytes);
}

function longestDelay({ tokenDelayHours }: Policy): number {
  return Math.min(tokenDelayHours * HOUR, MOST_DELAY);
}

/** Returns how long the campaign takes reports still; without end if it does not say. */
function timeLeft(rules: Json | undefined, now: number): number {
  const until = isObject(rules) ? Date.parse(`${rules.clients_until}`) : Number.NaN;
  return Number.isNaN(until) ? Number.POSITIVE_INFINITY : until - now;
}

function withToken(ledger: Ledger, campaign: string, token: KeptToken): Ledger {
  return { ...ledger, tokens: { ...ledger.tokens, [campaign]: token } };
}

function bytes(text: Json, length: number): Uint8Array<ArrayBuffer> {
  const read = fromBase64url(text, length);
  must(read !== undefined, 'the issuer’s answer must be as long as its key');
  return read;
}
