/** The stored ledger of a device: one entry per campaign and role, written before it is used. */
import {
  type Change,
  type EntryState,
  findEntry,
  type Ledger,
  type LedgerEntry,
  type Role,
  upToDate,
  withChange,
} from './ledger.js';
import { type Policy, requirePolicy } from './policy.js';
import { must } from './refusal.js';
import type { Storage } from './storage.js';

export class KeptLedger {
  readonly #storage: Storage;
  readonly #policy: Policy;

  constructor(storage: Storage, policy: Policy) {
    this.#storage = storage;
    this.#policy = policy;
  }

  /** Reads and changes the ledger; refuses first if the policy is none. */
  async update<Value>(change: (ledger: Ledger) => Change<Value>): Promise<Value> {
    requirePolicy(this.#policy);
    return this.#storage.update((stored) => change(upToDate(stored)));
  }

  /** Returns the ledger. */
  read(): Promise<Ledger> {
    return this.update((ledger) => ({ value: ledger }));
  }

  /** Returns what was made for a campaign in one role, if anything was. */
  async find(campaign: string, role: Role): Promise<LedgerEntry | undefined> {
    return findEntry(await this.read(), campaign, role);
  }

  /**
   * Returns the one entry of a campaign and role, made now if there is none.
   *
   * Refused while there is one in another role that was not withdrawn: no one is in two groups.
   */
  async record(
    campaign: string,
    role: Role,
    make: (ledger: Ledger) => Change<LedgerEntry>,
  ): Promise<LedgerEntry> {
    const made = await this.update((ledger) => {
      const raced = findEntry(ledger, campaign, role);
      if (raced) return { value: raced };
      requireOneRole(ledger, campaign, role);
      return make(ledger);
    });
    // A storage that answers before it has written would let another draw follow: look again.
    const kept = await this.find(campaign, role);
    must(kept?.body === made.body, 'storage must have written before anything is sent');
    return made;
  }

  /** Notes that an entry, if it is unsent, is about to leave; returns it as it is then. */
  attempt(made: LedgerEntry): Promise<LedgerEntry> {
    return this.update((ledger): Change<LedgerEntry> => {
      const entry = findEntry(ledger, made.campaign, made.role) ?? made;
      if (entry.state !== 'unsent') return { value: entry };
      const attempts = (entry.attempts ?? 1) + 1;
      return { ledger: withChange(ledger, entry, { attempts }), value: { ...entry, attempts } };
    });
  }

  /**
   * Notes what became of an entry that was unsent; returns its state.
   *
   * Of several attempts a refusal answers one: another may have arrived.
   */
  settle(entry: LedgerEntry, answered: EntryState): Promise<EntryState> {
    return this.update((ledger): Change<EntryState> => {
      const { state: present = answered, attempts = 0 } =
        findEntry(ledger, entry.campaign, entry.role) ?? {};
      if (present !== 'unsent') return { value: present };
      const state = answered === 'refused' && attempts > 1 ? 'uncertain' : answered;
      return { ledger: withChange(ledger, entry, { state }), value: state };
    });
  }
}

/** Refuses a role in a campaign while this device has another one there. */
export function requireOneRole(ledger: Ledger, campaign: string, role: Role): void {
  const other = ledger.entries.find(
    (entry) => entry.campaign === campaign && entry.role !== role && entry.state !== 'withdrawn',
  );
  must(!other || role !== 'contribution', 'a device that has reported must not contribute too');
  must(
    other?.role !== 'contribution',
    'a device that may have contributed must not report too; withdraw first',
  );
  must(!other, 'a device that has reported must not report once more, directly or through a relay');
}
