/** The token of this visit: in the tab's own storage, gone when the tab is closed. */
const KEY = 'blender-dp-token';

export function rememberedToken(): string | null {
  try {
    return sessionStorage.getItem(KEY);
  } catch {
    return null; // storage may be forbidden; the token then lasts as long as the page
  }
}

export function rememberToken(token: string | null): void {
  try {
    if (token === null) sessionStorage.removeItem(KEY);
    else sessionStorage.setItem(KEY, token);
  } catch {
    // As above.
  }
}
