/** The signed-in person and the service client, for all parts of a page. */
import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import type { Taker } from './api/messages.js';
import { Service } from './api/service.js';

export interface Visit {
  readonly service: Service;
  /** Null for a visitor without a token, who sees what everybody may see. */
  readonly who: Taker | null;
}

export const VisitContext = createContext<Visit>({ service: new Service(null), who: null });

export function useVisit(): Visit {
  return useContext(VisitContext);
}
