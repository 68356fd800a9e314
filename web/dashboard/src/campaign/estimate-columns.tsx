/** Columns of a release's tables; every estimate stands with its uncertainty. */

import { percent, percentRange, percentWithMargin } from '@blender-dp/pages/numbers.js';
import type { Estimate } from '../api/documents.js';
import type { Column } from '../parts/table.js';
import { QueryName, UrlName } from '../parts/typed-text.js';

const QUERY: Column<Estimate> = {
  name: 'Query',
  isText: true,
  value: ({ query }) => query,
  show: (row) => <QueryName row={row} />,
};

const PAGE: Column<Estimate> = {
  name: 'Page',
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

export const QUERY_COLUMNS = [QUERY, ...NUMBERS];
export const RECORD_COLUMNS = [QUERY, PAGE, ...NUMBERS];

export const textsOf = ({ query, url }: Estimate) => [query, url];
