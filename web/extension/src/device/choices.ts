/** Choices of a person: for which campaign, and what is agreed to with it. */
import type { LedgerEntry } from '@blender-dp/client';
import { type Campaign, type Collector, needsCode } from './collection.js';
import type { Invitation } from './invitation.js';
import { newReceipt, type Receipt } from './opt-in.js';
import { NO_CODE, NO_RELAY, REPORTED } from './problems.js';
import { type Choice, currentEntry, type PartChoice, ROLES, type Settings } from './settings.js';

/** A campaign that was looked up; nothing is done with it before the person chooses. */
export interface Offer {
  readonly invitation: Invitation;
  readonly campaign: Campaign;
}

/** A campaign that a person chose for, as it was then; kept as long as the ledger. */
export interface KnownCampaign extends Collector {
  readonly id: string;
  readonly service: string;
  readonly name: string;
  readonly choice: Choice;
  readonly chosenAt: number;
}

/** Returns the campaign that a choice is about: the one looked up last, or else the present one. */
export function presentOffer({ offer, invitation, campaign }: Settings): Offer | undefined {
  return offer ?? (invitation && campaign ? { invitation, campaign } : undefined);
}

/** Returns the campaign that a choice is about, if it is the one that the person was shown. */
export function shownOffer(settings: Settings, shown: string | null): Offer | undefined {
  const about = presentOffer(settings);
  return about?.campaign.description === shown ? about : undefined;
}

/** Returns why a person cannot choose this now, or undefined; nobody is in two groups. */
export function choiceProblem(
  choice: PartChoice,
  about: Offer,
  entries: readonly LedgerEntry[],
  code: string | undefined,
): string | undefined {
  if (choice !== 'opt-in' && needsCode(about.campaign) && !code) return NO_CODE;
  if (choice === 'relayed' && !about.campaign.relay) return NO_RELAY;
  // What was sent as it is can still be withdrawn: until then no report is made.
  const others = (['report', 'relayed'] as const).filter((role) => role !== ROLES[choice]);
  const hasReported = others.some((role) => currentEntry(about, entries, role) !== undefined);
  return hasReported ? REPORTED : undefined;
}

/** Returns the settings with a code, trimmed, for the campaign that a choice is about. */
export function withCode(settings: Settings, { invitation }: Offer, code: string): Settings {
  const codes = { ...settings.codes, [invitation.campaign]: code };
  return { ...settings, codes };
}

/** Returns the settings after a choice: the campaign that it is about is the present one. */
export function withChoice(
  settings: Settings,
  choice: Choice,
  about: Offer | undefined,
  receipt?: Receipt,
): Settings {
  if (!about) return { ...settings, choice };
  const { invitation, campaign } = about;
  const { receipts, list } = settings;
  const isSame = settings.invitation?.campaign === invitation.campaign;
  return {
    ...settings,
    choice,
    invitation,
    campaign,
    offer: null,
    promised: campaign.description,
    list: isSame ? list : null,
    problem: null,
    receipts: receipt ? { ...receipts, [invitation.campaign]: receipt } : receipts,
  };
}

/**
 * Returns the receipt of an opt-in that is chosen now.
 *
 * It is a new one unless the same was chosen already: searches made in between, under another
 * choice, were made under another promise.
 */
export function receiptOf(
  settings: Settings,
  { invitation, campaign }: Offer,
  isBound: boolean,
  now: number,
): Receipt {
  const before = settings.receipts[invitation.campaign];
  const isChosen =
    settings.choice === 'opt-in' &&
    settings.invitation?.campaign === invitation.campaign &&
    settings.promised === campaign.description;
  return before && (isBound || isChosen) ? before : newReceipt(campaign, now);
}

/** Returns the campaigns that are known, with the present one as it was chosen now. */
export function withKnown(
  known: readonly KnownCampaign[],
  { invitation, campaign, choice }: Settings,
  chosenAt: number,
): readonly KnownCampaign[] {
  if (!invitation || !campaign || !choice) return known;
  const { service, campaign: id } = invitation;
  const { name, controller, contact, privacyPolicy } = campaign;
  const chosen = { id, service, name, controller, contact, privacyPolicy, choice, chosenAt };
  return [...known.filter((one) => one.id !== id), chosen];
}
