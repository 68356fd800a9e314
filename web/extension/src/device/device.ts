/** Device of a person: records searches, sends reports, and deletes both. */
import {
  type Account,
  BlenderClient,
  type Fetch,
  type LedgerEntry,
  type Role,
  type SearchRecord,
  type Storage,
} from '@blender-dp/client';
import type { View } from '../messages.js';
import {
  choiceProblem,
  codeFor,
  codePlace,
  type KnownCampaign,
  type Offer,
  receiptOf,
  shownOffer,
  withChoice,
  withKnown,
} from './choices.js';
import { fetchCampaign } from './collection.js';
import { contribute } from './contributing.js';
import { type Invitation, LINK_PROBLEM, readInvitation } from './invitation.js';
import { type Area, Kept, Turns } from './kept.js';
import { withOldOptIns } from './old-opt-ins.js';
import { isContributionDue, type Receipt } from './opt-in.js';
import * as problems from './problems.js';
import { type KeptRecord, withConsent, withoutOld, withRecord } from './records.js';
import { fetchRelease, hasRelease, type KeptRelease } from './release.js';
import { nextSendTime, problemOf, resendAll, sendReport, waitingReports } from './reporting.js';
import {
  type Choice,
  currentConsent,
  currentEntry,
  FIRST_SETTINGS,
  isRecording,
  type PartChoice,
  type Settings,
  type WatchedPage,
} from './settings.js';
import { addressOf, withdrawAll } from './withdrawals.js';

export interface DeviceParts {
  readonly area: Area;
  /** The ledger of reports and contributions. */
  readonly ledger: Storage;
  readonly fetch: Fetch;
  /** Returns milliseconds since 1970. */
  readonly now: () => number;
}

/** Everything that the extension keeps and does. */
export class Device {
  readonly settings: Kept<Settings>;
  readonly records: Kept<readonly KeptRecord[]>;
  readonly release: Kept<KeptRelease | null>;
  /** Every campaign that the person chose for. */
  readonly campaigns: Kept<readonly KnownCampaign[]>;
  readonly #parts: DeviceParts;
  readonly #ledger: Storage;
  readonly #turns = new Turns();

  constructor(parts: DeviceParts) {
    this.#parts = parts;
    this.settings = new Kept(parts.area, 'settings', FIRST_SETTINGS);
    this.#ledger = withOldOptIns(parts.ledger, this.settings);
    this.records = new Kept<readonly KeptRecord[]>(parts.area, 'records', []);
    this.release = new Kept<KeptRelease | null>(parts.area, 'release', null);
    this.campaigns = new Kept<readonly KnownCampaign[]>(parts.area, 'campaigns', []);
  }

  async view(): Promise<View> {
    const [settings, records, release, campaigns] = await Promise.all([
      this.settings.read(),
      this.recentRecords(),
      this.release.read(),
      this.campaigns.read(),
    ]);
    return {
      settings,
      records,
      campaigns,
      account: await this.#account(),
      releaseFetchedAt: release?.fetchedAt ?? null,
    };
  }

  /** Looks up the campaign of a link; nothing else changes before the person chooses. */
  async invite(text: string): Promise<string | undefined> {
    const invitation = readInvitation(text);
    if (!invitation) return LINK_PROBLEM;
    const campaign = await fetchCampaign(invitation, this.#parts.fetch);
    if (!campaign) return problems.UNREACHABLE;
    await this.settings.change((old) => ({ ...old, offer: { invitation, campaign } }));
    return undefined;
  }

  /**
   * Records and sends nothing from now on, for what is shown; what was gathered is deleted. The result
   * is fetched if there is one: nobody must take part for suggestions.
   */
  async leaveUnused(shown: string | null): Promise<void> {
    await this.#choose('nothing', shownOffer(await this.settings.read(), shown));
    await this.records.forget();
    await this.refreshRelease();
  }

  /** Chooses to take part in the campaign with this digest, if it is still the one shown. */
  async choose(choice: PartChoice, shown: string, typed = ''): Promise<string | undefined> {
    const settings = await this.settings.read();
    const about = shownOffer(settings, shown);
    const { entries } = await this.#account();
    if (!about) return problems.NOT_SHOWN;
    const code = codeFor(settings, about, choice, typed);
    const problem = choiceProblem(choice, about, entries, code);
    if (problem) return problem;
    if (code) {
      const place = codePlace(about, choice);
      await this.settings.change((old) => ({ ...old, codes: { ...old.codes, [place]: code } }));
    }
    const isBound = currentEntry(about, entries, 'contribution') !== undefined;
    const receipt = receiptOf(settings, about, isBound, this.#parts.now());
    await this.#choose(choice, about, choice === 'opt-in' ? receipt : undefined);
    return undefined;
  }

  async watch(pages: readonly WatchedPage[]): Promise<void> {
    await this.settings.change((old) => ({ ...old, pages }));
  }

  /** Tells whether clicks are recorded now. */
  async isRecording(): Promise<boolean> {
    return isRecording(await this.settings.read(), (await this.#account()).entries);
  }

  /** Returns the records; those that are old are deleted first. */
  async recentRecords(): Promise<readonly KeptRecord[]> {
    const now = this.#parts.now();
    const records = await this.records.read();
    const isOld = withoutOld(records, now).length < records.length;
    return isOld ? this.records.change((present) => withoutOld(present, now)) : records;
  }

  /** Keeps a record, if the person chose that anything is recorded. */
  async keep(record: SearchRecord): Promise<void> {
    if (!(await this.isRecording())) return;
    const settings = await this.settings.read();
    const consent = currentConsent(settings);
    await this.records.change((records) => withRecord(records, record, this.#parts.now(), consent));
  }

  /** Has a record sent with the others, or not, as the person ticked it. */
  async tickRecord(at: number, isTicked: boolean): Promise<void> {
    const consent = isTicked ? currentConsent(await this.settings.read()) : undefined;
    await this.records.change((records) =>
      records.map((record) => (record.at === at ? withConsent(record, consent) : record)),
    );
  }

  async forgetRecord(at: number): Promise<void> {
    await this.records.change((records) => records.filter((record) => record.at !== at));
  }

  /** Fetches the campaign's state. */
  refreshCampaign(): Promise<string | undefined> {
    return this.#reporting(async ({ invitation }) => {
      if (!invitation) return undefined;
      const campaign = await fetchCampaign(invitation, this.#parts.fetch);
      if (!campaign) return problems.UNREACHABLE;
      const checkedAt = this.#parts.now();
      await this.settings.change((old) =>
        old.invitation?.campaign === invitation.campaign ? { ...old, campaign, checkedAt } : old,
      );
      return undefined;
    });
  }

  /** Sends what it is time to send, if anything. */
  send(): Promise<string | undefined> {
    return this.#reporting(async (settings) => {
      const { choice, invitation } = settings;
      const records = await this.recentRecords();
      if (choice === null || choice === 'nothing') return undefined;
      await resendAll(await this.#waiting(), (service) => this.#client({ service }));
      const made = await this.#entry(settings, 'contribution');
      if (choice !== 'opt-in' && invitation) {
        return sendReport(this.#client(invitation), { ...settings, invitation }, made, {
          settings: this.settings,
          records,
        });
      }
      const isDue = isContributionDue(settings, made, records, this.#parts.now());
      return isDue ? this.#contribute(settings) : undefined;
    });
  }

  /** Returns when the next report that waits for its time is sent, in milliseconds since 1970. */
  async nextSend(): Promise<number | undefined> {
    return nextSendTime(await this.#waiting());
  }

  /** Sends the records of an opt-in user now, because they asked for it. */
  contributeNow(): Promise<string | undefined> {
    return this.#reporting((settings) => this.#contribute(settings));
  }

  /** Has a contribution deleted at the service that it was sent to; it cannot be made again. */
  withdraw(campaign: string): Promise<string | undefined> {
    return this.#reporting(async (settings) => {
      const service = addressOf(settings, (await this.#account()).entries, campaign);
      if (!service) return problems.NO_ADDRESS;
      return problemOf(await this.#client({ service }).withdraw(campaign));
    });
  }

  /** Fetches the release once there is one, and keeps it only if suggestions can be made of it. */
  refreshRelease(): Promise<string | undefined> {
    return this.#reporting(async ({ campaign, invitation }) => {
      if (!campaign || !invitation || !hasRelease(campaign)) return undefined;
      const found = await fetchRelease(this.#client(invitation), invitation.campaign);
      // A campaign that was given up has none, which is no problem of this device.
      if (!found.ok) return campaign.state === 'purged' ? undefined : found.problem;
      await this.release.change(() => ({ text: found.text, fetchedAt: this.#parts.now() }));
      return undefined;
    });
  }

  /** Does everything that alarms do, now. */
  async check(): Promise<string | undefined> {
    const first = await this.refreshCampaign();
    const second = first ?? (await this.send());
    return second ?? (await this.refreshRelease());
  }

  /**
   * Deletes everything but which campaigns got what at which cost, and takes contributions back
   * where that is still possible; returns what could not be taken back.
   */
  forgetEverything(): Promise<string | undefined> {
    return this.#turns.take(async () => {
      const { entries } = await this.#account();
      const isTakenBack = await withdrawAll(entries, (service) => this.#client({ service }));
      await Promise.all([this.settings.forget(), this.records.forget(), this.release.forget()]);
      await this.campaigns.change((known) =>
        known.filter(({ id }) => entries.some(({ campaign }) => campaign === id)),
      );
      const forgotten = problemOf(await this.#client().forget());
      return forgotten ?? (isTakenBack ? undefined : problems.NOT_TAKEN_BACK);
    });
  }

  async #choose(choice: Choice, about: Offer | undefined, receipt?: Receipt): Promise<void> {
    const settings = await this.settings.change((old) => withChoice(old, choice, about, receipt));
    await this.campaigns.change((known) => withKnown(known, settings, this.#parts.now()));
  }

  async #contribute(settings: Settings): Promise<string | undefined> {
    const made = await this.#entry(settings, 'contribution');
    const client = this.#client(settings.invitation ?? undefined);
    return contribute(client, settings, made, await this.recentRecords());
  }

  async #waiting(): Promise<readonly LedgerEntry[]> {
    const [settings, known] = await Promise.all([this.settings.read(), this.campaigns.read()]);
    return waitingReports(settings, known, (await this.#account()).entries);
  }

  /** Returns what this device made for the campaign at hand. */
  async #entry(settings: Settings, role: Role): Promise<LedgerEntry | undefined> {
    return currentEntry(settings, (await this.#account()).entries, role);
  }

  /** Returns what was spent on what; an unreadable ledger is no answer. */
  async #account(): Promise<Account> {
    const account = await this.#client().account();
    if (!account.ok) throw new Error(account.problem);
    return account;
  }

  /** Runs one thing at a time, and remembers what was wrong with the last. */
  #reporting(
    work: (settings: Settings) => Promise<string | undefined>,
  ): Promise<string | undefined> {
    return this.#turns.take(async () => {
      const problem = await work(await this.settings.read());
      await this.settings.change((old) => ({ ...old, problem: problem ?? null }));
      return problem;
    });
  }

  #client({ service = '', publicKey = null }: Partial<Invitation> = {}): BlenderClient {
    const { fetch, now } = this.#parts;
    const storage = this.#ledger;
    return new BlenderClient({ service, storage, fetch, now, ...(publicKey ? { publicKey } : {}) });
  }
}
