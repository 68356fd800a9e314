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
  const now = STATES.findIndex(({ state }) => state === campaign.state);
  return (
    <>
      <ol class="states" aria-label="States of the campaign">
        {STATES.map(({ state, title }, at) => (
          <li
            key={state}
            class={`state state-${placeOf(at, now, campaign.state)}`}
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

/** A purged campaign may have skipped what lies before: nothing is claimed of it. */
function placeOf(at: number, now: number, state: State): 'past' | 'now' | 'ahead' {
  if (at === now) return 'now';
  return at < now && state !== 'purged' ? 'past' : 'ahead';
}

export function StateBadge({ state }: { readonly state: State }) {
  const { title, waitsFor } = stateWords(state);
  return (
    <span class={`state-badge waits-${waitsFor}`} title={WAITS[waitsFor] || undefined}>
      {title}
    </span>
  );
}
