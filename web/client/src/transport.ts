/** Requests to a service: nothing in them names a person. */
import { must } from './refusal.js';

export type Fetch = (address: string, options: RequestInit) => Promise<Response>;

const PATIENCE = 30_000;

/** Fetches a document as text. */
export async function fetchText(fetch: Fetch, address: string): Promise<string> {
  const response = await request(fetch, address, {});
  must(response?.ok === true, 'the service does not have it, or cannot be reached');
  return response.text();
}

/** Sends JSON; returns the status of the answer, 0 if there was none. */
export async function sendJson(fetch: Fetch, address: string, body: string): Promise<number> {
  const headers = { 'content-type': 'application/json' };
  const response = await request(fetch, address, { method: 'POST', headers, body });
  return response?.status ?? 0;
}

async function request(
  fetch: Fetch,
  address: string,
  options: RequestInit,
): Promise<Response | undefined> {
  try {
    return await fetch(address, {
      ...options,
      credentials: 'omit',
      referrerPolicy: 'no-referrer',
      signal: AbortSignal.timeout(PATIENCE),
    });
  } catch {
    return undefined;
  }
}
