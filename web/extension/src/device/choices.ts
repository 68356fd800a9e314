/** Choices of a person: for which campaign, and what is agreed to with it. */
import type { LedgerEntry } from '@blender-dp/client';
import { type Campaign, type Collector, needsCode } from './collection.js';
import type { Invitation } from './invitation.js';
import { newReceipt, type Receipt } from './opt-in.js';
import { isTooMuch } from './own-limits.js';
import { LEFT, NO_CODE, NO_RELAY, REPORTED, TOO_MUCH } from './problems.js';
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
  if (isTooMuch(about.campaign, ROLES[choice])) return TOO_MUCH;
  if (needsCode(about.campaign, choice === 'opt-in') && !code) return NO_CODE;
  if (choice === 'relayed' && !about.campaign.relay) return NO_RELAY;
  // What was sent as it is can still be withdrawn: until then no report is made.
  const others = (['report', 'relayed'] as const).filter((role) => role !== ROLES[choice]);
  const hasReported = others.some((role) => currentEntry(about, entries, role) !== undefined);
  if (hasReported) return REPORTED;
  const isLeft = currentEntry(about, entries, 'contribution')?.state === 'withdrawn';
  return choice === 'opt-in' && isLeft ? LEFT : undefined;
}

/** Names the place of a code: one for another issuer is not shown to the organisation, nor back. */
export function codePlace({ invitation, campaign }: Offer, choice: PartChoice): string {
  const { campaign: id } = invitation;
  return campaign.issuer && choice !== 'opt-in' ? `${id} ${campaign.issuer}` : id;
}

/** Returns the code for a choice, typed now or before; none where none is needed. */
export function codeFor(
  { codes }: Settings,
  about: Offer,
  choice: PartChoice,
  typed = '',
): string | undefined {
  if (!needsCode(about.campaign, choice === 'opt-in')) return undefined;
  return typed.trim() || codes[codePlace(about, choice)];
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

/** Tells whether an entry may still be sent: nothing else was chosen for its campaign since. */
export function isStillChosen(
  { campaign, role }: Pick<LedgerEntry, 'campaign' | 'role'>,
  known: readonly KnownCampaign[],
): boolean {
  const choice = known.find(({ id }) => id === campaign)?.choice;
  // An earlier version did not keep what was chosen.
  if (choice === undefined) return true;
  return choice !== 'nothing' && ROLES[choice] === role;
}

/** Returns the campaigns that are known, with the present one as it was chosen now. */
export function withKnown(
  known: readonly KnownCampaign[],
  { invitation, campaign, choice }: Settings,
  chosenAt: number,
): readonly KnownCampaign[] {
  // Whoever wants that nothing is sent wants it for every campaign.
  const before = choice === 'nothing' ? known.map((one) => ({ ...one, choice })) : known;
  if (!invitation || !campaign || !choice) return before;
  const { service, campaign: id } = invitation;
  const { name, controller, contact, privacyPolicy } = campaign;
  const chosen = { id, service, name, controller, contact, privacyPolicy, choice, chosenAt };
  return [...before.filter((one) => one.id !== id), chosen];
}
