/** Permissions, requested at the moment they are needed. */

/** Asks to work on some hosts; must be called in the handler of a click. */
export async function allow(origins: readonly string[]): Promise<boolean> {
  try {
    return await chrome.permissions.request({ origins: [...origins] });
  } catch {
    return false;
  }
}

/** Kinds of data that Firefox asks about before anything is sent; Chromium has no such question. */
const SENT_KINDS = ['searchTerms', 'browsingActivity'];

/** What Firefox knows and the types of Chromium do not. */
export interface Asked extends chrome.permissions.Permissions {
  readonly data_collection?: string[];
}

/** Asks to send searches, or reports made of them; must be called in the handler of a click. */
export async function allowSending(): Promise<boolean> {
  if (!chrome.runtime.getURL('').startsWith('moz-extension:')) return true;
  try {
    return await chrome.permissions.request({ data_collection: SENT_KINDS } as Asked);
  } catch {
    return false;
  }
}
