/** Registration of the content script: only on pages that are switched on and allowed. */
import { hostPattern } from '../search-pages/match-pattern.js';
import type { Device } from './device.js';
import type { Settings } from './settings.js';

const ID = 'capture';

/** Has the browser run the content script on the pages that are watched now. */
export async function registerCapture(device: Device): Promise<void> {
  const isRecording = await device.isRecording();
  const matches = isRecording ? await allowedPages(await device.settings.read()) : [];
  const registered = await chrome.scripting.getRegisteredContentScripts({ ids: [ID] });
  if (registered.length) await chrome.scripting.unregisterContentScripts({ ids: [ID] });
  if (!matches.length) return;
  await chrome.scripting.registerContentScripts([
    { id: ID, js: ['capture.js'], matches, runAt: 'document_start', persistAcrossSessions: true },
  ]);
}

/** Switches off the pages that the browser no longer allows: what is shown as on is watched. */
export async function switchOffForbidden(device: Device): Promise<void> {
  const settings = await device.settings.read();
  const allowed = await allowedPages(settings);
  await device.watch(
    settings.pages.map((page) => ({ ...page, isOn: page.isOn && allowed.includes(page.address) })),
  );
}

async function allowedPages({ pages }: Settings): Promise<string[]> {
  const wanted = [...new Set(pages.filter((page) => page.isOn).map((page) => page.address))];
  const allowed = await Promise.all(
    wanted.map((address) => chrome.permissions.contains({ origins: [hostPattern(address)] })),
  );
  return wanted.filter((_, i) => allowed[i]);
}
