/** Values fetched for a page, and the state of the request. */
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { ServiceProblem } from './api/service.js';

export type Loaded<T> =
  | { readonly is: 'waiting' }
  | {
      readonly is: 'there';
      readonly value: T;
      /** Why it could not be fetched anew; null while it is up to date. */
      readonly problem: ServiceProblem | null;
    }
  | { readonly is: 'refused'; readonly problem: ServiceProblem };

/** Returns a problem for whatever was thrown. */
export function problemFrom(thrown: unknown): ServiceProblem {
  if (thrown instanceof ServiceProblem) return thrown;
  return new ServiceProblem('unreadable', 0, 'The service’s answer could not be read.');
}

/**
 * Fetches when a key changes, on request and, if `everyMs` is given, again and again while the page
 * is in view.
 */
export function useLoaded<T>(
  load: () => Promise<T>,
  keys: readonly unknown[],
  everyMs: number | null = null,
): [Loaded<T>, () => void] {
  const [loaded, setLoaded] = useState<Loaded<T>>({ is: 'waiting' });
  const turn = useRef(0);
  const fetchNow = useCallback(() => {
    const mine = ++turn.current;
    load().then(
      (value) => mine === turn.current && setLoaded({ is: 'there', value, problem: null }),
      (thrown) =>
        mine === turn.current && setLoaded((old) => afterFailure(old, problemFrom(thrown))),
    );
  }, keys);
  useEffect(() => {
    setLoaded({ is: 'waiting' });
    fetchNow();
    return () => {
      turn.current++;
    };
  }, [fetchNow]);
  useEffect(() => {
    if (everyMs === null) return undefined;
    const timer = setInterval(() => document.hidden || fetchNow(), everyMs);
    return () => clearInterval(timer);
  }, [fetchNow, everyMs]);
  return [loaded, fetchNow];
}

/** A later failure leaves what is shown in place, and says so. */
function afterFailure<T>(old: Loaded<T>, problem: ServiceProblem): Loaded<T> {
  return old.is === 'there' ? { ...old, problem } : { is: 'refused', problem };
}
