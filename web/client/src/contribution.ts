/** Contribution of an opt-in user: raw records, entered in the ledger first; can be withdrawn. */
import { utf8 } from './canonical.js';
import { type Description, readDescription } from './description.js';
import type { KeptLedger } from './kept-ledger.js';
import { type Change, findEntry, type LedgerEntry, withChange } from './ledger.js';
import { type Policy, requireBudget, requireSameDescription } from './policy.js';
import { must } from './refusal.js';
import { isFinal, type Service } from './transport.js';

/** Of a whole contribution, as services take it. */
const MOST_BYTES = 2 ** 22;

/** What a person hands over. */
export interface Contribution {
  /** The digest of the text that the person agreed to; it must be the campaign's. */
  readonly agreed: string;
  /** The digest of the description that the person saw when choosing; it must still be the campaign's. */
  readonly promised: string;
  /** Exactly what is sent. */
  readonly body: string;
  /** What lets it in, from the operator; if left out, the device enrols itself. */
  readonly token?: string;
}

/** What contributing needs of a device. */
export interface Contributor {
  readonly service: Service;
  readonly ledger: KeptLedger;
  readonly policy: Policy;
  readonly now: () => number;
}

/** Sends a contribution, or the one that was stored before; returns its entry afterwards. */
export async function contribute(
  contributor: Contributor,
  campaign: string,
  contribution: Contribution,
): Promise<LedgerEntry> {
  const { service, ledger } = contributor;
  const before = await ledger.find(campaign, 'contribution');
  if (before && before.state !== 'unsent') return before;
  requireOwn(service, before);
  const description = await readDescription(await service.text(campaign), campaign);
  must(
    contribution.agreed === description.consent,
    'the text that the person agreed to must be that of the campaign',
  );
  must(
    contribution.promised === description.digest,
    'the campaign must have the description that the person saw when choosing; please choose again',
  );
  const made = before ?? (await recorded(contributor, campaign, description, contribution));
  must(made.madeFor === description.digest, 'the description of a campaign must stay the same');
  requireOwn(service, made);
  const entry = await ledger.attempt(await withToken(ledger, made, contribution.token));
  if (entry.state !== 'unsent') return entry;
  const answer = await service.send(campaign, '/opt-in', entry);
  if (answer?.status === 401 && contribution.token !== undefined) {
    await changed(ledger, entry, { token: '' });
    must(
      false,
      'the code is not known there; please choose again with the code that you were given',
    );
  }
  if (!isFinal(answer)) return entry;
  // 409 is the answer too when an earlier attempt arrived and the campaign has moved on since.
  const state = answer.ok ? 'sent' : answer.status === 409 ? 'uncertain' : 'refused';
  return { ...entry, state: await ledger.settle(entry, state) };
}

/** Returns an entry with what lets it in now, if what was given before was not known. */
async function withToken(
  ledger: KeptLedger,
  entry: LedgerEntry,
  token: string | undefined,
): Promise<LedgerEntry> {
  return entry.token || !token ? entry : changed(ledger, entry, { token });
}

function changed(
  ledger: KeptLedger,
  entry: LedgerEntry,
  change: Partial<LedgerEntry>,
): Promise<LedgerEntry> {
  return ledger.update((kept) => ({
    ledger: withChange(kept, entry, change),
    value: { ...entry, ...change },
  }));
}

/** Has a contribution deleted, for good; only an answer that says so counts. */
export async function withdraw({ service, ledger }: Contributor, campaign: string): Promise<void> {
  const entry = await ownEntry(service, ledger, campaign);
  must(entry !== undefined, 'there is nothing to withdraw');
  if (entry.state === 'withdrawn') return;
  requireOwn(service, entry);
  const { token } = entry;
  const answer = await service.send(campaign, '/opt-in', { method: 'DELETE', token });
  must(
    answer?.ok === true,
    'the organisation’s server did not confirm it; once a campaign takes no more searches, ask its contact',
  );
  await changed(ledger, entry, { body: '', state: 'withdrawn' });
}

/** Returns the contribution; one that was kept without an address belongs to the first one used. */
function ownEntry(
  { address }: Service,
  ledger: KeptLedger,
  campaign: string,
): Promise<LedgerEntry | undefined> {
  return ledger.update((kept) => {
    const entry = findEntry(kept, campaign, 'contribution');
    if (!entry || entry.service) return { value: entry };
    const change = { service: address };
    return { ledger: withChange(kept, entry, change), value: { ...entry, ...change } };
  });
}

/** Refuses to use a token elsewhere: another service could keep records, or confirm anything. */
function requireOwn(service: Service, entry: LedgerEntry | undefined): void {
  must(
    entry === undefined || entry.service === service.address,
    'a contribution must be sent and withdrawn at the address that it was made for',
  );
}

async function recorded(
  { service, ledger, policy, now }: Contributor,
  campaign: string,
  { digest: madeFor, epsilon, delta, state }: Description,
  { body, token: given }: Contribution,
): Promise<LedgerEntry> {
  // A contribution that is refused would be debited, and keep the device from reporting.
  must(utf8(body).length <= MOST_BYTES, 'a contribution must be at most 4 MiB');
  must(state === 'opt-in-open', 'the campaign does not take contributions now');
  const token = given ?? (await service.enrolled(campaign));
  return ledger.record(campaign, 'contribution', (kept): Change<LedgerEntry> => {
    const drawnAt = now();
    requireSameDescription(kept, campaign, madeFor);
    requireBudget(kept, 'contribution', { epsilon, delta }, policy, drawnAt);
    const entry: LedgerEntry = {
      campaign,
      role: 'contribution',
      service: service.address,
      madeFor,
      body,
      token,
      epsilon,
      delta,
      drawnAt,
      state: 'unsent',
      attempts: 0,
    };
    return { ledger: { ...kept, entries: [...kept.entries, entry] }, value: entry };
  });
}
