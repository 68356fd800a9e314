/** What a device has promised and spent, and what it knows of services; kept forever. */

/** One report: made once, sent as often as it takes. */
export interface LedgerEntry {
  readonly service: string;
  readonly campaign: string;
  /** The digest of the list that it was made for. */
  readonly headList: string;
  /** The randomised report, exactly as it is sent. */
  readonly report: string;
  /** The ε that it costs, a decimal text. */
  readonly epsilon: string;
  /** When it was drawn, in milliseconds since 1970. */
  readonly drawnAt: number;
  readonly state: 'unsent' | 'sent' | 'refused';
}

export interface Ledger {
  /** The public key of every service, by its address. */
  readonly keys: Readonly<Record<string, string>>;
  /** The digest of the list of every campaign, by address and campaign. */
  readonly lists: Readonly<Record<string, string>>;
  readonly entries: readonly LedgerEntry[];
}

export const EMPTY_LEDGER: Ledger = { keys: {}, lists: {}, entries: [] };

/** What becomes of a ledger (nothing, if left out), and what to tell the caller. */
export interface Change<Value> {
  readonly ledger?: Ledger;
  readonly value: Value;
}

/** Returns the report of a campaign, if there is one. */
export function findEntry(
  ledger: Ledger,
  service: string,
  campaign: string,
): LedgerEntry | undefined {
  return ledger.entries.find((entry) => entry.service === service && entry.campaign === campaign);
}

/** Returns the name under which the list of a campaign is remembered. */
export function listName(service: string, campaign: string): string {
  return `${service} ${campaign}`;
}

/** Returns the ledger with the state of one campaign's report changed. */
export function withState(
  ledger: Ledger,
  { service, campaign }: LedgerEntry,
  state: LedgerEntry['state'],
): Ledger {
  const entries = ledger.entries.map((entry) =>
    entry.service === service && entry.campaign === campaign ? { ...entry, state } : entry,
  );
  return { ...ledger, entries };
}
