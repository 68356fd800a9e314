/** Contribution of a person: the ticked searches, sent as they are, once. */
import type { BlenderClient, LedgerEntry } from '@blender-dp/client';
import { codeFor } from './choices.js';
import { contributionProblem, contributionText, OUTCOMES } from './opt-in.js';
import { NO_INVITATION, NOTHING_TO_SEND } from './problems.js';
import type { KeptRecord } from './records.js';
import { currentReceipt, recordsToSend, type Settings } from './settings.js';

/** Sends the searches of somebody who opted in, or what was made of them before; returns a problem. */
export async function contribute(
  client: BlenderClient,
  settings: Settings,
  made: LedgerEntry | undefined,
  records: readonly KeptRecord[],
): Promise<string | undefined> {
  const { campaign, invitation } = settings;
  const receipt = currentReceipt(settings);
  if (!campaign || !invitation || !receipt) return NO_INVITATION;
  const problem = contributionProblem(settings, campaign, receipt, made);
  if (problem) return problem;
  const chosen = recordsToSend(settings, records);
  if (!made && !chosen.length) return NOTHING_TO_SEND;
  const body = contributionText(receipt, chosen);
  const token = codeFor(settings, { invitation, campaign }, 'opt-in');
  const promise = { agreed: receipt.digest, promised: campaign.description };
  const contribution = { ...promise, body, ...(token && { token }) };
  const after = await client.contribute(invitation.campaign, contribution);
  return after.ok ? OUTCOMES[after.state] : after.problem;
}
