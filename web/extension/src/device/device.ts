/** A person's device: what it records, what it sends, and what it forgets. */
import {
  BlenderClient,
  type Fetch,
  LocalSearch,
  type Result,
  type SearchRecord,
  type Storage,
  secureBytes,
} from '@blender-dp/client';
import type { View } from '../messages.js';
import { Collection, type Invitation, readInvitation } from './collection.js';
import { forgetReports } from './forgetting.js';
import { type Area, Kept, Turns } from './kept.js';
import {
  agreed,
  contribute,
  contributionProblem,
  isTimeToContribute,
  type OptIn,
} from './opt-in.js';
import { drawRecord, type KeptRecord, withRecord } from './records.js';
import {
  currentOptIn,
  FIRST_SETTINGS,
  isRecording,
  type Settings,
  type WatchedPage,
} from './settings.js';

export interface DeviceParts {
  readonly area: Area;
  /** The ledger of reports. */
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
const UNREACHABLE = 'the service cannot be reached, or does not know this campaign';

/** Everything that the extension keeps and does. */
export class Device {
  readonly settings: Kept<Settings>;
  readonly records: Kept<readonly KeptRecord[]>;
  readonly release: Kept<KeptRelease | null>;
  readonly #parts: DeviceParts;
  readonly #turns = new Turns();

  constructor(parts: DeviceParts) {
    this.#parts = parts;
    this.settings = new Kept(parts.area, 'settings', FIRST_SETTINGS);
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
    const campaign = await this.#collection(invitation).campaign();
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
    const { invitation } = await this.settings.read();
    if (!invitation) return NO_INVITATION;
    await this.settings.change((old) => ({ ...old, choice: 'private' }));
    return undefined;
  }

  /** Opts in, if the text that was shown is the campaign's. */
  async chooseOptIn(textDigest: string): Promise<string | undefined> {
    const { invitation, campaign, optIns } = await this.settings.read();
    if (!invitation || !campaign) return NO_INVITATION;
    if (campaign.consent.digest !== textDigest) return 'the text has changed; please read it again';
    const old = optIns[invitation.campaign];
    const isBound = old !== undefined && old.state !== 'gathering';
    const optIn = isBound ? old : agreed(campaign, this.#parts.now());
    await this.#keepOptIn(invitation)(optIn);
    await this.settings.change((settings) => ({ ...settings, choice: 'opt-in' }));
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
      const campaign = await this.#collection(invitation).campaign();
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
      const optIn = currentOptIn(settings);
      const isTime =
        choice === 'opt-in' && optIn?.state === 'gathering' && campaign.state === 'opt-in-open';
      if (!isTime || !isTimeToContribute(campaign, optIn, this.#parts.now())) return undefined;
      return this.#contribute(settings);
    });
  }

  /** Sends the records of an opt-in user now, because they asked for it. */
  contributeNow(): Promise<string | undefined> {
    return this.#reporting((settings) => this.#contribute(settings));
  }

  /** Has the contribution deleted at the service; it cannot be made again. */
  withdraw(): Promise<string | undefined> {
    return this.#reporting(async (settings) => {
      const optIn = currentOptIn(settings);
      const { invitation } = settings;
      if (!invitation || !optIn?.token) return 'there is nothing to withdraw';
      const status = await this.#collection(invitation).withdraw(optIn.token);
      if (status !== 204) return 'the service did not confirm it; a sealed campaign cannot be left';
      await this.#keepOptIn(invitation)({ ...optIn, body: null, state: 'withdrawn' });
      return undefined;
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

  /** Deletes everything; a contribution is withdrawn first, where that is still possible. */
  async forgetEverything(keepsSpent: boolean): Promise<void> {
    const optIn = currentOptIn(await this.settings.read());
    if (optIn?.state === 'sent') await this.withdraw();
    await this.#turns.take(async () => {
      await Promise.all([this.settings.forget(), this.records.forget(), this.release.forget()]);
      await forgetReports(this.#parts.ledger, keepsSpent);
    });
  }

  async #sendReport(settings: Settings, invitation: Invitation): Promise<string | undefined> {
    const client = this.#client(invitation);
    problemOf(await client.resend());
    // Who contributed is counted among the opt-in users, and must not be counted twice.
    if (settings.campaign?.state !== 'clients-open' || currentOptIn(settings)?.state === 'sent') {
      return undefined;
    }
    const list = await client.headList(invitation.campaign);
    if (!list.ok) return list.problem;
    await this.settings.change((old) => ({ ...old, list }));
    const record = drawRecord(await this.records.read(), secureBytes);
    return problemOf(await client.report(invitation.campaign, record));
  }

  async #contribute(settings: Settings): Promise<string | undefined> {
    const { campaign, invitation } = settings;
    const optIn = currentOptIn(settings);
    if (!campaign || !invitation || !optIn) return NO_INVITATION;
    const problem = contributionProblem(campaign, optIn);
    if (problem) return problem;
    const keep = this.#keepOptIn(invitation);
    const records = await this.records.read();
    const collection = this.#collection(invitation);
    const after = await contribute(collection, optIn, records, keep, this.#parts.now);
    if (after.state === 'refused') return 'the service refused the contribution';
    return after.state === 'sent'
      ? undefined
      : 'the contribution could not be sent; it will be later';
  }

  #keepOptIn({ campaign }: Invitation): (optIn: OptIn) => Promise<void> {
    return async (optIn) => {
      await this.settings.change((old) => ({
        ...old,
        optIns: { ...old.optIns, [campaign]: optIn },
      }));
    };
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

  #collection(invitation: Invitation): Collection {
    return new Collection(invitation, this.#parts.fetch);
  }

  #client(invitation: Invitation | null): BlenderClient {
    const { ledger: storage, fetch, now } = this.#parts;
    const publicKey = invitation?.publicKey;
    const service = invitation?.service ?? '';
    return new BlenderClient({ service, storage, fetch, now, ...(publicKey ? { publicKey } : {}) });
  }
}

function problemOf(result: Result): string | undefined {
  return result.ok ? undefined : result.problem;
}
