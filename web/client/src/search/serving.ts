/** Rule for the rows that may be shown: only those confirmed by the private reports. */
import type { Release, Row } from './release.js';

/** How sure one must be before something is shown. */
export interface ServingRule {
  /** By how many standard errors the clients' estimate must exceed `fewestUsers`. */
  readonly significance: number;
  /** The number of clients who must have the row. */
  readonly fewestUsers: number;
  /** The most standard errors by which the estimates of the two groups may differ. */
  readonly widestDifference: number;
  /** The share of clients that may be fake; what they could have added is subtracted first. */
  readonly push: number;
}

export const DEFAULT_RULE: ServingRule = {
  significance: 3,
  fewestUsers: 50,
  widestDifference: 4,
  push: 0.0001,
};

/** Returns the rows of single records or queries that may be shown, most probable first. */
export function servedRows(rows: readonly Row[], release: Release, rule: ServingRule): Row[] {
  return rows
    .filter((row) => row.cell === 'record' || row.cell === 'query')
    .filter((row) => isServed(row, release, rule))
    .sort((a, b) => bestProbability(b) - bestProbability(a));
}

/** Returns the blended estimate, or the clients' where that is spoilt (flaw F1). */
export function bestProbability(row: Row): number {
  return row.stdError === null ? (row.clientProbability ?? row.probability) : row.probability;
}

/** A row of which the clients say something. */
type Said = Row & { readonly clientProbability: number };

function isServed(row: Row, release: Release, rule: ServingRule): boolean {
  return isSaid(row) && isKnown(row, release, rule) && groupsAgree(row, release, rule);
}

function isSaid(row: Row): row is Said {
  return row.clientProbability !== null;
}

function isKnown(row: Said, release: Release, rule: ServingRule): boolean {
  if (!row.clientStdError) return false;
  const believed = row.clientProbability - pushed(row, release, rule);
  const surplus = believed - rule.fewestUsers / Math.max(release.clientUsers, 1);
  return surplus / row.clientStdError >= rule.significance;
}

/** Returns how much a push may have made, no more than what the opt-in users leave room for. */
function pushed(row: Said, release: Release, rule: ServingRule): number {
  const most = rule.push * release.fakeWeight;
  if (row.optInProbability === null || !release.optInUsers) return most;
  const excess = row.clientProbability - row.optInProbability;
  return Math.min(most, Math.max(excess + rule.significance * differenceError(row, release), 0));
}

/** Returns the standard error of what the groups say of a row, one less the other. */
function differenceError(row: Said, release: Release): number {
  // A small count has a small estimate of its own error; the clients know it better.
  const p = Math.min(Math.max(row.clientProbability, 0), 1);
  const optInVariance = Math.max((row.optInStdError ?? 0) ** 2, (p * (1 - p)) / release.optInUsers);
  return Math.hypot(Math.sqrt(optInVariance), row.clientStdError ?? 0);
}

function groupsAgree(row: Said, release: Release, rule: ServingRule): boolean {
  if (row.optInProbability === null || !release.optInUsers) return true;
  const error = differenceError(row, release);
  const difference = row.optInProbability - row.clientProbability;
  // The opt-in users count listed URLs only in rows of queries (flaw F3).
  const counted = row.cell === 'query' ? Math.max(difference, 0) : Math.abs(difference);
  return counted <= rule.widestDifference * error;
}
