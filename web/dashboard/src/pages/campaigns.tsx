/** Page with all campaigns and their states. */

import { count, day, plain } from '@blender-dp/pages/numbers.js';
import type { Campaign } from '../api/messages.js';
import { StateBadge } from '../campaign/state-machine.js';
import { useLoaded } from '../loading.js';
import { Shown } from '../parts/loading-note.js';
import { Table } from '../parts/table.js';
import { Title } from '../parts/title.js';
import { Typed } from '../parts/typed-text.js';
import { campaignAddress } from '../router.js';
import { useVisit } from '../signed-in.js';
import { lossOf } from '../words/privacy.js';
import { STATES, stateWords } from '../words/states.js';

const EVERY_MS = 10_000;

export function CampaignsPage() {
  const { service, who } = useVisit();
  const [campaigns] = useLoaded(() => service.campaigns(), [service], EVERY_MS);
  return (
    <>
      <Title text="Campaigns">
        {who?.role === 'operator' && (
          <a class="button button-strong" href="#/new">
            New campaign
          </a>
        )}
      </Title>
      <Shown loaded={campaigns}>{(found) => <CampaignTable campaigns={found} />}</Shown>
    </>
  );
}

function CampaignTable({ campaigns }: { readonly campaigns: readonly Campaign[] }) {
  if (campaigns.length === 0) {
    return (
      <p class="card empty">
        There is no campaign yet. In a campaign, people who opt in send their searches: these show
        what is popular. All other people send private reports: these show how popular it is. The
        release has only numbers with noise.
      </p>
    );
  }
  return (
    <section class="card" aria-label="All campaigns">
      <Table caption="All campaigns" rows={campaigns} columns={COLUMNS} texts={textsOf} />
    </section>
  );
}

const textsOf = (campaign: Campaign) => [
  campaign.name,
  campaign.purpose,
  stateWords(campaign.state).title,
];

const COLUMNS = [
  {
    name: 'Name',
    isText: true,
    value: (campaign: Campaign) => campaign.name,
    show: (campaign: Campaign) => (
      <a href={campaignAddress(campaign.id)}>
        <Typed text={campaign.name} />
      </a>
    ),
  },
  {
    name: 'State',
    isText: true,
    value: (campaign: Campaign) => STATES.findIndex(({ state }) => state === campaign.state),
    show: (campaign: Campaign) => <StateBadge state={campaign.state} />,
  },
  {
    name: 'ε',
    value: (campaign: Campaign) => lossOf(campaign).epsilon,
    show: (campaign: Campaign) => plain(lossOf(campaign).epsilon),
  },
  {
    name: 'Clients expected',
    value: (campaign: Campaign) => campaign.expected_clients,
    show: (campaign: Campaign) => count(campaign.expected_clients),
  },
  {
    name: 'Last moved',
    value: (campaign: Campaign) => Date.parse(campaign.moved_at),
    show: (campaign: Campaign) => day(campaign.moved_at),
  },
];
