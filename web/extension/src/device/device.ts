/** Device of a person: records searches, sends reports, and deletes both. */
import {
  BlenderClient,
  type Fetch,
  type LedgerEntry,
  LocalSearch,
  type Result,
  type Role,
  type SearchRecord,
  type Storage,
  secureBytes,
} from '@blender-dp/client';
import type { View } from '../messages.js';
import { fetchCampaign, type Invitation, readInvitation } from './collection.js';
import { type Area, Kept, Turns } from './kept.js';
import { withOldOptIns } from './old-opt-ins.js';
import { agreed, contributionProblem, contributionText, isTimeToContribute } from './opt-in.js';
import { drawRecord, type KeptRecord, withRecord } from './records.js';
import {
  currentEntry,
  currentReceipt,
  FIRST_SETTINGS,
  isRecording,
  type Settings,
  type WatchedPage,
} from './settings.js';

export interface DeviceParts {
  readonly area: Area;
  /** The ledger of reports and contributions. */
  readonly ledger: Storage;
  readonly fetch: Fetch;
  /** Returns milliseconds since 1970. */
  readonly now: () => number;
}

/** The text of a release, for suggestions without a network. */
export interface KeptRelease {
  readonly text: string;
  readonly fetchedAt: number;
}

const NO_INVITATION = 'the link of a campaign must be given first';
const CHANGED = 'what the campaign promises has changed; please read it and choose again';
const NOT_TAKEN_BACK =
  'what was on this device was deleted, but the service did not confirm that it deleted your ' +
  'contribution; take up the link again to withdraw it';
const UNREACHABLE = 'the service cannot be reached, or does not know this campaign';

/** Everything that the extension keeps and does. */
export class Device {
  readonly settings: Kept<Settings>;
  readonly records: Kept<readonly KeptRecord[]>;
  readonly release: Kept<KeptRelease | null>;
  readonly #parts: DeviceParts;
  readonly #ledger: Storage;
  readonly #turns = new Turns();

  constructor(parts: DeviceParts) {
    this.#parts = parts;
    this.settings = new Kept(parts.area, 'settings', FIRST_SETTINGS);
    this.#ledger = withOldOptIns(parts.ledger, this.settings);
    this.records = new Kept<readonly KeptRecord[]>(parts.area, 'records', []);
    this.release = new Kept<KeptRelease | null>(parts.area, 'release', null);
  }

  async view(): Promise<View> {
    const [settings, records, release] = await Promise.all([
      this.settings.read(),
      this.records.read(),
      this.release.read(),
    ]);
    const account = await this.#client(settings.invitation).account();
    return {
      settings,
      records,
      account: account.ok ? account : { spent: 0, left: 0, entries: [] },
      releaseFetchedAt: release?.fetchedAt ?? null,
    };
  }

  /** Takes up an invitation, if its campaign can be read. */
  async invite(text: string): Promise<string | undefined> {
    const invitation = readInvitation(text);
    if (!invitation) return 'the link must look like https://collect.example/v1/campaigns/…';
    const campaign = await fetchCampaign(invitation, this.#parts.fetch);
    if (!campaign) return UNREACHABLE;
    await this.settings.change((old) => ({ ...old, invitation, campaign, list: null }));
    return undefined;
  }

  /** Records nothing and sends nothing from now on; what was gathered is deleted. */
  async leaveUnused(): Promise<void> {
    await this.settings.change((old) => ({ ...old, choice: 'nothing' }));
    await this.records.forget();
  }

  async choosePrivate(): Promise<string | undefined> {
    const { invitation, campaign } = await this.settings.read();
    if (!invitation || !campaign) return NO_INVITATION;
    const promised = campaign.description;
    await this.settings.change((old) => ({ ...old, choice: 'private', promised }));
    return undefined;
  }

  /** Opts in, if the text that was shown is the campaign's, and this device did not report. */
  async chooseOptIn(textDigest: string): Promise<string | undefined> {
    const settings = await this.settings.read();
    const { invitation, campaign } = settings;
    if (!invitation || !campaign) return NO_INVITATION;
    if (campaign.consent.digest !== textDigest) return 'the text has changed; please read it again';
    if (await this.#entry(settings, 'report')) {
      return 'this device has reported to this campaign, and nobody is in both groups';
    }
    const isBound = (await this.#entry(settings, 'contribution')) !== undefined;
    const old = isBound ? currentReceipt(settings) : undefined;
    const receipt = old ?? agreed(campaign, this.#parts.now());
    await this.settings.change((before) => ({
      ...before,
      choice: 'opt-in',
      promised: campaign.description,
      receipts: { ...before.receipts, [invitation.campaign]: receipt },
    }));
    return undefined;
  }

  async watch(pages: readonly WatchedPage[]): Promise<void> {
    await this.settings.change((old) => ({ ...old, pages }));
  }

  /** Keeps a record, if the person chose that anything is recorded. */
  async keep(record: SearchRecord): Promise<void> {
    if (!isRecording(await this.settings.read())) return;
    await this.records.change((records) => withRecord(records, record, this.#parts.now()));
  }

  async forgetRecord(at: number): Promise<void> {
    await this.records.change((records) => records.filter((record) => record.at !== at));
  }

  /** Looks how far the campaign is. */
  refreshCampaign(): Promise<string | undefined> {
    return this.#reporting(async ({ invitation }) => {
      if (!invitation) return undefined;
      const campaign = await fetchCampaign(invitation, this.#parts.fetch);
      if (!campaign) return UNREACHABLE;
      await this.settings.change((old) => ({ ...old, campaign, checkedAt: this.#parts.now() }));
      return undefined;
    });
  }

  /** Sends what it is time to send, if anything. */
  send(): Promise<string | undefined> {
    return this.#reporting(async (settings) => {
      const { choice, campaign, invitation } = settings;
      if (!campaign || !invitation) return undefined;
      if (choice === 'private') return this.#sendReport(settings, invitation);
      const receipt = currentReceipt(settings);
      if (choice !== 'opt-in' || !receipt || campaign.state !== 'opt-in-open') return undefined;
      const made = await this.#entry(settings, 'contribution');
      const isTime = made
        ? made.state === 'unsent'
        : isTimeToContribute(campaign, receipt, this.#parts.now());
      return isTime ? this.#contribute(settings) : undefined;
    });
  }

  /** Sends the records of an opt-in user now, because they asked for it. */
  contributeNow(): Promise<string | undefined> {
    return this.#reporting((settings) => this.#contribute(settings));
  }

  /** Has the contribution deleted at the service; it cannot be made again. */
  withdraw(): Promise<string | undefined> {
    return this.#reporting(async ({ invitation }) => {
      if (!invitation) return NO_INVITATION;
      return problemOf(await this.#client(invitation).withdraw(invitation.campaign));
    });
  }

  /** Fetches the release once there is one, and keeps it only if suggestions can be made of it. */
  refreshRelease(): Promise<string | undefined> {
    return this.#reporting(async ({ campaign, invitation }) => {
      if (campaign?.state !== 'released' || !invitation) return undefined;
      const found = await this.#client(invitation).release(invitation.campaign);
      const problem = found.ok ? problemOf(LocalSearch.open(found.text)) : found.problem;
      if (!found.ok || problem) return problem;
      const { text } = found;
      await this.release.change(() => ({ text, fetchedAt: this.#parts.now() }));
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
      const account = await this.#client(null).account();
      const given = (account.ok ? account.entries : []).filter(
        ({ role, state }) => role === 'contribution' && state !== 'withdrawn',
      );
      const taken = await Promise.all(
        given.map(({ service, campaign }) =>
          this.#client({ service, campaign, publicKey: null }).withdraw(campaign),
        ),
      );
      await Promise.all([this.settings.forget(), this.records.forget(), this.release.forget()]);
      const forgotten = problemOf(await this.#client(null).forget());
      return forgotten ?? (taken.every(({ ok }) => ok) ? undefined : NOT_TAKEN_BACK);
    });
  }

  async #sendReport(settings: Settings, invitation: Invitation): Promise<string | undefined> {
    const client = this.#client(invitation);
    problemOf(await client.resend());
    const given = await this.#entry(settings, 'contribution');
    // Whoever may be counted among the opt-in users must not be counted twice.
    const isCounted = given !== undefined && given.state !== 'withdrawn';
    if (settings.campaign?.state !== 'clients-open' || isCounted) return undefined;
    const list = await client.headList(invitation.campaign);
    if (!list.ok) return list.problem;
    if (list.description !== settings.promised) return CHANGED;
    await this.settings.change((old) => ({ ...old, list }));
    const record = drawRecord(await this.records.read(), secureBytes);
    return problemOf(await client.report(invitation.campaign, record));
  }

  async #contribute(settings: Settings): Promise<string | undefined> {
    const { campaign, invitation } = settings;
    const receipt = currentReceipt(settings);
    if (!campaign || !invitation || !receipt) return NO_INVITATION;
    const made = await this.#entry(settings, 'contribution');
    const problem = contributionProblem(campaign, receipt, made);
    if (problem) return problem;
    const { description: promised } = campaign;
    if (promised !== settings.promised) return CHANGED;
    const body = contributionText(receipt, await this.records.read());
    const contribution = { agreed: receipt.digest, promised, body };
    const after = await this.#client(invitation).contribute(invitation.campaign, contribution);
    if (!after.ok) return after.problem;
    return {
      sent: undefined,
      unsent: 'the contribution could not be sent; it will be later',
      uncertain: 'the service may have your searches already; withdraw them to be sure',
      refused: 'the service refused the contribution',
      withdrawn: 'this device withdrew from the campaign, which is for good',
    }[after.state];
  }

  /** Returns what this device made for the campaign at hand; an unreadable ledger is no answer. */
  async #entry(settings: Settings, role: Role): Promise<LedgerEntry | undefined> {
    const account = await this.#client(settings.invitation).account();
    if (!account.ok) throw new Error(account.problem);
    return currentEntry(settings, account.entries, role);
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

  #client(invitation: Invitation | null): BlenderClient {
    const { fetch, now } = this.#parts;
    const storage = this.#ledger;
    const publicKey = invitation?.publicKey;
    const service = invitation?.service ?? '';
    return new BlenderClient({ service, storage, fetch, now, ...(publicKey ? { publicKey } : {}) });
  }
}

function problemOf(result: Result): string | undefined {
  return result.ok ? undefined : result.problem;
}
