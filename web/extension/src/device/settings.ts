/** Settings: what a person chose, and the state that follows from it. */
import type { LedgerEntry, ListSummary, Role } from '@blender-dp/client';
import { KNOWN_PAGES, type SearchPage } from '../search-pages/search-page.js';
import type { Offer } from './choices.js';
import { type Campaign, isOver, takesContributions } from './collection.js';
import type { Invitation } from './invitation.js';
import type { Receipt } from './opt-in.js';
import type { KeptRecord } from './records.js';

/** Chosen role: opt-in user, client whose report goes through a relay or directly, or none of them. */
export type Choice = 'opt-in' | 'relayed' | 'private' | 'nothing';

/** A choice to take part. */
export type PartChoice = Exclude<Choice, 'nothing'>;

/** The role in the ledger of what is sent by a choice. */
export const ROLES: Readonly<Record<PartChoice, Role>> = {
  'opt-in': 'contribution',
  relayed: 'relayed',
  private: 'report',
};

export interface WatchedPage extends SearchPage {
  readonly isOn: boolean;
}

export interface Settings {
  readonly choice: Choice | null;
  readonly invitation: Invitation | null;
  /** The campaign as it was seen last. */
  readonly campaign: Campaign | null;
  /** The campaign that was looked up last, if nothing was chosen for it yet. */
  readonly offer: Offer | null;
  /** The digest of the description that the person chose by: what is sent must keep to it. */
  readonly promised: string | null;
  /** The campaign's list as it was seen last: what reports say. */
  readonly list: ListSummary | null;
  /** What the person agreed to, by campaign; what became of it is in the ledger. */
  readonly receipts: Readonly<Record<string, Receipt>>;
  /** The codes that let this person contribute or have a token, by campaign and issuer. */
  readonly codes: Readonly<Record<string, string>>;
  readonly pages: readonly WatchedPage[];
  /** Why the last check did not do all that it should have; null if it did. */
  readonly problem: string | null;
  readonly checkedAt: number | null;
}

export const FIRST_SETTINGS: Settings = {
  choice: null,
  invitation: null,
  campaign: null,
  offer: null,
  promised: null,
  list: null,
  receipts: {},
  codes: {},
  pages: KNOWN_PAGES.map((page) => ({ ...page, isOn: false })),
  problem: null,
  checkedAt: null,
};

/**
 * Tells whether clicks are recorded at all: not for a campaign that takes nothing more of this kind,
 * and not when this device's one report or contribution is made, or forbids the other.
 */
export function isRecording(settings: Settings, entries: readonly LedgerEntry[]): boolean {
  const { choice, campaign } = settings;
  if (choice === null || choice === 'nothing' || campaign === null || isOver(campaign))
    return false;
  if (choice === 'opt-in' && !takesContributions(campaign)) return false;
  const given = currentEntry(settings, entries, 'contribution');
  if (given && given.state !== 'withdrawn') return false;
  return currentEntry(settings, entries, ROLES[choice]) === undefined;
}

/** Returns what the person agreed to for the campaign at hand. */
export function currentReceipt({ invitation, receipts }: Settings): Receipt | undefined {
  return invitation ? receipts[invitation.campaign] : undefined;
}

/** Names the consent that lets searches leave as they are now, if there is one. */
export function currentConsent(settings: Settings): string | undefined {
  const receipt = currentReceipt(settings);
  return settings.choice === 'opt-in' && receipt
    ? `${settings.invitation?.campaign} ${receipt.givenAt}`
    : undefined;
}

/** Returns the records that are sent as they are, if they are sent now. */
export function recordsToSend(
  settings: Settings,
  records: readonly KeptRecord[],
): readonly KeptRecord[] {
  const consent = currentConsent(settings);
  return records.filter((record) => consent !== undefined && record.consent === consent);
}

/** Returns what this device made for the campaign at hand in one role, from the ledger. */
export function currentEntry(
  { invitation }: Pick<Settings, 'invitation'>,
  entries: readonly LedgerEntry[],
  role: Role,
): LedgerEntry | undefined {
  return entries.find((entry) => entry.campaign === invitation?.campaign && entry.role === role);
}
