/** Client of the documented HTTP interface. */
import type { HeadListDocument, Plan, Release } from './documents.js';
import type {
  Campaign,
  CampaignList,
  JobKind,
  Move,
  NewCampaign,
  ProblemDocument,
  ProgressCounts,
  Question,
  State,
  Taker,
  Tokens,
  Trends,
} from './messages.js';

/** What a campaign publishes, each at a path of its own. */
export const DOCUMENTS = [
  'head-list',
  'release',
  'opt-in-estimates',
  'client-estimates',
  'relay-estimates',
  'certificate',
  'records.csv',
  'records.parquet',
  'queries.csv',
  'queries.parquet',
  'report.html',
] as const;
export type DocumentName = (typeof DOCUMENTS)[number];

const PROBLEM_TYPE = 'urn:blender-dp:problem:';
const A_PAGE = 100;

/** A request that the service, or the way to it, did not grant. */
export class ServiceProblem extends Error {
  constructor(
    readonly slug: string,
    readonly status: number,
    title: string,
    readonly where: string | null = null,
  ) {
    super(title);
  }
}

/** A draft as it was read. */
export interface StoredDraft {
  readonly campaign: Campaign;
  readonly tag: string | null;
}

/** One service, asked with one token or with none. */
export class Service {
  readonly #token: string | null;
  readonly #fetch: typeof fetch;

  constructor(token: string | null, ask: typeof fetch = (...request) => fetch(...request)) {
    this.#token = token;
    this.#fetch = ask;
  }

  whoAmI(): Promise<Taker> {
    return this.#read('whoami');
  }

  /** Returns every campaign, newest first. */
  async campaigns(): Promise<Campaign[]> {
    const found: Campaign[] = [];
    for (let after = ''; ; after = `&after=${found.at(-1)?.id}`) {
      const page = await this.#read<CampaignList>(`campaigns?limit=${A_PAGE}${after}`);
      found.push(...page.campaigns);
      if (page.campaigns.length < A_PAGE) return found;
    }
  }

  campaign(id: string): Promise<Campaign> {
    return this.#read(campaignPath(id));
  }

  /** Returns a draft with the tag that names what was read of it. */
  async draft(id: string): Promise<StoredDraft> {
    const answer = await this.#ask(campaignPath(id));
    return { campaign: await answer.json(), tag: answer.headers.get('etag') };
  }

  progress(id: string): Promise<ProgressCounts> {
    return this.#read(`${campaignPath(id)}/progress`);
  }

  /** Makes a campaign under an id drawn here; with the tag of a draft, changes that draft. */
  put(id: string, campaign: NewCampaign, tag: string | null = null): Promise<Campaign> {
    return this.#send(campaignPath(id), campaign, 'PUT', tag === null ? {} : { 'if-match': tag });
  }

  move(id: string, move: Move, from: State): Promise<Campaign> {
    return this.#send(`${campaignPath(id)}/moves`, { move, from });
  }

  /** Has a job tried again that gave up. */
  retry(id: string, kind: JobKind): Promise<ProgressCounts> {
    return this.#send(`${campaignPath(id)}/retries`, { kind });
  }

  enrolments(id: string, count: number): Promise<Tokens> {
    return this.#send(`${campaignPath(id)}/enrolments`, { count });
  }

  /** Returns the text with which people are invited. */
  async invitation(id: string): Promise<string> {
    return (await this.#ask(`${sharePath(id)}/invitation.txt`)).text();
  }

  plan(question: Question): Promise<Plan> {
    return this.#send('plan', question);
  }

  async headList(id: string): Promise<HeadListDocument> {
    return JSON.parse(await this.headListText(id));
  }

  /** Returns a signed head list as it was published, letter by letter. */
  async headListText(id: string): Promise<string> {
    return (await this.#ask(`${campaignPath(id)}/head-list`)).text();
  }

  async release(id: string): Promise<Release> {
    return JSON.parse(await this.releaseText(id));
  }

  /** Returns a release as it was published, letter by letter. */
  async releaseText(id: string): Promise<string> {
    return (await this.#ask(`${campaignPath(id)}/release`)).text();
  }

  /** Returns what changed between the releases of two campaigns. */
  trends(now: string, before: string): Promise<Trends> {
    return this.#read(`${campaignPath(now)}/trends?since=${encodeURIComponent(before)}`);
  }

  async #read<T>(path: string): Promise<T> {
    return (await this.#ask(path)).json();
  }

  async #send<T>(path: string, body: unknown, method = 'POST', more = {}): Promise<T> {
    const headers = { 'content-type': 'application/json', ...more };
    return (await this.#ask(path, { method, body: JSON.stringify(body), headers })).json();
  }

  async #ask(path: string, options: RequestInit = {}): Promise<Response> {
    const headers = new Headers(options.headers);
    if (this.#token) headers.set('authorization', `Bearer ${this.#token}`);
    let response: Response;
    try {
      response = await this.#fetch(path.startsWith('/') ? path : `/v1/${path}`, {
        ...options,
        headers,
        credentials: 'omit',
      });
    } catch {
      throw new ServiceProblem('unreachable', 0, 'The service cannot be reached.');
    }
    if (!response.ok) throw await problemOf(response);
    return response;
  }
}

/** Returns a random id of a campaign; `crypto.randomUUID` is missing where there is no HTTPS. */
export function randomId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  const digits = [...bytes].map((byte) => byte.toString(16).padStart(2, '0')).join('');
  const variant = '89ab'[Number.parseInt(digits[16] ?? '0', 16) & 3];
  return [
    digits.slice(0, 8),
    digits.slice(8, 12),
    `4${digits.slice(13, 16)}`,
    `${variant}${digits.slice(17, 20)}`,
    digits.slice(20),
  ].join('-');
}

/** Returns where a document can be had by anybody. */
export function documentAddress(id: string, name: DocumentName): string {
  return `/v1/${campaignPath(id)}/${name}`;
}

/** Returns the path of the page that people are invited with. */
export function sharePath(id: string): string {
  return `/join/${encodeURIComponent(id)}`;
}

function campaignPath(id: string): string {
  return `campaigns/${encodeURIComponent(id)}`;
}

async function problemOf(response: Response): Promise<ServiceProblem> {
  const sent: Partial<ProblemDocument> = await response.json().catch(() => ({}));
  const slug = (sent.type ?? '').replace(PROBLEM_TYPE, '') || 'unknown';
  const title = sent.title ?? `The service answered with status ${response.status}.`;
  return new ServiceProblem(slug, response.status, title, sent.where ?? null);
}
