/** Reporting of a device: a list that it accepts, the one report against it, and its delivery. */
import { readDescription, requirePromised } from './description.js';
import type { KeptLedger } from './kept-ledger.js';
import {
  type Change,
  EMPTY_LEDGER,
  type EntryState,
  type KeptToken,
  type LedgerEntry,
  type Role,
} from './ledger.js';
import {
  type Cost,
  type LoggedList,
  type Policy,
  requireAcceptable,
  requireBudget,
  requireKnown,
  requirePause,
} from './policy.js';
import { requireLogged } from './public-log.js';
import { must } from './refusal.js';
import { requireSafeAddress } from './relay/listed-relay.js';
import { relayedReport } from './relay/relayed-report.js';
import { relayCost, requireKept } from './relay/relayed-response.js';
import { randomizerFor, type SearchRecord } from './report.js';
import { reportCost } from './report-cost.js';
import { readSignedHeadList, type SignedHeadList } from './signed-head-list.js';
import { tokenFor, withSpentToken } from './token/report-token.js';
import { readToken, reportIdOf } from './token/token.js';
import { isFinal, type Service } from './transport.js';
import { secureBytes } from './uniform.js';

/** What reporting needs of a device. */
export interface Reporter {
  readonly service: Service;
  readonly ledger: KeptLedger;
  readonly policy: Policy;
  readonly now: () => number;
  /** The service's public key, if it was given. */
  readonly publicKey: string | undefined;
}

type ReportRole = Exclude<Role, 'contribution'>;

/** A report that is ready to be entered in the ledger. */
interface Prepared {
  readonly cost: Cost;
  /** The address of the relay and how often the report left, of a relayed report. */
  readonly relayed: Pick<LedgerEntry, 'relay' | 'attempts'>;
  /** Returns what is sent; synchronous, so that a transaction holds it. */
  readonly body: () => string;
}

/** Returns the one report of a campaign in a role, drawn and stored now if there is none. */
export async function drawn(
  reporter: Reporter,
  campaign: string,
  role: ReportRole,
  record: SearchRecord | null,
  enrolment: string | undefined,
): Promise<LedgerEntry> {
  const { service, ledger, policy, now, publicKey } = reporter;
  const before = await ledger.find(campaign, role);
  if (before) return before;
  const list = await fetchedList(reporter, campaign);
  const { signed, promise } = list;
  // The answer to a report that comes too early is final: its one draw would be wasted.
  must(promise.state === 'clients-open', 'the campaign does not take reports now');
  const token = await tokenFor(reporter, list, enrolment);
  const { cost, relayed, body } = await prepared(list, role, record, token);
  return ledger.record(campaign, role, (kept): Change<LedgerEntry> => {
    const drawnAt = now();
    const seen = requireKnown(kept, service.address, list, publicKey);
    const known = token ? withSpentToken(seen, campaign, token) : seen;
    requirePause(kept, service.address, policy, drawnAt);
    requireBudget(kept, role, cost, policy, drawnAt);
    const entry: LedgerEntry = {
      campaign,
      role,
      service: service.address,
      madeFor: signed.headList.digest,
      body: body(),
      token: token?.token ?? '',
      ...cost,
      ...relayed,
      drawnAt,
      state: 'unsent',
      ...(token && { sendAfter: token.reportAfter }),
    };
    return { ledger: { ...known, entries: [...known.entries, entry] }, value: entry };
  });
}

/** Sends a report unless that is over or too early, to the service or to its relay; returns its state then. */
export async function sent(
  { service, ledger, now }: Reporter,
  made: LedgerEntry,
): Promise<EntryState> {
  const { campaign, role, relay, sendAfter, state } = made;
  // Written so that a clock that is no number lets nothing through.
  if (sendAfter !== undefined && !(now() >= sendAfter)) return state;
  const entry = role === 'relayed' ? await ledger.attempt(made) : made;
  if (entry.state !== 'unsent') return entry.state;
  const receiver = relay === undefined ? service : service.toward(relay);
  const answer = await receiver.send(campaign, '/reports', { body: entry.body });
  if (!isFinal(answer)) return 'unsent';
  return ledger.settle(entry, answer.ok ? 'sent' : 'refused');
}

/** Fetches a list that is what the campaign promises, that this device may afford, and logged. */
export async function fetchedList(
  { service, ledger, policy }: Reporter,
  campaign: string,
): Promise<LoggedList> {
  const signed = await readSignedHeadList(await service.text(campaign, '/head-list'));
  requireAcceptable(signed, campaign, policy);
  const cost = reportCost(signed.headList);
  requireBudget(EMPTY_LEDGER, 'report', cost, policy, 0);
  const promise = await readDescription(await service.text(campaign), campaign);
  requirePromised(signed, promise);
  const { cells, relay } = signed.headList;
  if (relay) requireKept(cells, relay);
  const { logEntry, publicKey } = signed;
  const { logs } = await ledger.read();
  const logged = await requireLogged(logEntry, publicKey, logs[publicKey], (start) =>
    service.log(start),
  );
  return { signed, cost, promise, logged };
}

async function prepared(
  { signed, cost }: LoggedList,
  role: ReportRole,
  record: SearchRecord | null,
  kept: KeptToken | undefined,
): Promise<Prepared> {
  const token = kept && readToken(kept.token);
  if (role === 'relayed') return preparedForRelay(signed, record, token);
  const reportId = token ? await reportIdOf(token) : secureBytes(16);
  const randomizer = await randomizerFor(signed.headList, reportId, kept?.token);
  return { cost, relayed: {}, body: () => randomizer(record, secureBytes) };
}

/** Encryption cannot happen inside a transaction: what loses a race there is never sent. */
async function preparedForRelay(
  signed: SignedHeadList,
  record: SearchRecord | null,
  token: Uint8Array | undefined,
): Promise<Prepared> {
  const { headList, relay } = signed;
  must(relay !== undefined && headList.relay !== undefined, 'the campaign has no relay');
  requireSafeAddress('relay', relay.address);
  const body = await relayedReport(signed, record, secureBytes, token);
  return {
    cost: relayCost(headList.cells, headList.relay),
    relayed: { relay: relay.address, attempts: 0 },
    body: () => body,
  };
}
