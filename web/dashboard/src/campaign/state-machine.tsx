/** States of a campaign in their order; the current one is marked. */

import { moment } from '@blender-dp/pages/numbers.js';
import type { Campaign, State } from '../api/messages.js';
import { STATES, stateWords } from '../words/states.js';

const WAITS = {
  operator: 'waits for an operator',
  people: 'collecting',
  job: 'at work',
  nobody: '',
};

export function StateMachine({ campaign }: { readonly campaign: Campaign }) {
  // Giving a campaign up is no step of its way: a purged one may have skipped the others.
  const isPurged = campaign.state === 'purged';
  const states = STATES.filter(({ state }) => (state === 'purged') === isPurged);
  const now = states.findIndex(({ state }) => state === campaign.state);
  return (
    <>
      <ol class="states" aria-label="States of the campaign">
        {states.map(({ state, title }, at) => (
          <li
            key={state}
            class={`state state-${placeOf(at, now)}`}
            aria-current={at === now ? 'step' : undefined}
          >
            <span class="state-dot" aria-hidden="true" />
            <span class="state-name">{title}</span>
          </li>
        ))}
      </ol>
      <p class="caption">
        <b>{stateWords(campaign.state).title}</b> since {moment(campaign.moved_at)} UTC.{' '}
        {stateWords(campaign.state).sentence}
      </p>
    </>
  );
}

function placeOf(at: number, now: number): 'past' | 'now' | 'ahead' {
  if (at === now) return 'now';
  return at < now ? 'past' : 'ahead';
}

export function StateBadge({ state }: { readonly state: State }) {
  const { title, waitsFor } = stateWords(state);
  return (
    <span class={`state-badge waits-${waitsFor}`} title={WAITS[waitsFor] || undefined}>
      {title}
    </span>
  );
}
