/** Columns of the table of changes. */

import { SIGNS } from '@blender-dp/pages/changes.js';
import { capitalised } from '@blender-dp/pages/nouns.js';
import { percent, plain, points, pointsRange } from '@blender-dp/pages/numbers.js';
import type { Change } from '../api/messages.js';
import type { Column } from '../parts/table.js';
import { Typed } from '../parts/typed-text.js';

export const textsOf = ({ query, listing }: Change) => [query, listing];

/** Returns the columns, with the noun for what is compared. */
export function columnsOf(noun: string): readonly Column<Change>[] {
  return [
    {
      name: capitalised(noun),
      isText: true,
      value: ({ query }) => query,
      show: ({ query }) => <Typed text={query} />,
    },
    ...NUMBERS,
  ];
}

const NUMBERS: readonly Column<Change>[] = [
  {
    name: 'Verdict',
    value: ({ verdict }) => ({ rose: 2, fell: 1, unclear: 0 })[verdict ?? 'unclear'],
    show: (change) => <Verdict change={change} />,
  },
  {
    name: 'Difference',
    hint: 'In percentage points',
    value: ({ difference }) => difference,
    show: ({ difference }) => points(difference),
  },
  {
    name: 'Interval',
    hint: 'Of the difference, for this row alone',
    value: ({ low, high }) => (low === null || high === null ? null : high - low),
    show: ({ low, high }) => pointsRange(low, high),
  },
  {
    name: 'Before',
    value: ({ before }) => before,
    show: ({ before }) => percent(before),
  },
  {
    name: 'Now',
    value: ({ after }) => after,
    show: ({ after }) => percent(after),
  },
  {
    name: 'p-value',
    value: ({ p_value }) => p_value,
    show: ({ p_value }) => plain(p_value),
  },
];

function Verdict({ change: { verdict, listing } }: { readonly change: Change }) {
  return (
    <>
      {verdict ? (
        <span class={`verdict verdict-${verdict}`}>
          <span aria-hidden="true">{SIGNS[verdict]}</span> {verdict}
        </span>
      ) : (
        <span class="quiet">unclear</span>
      )}
      {listing !== 'listed in both' && <span class="quiet verdict-list">{listing}</span>}
    </>
  );
}
