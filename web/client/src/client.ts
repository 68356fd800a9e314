/** Client: one device in the campaigns of one service. */
import { type Contribution, contribute, withdraw } from './contribution.js';
import { KeptLedger } from './kept-ledger.js';
import { type EntryState, forgotten, type LedgerEntry } from './ledger.js';
import type { Odds } from './odds.js';
import { type Cost, DEFAULT_POLICY, type Policy, requireKnown, spent } from './policy.js';
import { guarded, must, type Result } from './refusal.js';
import { type RelaySummary, summarized } from './relay/relay-summary.js';
import type { SearchRecord } from './report.js';
import { drawn, fetchedList, type Reporter, sent } from './reporting.js';
import type { Storage } from './storage.js';
import { tokenFor } from './token/report-token.js';
import { type Fetch, Service } from './transport.js';

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
  readonly delta: number;
  /** Through a relay: ε0, which is left if relay and collector work together; 0 otherwise. */
  readonly relayEpsilon: number;
  /** A report with a token is sent not before, in milliseconds since 1970. */
  readonly sendAfter: number | undefined;
}

/** How a report is sent. */
export interface ReportOptions {
  /** To the campaign's relay, encrypted for the collector; decide it before you look at a record. */
  readonly throughRelay?: boolean;
  /** The code that lets this person have a token; if left out, the device enrols itself. */
  readonly enrolment?: string;
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
  /** ε0 in the window: what relays and collectors could have learnt together. */
  readonly relaySpent: number;
  readonly relayLeft: number;
  readonly entries: readonly LedgerEntry[];
  /** Tokens that were asked for, and that no report was made with yet. */
  readonly tokens: readonly TokenSummary[];
}

/** A token of a campaign that no report was made with yet. */
export interface TokenSummary {
  readonly campaign: string;
  readonly service: string;
  /** Whether the issuer has given it. */
  readonly isHere: boolean;
  /** When it was asked for, in milliseconds since 1970. */
  readonly askedAt: number;
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
  /** δ of a report that is not relayed; 0 if it is purely private. */
  readonly delta: number;
  /** What a report says, for every question that is asked. */
  readonly odds: readonly Odds[];
  /** Whether a report needs a token, which shows that it is from one person. */
  readonly needsToken: boolean;
  /** What a report through the relay says and costs; undefined without a relay. */
  readonly relay: RelaySummary | undefined;
}

/** Takes part in campaigns, each at most once and in one role; no method throws. */
export class BlenderClient {
  readonly #service: Service;
  readonly #ledger: KeptLedger;
  readonly #policy: Policy;
  readonly #now: () => number;
  /** What reporting and contributing need of this device. */
  readonly #device: Reporter;

  constructor(options: ClientOptions) {
    const ask: Fetch = (address, init) => fetch(address, init);
    const service = new Service(options.service, options.fetch ?? ask);
    const policy = { ...DEFAULT_POLICY, ...options.policy };
    const ledger = new KeptLedger(options.storage, policy);
    const now = options.now ?? Date.now;
    this.#service = service;
    this.#policy = policy;
    this.#ledger = ledger;
    this.#now = now;
    this.#device = { service, ledger, policy, now, publicKey: options.publicKey };
  }

  /** Fetches and checks the list of a campaign, and remembers it: later it must be the same. */
  headList(campaign: string): Promise<Result<ListSummary>> {
    return guarded(async () => {
      const list = await fetchedList(this.#device, campaign);
      await this.#ledger.update((ledger) => ({
        ledger: requireKnown(ledger, this.#service.address, list, this.#device.publicKey),
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
        delta: Number(cost.delta),
        odds: headList.mechanism.odds(cells),
        needsToken: headList.tokenKey !== undefined,
        relay: summarized(signed),
      };
    });
  }

  /**
   * Fetches the token for the report of a campaign, if its reports need one and it is not here.
   *
   * Do it when the list is published: the report follows after a time that is drawn, so that the
   * two are not seen together.
   */
  fetchToken(campaign: string, { enrolment }: ReportOptions = {}): Promise<Result> {
    return guarded(async () => {
      const { entries } = await this.#ledger.read();
      const hasReport = entries.some(
        (entry) => entry.campaign === campaign && entry.role !== 'contribution',
      );
      if (hasReport) return {};
      await tokenFor(this.#device, await fetchedList(this.#device, campaign), enrolment);
      return {};
    });
  }

  /**
   * Reports a record, or that there is none, which is as private and as useful.
   *
   * The record is randomised once and stored before it is sent. A second call for the same
   * campaign draws nothing: it sends the same bytes again, or says that they were sent.
   * A report with a token is kept until its time has come; {@link resend} sends it then.
   */
  report(
    campaign: string,
    record: SearchRecord | null,
    { throughRelay = false, enrolment }: ReportOptions = {},
  ): Promise<Result<Reported>> {
    return guarded(async () => {
      const entry = await drawn(
        this.#device,
        campaign,
        throughRelay ? 'relayed' : 'report',
        record,
        enrolment,
      );
      const state = await sent(this.#device, entry);
      must(state === 'sent' || state === 'unsent', 'the report of this campaign was not taken');
      const { epsilon, delta, relayEpsilon = 0, body: report, sendAfter } = entry;
      return {
        state,
        report,
        epsilon: Number(epsilon),
        delta: Number(delta),
        relayEpsilon: Number(relayEpsilon),
        sendAfter,
      };
    });
  }

  /**
   * Sends again what was stored and not acknowledged; returns how many reports are left.
   *
   * @param isWanted Tells which of them: a person may have chosen otherwise since. Default: all.
   */
  resend(
    isWanted: (entry: LedgerEntry) => boolean = () => true,
  ): Promise<Result<{ readonly unsent: number }>> {
    return guarded(async () => {
      const { entries } = await this.#ledger.read();
      const waiting = entries.filter(
        (entry) =>
          entry.role !== 'contribution' &&
          entry.service === this.#service.address &&
          entry.state === 'unsent' &&
          isWanted(entry),
      );
      const states = await Promise.all(waiting.map((entry) => sent(this.#device, entry)));
      return { unsent: states.filter((state) => state === 'unsent').length };
    });
  }

  /**
   * Hands over raw records of somebody who agreed to that, once per campaign.
   *
   * What they cost is in the ledger before anything is sent. A second call sends the same bytes
   * again, or says what became of them.
   */
  contribute(campaign: string, contribution: Contribution): Promise<Result<Contributed>> {
    return guarded(async () => {
      const { state, epsilon, delta } = await contribute(this.#device, campaign, contribution);
      return { state, epsilon: Number(epsilon), delta: Number(delta) };
    });
  }

  /** Has a contribution deleted at the service, for good; only then may this device report. */
  withdraw(campaign: string): Promise<Result> {
    return guarded(async () => {
      await withdraw(this.#device, campaign);
      return {};
    });
  }

  /** Returns what this device spent in the window, what is left, and all that it sent. */
  account(): Promise<Result<Account>> {
    return guarded(async () => {
      const ledger = await this.#ledger.read();
      const { mostEpsilon, mostRelayTotal } = this.#policy;
      const total = (what: keyof Cost) => {
        const [numerator, denominator] = spent(ledger, what, this.#policy, this.#now());
        return Number((numerator * 1_000_000n) / denominator) / 1_000_000;
      };
      const [sum, relaySpent] = [total('epsilon'), total('relayEpsilon')];
      return {
        spent: sum,
        left: Math.max(mostEpsilon - sum, 0),
        relaySpent,
        relayLeft: Math.max(mostRelayTotal - relaySpent, 0),
        entries: ledger.entries,
        tokens: Object.entries(ledger.tokens).map(([campaign, { service, token, askedAt }]) => ({
          campaign,
          service,
          isHere: token !== '',
          askedAt,
        })),
      };
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
}
