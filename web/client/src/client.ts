/** A device in campaigns of one service. */
import { type Change, findEntry, type Ledger, type LedgerEntry, withState } from './ledger.js';
import { type Odds, oddsOf } from './odds.js';
import {
  DEFAULT_POLICY,
  type Policy,
  requireAcceptable,
  requireBudget,
  requireKnown,
  spentEpsilon,
} from './policy.js';
import { guarded, must, type Result } from './refusal.js';
import { randomizerFor, type SearchRecord } from './report.js';
import { readSignedHeadList, type SignedHeadList } from './signed-head-list.js';
import type { Storage } from './storage.js';
import { type Fetch, fetchText, sendJson } from './transport.js';
import { secureBytes } from './uniform.js';

/** Answers after which the same bytes need not be sent again. */
const FINAL = [400, 404, 410, 413, 415, 422];

export interface ClientOptions {
  /** The address of the service, such as https://collect.example. */
  readonly service: string;
  /** Where the ledger is kept: one for all services, so that they share one budget. */
  readonly storage: Storage;
  /** The service's public key; if left out, the first one seen is the only one trusted. */
  readonly publicKey?: string;
  readonly policy?: Partial<Policy>;
  readonly fetch?: Fetch;
  /** Returns milliseconds since 1970. */
  readonly now?: () => number;
}

/** What became of the one report of a campaign. */
export interface Reported {
  /** "unsent" is stored and will be sent by {@link BlenderClient.resend}. */
  readonly state: 'sent' | 'unsent';
  /** Exactly what is sent. */
  readonly report: string;
  readonly epsilon: number;
}

/** What the device spent, and on what. */
export interface Account {
  readonly spent: number;
  readonly left: number;
  readonly entries: readonly LedgerEntry[];
}

/** What is known of a campaign's list before anything is reported. */
export interface ListSummary {
  readonly digest: string;
  readonly queryCount: number;
  readonly cellCount: number;
  readonly epsilon: number;
  /** What a report says, for every question that is asked. */
  readonly odds: readonly Odds[];
}

/** Reports to campaigns, at most one report each; no method throws. */
export class BlenderClient {
  readonly #service: string;
  readonly #storage: Storage;
  readonly #publicKey: string | undefined;
  readonly #policy: Policy;
  readonly #fetch: Fetch;
  readonly #now: () => number;

  constructor(options: ClientOptions) {
    this.#service = `${options.service}`.replace(/\/+$/, '');
    this.#storage = options.storage;
    this.#publicKey = options.publicKey;
    this.#policy = { ...DEFAULT_POLICY, ...options.policy };
    this.#fetch = options.fetch ?? ((address, init) => fetch(address, init));
    this.#now = options.now ?? Date.now;
  }

  /** Fetches and checks the list of a campaign, and remembers it: later it must be the same. */
  headList(campaign: string): Promise<Result<ListSummary>> {
    return guarded(async () => {
      const signed = await this.#signedList(campaign);
      await this.#storage.update((ledger) => ({
        ledger: requireKnown(ledger, this.#service, signed, this.#publicKey),
        value: undefined,
      }));
      const { digest, queries, cells, mechanism } = signed.headList;
      return {
        digest,
        queryCount: queries.length,
        cellCount: cells.queryOfCell.length,
        epsilon: Number(mechanism.epsilon),
        odds: oddsOf(signed.headList),
      };
    });
  }

  /**
   * Reports a record, or that there is none, which is as private and as useful.
   *
   * The record is randomised once and stored before it is sent. A second call for the same
   * campaign draws nothing: it sends the same bytes again, or says that they were sent.
   */
  report(campaign: string, record: SearchRecord | null): Promise<Result<Reported>> {
    return guarded(async () => {
      const before = await this.#storage.update((ledger) => ({
        value: findEntry(ledger, this.#service, campaign),
      }));
      return this.#deliver(before ?? (await this.#draw(campaign, record)));
    });
  }

  /** Sends again what was stored and not acknowledged; returns how many reports are left. */
  resend(): Promise<Result<{ readonly unsent: number }>> {
    return guarded(async () => {
      const { entries } = await this.#ledger();
      const waiting = entries.filter(
        (entry) => entry.service === this.#service && entry.state === 'unsent',
      );
      const states = await Promise.all(waiting.map((entry) => this.#send(entry)));
      return { unsent: states.filter((state) => state === 'unsent').length };
    });
  }

  /** Returns what this device spent in the window, what is left, and every report. */
  account(): Promise<Result<Account>> {
    return guarded(async () => {
      const ledger = await this.#ledger();
      const [numerator, denominator] = spentEpsilon(ledger, this.#policy, this.#now());
      const spent = Number((numerator * 1_000_000n) / denominator) / 1_000_000;
      const left = Math.max(this.#policy.mostEpsilon - spent, 0);
      return { spent, left, entries: ledger.entries };
    });
  }

  /** Fetches the release of a campaign: keep the text, and local search works offline. */
  release(campaign: string): Promise<Result<{ readonly text: string }>> {
    return guarded(async () => ({
      text: await fetchText(this.#fetch, this.#address(campaign, 'release')),
    }));
  }

  async #draw(campaign: string, record: SearchRecord | null): Promise<LedgerEntry> {
    const signed = await this.#signedList(campaign);
    const { headList } = signed;
    const randomizer = await randomizerFor(headList, secureBytes(16));
    const service = this.#service;
    const { epsilon } = headList.mechanism;
    return this.#storage.update((ledger): Change<LedgerEntry> => {
      const raced = findEntry(ledger, service, campaign);
      if (raced) return { value: raced };
      const drawnAt = this.#now();
      const known = requireKnown(ledger, service, signed, this.#publicKey);
      requireBudget(ledger, service, epsilon, this.#policy, drawnAt);
      const report = randomizer(record, secureBytes);
      const { digest } = headList;
      const entry: LedgerEntry = {
        service,
        campaign,
        headList: digest,
        report,
        epsilon,
        drawnAt,
        state: 'unsent',
      };
      return { ledger: { ...known, entries: [...known.entries, entry] }, value: entry };
    });
  }

  async #deliver(entry: LedgerEntry): Promise<Reported> {
    const state = await this.#send(entry);
    must(state !== 'refused', 'the service refused the report of this campaign');
    return { state, report: entry.report, epsilon: Number(entry.epsilon) };
  }

  async #send(entry: LedgerEntry): Promise<LedgerEntry['state']> {
    if (entry.state !== 'unsent') return entry.state;
    const status = await sendJson(
      this.#fetch,
      this.#address(entry.campaign, 'reports'),
      entry.report,
    );
    if (!(status >= 200 && status < 300) && !FINAL.includes(status)) return 'unsent';
    const state = status < 300 ? 'sent' : 'refused';
    await this.#storage.update((ledger) => ({
      ledger: withState(ledger, entry, state),
      value: undefined,
    }));
    return state;
  }

  async #signedList(campaign: string): Promise<SignedHeadList> {
    const text = await fetchText(this.#fetch, this.#address(campaign, 'head-list'));
    const signed = await readSignedHeadList(text);
    requireAcceptable(signed, campaign, this.#policy);
    return signed;
  }

  #ledger(): Promise<Ledger> {
    return this.#storage.update((ledger) => ({ value: ledger }));
  }

  #address(campaign: string, what: string): string {
    must(/^https?:\/\/\w/.test(this.#service), 'service must be an address of the web');
    return `${this.#service}/v1/campaigns/${encodeURIComponent(campaign)}/${what}`;
  }
}
