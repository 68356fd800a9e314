/** The published head list: what devices report against. */
import { checkHeadList, type Result } from '@blender-dp/client';
import { capitalised, pluralNoun } from '@blender-dp/pages/nouns.js';
import { count, moment, numberOf, percent, plain, plural } from '@blender-dp/pages/numbers.js';
import { useMemo } from 'preact/hooks';
import type { HeadListDocument } from '../api/documents.js';
import type { Campaign } from '../api/messages.js';
import { useLoaded } from '../loading.js';
import { Card, Tiles } from '../parts/card.js';
import { Shown } from '../parts/loading-note.js';
import { Table } from '../parts/table.js';
import { Typed } from '../parts/typed-text.js';
import { useVisit } from '../signed-in.js';
import { nounsOf } from '../words/nouns.js';

interface Row {
  readonly query: string;
  readonly url: string;
  readonly urls: number;
}

interface CheckedList {
  readonly list: HeadListDocument;
  readonly checked: Result;
}

export function HeadList({ campaign }: { readonly campaign: Campaign }) {
  const { service } = useVisit();
  const [list] = useLoaded(async (): Promise<CheckedList> => {
    const text = await service.headListText(campaign.id);
    return { list: JSON.parse(text), checked: await checkHeadList(text, campaign.id) };
  }, [service, campaign.id, campaign.state]);
  return <Shown loaded={list}>{(value) => <PublishedList {...value} campaign={campaign} />}</Shown>;
}

interface PublishedProps extends CheckedList {
  readonly campaign: Campaign;
}

function PublishedList({ list, checked, campaign }: PublishedProps) {
  const [one, many] = nounsOf(campaign);
  const page = campaign.url_name ?? 'page';
  const columns = useMemo(() => columnsOf(one, page), [one, page]);
  const { mechanism, queries, digest } = list.head_list;
  const rows = queries.flatMap(({ query, urls }) =>
    urls.map((url): Row => ({ query, url, urls: urls.length })),
  );
  const share = mechanism.query_share;
  return (
    <>
      <Card
        title={`${plural(queries.length, one, many)}, ${plural(rows.length, 'record', 'records')}`}
        eyebrow="Head list"
        caption={`The same for every device. Each ${one} may also be reported with any other ${page}, and there is one entry for everything else.`}
      >
        <Tiles
          tiles={[
            { name: 'Mechanism', value: mechanism.name.replaceAll('-', ' ') },
            { name: 'ε of a report', value: plain(numberOf(mechanism.epsilon)) },
            {
              name: `Clients who report only the ${one}`,
              value: share === undefined ? 'none' : percent(numberOf(share)),
            },
          ]}
        />
        <Table caption="Records of the head list" rows={rows} columns={columns} texts={textsOf} />
      </Card>
      <Card
        title="Signed and logged"
        caption="Devices refuse a list whose signature, digest or log entry does not fit."
      >
        <dl class="settings">
          <dt>Digest</dt>
          <dd>
            <code>{digest}</code>
          </dd>
          <dt>Entry of the public log</dt>
          <dd>
            {count(list.log_entry.index)}, {moment(list.log_entry.time)} UTC
          </dd>
          <dt>Public key (Ed25519)</dt>
          <dd>
            <code>{list.public_key}</code>
          </dd>
          <dt>Signature</dt>
          <dd>
            <code>{list.signature}</code>
          </dd>
          <dt>Checked by this browser</dt>
          <dd>{verdict(checked)}</dd>
        </dl>
      </Card>
    </>
  );
}

function verdict(checked: Result): string {
  if (checked.ok) return 'Signature, digest and log entry fit.';
  if (!window.isSecureContext) return 'Not checked: browsers check signatures over HTTPS only.';
  return `They do not fit, and devices refuse this list: ${checked.problem}.`;
}

const textsOf = (row: Row) => [row.query, row.url];

/** Returns the columns, with the campaign's nouns. */
function columnsOf(query: string, page: string) {
  return [
    {
      name: capitalised(query),
      isText: true,
      value: (row: Row) => row.query,
      show: (row: Row) => <Typed text={row.query} />,
    },
    {
      name: capitalised(page),
      isText: true,
      value: (row: Row) => row.url,
      show: (row: Row) => <Typed text={row.url} />,
    },
    {
      name: `${capitalised(pluralNoun(page))} of the ${query}`,
      value: (row: Row) => row.urls,
      show: (row: Row) => count(row.urls),
    },
  ];
}
