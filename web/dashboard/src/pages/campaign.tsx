/** Page of one campaign, with a tab per part. */
import type { Campaign } from '../api/messages.js';
import { Downloads } from '../campaign/downloads.js';
import { HeadList } from '../campaign/head-list.js';
import { EVERY_MS, Overview } from '../campaign/overview.js';
import { PrivacyStatement } from '../campaign/privacy.js';
import { ReleasePage } from '../campaign/release.js';
import { StateBadge } from '../campaign/state-machine.js';
import { useLoaded } from '../loading.js';
import { Shown } from '../parts/loading-note.js';
import { Title } from '../parts/title.js';
import { campaignAddress, type Tab } from '../router.js';
import { useVisit } from '../signed-in.js';
import { hasReached } from '../words/states.js';

const TAB_NAMES: Readonly<Record<Tab, string>> = {
  overview: 'Overview',
  'head-list': 'Head list',
  release: 'Release',
  downloads: 'Downloads',
  privacy: 'Privacy statement',
};

export function CampaignPage({ id, tab }: { readonly id: string; readonly tab: Tab }) {
  const { service } = useVisit();
  const [campaign, again] = useLoaded(() => service.campaign(id), [service, id], EVERY_MS);
  return (
    <Shown loaded={campaign}>
      {(value) => (
        <>
          <Title text={value.name} lead={value.purpose}>
            <StateBadge state={value.state} />
          </Title>
          <Tabs campaign={value} tab={tab} />
          <Part campaign={value} tab={tab} again={again} />
        </>
      )}
    </Shown>
  );
}

function Tabs({ campaign, tab }: { readonly campaign: Campaign; readonly tab: Tab }) {
  return (
    <nav class="tabs" aria-label="Parts of the campaign">
      {tabsOf(campaign, tab).map((name) => (
        <a
          key={name}
          href={campaignAddress(campaign.id, name)}
          aria-current={name === tab ? 'page' : undefined}
        >
          {TAB_NAMES[name]}
        </a>
      ))}
    </nav>
  );
}

/** What has nothing to show yet has no tab, unless one is there already. */
function tabsOf({ state }: Campaign, now: Tab): Tab[] {
  const isListed = state === 'purged' || hasReached(state, 'list-published');
  const isReleased = state === 'purged' || hasReached(state, 'released');
  const offered: [Tab, boolean][] = [
    ['overview', true],
    ['head-list', isListed],
    ['release', isReleased],
    ['downloads', isListed],
    ['privacy', true],
  ];
  return offered.filter(([name, isThere]) => isThere || name === now).map(([name]) => name);
}

interface PartProps {
  readonly campaign: Campaign;
  readonly tab: Tab;
  readonly again: () => void;
}

function Part({ campaign, tab, again }: PartProps) {
  switch (tab) {
    case 'head-list':
      return <HeadList campaign={campaign} />;
    case 'release':
      return <ReleasePage campaign={campaign} />;
    case 'downloads':
      return <Downloads campaign={campaign} />;
    case 'privacy':
      return <PrivacyStatement campaign={campaign} />;
    default:
      return <Overview campaign={campaign} again={again} />;
  }
}
