/** A clock that is no number: nothing that was spent may look old. */
import { expect, test } from 'vitest';
import { EMPTY_LEDGER, type Ledger } from '../src/ledger.js';
import { DEFAULT_POLICY, requireBudget, requirePause } from '../src/policy.js';
import { CAMPAIGN, SERVICE } from './service.js';

const AFTER_A_REPORT: Ledger = {
  ...EMPTY_LEDGER,
  entries: [
    {
      campaign: CAMPAIGN,
      role: 'report',
      service: SERVICE,
      madeFor: '',
      body: '',
      token: '',
      epsilon: '5.0',
      delta: '0.0',
      drawnAt: 0,
      state: 'sent',
    },
  ],
};
const COST = { epsilon: '4.0', delta: '0.0' };

test('counts what was spent, however long ago', () => {
  expect(() => requireBudget(AFTER_A_REPORT, 'report', COST, DEFAULT_POLICY, Number.NaN)).toThrow(
    'budget',
  );
  expect(() => requireBudget(AFTER_A_REPORT, 'report', COST, DEFAULT_POLICY, 1e12)).not.toThrow();
});

test('lets no report follow another', () => {
  expect(() => requirePause(AFTER_A_REPORT, SERVICE, DEFAULT_POLICY, Number.NaN)).toThrow(
    '7 days between two reports',
  );
  expect(() => requirePause(AFTER_A_REPORT, SERVICE, DEFAULT_POLICY, 1e12)).not.toThrow();
});
