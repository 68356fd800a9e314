/** Whether opt-in users and clients are alike. */

import { plain } from '@blender-dp/pages/numbers.js';
import type { Disagreement, Drift } from '../api/documents.js';
import { Card } from '../parts/card.js';
import { Table } from '../parts/table.js';
import { Typed } from '../parts/typed-text.js';

interface DriftProps {
  readonly drift: Drift | null;
  readonly disagreement: Disagreement | null;
}

interface Widest {
  readonly name: string;
  readonly z: number;
}

export function DriftCard({ drift, disagreement }: DriftProps) {
  const widest: Widest[] = (drift?.widest ?? []).map(({ query, z }) => ({ name: query, z }));
  return (
    <Card title="Do the groups differ?">
      <p class={drift?.is_significant ? 'callout' : 'caption'}>
        {drift?.sentence ?? 'Nothing was compared: no query is frequent enough in both groups.'}
      </p>
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
    value: ({ z }: Widest) => (z > 0 ? 'opt-in users' : 'clients'),
    show: ({ z }: Widest) => (z > 0 ? 'opt-in users' : 'clients'),
  },
  {
    name: 'Standard errors apart',
    value: ({ z }: Widest) => Math.abs(z),
    show: ({ z }: Widest) => plain(Math.abs(z)),
  },
];
