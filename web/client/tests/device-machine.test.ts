/**
 * A state machine over devices: contribute, report, report through a relay, withdraw, forget, lose
 * answers, restart from what was stored, fail to store, change the service's address and the clock,
 * in any order.
 */
import { createHash } from 'node:crypto';
import fc from 'fast-check';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { textDigest } from '../src/canonical.js';
import { BlenderClient } from '../src/client.js';
import { KeptLedger } from '../src/kept-ledger.js';
import {
  type Change,
  EMPTY_LEDGER,
  findEntry,
  type Ledger,
  type LedgerEntry,
} from '../src/ledger.js';
import type { Storage } from '../src/storage.js';
import {
  CAMPAIGNS,
  FATES,
  type Fate,
  LEAST_BY_ITSELF,
  LEAST_COST,
  MachineService,
  PROMISES,
} from './machine-service.js';
import { CONSENT_TEXT } from './service.js';

const DAY = 86_400_000;
const ADDRESSES = ['https://one.example', 'https://two.example'];
const AGREED = await textDigest(CONSENT_TEXT);
const POLICY = {
  mostEpsilon: 8,
  mostDelta: 1e-5,
  mostRelayEpsilon: 8,
  mostRelayTotal: 14,
  windowDays: 90,
  shortestIntervalDays: 7,
};
/** BLENDER_STEPS asks for more, in a soak. */
const STEPS = Number(process.env.BLENDER_STEPS ?? 90_000);
const STEPS_PER_RUN = 250;

/** Every list has one of a few ε: e^-ε is computed once for each. */
vi.mock('../src/exponential.js', async (original) => {
  const exponential = await original<typeof import('../src/exponential.js')>();
  const known = new Map<string, bigint>();
  const oddsOfALie: typeof exponential.oddsOfALie = (epsilon) => {
    const name = epsilon.join('/');
    const odds = known.get(name) ?? exponential.oddsOfALie(epsilon);
    known.set(name, odds);
    return odds;
  };
  return { ...exponential, oddsOfALie };
});

/** Every list keeps what it promises to relay clients, which is computed once. */
vi.mock('../src/relay/shuffle.js', async (original) => {
  const shuffle = await original<typeof import('../src/relay/shuffle.js')>();
  const known = new Map<string, boolean>();
  const isKept: typeof shuffle.isKept = (channel, honest, epsilon, delta) => {
    const name = [channel.size, channel.threshold, honest, epsilon, delta].join();
    const holds = known.get(name) ?? shuffle.isKept(channel, honest, epsilon, delta);
    known.set(name, holds);
    return holds;
  };
  return { ...shuffle, isKept };
});

/** Encrypted reports that all differ, as the real ones do: encryption is not what this is about. */
vi.mock('../src/relay/hpke.js', async (original) => {
  const hpke = await original<typeof import('../src/relay/hpke.js')>();
  let count = 0;
  const encryptFor: typeof hpke.encryptFor = async () => {
    count++;
    return Uint8Array.of(count >> 24, count >> 16, count >> 8, count);
  };
  return { ...hpke, encryptFor };
});

/**
 * The same answers as the browser's cryptography, at once: signatures are not what the machine is
 * about, and every one of theirs waits for another thread.
 */
function withoutWaiting(): void {
  vi.spyOn(crypto.subtle, 'digest').mockImplementation(async (_, data) => {
    const { buffer } = Uint8Array.from(
      createHash('sha256')
        .update(data as Uint8Array)
        .digest(),
    );
    return buffer;
  });
  vi.spyOn(crypto.subtle, 'importKey').mockResolvedValue({} as CryptoKey);
  vi.spyOn(crypto.subtle, 'verify').mockResolvedValue(true);
  vi.spyOn(AbortSignal, 'timeout').mockReturnValue(new AbortController().signal);
}

const { stackTraceLimit } = Error;
beforeEach(() => {
  withoutWaiting();
  Error.stackTraceLimit = 0; // a refusal is an error, and there are many
});
afterEach(() => {
  vi.restoreAllMocks();
  Error.stackTraceLimit = stackTraceLimit;
});

/** Storage that holds a copy, as a disk does, and may be full. */
class Disk implements Storage {
  #kept: Ledger = EMPTY_LEDGER;
  isFull = false;

  async update<Value>(change: (ledger: Ledger) => Change<Value>): Promise<Value> {
    const { ledger, value } = change(this.#kept);
    if (!ledger) return value;
    if (this.isFull) throw new DOMException('full', 'QuotaExceededError');
    this.#kept = JSON.parse(JSON.stringify(ledger));
    return value;
  }

  get ledger(): Ledger {
    return this.#kept;
  }
}

/** One device and its service. */
class World {
  readonly disk = new Disk();
  readonly service = new MachineService();
  now = 1000 * DAY;
  #address = 0;
  #client = this.#started();
  #drafts = 0;

  #started(): BlenderClient {
    return new BlenderClient({
      service: ADDRESSES[this.#address] ?? '',
      storage: this.disk,
      fetch: this.service.fetch,
      now: () => this.now,
      policy: { ...POLICY, smallestList: 1 },
    });
  }

  restart(): void {
    this.#client = this.#started();
  }

  move(): void {
    this.#address = 1 - this.#address;
    this.restart();
  }

  contribute(campaign: string) {
    const promised = PROMISES.get(campaign) ?? '';
    const body = `draft ${++this.#drafts}`;
    return this.#client.contribute(campaign, { agreed: AGREED, promised, body });
  }

  report(campaign: string) {
    return this.#client.report(campaign, null);
  }

  relay(campaign: string) {
    return this.#client.report(campaign, null, { throughRelay: true });
  }

  both(campaign: string) {
    return Promise.all([this.contribute(campaign), this.report(campaign), this.relay(campaign)]);
  }

  withdraw(campaign: string) {
    return this.#client.withdraw(campaign);
  }

  resend() {
    return this.#client.resend();
  }

  forget() {
    return this.#client.forget();
  }

  look() {
    return this.#client.account();
  }
}

interface Step {
  readonly kind:
    | 'look'
    | 'report'
    | 'relay'
    | 'contribute'
    | 'both'
    | 'withdraw'
    | 'resend'
    | 'forget'
    | 'restart'
    | 'move'
    | 'fill'
    | 'close'
    | 'pass';
  readonly campaign: string;
  readonly fate: Fate;
  /** How far the clock is moved, in days, by "pass". */
  readonly days: number;
}

const CAMPAIGN_KINDS = ['report', 'relay', 'contribute', 'both', 'withdraw'] as const;
const OTHER_KINDS = [
  'look',
  'resend',
  'forget',
  'restart',
  'move',
  'fill',
  'close',
  'pass',
] as const;
const STEP: fc.Arbitrary<Step> = fc.record({
  kind: fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(...OTHER_KINDS) },
    { weight: 2, arbitrary: fc.constantFrom(...CAMPAIGN_KINDS) },
  ),
  campaign: fc.constantFrom(...CAMPAIGNS),
  fate: fc.constantFrom(...FATES),
  days: fc.integer({ min: -30, max: 120 }),
});

async function take(world: World, { kind, campaign, fate, days }: Step): Promise<void> {
  world.service.fate = fate;
  const received = world.service.received.get(campaign);
  if (kind === 'pass') world.now += days * DAY;
  else if (kind === 'fill') world.disk.isFull = !world.disk.isFull;
  else if (kind === 'close' && received) received.isOpen = days > 30;
  else if (kind !== 'close') await world[kind](campaign);
}

/** What the service can have received costs at most what the ledger says. */
function requireDebited(ledger: Ledger, service: MachineService): void {
  for (const [id, { reports, relayed, contributions, held }] of service.received) {
    const draws = reports.size + relayed.size;
    demand(draws <= 1, 'two draws for one campaign');
    demand(contributions.size <= 1, 'two contributions to one campaign');
    demand(held.size === 0 || draws === 0, 'in two groups of a campaign');
    const byItself = findEntry(ledger, id, 'relayed')?.relayEpsilon ?? '0';
    demand(
      relayed.size === 0 || millionths(byItself) >= (LEAST_BY_ITSELF.get(id) ?? 0),
      'what relay and collector learn together was not debited',
    );
    for (const [role, sent] of [
      ['report', reports],
      ['relayed', relayed],
      ['contribution', contributions],
    ] as const) {
      const paid = findEntry(ledger, id, role)?.epsilon ?? '0';
      demand(
        sent.size === 0 || millionths(paid) >= (LEAST_COST.get(id) ?? 0),
        `${role} not debited`,
      );
    }
  }
}

/** The ledger never exceeds its caps, in any window and between any two reports. */
function requireWithinCaps({ entries }: Ledger): void {
  const rows = new Set(entries.map(({ campaign, role }) => `${role} ${campaign}`));
  demand(rows.size === entries.length, 'two rows for one campaign and role');
  for (const { drawnAt, service, role } of entries) {
    const window = entries.filter(
      (other) => other.drawnAt <= drawnAt && other.drawnAt > drawnAt - POLICY.windowDays * DAY,
    );
    demand(total(window, 'epsilon') <= POLICY.mostEpsilon * 1e6, 'more ε than the cap');
    const given = window.filter((other) => other.role !== 'report');
    demand(total(given, 'delta') <= POLICY.mostDelta * 1e6, 'more δ than the cap');
    demand(total(window, 'relayEpsilon') <= POLICY.mostRelayTotal * 1e6, 'more ε0 than the cap');
    const close = entries.filter(
      (other) =>
        other.role !== 'contribution' &&
        other.service === service &&
        Math.abs(other.drawnAt - drawnAt) < POLICY.shortestIntervalDays * DAY,
    );
    const isAlone = role === 'contribution' || close.length === 1;
    demand(isAlone, 'two reports to a service within a week');
  }
}

/** Tests 100,000 times more quickly than `expect`. */
function demand(holds: boolean, otherwise: string): void {
  if (!holds) throw new Error(otherwise);
}

function millionths(decimal: string): number {
  return Number(decimal) * 1e6;
}

function total(
  entries: readonly LedgerEntry[],
  what: 'epsilon' | 'delta' | 'relayEpsilon',
): number {
  // Costs are multiples of a millionth of ε and δ: rounding takes away what doubles add.
  const sum = entries.reduce((so_far, entry) => so_far + millionths(entry[what] ?? '0'), 0);
  return Math.round(sum * 1000) / 1000;
}

/** How often something happened that the machine is about. */
interface Seen {
  steps: number;
  reported: number;
  relayed: number;
  contributed: number;
  reportedAfterWithdrawal: number;
}

async function explored(steps: number, seen: Seen, endOnFailure: boolean) {
  const run = fc.array(STEP, { minLength: STEPS_PER_RUN, maxLength: STEPS_PER_RUN });
  const property = fc.asyncProperty(run, async (history) => {
    const world = new World();
    for (const step of history) {
      await take(world, step);
      const { ledger } = world.disk;
      requireDebited(ledger, world.service);
      requireWithinCaps(ledger);
      seen.steps++;
    }
    for (const { reports, relayed, contributions, withdrawn } of world.service.received.values()) {
      seen.reported += reports.size;
      seen.relayed += relayed.size;
      seen.contributed += contributions.size;
      seen.reportedAfterWithdrawal += withdrawn.size && reports.size;
    }
  });
  return fc.check(property, { numRuns: Math.ceil(steps / STEPS_PER_RUN), endOnFailure });
}

function nothingSeen(): Seen {
  return { steps: 0, reported: 0, relayed: 0, contributed: 0, reportedAfterWithdrawal: 0 };
}

test('what a service can have costs at most what the ledger says, within its caps', async () => {
  const seen = nothingSeen();
  const found = await explored(STEPS, seen, false);
  expect(found.failed, fc.defaultReportMessage(found) ?? '').toBe(false);
  expect(seen.steps).toBeGreaterThanOrEqual(STEPS);
  // Every run reaches all of this with good odds; in hundreds of them each happens.
  expect(seen.reported).toBeGreaterThan(0);
  expect(seen.relayed).toBeGreaterThan(0);
  expect(seen.contributed).toBeGreaterThan(0);
  expect(seen.reportedAfterWithdrawal).toBeGreaterThan(0);
}, 600_000);

describe('a device that is broken a little is found out', () => {
  const record = KeptLedger.prototype.record;
  const BROKEN: Readonly<Record<string, () => void>> = {
    'it looks only for an entry in the same role': () => {
      vi.spyOn(KeptLedger.prototype, 'record').mockImplementation(function (
        this: KeptLedger,
        campaign,
        role,
        make,
      ) {
        return this.update((ledger) => {
          const found = findEntry(ledger, campaign, role);
          return found ? { value: found } : make(ledger);
        });
      });
    },
    'it draws before it knows of another draw': () => {
      vi.spyOn(KeptLedger.prototype, 'find').mockResolvedValue(undefined);
      vi.spyOn(KeptLedger.prototype, 'record').mockImplementation(function (
        this: KeptLedger,
        campaign,
        role,
        make,
      ) {
        return this.update((ledger) =>
          make({
            ...ledger,
            entries: ledger.entries.filter(
              (entry) => entry.campaign !== campaign || entry.role !== role,
            ),
          }),
        );
      });
    },
    'it takes no answer for a withdrawal': () => {
      vi.spyOn(KeptLedger.prototype, 'record').mockImplementation(async function (
        this: KeptLedger,
        campaign,
        role,
        make,
      ) {
        const mended = (entry: LedgerEntry): LedgerEntry =>
          entry.state === 'uncertain' ? { ...entry, state: 'withdrawn' } : entry;
        await this.update((ledger) => ({
          ledger: { ...ledger, entries: ledger.entries.map(mended) },
          value: undefined,
        }));
        return record.call(this, campaign, role, make);
      });
    },
    'it debits nothing for what relay and collector could learn together': () => {
      vi.spyOn(KeptLedger.prototype, 'record').mockImplementation(function (
        this: KeptLedger,
        campaign,
        role,
        make,
      ) {
        return record.call(this, campaign, role, (ledger) => {
          const { ledger: after = ledger, value } = make(ledger);
          const free = (entry: LedgerEntry): LedgerEntry => ({ ...entry, relayEpsilon: '0' });
          return { ledger: { ...after, entries: after.entries.map(free) }, value: free(value) };
        });
      });
    },
    'it draws a relayed report anew for every attempt': () => {
      let drawn = 0;
      const attempt = KeptLedger.prototype.attempt;
      vi.spyOn(KeptLedger.prototype, 'attempt').mockImplementation(async function (
        this: KeptLedger,
        made,
      ) {
        const entry = await attempt.call(this, made);
        return entry.role === 'relayed' ? { ...entry, body: `draw ${++drawn}` } : entry;
      });
    },
  };

  test.each(Object.keys(BROKEN))('%s', async (what) => {
    BROKEN[what]?.();
    expect((await explored(20_000, nothingSeen(), true)).failed).toBe(true);
  });
});
