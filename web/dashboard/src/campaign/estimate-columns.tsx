/** Columns of a release's tables; every estimate stands with its uncertainty. */

import { capitalised } from '@blender-dp/pages/nouns.js';
import { percent, percentRange, percentWithMargin } from '@blender-dp/pages/numbers.js';
import type { Estimate } from '../api/documents.js';
import type { Campaign } from '../api/messages.js';
import type { Column } from '../parts/table.js';
import { QueryName, UrlName } from '../parts/typed-text.js';

type Nouns = Pick<Campaign, 'query_name' | 'url_name'>;

const QUERY: Omit<Column<Estimate>, 'name'> = {
  isText: true,
  value: ({ query }) => query,
  show: (row) => <QueryName row={row} />,
};

const PAGE: Omit<Column<Estimate>, 'name'> = {
  isText: true,
  value: ({ url }) => url ?? null,
  show: (row) => <UrlName row={row} />,
};

const NUMBERS: readonly Column<Estimate>[] = [
  {
    name: 'Blend',
    hint: 'The released estimate',
    value: ({ probability }) => probability,
    show: ({ probability }) => percent(probability),
  },
  {
    name: 'Interval',
    hint: 'Sorted by its width',
    value: ({ low, high }) => (low === null || high === null ? null : high - low),
    show: ({ low, high }) => percentRange(low, high),
  },
  {
    name: 'Opt-in users',
    hint: 'What they alone say, ± the 95 % interval',
    value: ({ opt_in_probability }) => opt_in_probability,
    show: (row) => percentWithMargin(row.opt_in_probability, row.opt_in_std_error),
  },
  {
    name: 'Clients',
    hint: 'What they alone say, ± the 95 % interval',
    value: ({ client_probability }) => client_probability,
    show: (row) => percentWithMargin(row.client_probability, row.client_std_error),
  },
  {
    name: 'Opt-in weight',
    hint: 'How much the opt-in users count in the blend',
    value: ({ opt_in_weight }) => opt_in_weight,
    show: ({ opt_in_weight }) => percent(opt_in_weight, 0),
  },
];

/** What is said of relay clients where a release has them. */
const RELAY_NUMBERS: readonly Column<Estimate>[] = [
  {
    name: 'Relay clients',
    hint: 'What they alone say, ± the 95 % interval',
    value: ({ relay_probability }) => relay_probability ?? null,
    show: (row) => percentWithMargin(row.relay_probability ?? null, row.relay_std_error ?? null),
  },
  {
    name: 'Relay weight',
    hint: 'How much the relay clients count in the blend',
    value: ({ relay_weight }) => relay_weight ?? null,
    show: ({ relay_weight }) => percent(relay_weight ?? null, 0),
  },
];

/** Returns the columns of queries or records, under the campaign's own nouns if it has some. */
export function columnsOf(
  set: 'queries' | 'records',
  { query_name, url_name }: Nouns,
  withRelay: boolean,
) {
  const numbers = withRelay ? [...NUMBERS, ...RELAY_NUMBERS] : NUMBERS;
  const query = { ...QUERY, name: capitalised(query_name ?? 'query') };
  const page = { ...PAGE, name: capitalised(url_name ?? 'page') };
  return set === 'queries' ? [query, ...numbers] : [query, page, ...numbers];
}

export const textsOf = ({ query, url }: Estimate) => [query, url];
