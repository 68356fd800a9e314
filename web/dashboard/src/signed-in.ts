/** The signed-in person, the service client and the token of this visit. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Taker } from './api/messages.js';
import { Service } from './api/service.js';

export interface Visit {
  readonly service: Service;
  /** Null for a visitor without a token, who sees what everybody may see. */
  readonly who: Taker | null;
  /** Goes on with this token, on the same page. */
  readonly signIn: (token: string, who: Taker) => void;
}

export const VisitContext = createContext<Visit>({
  service: new Service(null),
  who: null,
  signIn: () => {},
});

export function useVisit(): Visit {
  return useContext(VisitContext);
}

/** The token is in the tab's own storage, gone when the tab is closed. */
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
