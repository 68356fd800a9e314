import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  campaignAddress,
  duplicateAddress,
  editAddress,
  routeOf,
  signInAddress,
  TABS,
} from '../src/router.js';

test('addresses lead to their pages', () => {
  expect(routeOf('')).toEqual({ page: 'campaigns' });
  expect(routeOf('#/campaigns')).toEqual({ page: 'campaigns' });
  expect(routeOf('#/new')).toEqual({ page: 'new', like: null });
  expect(routeOf(duplicateAddress('a/b'))).toEqual({ page: 'new', like: 'a/b' });
  expect(routeOf(editAddress('a/b'))).toEqual({ page: 'edit', id: 'a/b' });
  expect(routeOf(signInAddress('#/new?like=a'))).toEqual({ page: 'sign-in', back: '#/new?like=a' });
  expect(routeOf('#/trends?now=a&before=b')).toEqual({ page: 'trends', now: 'a', before: 'b' });
  expect(routeOf('#/search')).toEqual({ page: 'search', id: null });
});

test('whatever else is asked for is no page, and nothing is thrown', () => {
  expect(routeOf('#/nowhere')).toEqual({ page: 'unknown' });
  expect(routeOf('#/campaigns/a/nothing')).toEqual({ page: 'unknown' });
  fc.assert(fc.property(fc.string(), (hash) => void routeOf(`#${hash}`)));
});

test('the address of a campaign leads back to it, whatever its id', () => {
  fc.assert(
    fc.property(
      fc.string({ minLength: 1, unit: 'grapheme' }),
      fc.constantFrom(...TABS),
      (id, tab) => {
        expect(routeOf(campaignAddress(id, tab))).toEqual({ page: 'campaign', id, tab });
      },
    ),
  );
});
