/** Downloads: every document that a campaign published. */
import type { Campaign, State } from '../api/messages.js';
import { type DocumentName, documentAddress } from '../api/service.js';
import { Card } from '../parts/card.js';
import { nounsOf } from '../words/nouns.js';
import { hasReached } from '../words/states.js';

interface Offered {
  readonly name: DocumentName;
  readonly file: string;
  readonly from: State;
  /** Whether only campaigns with a relay publish it. */
  readonly hasRelay?: boolean;
  readonly what: string | ((query: string) => string);
}

const TABLES = ['records', 'queries'] as const;
const FORMS = ['csv', 'parquet'] as const;

const OFFERED: readonly Offered[] = [
  {
    name: 'report.html',
    file: 'report.html',
    from: 'released',
    what: 'The result as one page with charts and tables; it opens offline.',
  },
  ...TABLES.flatMap((table) =>
    FORMS.map(
      (form): Offered => ({
        name: `${table}.${form}`,
        file: `${table}.${form}`,
        from: 'released',
        what: (query) =>
          `Every ${table === 'queries' ? query : 'record'} with its estimates, as a table.`,
      }),
    ),
  ),
  {
    name: 'release',
    file: 'release.json',
    from: 'released',
    what: 'The result: what search, trends and report read.',
  },
  {
    name: 'certificate',
    file: 'certificate.json',
    from: 'list-published',
    what: 'The privacy that each group spent. Check it with blender-dp certify.',
  },
  {
    name: 'head-list',
    file: 'signed_head_list.json',
    from: 'list-published',
    what: 'The signed head list with its log entry.',
  },
  {
    name: 'opt-in-estimates',
    file: 'opt_in_estimates.json',
    from: 'list-published',
    what: 'The noisy integers that the opt-in side released.',
  },
  {
    name: 'client-estimates',
    file: 'client_estimates.json',
    from: 'released',
    what: 'How many reports named each entry; blender-dp blend computes the release from these two again.',
  },
  {
    name: 'relay-estimates',
    file: 'relay_estimates.json',
    from: 'released',
    hasRelay: true,
    what: 'What became of the relay’s batch, and how many of its reports named each entry.',
  },
];

export function Downloads({ campaign }: { readonly campaign: Campaign }) {
  const [query] = nounsOf(campaign);
  // A purged campaign may have published before; the address says so when it is followed.
  const ready = OFFERED.filter(
    ({ from, hasRelay }) =>
      (!hasRelay || campaign.relay) &&
      (campaign.state === 'purged' || hasReached(campaign.state, from)),
  );
  return (
    <Card
      title="Downloads"
      caption={
        ready.length
          ? 'Public files: whoever has the address may fetch them, no token is needed.'
          : 'Nothing is published yet.'
      }
    >
      <ul class="file-list">
        {ready.map(({ name, file, what }) => (
          <li key={name}>
            <a href={documentAddress(campaign.id, name)} download={file}>
              {file}
            </a>
            <span>{typeof what === 'string' ? what : what(query)}</span>
          </li>
        ))}
      </ul>
    </Card>
  );
}
