/** Report of a person: its token, if one is needed, the draw, and when it is sent. */
import { type BlenderClient, type LedgerEntry, type Result, secureBytes } from '@blender-dp/client';
import { codeFor, isStillChosen, type KnownCampaign } from './choices.js';
import { isOver, reportDelta } from './collection.js';
import type { Invitation } from './invitation.js';
import type { Kept } from './kept.js';
import { CHANGED } from './problems.js';
import { drawRecord, type KeptRecord } from './records.js';
import type { Settings } from './settings.js';

/** What reporting reads and changes of the extension. */
export interface ReportParts {
  readonly settings: Kept<Settings>;
  readonly records: readonly KeptRecord[];
}

type InvitedSettings = Settings & { readonly invitation: Invitation };

/** Fetches a token, makes the one report, and sends it, each when it is time; returns a problem. */
export async function sendReport(
  client: BlenderClient,
  present: InvitedSettings,
  given: LedgerEntry | undefined,
  { settings, records }: ReportParts,
): Promise<string | undefined> {
  const { invitation, campaign, choice, promised } = present;
  // Whoever may be counted among the opt-in users must not be counted twice.
  const isCounted = given !== undefined && given.state !== 'withdrawn';
  const isOpen = campaign?.state === 'clients-open';
  // A token is fetched as soon as the list is out: the later the report, the less the times tell.
  const isEarly = campaign?.needsToken === true && campaign.state === 'list-published';
  if (isCounted || !campaign || !(isOpen || isEarly)) return undefined;
  const id = invitation.campaign;
  const list = await client.headList(id);
  if (!list.ok) return list.problem;
  if (list.description !== promised) return CHANGED;
  // Whoever was told that the limit of a report never fails is asked for no other report.
  if (list.delta > reportDelta(campaign)) return CHANGED;
  await settings.change((old) => ({ ...old, list }));
  const throughRelay = choice === 'relayed';
  const code = codeFor(present, { invitation, campaign }, throughRelay ? 'relayed' : 'private');
  const options = { throughRelay, ...(code && { enrolment: code }) };
  if (!isOpen) return problemOf(await client.fetchToken(id, options));
  const record = drawRecord(records, secureBytes);
  return problemOf(await client.report(id, record, options));
}

/** Returns the reports of all campaigns that are to be sent yet; none to one that is over. */
export function waitingReports(
  { invitation, campaign }: Settings,
  known: readonly KnownCampaign[],
  entries: readonly LedgerEntry[],
): readonly LedgerEntry[] {
  const over = campaign && isOver(campaign) ? invitation?.campaign : undefined;
  return entries.filter(
    (entry) =>
      entry.role !== 'contribution' &&
      entry.state === 'unsent' &&
      entry.campaign !== over &&
      isStillChosen(entry, known),
  );
}

/** Sends reports that wait again, whatever service they go to. */
export async function resendAll(
  waiting: readonly LedgerEntry[],
  clientOf: (service: string) => BlenderClient,
): Promise<void> {
  const isWanted = ({ campaign }: LedgerEntry) =>
    waiting.some((entry) => entry.campaign === campaign);
  for (const service of new Set(waiting.map((entry) => entry.service))) {
    await clientOf(service).resend(isWanted);
  }
}

/** Returns when the next report that waits for its time is sent, if one waits. */
export function nextSendTime(waiting: readonly LedgerEntry[]): number | undefined {
  const times = waiting.flatMap(({ sendAfter }) => (sendAfter === undefined ? [] : [sendAfter]));
  return times.length ? Math.min(...times) : undefined;
}

/** Returns the problem of a result, if it has one. */
export function problemOf(result: Result): string | undefined {
  return result.ok ? undefined : result.problem;
}
