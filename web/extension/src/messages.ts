/** Messages from pages and content scripts to the worker, and its answers. */
import type { Account, Result } from '@blender-dp/client';
import type { KnownCampaign } from './device/choices.js';
import type { KeptRecord } from './device/records.js';
import type { Settings, WatchedPage } from './device/settings.js';

/** From a content script: which page it runs in. */
export interface WantedPage {
  readonly kind: 'search-page';
}

/** From a content script: a result was clicked. */
export interface Clicked {
  readonly kind: 'clicked';
  readonly link: string;
}

/** From the extension's own pages. */
export type Command =
  | { readonly kind: 'view' }
  | { readonly kind: 'invite'; readonly invitation: string }
  | { readonly kind: 'leave-unused'; readonly shown: string | null }
  | {
      readonly kind: 'choose-private' | 'choose-relayed' | 'choose-opt-in';
      readonly shown: string;
      /** The code that this person was given, if the campaign asks for one. */
      readonly code?: string;
    }
  | { readonly kind: 'watch'; readonly pages: readonly WatchedPage[] }
  | { readonly kind: 'check' }
  | { readonly kind: 'contribute' }
  | { readonly kind: 'withdraw'; readonly campaign: string }
  | { readonly kind: 'tick-record'; readonly at: number; readonly isTicked: boolean }
  | { readonly kind: 'forget-record'; readonly at: number }
  | { readonly kind: 'forget-everything' };

/** All that a page shows. */
export interface View {
  readonly settings: Settings;
  readonly records: readonly KeptRecord[];
  /** Every campaign that the person chose for, oldest first. */
  readonly campaigns: readonly KnownCampaign[];
  readonly account: Account;
  /** When the release that suggestions come from was fetched; null if there is none. */
  readonly releaseFetchedAt: number | null;
}

export type Answer = Result<{ readonly view: View }>;

/** Opens the channel on which the worker says that what pages show may have changed. */
export function changes(): BroadcastChannel {
  return new BroadcastChannel('changes');
}

/** Asks the worker; the answer is a problem if it cannot be reached. */
export async function ask(command: Command): Promise<Answer> {
  try {
    return await chrome.runtime.sendMessage(command);
  } catch {
    return { ok: false, problem: 'the extension does not answer; please reload this page' };
  }
}
