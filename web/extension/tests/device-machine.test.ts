/**
 * A state machine over the extension: choices, alarms, withdrawals, forgetting, lost answers,
 * settings restored from an old copy, in any order. The client's own machine has more of them.
 */
import { memoryStorage } from '@blender-dp/client';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { digestOf, type Fields } from '../../client/src/canonical.js';
import { DESCRIBED_RELAY, signedText, withRelay } from '../../client/tests/service.js';
import { Device } from '../src/device/device.js';
import {
  CAMPAIGN,
  campaignDocument,
  FakeService,
  INVITATION,
  memoryArea,
  shownBy,
} from './service.js';

const DAY = 86_400_000;
const RECORD = { query: 'old town', url: 'https://town.example/' };
const described = { relay: DESCRIBED_RELAY };
const promises = { epsilon: '4.0', delta: '1e-05', reportEpsilon: '7.653' };
const description = await digestOf(campaignDocument(described).description as Fields);
const LIST = await signedText(withRelay(description, promises));
const RUNS = 200;
const STEPS_PER_RUN = 40;

/** A person's extension and the service of its campaign. */
class World {
  readonly service = new FakeService();
  readonly #area = memoryArea();
  readonly #ledger = memoryStorage();
  #now = Date.UTC(2026, 10, 15, 12);
  #copy = new Map<string, unknown>();
  #device = this.#started();

  constructor() {
    this.service.headList = LIST;
    this.service.campaign = campaignDocument(described);
  }

  #started(): Device {
    const { fetch } = this.service;
    return new Device({ area: this.#area, ledger: this.#ledger, fetch, now: () => this.#now });
  }

  readonly steps: Readonly<Record<string, () => Promise<unknown>>> = {
    invite: () => this.#device.invite(INVITATION),
    optIn: async () => this.#device.choose('opt-in', await shownBy(this.#device)),
    choosePrivate: async () => this.#device.choose('private', await shownBy(this.#device)),
    chooseRelayed: async () => this.#device.choose('relayed', await shownBy(this.#device)),
    leave: async () => this.#device.leaveUnused(await shownBy(this.#device)),
    keep: () => this.#device.keep({ ...RECORD, query: `old town ${this.#now}` }),
    contribute: () => this.#device.contributeNow(),
    check: () => this.#device.check(),
    withdraw: () => this.#device.withdraw(CAMPAIGN),
    forget: () => this.#device.forgetEverything(),
    restart: async () => {
      this.#device = this.#started();
    },
    copy: async () => {
      this.#copy = new Map(this.#area.kept);
    },
    restore: async () => {
      this.#area.kept.clear();
      for (const [name, value] of this.#copy) this.#area.kept.set(name, value);
    },
    openClients: async () => {
      this.service.campaign = campaignDocument({ ...described, state: 'clients-open' });
    },
    openOptIn: async () => {
      this.service.campaign = campaignDocument(described);
    },
    pass: async () => {
      this.#now += 8 * DAY;
    },
  };

  /** What the service can have is one thing, in the ledger, and in one group. */
  async requireOneGroup(): Promise<void> {
    const { held, uploads, reports, relayed } = this.service;
    expect(new Set([...reports, ...relayed]).size, 'reports').toBeLessThanOrEqual(1);
    expect(new Set(uploads).size, 'contributions').toBeLessThanOrEqual(1);
    const hasReported = reports.length + relayed.length > 0;
    expect(held.size > 0 && hasReported, 'in two groups').toBe(false);
    const { entries } = await this.#ledger.update((value) => ({ value }));
    const roles = entries.map(({ campaign, role }) => [campaign, role].join());
    if (uploads.length) expect(roles).toContain(`${CAMPAIGN},contribution`);
    if (reports.length) expect(roles).toContain(`${CAMPAIGN},report`);
    if (relayed.length) expect(roles).toContain(`${CAMPAIGN},relayed`);
  }
}

const NAMES = Object.keys(new World().steps);
/** What a person does most of the time; without it few runs would send anything. */
const USUAL = [
  'invite',
  'optIn',
  'choosePrivate',
  'chooseRelayed',
  'keep',
  'contribute',
  'check',
  'openClients',
  'openOptIn',
];
const STEP = fc.record({
  name: fc.oneof(
    { weight: 1, arbitrary: fc.constantFrom(...NAMES) },
    { weight: 3, arbitrary: fc.constantFrom(...USUAL) },
  ),
  answer: fc.constantFrom(undefined, 0, -1, 409, 422, 503),
});

test('a person is in one group of a campaign, whatever is pressed, lost, restored or forgotten', async () => {
  const history = fc.array(STEP, { minLength: STEPS_PER_RUN, maxLength: STEPS_PER_RUN });
  const seen = { reported: 0, relayed: 0, contributed: 0 };
  const property = fc.asyncProperty(history, async (steps) => {
    const world = new World();
    await world.steps.invite?.();
    for (const { name, answer } of steps) {
      world.service.answers = answer === undefined ? [] : [answer, answer];
      await world.steps[name]?.();
      await world.requireOneGroup();
    }
    seen.reported += world.service.reports.length;
    seen.relayed += world.service.relayed.length;
    seen.contributed += world.service.uploads.length;
  });
  await fc.assert(property, { numRuns: RUNS });
  expect(Math.min(...Object.values(seen))).toBeGreaterThan(0);
}, 600_000);
