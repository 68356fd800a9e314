/** Client: one device in the campaigns of one service. */
import { type Contribution, contribute, withdraw } from './contribution.js';
import { readDescription, requirePromised } from './description.js';
import { KeptLedger } from './kept-ledger.js';
import {
  type Change,
  EMPTY_LEDGER,
  type EntryState,
  forgotten,
  type LedgerEntry,
} from './ledger.js';
import type { Odds } from './odds.js';
import {
  DEFAULT_POLICY,
  type LoggedList,
  type Policy,
  requireAcceptable,
  requireBudget,
  requireKnown,
  requirePause,
  spent,
} from './policy.js';
import { requireLogged } from './public-log.js';
import { guarded, must, type Result } from './refusal.js';
import { requireKept } from './relay/relayed-response.js';
import { randomizerFor, type SearchRecord } from './report.js';
import { reportCost } from './report-cost.js';
import { readSignedHeadList } from './signed-head-list.js';
import type { Storage } from './storage.js';
import { type Fetch, isFinal, Service } from './transport.js';
import { secureBytes } from './uniform.js';

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

/** What became of the one contribution to a campaign. */
export interface Contributed {
  /** "uncertain" may have arrived: only {@link BlenderClient.withdraw} makes it sure. */
  readonly state: EntryState;
  readonly epsilon: number;
  readonly delta: number;
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
  /** The digest of what the campaign promises. */
  readonly description: string;
  readonly queryCount: number;
  readonly cellCount: number;
  /** What a report costs. */
  readonly epsilon: number;
  /** What a report says, for every question that is asked. */
  readonly odds: readonly Odds[];
}

/** Takes part in campaigns, each at most once and in one role; no method throws. */
export class BlenderClient {
  readonly #service: Service;
  readonly #ledger: KeptLedger;
  readonly #publicKey: string | undefined;
  readonly #policy: Policy;
  readonly #now: () => number;

  constructor(options: ClientOptions) {
    const ask: Fetch = (address, init) => fetch(address, init);
    this.#service = new Service(options.service, options.fetch ?? ask);
    this.#publicKey = options.publicKey;
    this.#policy = { ...DEFAULT_POLICY, ...options.policy };
    this.#ledger = new KeptLedger(options.storage, this.#policy);
    this.#now = options.now ?? Date.now;
  }

  /** Fetches and checks the list of a campaign, and remembers it: later it must be the same. */
  headList(campaign: string): Promise<Result<ListSummary>> {
    return guarded(async () => {
      const list = await this.#loggedList(campaign);
      await this.#ledger.update((ledger) => ({
        ledger: requireKnown(ledger, this.#service.address, list, this.#publicKey),
        value: undefined,
      }));
      const { cost, signed } = list;
      const { description, headList } = signed;
      const { digest, queries, cells } = headList;
      return {
        digest,
        description,
        queryCount: queries.length,
        cellCount: cells.queryOfCell.length,
        epsilon: Number(cost.epsilon),
        odds: headList.mechanism.odds(cells),
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
      const before = await this.#ledger.find(campaign, 'report');
      const entry = before ?? (await this.#draw(campaign, record));
      const state = await this.#send(entry);
      must(state === 'sent' || state === 'unsent', 'the report of this campaign was not taken');
      return { state, report: entry.body, epsilon: Number(entry.epsilon) };
    });
  }

  /** Sends again what was stored and not acknowledged; returns how many reports are left. */
  resend(): Promise<Result<{ readonly unsent: number }>> {
    return guarded(async () => {
      const { entries } = await this.#ledger.read();
      const waiting = entries.filter(
        ({ role, service, state }) =>
          role === 'report' && service === this.#service.address && state === 'unsent',
      );
      const states = await Promise.all(waiting.map((entry) => this.#send(entry)));
      return { unsent: states.filter((state) => state === 'unsent').length };
    });
  }

  /**
   * Hands over raw records of somebody who agreed to that, once a campaign.
   *
   * What they cost is in the ledger before anything is sent. A second call sends the same bytes
   * again, or says what became of them.
   */
  contribute(campaign: string, contribution: Contribution): Promise<Result<Contributed>> {
    return guarded(async () => {
      const { state, epsilon, delta } = await contribute(this.#parts, campaign, contribution);
      return { state, epsilon: Number(epsilon), delta: Number(delta) };
    });
  }

  /** Has a contribution deleted at the service, for good; only then may this device report. */
  withdraw(campaign: string): Promise<Result> {
    return guarded(async () => {
      await withdraw(this.#parts, campaign);
      return {};
    });
  }

  /** Returns what this device spent in the window, what is left, and all that it sent. */
  account(): Promise<Result<Account>> {
    return guarded(async () => {
      const ledger = await this.#ledger.read();
      const [numerator, denominator] = spent(ledger, 'epsilon', this.#policy, this.#now());
      const sum = Number((numerator * 1_000_000n) / denominator) / 1_000_000;
      const left = Math.max(this.#policy.mostEpsilon - sum, 0);
      return { spent: sum, left, entries: ledger.entries };
    });
  }

  /** Deletes all that was sent or waits; which campaigns got something, and its cost, remain. */
  forget(): Promise<Result> {
    return guarded(async () => {
      await this.#ledger.update((ledger) => ({ ledger: forgotten(ledger), value: undefined }));
      return {};
    });
  }

  /** Fetches the release of a campaign: keep the text, and local search works offline. */
  release(campaign: string): Promise<Result<{ readonly text: string }>> {
    return guarded(async () => ({ text: await this.#service.text(campaign, '/release') }));
  }

  async #draw(campaign: string, record: SearchRecord | null): Promise<LedgerEntry> {
    const list = await this.#loggedList(campaign);
    const { cost, signed, state } = list;
    // The answer to a report that comes too early is final: its one draw would be wasted.
    must(state === 'clients-open', 'the campaign does not take reports now');
    const { headList } = signed;
    const randomizer = await randomizerFor(headList, secureBytes(16));
    const service = this.#service.address;
    return this.#ledger.record(campaign, 'report', (ledger): Change<LedgerEntry> => {
      const drawnAt = this.#now();
      const known = requireKnown(ledger, service, list, this.#publicKey);
      requirePause(ledger, service, this.#policy, drawnAt);
      requireBudget(ledger, 'report', cost, this.#policy, drawnAt);
      const entry: LedgerEntry = {
        campaign,
        role: 'report',
        service,
        madeFor: headList.digest,
        body: randomizer(record, secureBytes),
        token: '',
        ...cost,
        drawnAt,
        state: 'unsent',
      };
      return { ledger: { ...known, entries: [...known.entries, entry] }, value: entry };
    });
  }

  async #send(entry: LedgerEntry): Promise<EntryState> {
    if (entry.state !== 'unsent') return entry.state;
    const { body } = entry;
    const answer = await this.#service.send(entry.campaign, '/reports', { body });
    if (!isFinal(answer)) return 'unsent';
    return this.#ledger.settle(entry, answer.ok ? 'sent' : 'refused');
  }

  /** Fetches a list that is what the campaign promises, that this device may afford, and logged. */
  async #loggedList(campaign: string): Promise<LoggedList> {
    const signed = await readSignedHeadList(await this.#service.text(campaign, '/head-list'));
    requireAcceptable(signed, campaign, this.#policy);
    const cost = reportCost(signed.headList);
    requireBudget(EMPTY_LEDGER, 'report', cost, this.#policy, 0);
    const promise = await readDescription(await this.#service.text(campaign), campaign);
    requirePromised(signed, promise);
    const { cells, relay } = signed.headList;
    if (relay) requireKept(cells, relay);
    const { logEntry, publicKey } = signed;
    const { logs } = await this.#ledger.read();
    const logged = await requireLogged(logEntry, publicKey, logs[publicKey], (start) =>
      this.#service.log(start),
    );
    return { signed, cost, state: promise.state, logged };
  }

  get #parts() {
    return {
      service: this.#service,
      ledger: this.#ledger,
      policy: this.#policy,
      now: this.#now,
    };
  }
}
