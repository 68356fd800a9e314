/** The comparison of opt-in users and clients, and of relay clients with local clients. */

import {
  driftSentence,
  driftTitle,
  relayDriftTitle,
  strongerClients,
  strongerGroup,
  widestDifferences,
} from '@blender-dp/pages/groups.js';
import { capitalised, NOUNS } from '@blender-dp/pages/nouns.js';
import { plain } from '@blender-dp/pages/numbers.js';
import type { Drift, Release } from '../api/documents.js';
import { Card } from '../parts/card.js';
import { Table } from '../parts/table.js';
import { Typed } from '../parts/typed-text.js';

type Widest = ReturnType<typeof widestDifferences>[number];

export function DriftCard({ release }: { readonly release: Release }) {
  const { drift, relay_drift, disagreement } = release;
  return (
    <Card title={driftTitle(drift, relay_drift !== undefined)}>
      <Compared drift={drift} columns={OPT_IN_COLUMNS} />
      {disagreement && (
        <p class={disagreement.is_alarming ? 'banner banner-danger' : 'caption'}>
          {disagreement.sentence}
        </p>
      )}
      {relay_drift && (
        <>
          <h3 class="next-comparison">{relayDriftTitle(relay_drift)}</h3>
          <Compared drift={relay_drift} columns={RELAY_COLUMNS} />
        </>
      )}
    </Card>
  );
}

interface ComparedProps {
  readonly drift: Drift | null;
  readonly columns: ReturnType<typeof columnsFor>;
}

function Compared({ drift, columns }: ComparedProps) {
  const widest = widestDifferences(drift);
  return (
    <>
      <p class={drift?.is_significant ? 'callout' : 'caption'}>{driftSentence(drift)}</p>
      {widest.length > 0 && (
        <Table
          caption={`${capitalised(NOUNS.queries[1] ?? '')} that differ most between the groups`}
          rows={widest}
          columns={columns}
        />
      )}
    </>
  );
}

function columnsFor(stronger: (z: number) => string) {
  return [
    {
      name: 'Differs most',
      isText: true,
      value: ({ name }: Widest) => name,
      show: ({ name }: Widest) => <Typed text={name} />,
    },
    {
      name: 'More popular with',
      isText: true,
      value: ({ z }: Widest) => stronger(z),
      show: ({ z }: Widest) => stronger(z),
    },
    {
      name: 'Standard errors apart',
      value: ({ z }: Widest) => Math.abs(z),
      show: ({ z }: Widest) => plain(Math.abs(z)),
    },
  ];
}

const OPT_IN_COLUMNS = columnsFor(strongerGroup);
const RELAY_COLUMNS = columnsFor(strongerClients);
