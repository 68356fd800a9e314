import { expect, test } from 'vitest';
import {
  campaignOf,
  type Draft,
  deltaWarning,
  EMPTY_DRAFT,
  missing,
  questionOf,
} from '../src/pages/draft.js';

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
    consent: { version: '1', text: 'I agree.' },
    parameters: { epsilon: 4, delta: 1e-5, head_list_size: 50, preset: 'sharp' },
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

test.each([
  [{ name: '  ' }, 'The campaign needs a name.'],
  [{ purpose: '' }, 'The campaign needs a purpose.'],
  [{ controller: '' }, 'The campaign needs the name of who collects.'],
  [{ contact: ' ' }, 'The campaign needs a contact.'],
  [
    { privacy_policy: 'javascript:alert(1)' },
    'The privacy policy must be a web address that begins with https://.',
  ],
  [{ consent_text: '' }, 'The campaign needs a consent text.'],
  [{ epsilon: '0' }, 'ε must be a number above 0.'],
  [{ epsilon: 'four' }, 'ε must be a number above 0.'],
  [{ delta: '1' }, 'δ must be between 0 and 1.'],
  [{ head_list_size: '-3' }, 'Queries kept at most must be a whole number.'],
  [{ opt_in_enough: '1.5' }, 'The number of contributions must be a whole number.'],
])('what is wrong with %j is said', (wrong, sentence) => {
  expect(missing({ ...DRAFT, ...wrong })).toBe(sentence);
});

test('a whole draft misses nothing', () => {
  expect(missing(DRAFT)).toBeNull();
});

test('the planner is asked about both groups together, as soon as there is something to ask', () => {
  expect(questionOf(DRAFT)).toMatchObject({ users: 100000, opt_in: 0.05, head_list_size: null });
  expect(questionOf({ ...DRAFT, expected_opt_in: '' })).toBeNull();
  expect(questionOf({ ...DRAFT, epsilon: '' })).toBeNull();
});

test('a δ above a tenth of one over the people expected is warned of', () => {
  const people = { expected_opt_in: '5000', expected_clients: '95000' };
  expect(deltaWarning({ ...DRAFT, ...people, delta: '1e-6' })).toBeNull();
  expect(deltaWarning({ ...DRAFT, ...people, delta: '1.1e-6' })).toContain('10⁻⁶');
  expect(deltaWarning({ ...DRAFT, ...people, delta: 'word' })).toBeNull();
});
