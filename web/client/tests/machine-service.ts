/** A service for the state machine: several campaigns in one log, and an answer for every fate. */
import { digestOf, type Fields } from '../src/canonical.js';
import type { Fetch } from '../src/transport.js';
import { entryOf, LOG, logText, relayDescription, signedText, withRelay } from './service.js';

/** What becomes of what is sent: which requests arrive, and which answers do. */
export type Fate = 'answered' | 'answer-lost' | 'lost' | 'overloaded' | 'refused' | 'conflict';

export const FATES: readonly Fate[] = [
  'answered',
  'answer-lost',
  'lost',
  'overloaded',
  'refused',
  'conflict',
];
const STATUSES = { overloaded: 503, refused: 422, conflict: 409 };
/** The ε that each campaign promises, as its list has it. */
const PROMISED = ['4.0', '2.0', '3.0', '1.0'];
/** The ε0 of each campaign's relay: what a list of three cells keeps its promise with. */
const BY_ITSELF = ['7.162', '6.914', '7.158', '6.074'];
const DELTA = '4e-06';

interface Published {
  readonly id: string;
  /** The digest of its description. */
  readonly digest: string;
  /** What the service says of the campaign. */
  readonly shown: string;
  readonly list: string;
}

/** Returns campaigns whose lists follow each other in one log. */
async function publish(): Promise<readonly Published[]> {
  const published: Published[] = [];
  for (const [i, epsilon] of PROMISED.entries()) {
    const id = `00000000-0000-4000-8000-00000000000${i + 1}`;
    const description = relayDescription({ id, parameters: { epsilon, delta: DELTA } });
    const digest = await digestOf(description);
    const log = [...LOG, ...published.flatMap(({ list }) => entryOf(list))];
    const reportEpsilon = BY_ITSELF[i] ?? '';
    const relay = withRelay(digest, { epsilon, delta: DELTA, reportEpsilon });
    const list = await signedText(
      {
        list: (one) => ({
          ...relay.list?.(one),
          mechanism: { ...(one.mechanism as Fields), epsilon },
          queries: [{ query: `query ${i}`, urls: ['a.example'] }],
        }),
        entry: (entry) => ({ ...entry, campaign: id }),
        document: (document) => ({ ...relay.document?.(document), campaign: id }),
      },
      log,
    );
    published.push({ id, digest, shown: JSON.stringify({ state: '?', description }), list });
  }
  return published;
}

const PUBLISHED = await publish();
const WHOLE_LOG = [...LOG, ...PUBLISHED.flatMap(({ list }) => entryOf(list))];
const PIECES = await Promise.all(WHOLE_LOG.map((_, start) => logText(WHOLE_LOG.slice(start))));
export const CAMPAIGNS = PUBLISHED.map(({ id }) => id);
export const PROMISES = new Map(PUBLISHED.map(({ id, digest }) => [id, digest]));
/** What a report or contribution costs at least, in millionths: a little less than is promised. */
export const LEAST_COST = new Map(
  CAMPAIGNS.map((id, i) => [id, Number(PROMISED[i]) * 1_000_000 - 1]),
);

/** What relay and collector learn from a relayed report if they work together, likewise. */
export const LEAST_BY_ITSELF = new Map(
  CAMPAIGNS.map((id, i) => [id, Number(BY_ITSELF[i]) * 1_000_000 - 1]),
);

/** An answer with what the client reads of one; a whole Response takes most of a step's time. */
function answer(status: number, text = ''): Response {
  const ok = status < 300;
  return { ok, status, text: async () => text, json: async () => JSON.parse(text) } as Response;
}

/** What a service can have of one campaign's person, whatever it answered. */
export class Received {
  readonly reports = new Set<string>();
  /** Reports that a relay can have. */
  readonly relayed = new Set<string>();
  readonly contributions = new Set<string>();
  /** Contributions that it took and was not told to delete, by token. */
  readonly held = new Set<string>();
  readonly withdrawn = new Set<string>();
  isOpen = true;
}

/** Takes what is sent, and forgets nothing that it saw. */
export class MachineService {
  fate: Fate = 'answered';
  readonly received = new Map(CAMPAIGNS.map((id) => [id, new Received()]));
  #tokens = 0;

  readonly fetch: Fetch = async (address, { method = 'GET', headers, body }) => {
    if (this.fate === 'lost') throw new TypeError('network error');
    const [, start] = /\/v1\/log\?from=(\d+)$/.exec(address) ?? [];
    if (start) return answer(200, PIECES[Number(start)]);
    const [, host = '', id = '', path = ''] =
      /^(.*)\/v1\/campaigns\/([^/]+)(.*)$/.exec(address) ?? [];
    const campaign = PUBLISHED.find((one) => one.id === id);
    const received = this.received.get(id);
    if (!campaign || !received) return answer(404);
    if (path === '/head-list') return answer(200, campaign.list);
    if (path === '') {
      const state = received.isOpen ? 'opt-in-open' : 'clients-open';
      return answer(200, campaign.shown.replace('?', state));
    }
    if (path === '/enrol') return answer(200, `{"token":"${++this.#tokens}"}`);
    const { authorization = '' } = (headers ?? {}) as Record<string, string>;
    // Each address may be a service of its own, that has nothing of the other's to delete.
    const token = `${host} ${authorization}`;
    const isRelay = host.includes('relay');
    const line = `${method} ${isRelay ? '/relay' : ''}${path}`;
    const status = this.#take(received, line, token, String(body));
    if (this.fate === 'answer-lost') throw new TypeError('network error');
    return answer(status);
  };

  /** Keeps what arrived; an answer that is no success need not mean that it was not kept. */
  #take(received: Received, line: string, token: string, body: string): number {
    const status = STATUSES[this.fate as keyof typeof STATUSES];
    if (line.endsWith('/reports')) {
      (line.includes('relay') ? received.relayed : received.reports).add(body);
      return status ?? 202;
    }
    if (!received.isOpen) return status ?? 409;
    if (line === 'POST /opt-in') {
      received.contributions.add(`${token} ${body}`);
      if (received.withdrawn.has(token)) return 409;
      received.held.add(token);
      return status ?? 201;
    }
    if (status) return status;
    received.held.delete(token);
    received.withdrawn.add(token);
    return 204;
  }
}
