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

/**
 * Asks, in one question, to send searches or reports made of them, and to reach some hosts; must be
 * called in the handler of a click.
 */
export async function allowSending(origins: readonly string[]): Promise<boolean> {
  if (!chrome.runtime.getURL('').startsWith('moz-extension:')) {
    return origins.length === 0 || allow(origins);
  }
  try {
    const asked: Asked = { origins: [...origins], data_collection: SENT_KINDS };
    return await chrome.permissions.request(asked);
  } catch {
    return false;
  }
}
