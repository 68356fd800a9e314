/** The comparison of opt-in users and clients. */

import {
  driftSentence,
  driftTitle,
  strongerGroup,
  widestDifferences,
} from '@blender-dp/pages/groups.js';
import { plain } from '@blender-dp/pages/numbers.js';
import type { Disagreement, Drift } from '../api/documents.js';
import { Card } from '../parts/card.js';
import { Table } from '../parts/table.js';
import { Typed } from '../parts/typed-text.js';

interface DriftProps {
  readonly drift: Drift | null;
  readonly disagreement: Disagreement | null;
}

type Widest = ReturnType<typeof widestDifferences>[number];

export function DriftCard({ drift, disagreement }: DriftProps) {
  const widest = widestDifferences(drift);
  return (
    <Card title={driftTitle(drift)}>
      <p class={drift?.is_significant ? 'callout' : 'caption'}>{driftSentence(drift)}</p>
      {disagreement && (
        <p class={disagreement.is_alarming ? 'banner banner-danger' : 'caption'}>
          {disagreement.sentence}
        </p>
      )}
      {widest.length > 0 && (
        <Table
          caption="Queries that differ most between the groups"
          rows={widest}
          columns={COLUMNS}
        />
      )}
    </Card>
  );
}

const COLUMNS = [
  {
    name: 'Differs most',
    isText: true,
    value: ({ name }: Widest) => name,
    show: ({ name }: Widest) => <Typed text={name} />,
  },
  {
    name: 'More popular with',
    isText: true,
    value: ({ z }: Widest) => strongerGroup(z),
    show: ({ z }: Widest) => strongerGroup(z),
  },
  {
    name: 'Standard errors apart',
    value: ({ z }: Widest) => Math.abs(z),
    show: ({ z }: Widest) => plain(Math.abs(z)),
  },
];
