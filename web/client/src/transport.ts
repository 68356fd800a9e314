/** Requests to a service: nothing in them names a person. */
import { must } from './refusal.js';

export type Fetch = (address: string, options: RequestInit) => Promise<Response>;

const PATIENCE = 30_000;

/** Refusals after which the same bytes need not be sent again; others may pass. */
const FINAL = [400, 409, 410, 413, 415, 422];

/** Tells whether an answer, if there was one, ends the sending of what it answers. */
export function isFinal(answer: Response | undefined): answer is Response {
  return answer !== undefined && (answer.ok || FINAL.includes(answer.status));
}

/** One service, asked and written to. */
export class Service {
  readonly address: string;
  readonly #fetch: Fetch;

  constructor(address: string, fetch: Fetch) {
    this.address = `${address}`.replace(/\/+$/, '');
    this.#fetch = fetch;
  }

  /** Returns a relay of this service's campaigns: it is written to in the same way. */
  toward(relay: string): Service {
    return new Service(relay, this.#fetch);
  }

  /** Fetches a document of a campaign as text. */
  async text(campaign: string, path = ''): Promise<string> {
    return textOf(await this.#request(campaignPath(campaign, path), {}));
  }

  /** Fetches a piece of the public log, from an entry on, as text. */
  async log(start: number): Promise<string> {
    return textOf(await this.#request(`log?from=${start}`, {}));
  }

  /** Sends JSON, or deletes; returns the answer, if there was one. */
  send(
    campaign: string,
    path: string,
    { method = 'POST', body = null, token = '' }: Sent,
  ): Promise<Response | undefined> {
    const headers = {
      ...(body === null ? {} : { 'content-type': 'application/json' }),
      ...(token ? { authorization: `Bearer ${token}` } : {}),
    };
    return this.#request(campaignPath(campaign, path), { method, headers, body });
  }

  /** Enrols this device in a campaign that is open to everybody; returns what lets it in. */
  async enrolled(campaign: string): Promise<string> {
    const answer = await this.send(campaign, '/enrol', {});
    const { token } = answer?.ok ? await answer.json() : {};
    must(
      typeof token === 'string' && token !== '',
      'the organisation’s server does not let this device take part',
    );
    return token;
  }

  async #request(path: string, options: RequestInit): Promise<Response | undefined> {
    must(/^https?:\/\/\w/.test(this.address), 'service must be an address of the web');
    try {
      return await this.#fetch(`${this.address}/v1/${path}`, {
        ...options,
        cache: 'no-store',
        credentials: 'omit',
        referrerPolicy: 'no-referrer',
        signal: AbortSignal.timeout(PATIENCE),
      });
    } catch {
      return undefined;
    }
  }
}

function campaignPath(campaign: string, path: string): string {
  return `campaigns/${encodeURIComponent(campaign)}${path}`;
}

function textOf(response: Response | undefined): Promise<string> {
  must(response?.ok === true, 'the organisation’s server cannot be reached, or does not have it');
  return response.text();
}

interface Sent {
  readonly method?: string;
  readonly body?: string | null;
  readonly token?: string;
}
