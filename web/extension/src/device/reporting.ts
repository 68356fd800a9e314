/** Report of a person: its token, if one is needed, the draw, and when it is sent. */
import { type BlenderClient, type LedgerEntry, type Result, secureBytes } from '@blender-dp/client';
import { codeFor } from './choices.js';
import { reportDelta } from './collection.js';
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

/** Tells whether an entry is a report that is to be sent yet. */
export function isWaiting({ role, state }: LedgerEntry): boolean {
  return role !== 'contribution' && state === 'unsent';
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
