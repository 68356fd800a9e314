import { expect, test } from 'vitest';
import { DEFAULT_POLICY } from '../../client/src/policy.js';
import type { Campaign, Relay } from '../src/api/messages.js';
import {
  campaignOf,
  changed,
  type Draft,
  deltaWarning,
  draftOf,
  duplicateOf,
  EMPTY_DRAFT,
  questionOf,
  suitableDelta,
} from '../src/pages/draft.js';
import {
  DEVICE_LIMITS,
  deviceNotes,
  missingFields,
  refusedField,
  wrongFields,
} from '../src/pages/draft-faults.js';

const DRAFT: Draft = {
  ...EMPTY_DRAFT,
  name: ' Popular searches ',
  purpose: 'Suggest them offline.',
  controller: 'A town library',
  contact: 'privacy@library.example',
  privacy_policy: ' https://library.example/privacy',
  consent_text: 'I agree.',
};

test('a draft is sent as the service takes it', () => {
  const sent = campaignOf({
    ...DRAFT,
    head_list_size: '50',
    opt_in_until: '2026-12-01T18:30',
    clients_enough: '100000',
  });
  expect(sent).toEqual({
    name: 'Popular searches',
    purpose: 'Suggest them offline.',
    controller: 'A town library',
    contact: 'privacy@library.example',
    privacy_policy: 'https://library.example/privacy',
    query_name: null,
    url_name: null,
    consent: { version: '1', text: 'I agree.' },
    parameters: { epsilon: 4, delta: 1e-6, head_list_size: 50, preset: 'sharp' },
    known: null,
    expected_clients: 95000,
    open_enrolment: false,
    rules: {
      opt_in_until: '2026-12-01T18:30:00Z',
      opt_in_enough: null,
      clients_from: null,
      clients_until: null,
      clients_enough: 100000,
      open_hours: 24,
    },
  });
});

const UNSEEN = 'This has a sign that nobody sees. Delete it, or type the text anew.';
const NOW = new Date('2026-11-16T12:00:00Z');

test.each<[Partial<Draft>, string]>([
  [{ name: 'n'.repeat(201) }, 'This is too long: 201 characters. At most 200 are possible.'],
  [{ contact: '😀'.repeat(201) }, 'This is too long: 201 characters. At most 200 are possible.'],
  [
    { privacy_policy: 'javascript:alert(1)' },
    'This must be a web address that begins with https://, without a user name, invisible signs or backslashes.',
  ],
  [{ query_name: 'n'.repeat(41) }, 'This is too long: 41 characters. At most 40 are possible.'],
  [{ name: 'Search\u202egnp' }, UNSEEN],
  [{ controller: 'A\u0007' }, UNSEEN],
  [{ contact: 'a\u2066b' }, UNSEEN],
  [{ purpose: 'one\n\u001btwo' }, UNSEEN],
  [{ consent_text: 'I agree\u200b.' }, UNSEEN],
  [{ url_name: 'st\u2028ate' }, UNSEEN],
  [{ epsilon: '0' }, 'ε must be a number above 0, at most 64.'],
  [{ epsilon: 'four' }, 'ε must be a number above 0, at most 64.'],
  [{ epsilon: '65' }, 'ε must be a number above 0, at most 64.'],
  [{ delta: '1' }, 'δ must be between 0 and 1.'],
  [{ head_list_size: '-3' }, 'This must be a whole number from 1 to 100,000.'],
  [{ opt_in_enough: '1.5' }, 'This must be a whole number from 1 to 10,000,000,000.'],
  [
    { opt_in_until: '2026-11-16T12:00' },
    'This time is over. Choose a later one; times are in UTC.',
  ],
  [
    { clients_until: '2026-11-15T12:00' },
    'This time is over. Choose a later one; times are in UTC.',
  ],
])('what is wrong with %j is said at its field', (wrong, sentence) => {
  expect(wrongFields({ ...DRAFT, ...wrong }, NOW)).toEqual({ [`${Object.keys(wrong)}`]: sentence });
});

test.each([
  ['https://library.example/\u202egnp', false],
  ['https://user:password@library.example/', false],
  ['https://library.example\\@evil.example/', false],
  ['https://library.example/a\\b', false],
  ['https://library.example/a b', false],
  ['https://?privacy', false],
  ['http://localhost:8080', true],
  ['https://bücherei.example:8443/@wir/datenschutz?a=b@c#d', true],
])('the address %j is taken: %s', (privacy_policy, isTaken) => {
  expect('privacy_policy' in wrongFields({ ...DRAFT, privacy_policy }, NOW)).toBe(!isTaken);
});

test('a text of blanks is missing, several lines and other scripts are fine', () => {
  expect(Object.keys(missingFields({ ...DRAFT, controller: ' \t' }))).toEqual(['controller']);
  const fine = { purpose: 'one\n\ntwo', name: 'نمی\u200cشود 👩\u200d🔬' };
  expect(wrongFields({ ...DRAFT, ...fine }, NOW)).toEqual({});
});

test('a side that would end before it begins is wrong', () => {
  const times = { opt_in_until: '2026-12-02T00:00', clients_from: '2026-12-03T00:00' };
  const wrong = (clients_until: string) => wrongFields({ ...DRAFT, ...times, clients_until }, NOW);
  expect(wrong('2026-12-01T00:00').clients_until).toContain('end of the opt-in side');
  expect(wrong('2026-12-03T00:00').clients_until).toContain('clients begin');
  expect(wrong('2026-12-04T00:00')).toEqual({});
});

test('a whole draft has no fault, an empty one says what is missing and nothing else', () => {
  expect({ ...missingFields(DRAFT), ...wrongFields(DRAFT, NOW) }).toEqual({});
  expect(wrongFields(EMPTY_DRAFT, NOW)).toEqual({});
  expect(Object.keys(missingFields(EMPTY_DRAFT))).toEqual([
    ...['name', 'purpose', 'controller', 'contact', 'privacy_policy', 'consent_text'],
  ]);
});

test('what devices refuse is said, with the limits that devices have', () => {
  expect(DEFAULT_POLICY).toMatchObject(DEVICE_LIMITS);
  expect(deviceNotes(DRAFT)).toEqual({});
  expect(deviceNotes({ ...DRAFT, epsilon: '9' }).epsilon).toContain('at most ε = 8 in 90 days');
  expect(deviceNotes({ ...DRAFT, delta: '1e-4' }).delta).toContain('at most δ = 10⁻⁵');
});

test.each([
  ['$.name', 'name'],
  ['$.consent.text', 'consent_text'],
  ['text', 'consent_text'],
  ['query_name', 'query_name'],
  ['$.parameters.epsilon', 'epsilon'],
  ['opt_in_until', 'opt_in_until'],
])('a refusal at %s is said at the field %s', (where, field) => {
  expect(Object.keys(refusedField(where))).toEqual([field]);
});

test('a refusal that names no field marks none', () => {
  expect(refusedField(null)).toEqual({});
  expect(refusedField('$.nothing')).toEqual({});
});

const CAMPAIGN = {
  ...campaignOf({ ...DRAFT, opt_in_until: '2026-12-01T18:30', opt_in_enough: '700' }),
  id: '1',
  state: 'draft',
  consent: { version: '1', text: 'I agree.', text_digest: '' },
  created_at: '',
  moved_at: '',
} as Campaign;

test('an edited campaign keeps what was not edited, also what the form does not show', () => {
  const parameters = { ...CAMPAIGN.parameters, one_record_each: true };
  const nouns = { query_name: 'product', url_name: 'state' };
  const sent = campaignOf(draftOf({ ...CAMPAIGN, ...nouns, parameters }));
  expect(sent).toEqual({
    ...campaignOf({ ...DRAFT, opt_in_until: '2026-12-01T18:30', opt_in_enough: '700' }),
    ...nouns,
    parameters,
  });
});

test('a duplicate has no times, which may be over', () => {
  expect(duplicateOf(CAMPAIGN)).toEqual({ ...draftOf(CAMPAIGN), opt_in_until: '' });
});

test('a duplicate of a released campaign knows its records', () => {
  const released = { ...CAMPAIGN, state: 'released', known: '0' } as Campaign;
  expect(draftOf(released).known).toBe('0');
  expect(campaignOf(duplicateOf(released)).known).toBe(released.id);
  const printed = { ...released, parameters: { ...released.parameters, preset: 'paper' } };
  expect(campaignOf(duplicateOf(printed as Campaign)).known).toBeNull();
  expect(campaignOf(DRAFT).known).toBeNull();
});

test('a duplicate has the address of its issuer and not the key, which is for one campaign', () => {
  const issuer = { address: 'https://issuer.example/', public_key: 'k'.repeat(456) };
  const copy = duplicateOf({ ...CAMPAIGN, reports: 'token', issuer });
  expect([copy.issuer_address, copy.issuer_public_key]).toEqual([issuer.address, '']);
  expect(Object.keys(missingFields({ ...DRAFT, ...copy }))).toContain('issuer_public_key');
});

test('δ suits the people expected until somebody chooses it', () => {
  expect(['0', '400', '1000', '10000', '10001', '1e6'].map(Number).map(suitableDelta)).toEqual([
    ...['1e-5', '1e-5', '1e-5', '1e-5', '1e-6', '1e-7'],
  ]);
  expect(deltaWarning(EMPTY_DRAFT)).toBeNull();
  const more = changed(EMPTY_DRAFT, { expected_clients: '5000000' });
  expect(more.delta).toBe('1e-8');
  expect(deltaWarning(more)).toBeNull();
  const chosen = changed(more, { delta: '2e-8' });
  expect(changed(chosen, { expected_clients: '10' }).delta).toBe('2e-8');
});

const RELAY = {
  relay_address: 'https://relay.example/',
  relay_public_key: 'k'.repeat(43),
  relay_least_batch: '20000',
};

test('a relay is sent as soon as one is filled in, and comes back with what is not shown', () => {
  const sent = campaignOf({ ...DRAFT, ...RELAY });
  expect(sent.relay).toEqual({
    address: 'https://relay.example/',
    public_key: 'k'.repeat(43),
    least_batch: 20000,
    epsilon_cap: 8,
  });
  expect(sent.rules).toMatchObject({ relay_wait_hours: 48 });
  expect({
    ...missingFields({ ...DRAFT, ...RELAY }),
    ...wrongFields({ ...DRAFT, ...RELAY }, NOW),
  }).toEqual({});
  const relay = { ...(sent.relay as Relay), dishonest: 0.5 };
  const again = campaignOf(draftOf({ ...CAMPAIGN, relay, rules: sent.rules ?? {} }));
  expect(again.relay).toEqual(relay);
});

test('a relay that is filled in by half says what is missing', () => {
  const half = { ...DRAFT, relay_address: 'https://relay.example/' };
  expect(Object.keys(missingFields(half))).toEqual(['relay_public_key', 'relay_least_batch']);
});

test.each<[Partial<Draft>, keyof Draft, string]>([
  [{ relay_address: 'https://me:x@relay.example/' }, 'relay_address', 'without a name'],
  [{ relay_address: 'ftp://relay.example/' }, 'relay_address', 'begins with https://'],
  [{ preset: 'paper' }, 'relay_address', 'preset sharp'],
  [{ relay_public_key: 'short' }, 'relay_public_key', '43 letters'],
  [{ relay_least_batch: '0' }, 'relay_least_batch', 'from 1 to'],
  [{ relay_epsilon_cap: '0' }, 'relay_epsilon_cap', 'above 0'],
  [{ relay_wait_hours: '-1' }, 'relay_wait_hours', 'whole number'],
])('what is wrong with a relay, as %j, is said at its field', (wrong, field, sentence) => {
  const faults = wrongFields({ ...DRAFT, ...RELAY, ...wrong }, NOW);
  expect(Object.keys(faults)).toEqual([field]);
  expect(Object.values(faults)[0]).toContain(sentence);
});

test.each([
  ['relay', 'relay_address'],
  ['relay.least_batch', 'relay_least_batch'],
  ['$.relay.public_key', 'relay_public_key'],
  ['$.rules.relay_wait_hours', 'relay_wait_hours'],
])('a refusal of a relay at %s is said at the field %s', (where, field) => {
  expect(Object.keys(refusedField(where))).toEqual([field]);
});

test('a cap above what devices allow is said', () => {
  const note = deviceNotes({ ...DRAFT, ...RELAY, relay_epsilon_cap: '9' }).relay_epsilon_cap;
  expect(note).toContain('at most ε = 8 of a report');
  expect(deviceNotes({ ...DRAFT, relay_epsilon_cap: '9' })).toEqual({});
});

test('the planner is asked about both groups together, as soon as there is something to ask', () => {
  expect(questionOf(DRAFT)).toMatchObject({ users: 100000, opt_in: 0.05, head_list_size: null });
  expect(questionOf({ ...DRAFT, expected_opt_in: '' })).toBeNull();
  expect(questionOf({ ...DRAFT, epsilon: '' })).toBeNull();
  expect(questionOf(DRAFT)).not.toHaveProperty('relay');
  expect(questionOf({ ...DRAFT, relay_share: '0' })).not.toHaveProperty('relay');
  expect(questionOf({ ...DRAFT, relay_share: '40' })).toMatchObject({
    relay: 0.4,
    relay_cap: 8,
  });
  const capped = { ...DRAFT, relay_share: '40', relay_epsilon_cap: '5.5' };
  expect(questionOf(capped)).toMatchObject({ relay: 0.4, relay_cap: 5.5 });
  expect(questionOf({ ...capped, relay_epsilon_cap: '' })).not.toHaveProperty('relay_cap');
  expect(questionOf({ ...capped, relay_share: '' })).not.toHaveProperty('relay_cap');
  expect(questionOf({ ...DRAFT, relay_share: '40', preset: 'paper' })).not.toHaveProperty('relay');
  expect(campaignOf({ ...DRAFT, relay_share: '40' })).toEqual(campaignOf(DRAFT));
});

test('the planner is told of a campaign before this one, where the preset takes its list', () => {
  expect(questionOf(DRAFT)).not.toHaveProperty('known');
  expect(questionOf({ ...DRAFT, known: ' ' })).not.toHaveProperty('known');
  expect(questionOf({ ...DRAFT, known: CAMPAIGN.id })).toMatchObject({ known: true });
  const printed = { ...DRAFT, known: CAMPAIGN.id, preset: 'paper' } as const;
  expect(questionOf(printed)).not.toHaveProperty('known');
});

test('a δ above a tenth of one over the people expected is warned of', () => {
  const people = { expected_opt_in: '5000', expected_clients: '95000' };
  expect(deltaWarning({ ...DRAFT, ...people, delta: '1e-6' })).toBeNull();
  expect(deltaWarning({ ...DRAFT, ...people, delta: '1.1e-6' })).toContain('10⁻⁶');
  expect(deltaWarning({ ...DRAFT, ...people, delta: 'word' })).toBeNull();
});

const ISSUER = { issuer_address: 'https://issuer.example/', issuer_public_key: 'k'.repeat(456) };

test('reports are open unless tokens are chosen, and an issuer is sent only with them', () => {
  expect(campaignOf(DRAFT)).not.toHaveProperty('reports');
  expect(campaignOf({ ...DRAFT, ...ISSUER })).not.toHaveProperty('issuer');
  const sent = campaignOf({ ...DRAFT, ...ISSUER, reports: 'token' });
  expect(sent).toMatchObject({
    reports: 'token',
    issuer: { address: 'https://issuer.example/', public_key: 'k'.repeat(456) },
  });
  const { issuer = null } = sent;
  expect(campaignOf(draftOf({ ...CAMPAIGN, reports: 'token', issuer }))).toMatchObject({
    reports: 'token',
    issuer,
  });
  expect(campaignOf({ ...DRAFT, reports: 'token' })).not.toHaveProperty('issuer');
});

test('an issuer that is filled in by half, or wrongly, is said at its field', () => {
  const half = { ...DRAFT, reports: 'token', issuer_address: 'https://issuer.example/' } as const;
  expect(Object.keys(missingFields(half))).toEqual(['issuer_public_key']);
  const wrong = { ...half, issuer_address: 'ftp://issuer.example/', issuer_public_key: 'short' };
  expect(wrongFields(wrong, NOW)).toMatchObject({
    issuer_address: expect.stringContaining('begins with https://'),
    issuer_public_key: expect.stringContaining('456 letters'),
  });
  expect(wrongFields({ ...wrong, reports: 'open' }, NOW)).not.toHaveProperty('issuer_address');
  expect(refusedField('issuer.public_key')).toEqual({
    issuer_public_key: expect.stringContaining('next one'),
  });
  expect(Object.keys(refusedField('issuer'))).toEqual(['issuer_address']);
});
