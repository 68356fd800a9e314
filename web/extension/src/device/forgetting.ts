/** What remains of the ledger when a person deletes everything. */
import type { Storage } from '@blender-dp/client';

/**
 * Empties the ledger, or leaves of every report when it was made, for whom, and the ε spent.
 *
 * Without that the device would report to the same campaign again, and two reports tell twice as
 * much. A report that was not sent never will be.
 */
export async function forgetReports(storage: Storage, keepsSpent: boolean): Promise<void> {
  await storage.update((ledger) => {
    const entries = ledger.entries.map((entry) => {
      const state = entry.state === 'unsent' ? 'refused' : entry.state;
      return { ...entry, report: '', state } as const;
    });
    const rest = keepsSpent ? { ...ledger, entries } : { keys: {}, lists: {}, entries: [] };
    return { ledger: rest, value: undefined };
  });
}
