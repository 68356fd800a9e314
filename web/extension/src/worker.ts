/** Background worker of the extension: handles alarms, messages and the address bar. */
import { indexedDbStorage, LocalSearch, type Suggestion } from '@blender-dp/client';
import { registerCapture, switchOffForbidden } from './device/capturing.js';
import { Device } from './device/device.js';
import { omniboxLines } from './device/omnibox.js';
import { type Answer, type Clicked, type Command, changes, type WantedPage } from './messages.js';
import type { Asked } from './pages/permissions.js';
import { clickedRecord } from './search-pages/clicked-record.js';
import { pageAt, type SearchPage } from './search-pages/search-page.js';

const device = new Device({
  area: chrome.storage.local,
  ledger: indexedDbStorage(),
  fetch: (address, options) => fetch(address, options),
  now: Date.now,
});
const changed = changes();
const OWN_PAGES = chrome.runtime.getURL('');
const IS_CHROMIUM = OWN_PAGES.startsWith('chrome-extension:');

/** What is done by itself, and how often, in minutes. */
const ALARMS: Readonly<Record<string, readonly [number, () => Promise<unknown>]>> = {
  campaign: [180, () => device.refreshCampaign()],
  send: [240, () => device.send()],
  release: [1440, () => device.refreshRelease()],
};

/** The alarm of a report that waits for its time. */
const DUE = 'due';

const COMMANDS: {
  readonly [Kind in Command['kind']]: (
    command: Extract<Command, { readonly kind: Kind }>,
  ) => Promise<unknown>;
} = {
  view: async () => {},
  invite: ({ invitation }) => device.invite(invitation),
  'leave-unused': ({ shown }) => device.leaveUnused(shown),
  'choose-private': ({ shown, code }) => device.choose('private', shown, code),
  'choose-relayed': ({ shown, code }) => device.choose('relayed', shown, code),
  'choose-opt-in': ({ shown, code }) => device.choose('opt-in', shown, code),
  watch: ({ pages }) => device.watch(pages),
  check: () => device.check(),
  contribute: () => device.contributeNow(),
  withdraw: ({ campaign }) => device.withdraw(campaign),
  'tick-record': ({ at, isTicked }) => device.tickRecord(at, isTicked),
  'forget-record': ({ at }) => device.forgetRecord(at),
  'forget-everything': async () => {
    const problem = await device.forgetEverything();
    const { origins = [], ...others }: Asked = await chrome.permissions.getAll();
    const { data_collection: kinds } = others;
    const given: Asked = { origins, ...(kinds ? { data_collection: kinds } : {}) };
    await chrome.permissions.remove(given).catch(() => false);
    return problem;
  },
};

async function runCommand(command: Command): Promise<Answer> {
  const work = COMMANDS[command.kind] as (command: Command) => Promise<unknown>;
  try {
    const problem = await work(command);
    if (command.kind !== 'view') {
      await registerCapture(device);
      changed.postMessage(null);
    }
    if (command.kind === 'check') await setDueAlarm();
    if (typeof problem === 'string') return { ok: false, problem };
    return { ok: true, view: await device.view() };
  } catch {
    return { ok: false, problem: 'this device could not do it' };
  }
}

/** Returns the page that is watched at an address, if clicks are recorded at all. */
async function watchedPage(address: string | undefined): Promise<SearchPage | undefined> {
  if (!address || !(await device.isRecording())) return undefined;
  const { pages } = await device.settings.read();
  return pageAt(
    pages.filter((page) => page.isOn),
    address,
  );
}

/** Believes a content script only what it clicked; where it runs, the browser says. */
async function listen(
  message: WantedPage | Clicked,
  address: string | undefined,
): Promise<unknown> {
  const page = await watchedPage(address);
  if (message.kind === 'search-page') return page ?? null;
  const record = page && address ? clickedRecord(page, address, message.link) : undefined;
  if (record) {
    await device.keep(record);
    changed.postMessage(null);
  }
  return null;
}

chrome.runtime.onMessage.addListener((message, sender, answer) => {
  if (sender.id !== chrome.runtime.id) return false;
  const isOwn = sender.url?.startsWith(OWN_PAGES) ?? false;
  const isOfPages = message.kind === 'search-page' || message.kind === 'clicked';
  if (isOwn === isOfPages) return false;
  const work = isOwn ? runCommand(message) : listen(message, sender.url);
  work.then(answer, () => answer(null));
  return true;
});

async function setAlarms(): Promise<void> {
  for (const [name, [periodInMinutes]] of Object.entries(ALARMS)) {
    if (!(await chrome.alarms.get(name))) await chrome.alarms.create(name, { periodInMinutes });
  }
}

/**
 * Wakes the worker when a report with a token is due. The regular alarms would send it a whole number
 * of periods after its token was asked for, by which others could tell that the two belong together.
 */
async function setDueAlarm(): Promise<void> {
  const due = await device.nextSend();
  if (due !== undefined) await chrome.alarms.create(DUE, { when: Math.max(due, Date.now()) });
}

chrome.alarms.onAlarm.addListener(({ name }) => {
  const work = name === DUE ? () => device.send() : ALARMS[name]?.[1];
  work?.()
    .then(() => changed.postMessage(null))
    .then(() => (name === DUE ? undefined : setDueAlarm()))
    .catch(() => {});
});

chrome.runtime.onInstalled.addListener(({ reason }) => {
  if (reason === 'install') chrome.tabs.create({ url: 'welcome.html' }).catch(() => {});
});

/** In Firefox people can take back there what they allowed to send: then nothing is chosen. */
async function endIfRevoked({ data_collection: kinds = [] }: Asked): Promise<void> {
  const { choice } = await device.settings.read();
  if (kinds.length && choice !== null) await device.leaveUnused(null);
}

chrome.permissions.onRemoved.addListener((removed) => {
  endIfRevoked(removed)
    .then(() => switchOffForbidden(device))
    .then(() => registerCapture(device))
    .catch(() => {});
});
chrome.permissions.onAdded.addListener(() => {
  registerCapture(device).catch(() => {});
});

/** The release that was opened last: one is asked at every keystroke. */
let opened: { readonly fetchedAt: number; readonly search: LocalSearch } | undefined;

async function suggestions(typed: string): Promise<readonly Suggestion[]> {
  const release = await device.release.read();
  if (release && opened?.fetchedAt !== release.fetchedAt) {
    const result = LocalSearch.open(release.text);
    opened = result.ok ? { fetchedAt: release.fetchedAt, search: result.search } : undefined;
  }
  return release && opened ? opened.search.suggest(typed) : [];
}

chrome.omnibox.onInputChanged.addListener((typed, suggest) => {
  suggestions(typed).then(
    (found) => suggest(omniboxLines(found, IS_CHROMIUM)),
    () => suggest([]),
  );
});

chrome.omnibox.onInputEntered.addListener((entered, disposition) => {
  open(entered, disposition).catch(() => {});
});

/** Opens what was chosen; what was typed itself is looked up in a page of the extension. */
async function open(entered: string, disposition: string): Promise<void> {
  const isChosen = /^https?:\/\//.test(entered);
  const url = isChosen ? entered : `popup.html?text=${encodeURIComponent(entered)}`;
  if (disposition === 'currentTab') await chrome.tabs.update({ url });
  else await chrome.tabs.create({ url, active: disposition === 'newForegroundTab' });
}

chrome.omnibox.setDefaultSuggestion({ description: 'Popular searches, from this device alone' });
// A search page that breaks out of its own program must not read what was recorded elsewhere.
chrome.storage.local.setAccessLevel?.({ accessLevel: 'TRUSTED_CONTEXTS' })?.catch(() => {});
setAlarms().catch(() => {});
