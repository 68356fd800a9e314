/** Permissions, requested at the moment they are needed. */

/** Asks to work on some hosts; must be called in the handler of a click. */
export async function allow(origins: readonly string[]): Promise<boolean> {
  try {
    return await chrome.permissions.request({ origins: [...origins] });
  } catch {
    return false;
  }
}
