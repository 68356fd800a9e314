/** Contributions that an earlier version kept beside the settings: entered in the ledger. */
import { findEntry, type LedgerEntry, type Storage, upToDate } from '@blender-dp/client';
import type { Kept } from './kept.js';
import type { Settings } from './settings.js';

/** An opt-in as it was kept before contributions were in the ledger. */
interface OldOptIn {
  readonly receipt: { readonly givenAt: number };
  readonly token: string | null;
  /** What was sent, or was about to be; null if nothing was. */
  readonly body: string | null;
  readonly state: string;
  readonly sentAt: number | null;
}

interface OldSettings extends Settings {
  readonly optIns?: Readonly<Record<string, OldOptIn>>;
}

/** Returns a ledger that is used only once every old contribution is in it. */
export function withOldOptIns(ledger: Storage, settings: Kept<Settings>): Storage {
  let adopted: Promise<void> | undefined;
  return {
    async update(change) {
      adopted ??= adopt(ledger, settings);
      await adopted;
      return ledger.update(change);
    },
  };
}

async function adopt(ledger: Storage, settings: Kept<Settings>): Promise<void> {
  const old: OldSettings = await settings.read();
  const entries = Object.entries(old.optIns ?? {}).flatMap(([campaign, optIn]) =>
    entryOf(old, campaign, optIn),
  );
  if (entries.length) {
    await ledger.update((stored) => {
      const kept = upToDate(stored);
      const missing = entries.filter(({ campaign, role }) => !findEntry(kept, campaign, role));
      return { ledger: { ...kept, entries: [...kept.entries, ...missing] }, value: undefined };
    });
  }
  if (old.optIns) await settings.change(withoutOptIns);
}

/** Returns the entry of what may have been sent; its cost, if unknown, is all that a device has. */
function entryOf(
  { invitation, campaign: shown }: Settings,
  campaign: string,
  { receipt, token, body, state, sentAt }: OldOptIn,
): readonly LedgerEntry[] {
  if (body === null) return [];
  const isCurrent = invitation?.campaign === campaign;
  return [
    {
      campaign,
      role: 'contribution',
      service: isCurrent ? invitation.service : '',
      madeFor: '',
      body: '',
      token: token ?? '',
      epsilon: String((isCurrent && shown?.epsilon) || 8),
      delta: '1e-05',
      drawnAt: sentAt ?? receipt.givenAt,
      state: state === 'withdrawn' ? 'withdrawn' : 'uncertain',
    },
  ];
}

function withoutOptIns(settings: OldSettings): Settings {
  const { optIns: _, ...rest } = settings;
  return rest;
}
